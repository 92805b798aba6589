-- dump.lua - tracegrip dump: what every coroutine of a process does, or did
-- when its core was written. The process need not know of tracegrip.

local columns = require "tracegrip.cli.columns"
local core = require "tracegrip.core"
local griptext = require "tracegrip.cli.griptext"
local main = require "tracegrip.cli.main"
local options = require "tracegrip.options"
local recording = require "tracegrip.cli.recording"
local units = require "tracegrip.cli.units"
core.own()

-- Of what tracing takes: how much of values is shown, and what is hidden.
local values = {}
for _, option in ipairs(options.shared) do
  if option.group == "Values" then
    values[#values + 1] = option
  end
end

local own = {
  {name = "locals", flag = "--locals", value = true, group = "What is shown",
   help = "Arguments and variables of every frame."},
  {name = "upvalues", flag = "--upvalues", value = true,
   group = "What is shown", help = "Upvalues of every frame's function."},
  {name = "all", flag = "--all", value = true, group = "What is shown",
   help = "Coroutines that are over and not yet collected, too, all of more "
          .. "than 10000, and every frame of stacks of more than 1000."},
  {name = "json", flag = "--json", value = true, group = "What is shown",
   help = "For programs: one JSON object."},
  {name = "noStop", flag = "--no-stop", value = true, group = "The target",
   help = "Never stop the process: what changes meanwhile may not fit "
          .. "together."},
  {name = "exe", metavar = "FILE", group = "The target",
   help = "Of a core: the program, where it is not where it was."},
  {name = "sysroot", metavar = "DIR", group = "The target",
   help = "Of a core: where the files of the machine that it is from are."},
}

local dump = {
  summary = "Shows the stack of every coroutine of any Lua process, or of a "
            .. "core.",
  description = "Looks into a process that runs Lua (5.1 to 5.5, LuaJIT 2.1), "
    .. "with nothing prepared or loaded in it, and shows the stack of every "
    .. "coroutine. The thread that runs Lua is stopped for half a millisecond "
    .. "as a rule, or not at all where it waits. Of a core file, which may be "
    .. "compressed, it shows the same.",
  usage = "[options] PID | CORE",
  options = options.joined(own, values)
}

function dump.declare (parser)
  parser:argument("target"):description("The process's number, or a core file.")
end

---------------------------------------------------------------------------
-- Rows
---------------------------------------------------------------------------

local function place_of (frame)
  if frame.kind == "C" then
    return "[C]" .. (frame.symbol and " " .. columns.clean(frame.symbol) or "")
  elseif not frame.url then
    return "?"
  end
  return ("%s:%s%s"):format(columns.clean(frame.url), frame.line or "?",
                            frame.stale and " or later"
                            or frame.near and " or near" or "")
end

local function add_variables (rows, frame, list)
  for _, variable in ipairs(list or {}) do
    rows[#rows + 1] = ("          %s = %s"):format(
      columns.clean(variable.name),
      variable.unknown and "(not known: in compiled code)"
      or griptext(variable.value, frame.objectPool))
  end
end

-- What is behind a frame's place.
local function marks_of (frame)
  return (frame.tailCall and "  (tail call)" or "")
         .. (frame.inlined and "  (inlined)" or "")
end

local function add_frames (rows, frames)
  local width = 0
  for _, frame in ipairs(frames) do
    width = math.max(width, columns.width(columns.clean(frame.name)))
  end
  width = math.min(width, 40)
  for i, frame in ipairs(frames) do
    local name = columns.clean(frame.name)
    local space = (" "):rep(width - columns.width(name))
    rows[#rows + 1] = ("  #%-4d %s%s  %s%s"):format(
      i - 1, name, space, place_of(frame), marks_of(frame))
    add_variables(rows, frame, frame.arguments)
    add_variables(rows, frame, frame.locals)
    add_variables(rows, frame, frame.upvalues)
  end
end

local status_words = {
  running = "running", normal = "has resumed another",
  suspended = "suspended", dead = "over", idle = "idle: nothing runs in it"
}

local function status_of (coroutine)
  local words = status_words[coroutine.status]
  if coroutine.waits and coroutine.frames[1] then
    words = words .. ", waits in " .. columns.clean(coroutine.frames[1].name)
  end
  if coroutine.unconfirmed then
    words = words .. ", or gone already"
  end
  return words
end

-- What runs above the innermost frame and has no frame there.
local function above_of (coroutine)
  local compiled, first = coroutine.compiled, coroutine.frames[1]
  if coroutine.unknown then
    return "in Lua code: the interpreter alone knows where"
  elseif compiled then
    local from = compiled.url and (", from %s:%s"):format(
      columns.clean(compiled.url), compiled.line or "?") or ""
    return ("compiled code runs (trace %d%s)%s"):format(
      compiled.trace, from,
      first and first.near and "" or ", and what it has inlined")
  end
end

local function add_coroutine (rows, coroutine)
  rows[#rows + 1] = ("coroutine %d: %s"):format(coroutine.id,
                                                status_of(coroutine))
  local above = above_of(coroutine)
  if above then
    rows[#rows + 1] = "  ...    " .. above
  end
  add_frames(rows, coroutine.frames)
  if coroutine.truncated then
    rows[#rows + 1] = "  ...    and more (see --all)"
  end
end

-- How long it stood still, or why it did not have to.
local function stop_of (document)
  if document.core then
    return document.signal and "ended by signal " .. document.signal
           or "a core"
  elseif document.stopped_ms > 0 then
    return ("stopped for %.3f ms"):format(document.stopped_ms)
  end
  return document.steady and "not stopped: it waited" or "not stopped"
end

local function head_of (document)
  local n = 0
  for _, state in ipairs(document.states) do
    n = n + #state.coroutines + (state.omitted or 0)
  end
  local lua = document.lua
  return ("process %d: %s, %s%s, %s, %s; %s"):format(
    document.pid, columns.clean(document.exe),
    lua:find "^LuaJIT" and "" or "Lua ", lua,
    units.several(#document.states, "state"), units.several(n, "coroutine"),
    stop_of(document))
end

-- The rows for a person.
function dump.format (document)
  local rows = {head_of(document)}
  for i, state in ipairs(document.states) do
    if #document.states > 1 then
      rows[#rows + 1] = ""
      rows[#rows + 1] = ("state %d%s"):format(
        i, state.tid and ", thread " .. state.tid or "")
    end
    for _, coroutine in ipairs(state.coroutines) do
      rows[#rows + 1] = ""
      add_coroutine(rows, coroutine)
    end
    if state.unconfirmed then
      rows[#rows + 1] = ""
      rows[#rows + 1] = ("%s may be gone already (the heap is too large, or "
                         .. "changes too fast, to tell)"):format(
        units.several(state.unconfirmed, "coroutine"))
    end
    if state.dead then
      rows[#rows + 1] = ""
      rows[#rows + 1] = ("%s more over (see --all)"):format(
        units.several(state.dead, "coroutine"))
    end
    if state.omitted then
      rows[#rows + 1] = ""
      rows[#rows + 1] = ("%s more left out (see --all)"):format(
        units.several(state.omitted, "coroutine"))
    end
  end
  if document.omitted then
    rows[#rows + 1] = ""
    rows[#rows + 1] = ("%s more left out (there are too many)"):format(
      units.several(document.omitted, "state"))
  end
  return rows
end

---------------------------------------------------------------------------
-- The command
---------------------------------------------------------------------------

-- Digits are a process, a file is a core.
local function target_of (parsed)
  local text = parsed.target
  local pid = text:find "^%d+$" and math.tointeger(tonumber(text))
  if pid and (parsed.exe or parsed.sysroot) then
    main.misuse("--exe and --sysroot are for cores")
  elseif pid and pid > 0 and pid < 2^31 then
    return pid
  elseif pid or not core.filetype(text) then
    main.misuse("%s is neither the number of a process nor a core file", text)
  end
  return text
end

function dump.run (parsed)
  local target = target_of(parsed)
  local wanted = options.collect(dump.options, parsed)
  local document, message = core.dump(target, wanted)
  if not document then
    main.fail("%s", message)
  elseif parsed.json then
    recording.write(document .. "\n")
  else
    recording.write_rows(dump.format(document))
  end
end

return dump
