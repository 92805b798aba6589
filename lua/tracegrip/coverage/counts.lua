-- counts.lua - where the processes of a run put what they count: a folder of
-- files, one for each process (csrc/counts/ledger.h).
--
--   counts.folder()          a new one, with room for what a process counts at
--                            first: its path | nil, message
--   counts.take(folder)      what all have counted (core.merge): a list; what
--                            is missing is told on standard error
--   counts.remove(folder)    with all that is in it. Processes that still run
--                            count on, for nobody; new ones do not

local core = require "tracegrip.core"
core.own()

local lua = core.lua          -- the program may have changed its own libraries
local io, os, string, table = lua.io, lua.os, lua.string, lua.table
local ipairs = lua.ipairs

local counts = {}

local TRIES = 10
local ROOM = 16 << 10           -- bytes: of a process's file when it is made

-- Nil, message: there is no room.
local function try_room (folder)
  local path = folder .. "/room"
  local file, message = io.open(path, "w")
  local ok = file
  if file then
    ok, message = file:write(string.rep("\0", ROOM))
    local closed, refusal = file:close()
    ok, message = ok and closed, message or refusal
  end
  os.remove(path)
  return ok, message
end

-- Where there is none no process would be counted.
function counts.folder ()
  local folder, message = core.scratch "tracegrip-coverage"
  if not folder then
    return nil, message
  end
  local ok, refusal = try_room(folder)
  if not ok then
    os.remove(folder)
    return nil, string.match(folder, "^(.*)/") .. ": " .. refusal
  end
  return folder
end

local function paths_in (folder)
  local list = {}
  for _, name in ipairs(core.entries(folder) or {}) do
    list[#list + 1] = folder .. "/" .. name
  end
  table.sort(list)
  return list
end

local function tell (problem)
  local who = problem.process and "process " .. problem.process or problem.path
  core.tell(string.format("tracegrip: coverage: counts are missing of %s: %s\n",
                          core.escaped(who), problem.what))
end

function counts.take (folder)
  local list, problems = core.merge(paths_in(folder))
  for _, problem in ipairs(problems) do
    tell(problem)
  end
  return list
end

-- Under another name nobody finds it; who just was about to make a file in it
-- may have made it after it was emptied.
function counts.remove (folder)
  local gone = folder .. ".gone"
  folder = os.rename(folder, gone) and gone or folder
  for _ = 1, TRIES do
    for _, path in ipairs(paths_in(folder)) do
      os.remove(path)
    end
    if os.remove(folder) then
      break
    end
  end
end

return counts
