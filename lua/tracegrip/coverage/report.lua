-- report.lua - what was counted as files, and as words on standard error.
--
--   report.make(counted, plan)   writes plan.outputs, and tells; returns true |
--                                nil, message: nothing was counted, a file
--                                cannot be written, or it is less than asked
--                                for
--
-- The plan:
--   outputs      list of {path =, shown =, format =}; shown: as the user called
--                it
--   directory, include, exclude, untested, beside   (files.lua)
--   failUnder    percent of lines; nil: any will do
--   files        whether each file is told of, too
--   width        of the table, in columns; nil: as it comes
--   nothing      what it means if no process has counted anything: words
--
-- Files are written before anything is told: whoever reads that may be gone.

local core = require "tracegrip.core"
local files = require "tracegrip.coverage.files"
local formats = require "tracegrip.coverage.formats"
local totals = require "tracegrip.coverage.totals"
core.own()

local lua = core.lua          -- the program may have changed its own libraries
local io, string, table = lua.io, lua.string, lua.table
local ipairs = lua.ipairs

local report = {}

-- nil, message.
local function fail (...)
  return nil, string.format(...)
end

local function write (path, text)
  local file <close>, message = io.open(path, "wb")
  if not file then
    return nil, message
  end
  local ok, problem = file:write(text)
  if ok then
    ok, problem = file:flush()
  end
  return ok and true, problem
end

local function write_all (list, sum, plan)
  for _, output in ipairs(plan.outputs) do
    local ok, message = write(output.path,
                              formats.write(output.format, list, sum, plan))
    if not ok then
      return fail("cannot write the counts: %s", message)
    end
  end
  return true
end

-- Why there is nothing to tell of. 100 % of it would be the worst of answers.
local function explain (counted, plan)
  local loaded, first = files.loaded(counted, plan)
  if loaded == 0 then
    return fail("nothing was counted, and nothing is written: %s",
                plan.nothing)
  end
  return fail("nothing was counted, and nothing is written: of %d file%s "
              .. "loaded, as %s, none has lines that --include and --exclude "
              .. "leave", loaded, loaded == 1 and "" or "s", first)
end

local function has_loaded (list)
  for _, file in ipairs(list) do
    if file.loaded and file.totals.lines > 0 then
      return true
    end
  end
  return false
end

local function tell (list, sum, plan)
  local shown = {}
  for i, output in ipairs(plan.outputs) do
    shown[i] = output.shown
  end
  local rows = plan.files and totals.rows(list, sum, plan.width) or {}
  rows[#rows + 1] = string.format(
    "tracegrip: %s: %s", core.escaped(table.concat(shown, ", ")),
    totals.sentence(list, sum))
  core.tell(table.concat(rows, "\n") .. "\n")
end

function report.make (counted, plan)
  local list = files.of(counted, plan)
  if not has_loaded(list) then
    return explain(counted, plan)
  end
  local sum = files.sum(list)
  local ok, message = write_all(list, sum, plan)
  if not ok then
    return nil, message
  end
  tell(list, sum, plan)
  local missing = plan.failUnder and totals.under(sum, plan.failUnder)
  if missing then
    return fail("coverage: %s", missing)
  end
  return true
end

return report
