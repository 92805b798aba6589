-- ps.lua - tracegrip ps: the processes of this machine that run Lua.
--
-- Each process is looked at as dump does, without stopping it. Of one that may
-- not be looked at it is often known all the same that it has Lua in it: by its
-- files, or, where these may not be read either, by its name.

local columns = require "tracegrip.cli.columns"
local commandline = require "tracegrip.cli.commandline"
local core = require "tracegrip.core"
local json = require "tracegrip.cli.json"
local main = require "tracegrip.cli.main"
local recording = require "tracegrip.cli.recording"
local units = require "tracegrip.cli.units"
core.own()

local ps = {
  summary = "Lists the processes of this machine that run Lua.",
  description = "Lists the processes that run Lua and may be looked at, with "
    .. "nothing prepared in them: which release, how many states and "
    .. "coroutines, what runs. Of those that may not it says what would allow "
    .. "it.",
  usage = "[options]",
  options = {
    {name = "all", flag = "--all", value = true, group = "What is shown",
     help = "Every process that may not be looked at, too, whatever it is."},
    {name = "json", flag = "--json", value = true, group = "What is shown",
     help = "For programs: a list of JSON objects."},
  }
}

function ps.declare ()
end

---------------------------------------------------------------------------
-- Processes
---------------------------------------------------------------------------

local function pids ()
  local names, message = core.entries("/proc")
  if not names then
    main.fail("%s", message)
  end
  local list = {}
  for _, name in ipairs(names) do
    list[#list + 1] = name:find "^%d+$" and math.tointeger(tonumber(name))
                      or nil
  end
  table.sort(list)
  return list
end

local function contents (pid, name)
  local file = io.open(("/proc/%d/%s"):format(pid, name), "rb")
  local text = file and file:read "a"
  if file then
    file:close()
  end
  return text or ""
end

-- The words of its command line; of none its name.
local function command_of (pid)
  local text = commandline(pid)
  return text ~= "" and text or contents(pid, "comm"):gsub("\n$", "")
end

local users = {}          -- name by number, from /etc/passwd

local function read_users ()
  for line in io.lines "/etc/passwd" do
    local name, uid = line:match "^([^:]*):[^:]*:(%d+):"
    if name then
      users[uid] = users[uid] or name
    end
  end
end

local function user_of (pid)
  local uid = contents(pid, "status"):match "\nUid:%s*(%d+)"
  return uid and (users[uid] or uid) or "?"
end

-- Programs whose name says that they run Lua, where nothing else may be
-- asked.
local function sounds_like_lua (pid)
  return contents(pid, "comm"):lower():find "lua" ~= nil
end

-- What is to be told of a refusal; nil: the process is of no interest.
local function refused (row, message, code, release, all)
  if code == "gone" or code == "nolua" and not all then
    return nil
  elseif not release and not all and not sounds_like_lua(row.pid) then
    return nil
  elseif code == "nolua" or code == "failed" and not release then
    return nil
  end
  row.lua, row.readable = release, message
  return row
end

local function looked_at (pid, all)
  local row = {pid = pid, command = command_of(pid), user = user_of(pid),
               cpu_ms = core.cputime(pid)}
  local seen, message, code, release = core.glance(pid)
  if not seen then
    return refused(row, message, code, release, all)
  end
  row.lua, row.states, row.coroutines = seen.lua, seen.states, seen.coroutines
  row.omitted, row.unconfirmed = seen.omitted, seen.unconfirmed
  row.running, row.readable = seen.running, true
  return row
end

-- All of them; how many may not be looked at, of which nothing else is known.
function ps.list (all)
  local rows, own = {}, core.pid()
  pcall(read_users)
  for _, pid in ipairs(pids()) do
    rows[#rows + 1] = pid ~= own and looked_at(pid, all) or nil
  end
  return rows
end

---------------------------------------------------------------------------
-- Rows
---------------------------------------------------------------------------

local function running_of (row)
  local running = row.running
  if row.readable ~= true then
    return row.readable
  elseif not running then
    return "(nothing)"
  elseif running.line then
    return ("%s %s:%d"):format(running.name, running.url, running.line)
  end
  return running.name
end

local function right (title, text)
  return {title = title, right = true, text = text}
end

local ps_columns = {
  right("pid", function (row) return ("%d"):format(row.pid) end),
  {title = "user", text = function (row) return columns.clean(row.user) end},
  {title = "lua", text = function (row) return row.lua or "?" end},
  right("states", function (row) return row.states and
                                        units.count(row.states) or "" end),
  right("coroutines", function (row)
    return row.coroutines and units.count(row.coroutines) or ""
  end),
  right("cpu", function (row) return units.span(row.cpu_ms) end),
  {title = "command", cut = "back", least = 20,
   text = function (row) return columns.clean(row.command) end},
  {title = "runs", cut = "back", least = 20,
   text = function (row) return columns.clean(running_of(row)) end},
}

-- What the table has no place for.
local function note_rest (rows)
  for _, row in ipairs(rows) do
    if row.omitted then
      main.note("%s more of process %d left out (there are too many)",
                units.several(row.omitted, "state"), row.pid)
    end
    if row.unconfirmed then
      main.note("%s of process %d may be gone already (the heap is too large, "
                .. "or changes too fast, to tell)",
                units.several(row.unconfirmed, "coroutine"), row.pid)
    end
  end
end

function ps.run (parsed)
  local rows = ps.list(parsed.all)
  if parsed.json then
    recording.write(#rows > 0 and json.text(rows) or "[]\n")
  elseif #rows > 0 then
    recording.write_rows(columns.format(ps_columns, rows, recording.width()))
    note_rest(rows)
  else
    main.note("no process here runs Lua that may be looked at")
  end
end

return ps
