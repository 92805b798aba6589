--- covered.lua - runs "tracegrip coverage" for specs, and reads what it writes.

local run = require "spec.support.run"

local covered = {}

local tracegrip = run.build .. "/bin/tracegrip"

-- Paths in what is told and written, without the directory's name.
local function without (text, where)
  return text and (text:gsub(where:gsub("%p", "%%%0"), "DIR"))
end

local function folder_of (path)
  return path:match "^(.*)/[^/]*$"
end

--- Runs "coverage" with these words among files (name -> text), and `how`:
-- `env`, `stdin`, `output` (the file that is read, "coverage.info"), `after`
-- (called with the directory). Returns {stdout, stderr, status, counts}.
function covered.run (files, words, how)
  how = how or {}
  return run.within(function (where)
    for name, text in pairs(files) do
      local folder = folder_of(name)
      if folder then
        os.execute("mkdir -p " .. run.quote(where .. "/" .. folder))
      end
      run.write(where .. "/" .. name, text)
    end
    local env = {TMPDIR = where .. "/tmp"}
    for name, value in pairs(how.env or {}) do
      env[name] = value
    end
    os.execute("mkdir " .. run.quote(where .. "/tmp"))
    local command = table.move(words, 1, #words, 3, {tracegrip, "coverage"})
    local result = run.command(command, {cwd = where, stdin = how.stdin,
                                         env = env})
    result.counts = without(run.read(where .. "/"
                                     .. (how.output or "coverage.info")), where)
    result.stderr = without(result.stderr, where)
    local left = io.popen("ls " .. run.quote(where .. "/tmp"))
    result.left = left:read "a"
    left:close()
    if how.after then
      how.after(where)
    end
    return result
  end)
end

--- line -> count of the file whose path ends so, from lcov's format; nil: it is
-- not there.
function covered.lines (counts, name)
  for path, record in counts:gmatch "SF:([^\n]*)\n(.-)end_of_record" do
    if path:sub(-#name) == name then
      local list = {}
      for line, count in record:gmatch "%f[%C]DA:(%d+),(%d+)" do
        list[tonumber(line)] = tonumber(count)
      end
      return list
    end
  end
end

--- name -> calls of that file's functions.
function covered.calls (counts, name)
  for path, record in counts:gmatch "SF:([^\n]*)\n(.-)end_of_record" do
    if path:sub(-#name) == name then
      local list = {}
      for count, called in record:gmatch "FNDA:(%d+),([^\n]*)" do
        list[called] = tonumber(count)
      end
      return list
    end
  end
end

return covered
