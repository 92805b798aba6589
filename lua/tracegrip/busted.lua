-- busted.lua - a recording of every test that fails, for busted.
--
--   busted --helper=tracegrip.busted -Xhelper traces=DIR
--
-- Each test is traced in memory, with its before_each and after_each. If it
-- fails its recording goes to DIR, under its name, and the path is told with
-- the failure, by whatever output handler there is; of the others nothing is
-- kept. So it is with what fails outside of tests: setup, teardown, a file.
--
-- Options, NAME=VALUE, after one or more -Xhelper, with commas between them:
--   traces     the directory; made when something is to be kept
--   slow       seconds (or 500ms, 2m): slower tests are kept as well, and told
--              of on standard error when all have run
--   internals  true: what busted and luassert do is recorded too
--   trace include exclude c maxDepth ...
--              those of tracegrip.start; by default Lua functions only, the
--              last 16 MiB of events
--
-- Assertions are one frame each, "__call", with what was compared; of busted
-- and luassert nothing else is seen. For the C functions among the test's own
-- calls say c=true, and those that busted calls come with them.
--
-- All that is needed is in busted's API, with one exception: how it formats an
-- error and tells its output handlers is kept out of the recordings by
-- functions of ours around it, for which its core object is looked up. Should
-- it not be found there are some frames more.

local core = require "tracegrip.core"
core.own(true)

local busted = require "busted"
local lfs = require "lfs"
local options = require "tracegrip.options"
local target = require "tracegrip.target"

local monotime = busted.monotime

-- ---- options ----------------------------------------------------------------

local described = options.joined({
  {name = "traces"},
  {name = "slow", kind = "seconds"},
  {name = "internals", value = true},
}, options.shared)

local function find_option (name)
  for _, option in ipairs(described) do
    if option.name == name then
      return option
    end
  end
end

local function known_options ()
  local names = {}
  for i, option in ipairs(described) do
    names[i] = option.name
  end
  return table.concat(names, ", ")
end

local function refuse (...)
  error(string.format(...), 0)
end

local function set (settings, option, text)
  local value, expected = options.value(option, text)
  if value == nil then
    refuse("%s=%s: %s wants %s", option.name, text, option.name, expected)
  end
  if option.list then
    value = {value}
  end
  local list = settings[option.name]
  if type(value) == "table" and list then
    table.move(value, 1, #value, #list + 1, list)
  else
    settings[option.name] = value
  end
end

-- NAME=VALUE. A word that is not has been part of a list before busted divided
-- it at its commas: trace=name,time. Returns the option.
local function read_word (settings, word, previous)
  local name, text = word:match "^(%a+)=(.*)$"
  local option = find_option(name)
  if option then
    set(settings, option, text)
  elseif previous and (previous.list or previous.kind == "types") then
    option = previous
    set(settings, option, word)
  else
    refuse("unknown option '%s' (known, as NAME=VALUE: %s)", name or word,
           known_options())
  end
  return option
end

local function read_words (words)
  local settings, option = {}, nil
  for _, word in ipairs(words) do
    option = read_word(settings, word, option)
  end
  if (settings.traces or "") == "" then
    refuse("option 'traces' is missing: where recordings go, as in %s",
           "-Xhelper traces=DIR")
  end
  return settings
end

-- ---- what is recorded -------------------------------------------------------

local function some_function (module)
  if type(module) == "table" then
    for _, value in pairs(module) do
      if type(value) == "function" then
        return value
      end
    end
  end
  return type(module) == "function" and module or nil
end

-- The file of a module as a pattern; what nothing has if there is none.
local function source (name)
  local f = some_function(package.loaded[name])
  local file = f and debug.getinfo(f, "S").source:match "^@(.*)"
  return file and "^" .. file:gsub("%p", "%%%0") or "^%z"
end

local function directory (name)
  return (source(name):gsub("[^/]*$", ""))
end

-- All that surrounds the program's own calls but luassert's assert.lua, which
-- has the function that an assertion is.
local function machinery ()
  local luassert = directory "luassert.state"
  return {
    directory "busted.core", source "mediator", source "say",
    luassert .. "[^a]", luassert .. "a[^s]", luassert .. "assert[^%.]",
    "^luassert%.assert%.",
  }
end

local function trace_options (settings)
  local result = options.collect(options.shared, settings)
  result.name = "busted"
  result.c = result.c or false
  result.overflow = result.overflow or "ring"
  result.buffer = result.buffer or 16 << 20
  if not settings.internals then
    result.exclude = options.joined(result.exclude or {}, machinery())
  end
  return result
end

-- The options are checked where they are read.
local function try_options (tried)
  local ok, trace = pcall(core.watch, tried)
  if not ok then
    error(trace, 0)
  end
  core.forget(trace)
end

local settings = read_words(arg)
local start_options = trace_options(settings)
try_options(start_options)

-- ---- files ------------------------------------------------------------------

local top = target.absolute(settings.traces)
local taken = {}        -- names of files, in lower case

local function complain (...)
  io.stderr:write("tracegrip: ", string.format(...), "\n")
end

-- What busted calls it: the names from the outermost describe inwards.
local function full_name (element)
  local names = {}
  repeat
    table.insert(names, 1, tostring(element.name or element.descriptor))
    local last = element.descriptor == "file"
    element = busted.parent(element)
  until last or not element or element.descriptor == "file"
  return table.concat(names, " ")
end

local LONGEST = 180     -- bytes; file systems have 255, saving adds some

-- Letters of all languages, digits, and "-" for everything between them.
local function file_name (name)
  local valid = utf8.len(name)
  local safe = name:gsub(valid and "[^%w_.\x80-\xff]+" or "[^%w_.]+", "-")
  safe = safe:gsub("^[-.]+", "")
  if #safe > LONGEST then
    safe = safe:sub(1, (valid and utf8.offset(safe, 0, LONGEST + 1)
                        or LONGEST + 1) - 1)
  end
  safe = safe:gsub("[-.]+$", "")
  return safe ~= "" and safe or "test"
end

-- Whether it can be ours: an older recording makes room, nothing else does.
local function take (name)
  if taken[name:lower()] then
    return false
  end
  local _, _, code = target.clear(top .. "/" .. name)
  taken[name:lower()] = true
  return code ~= "exists" and code ~= "running"
end

-- A name of its own in the directory.
local function new_file (name)
  local stem, n = file_name(name), 1
  local file = stem .. ".tgr"
  while not take(file) do
    n = n + 1
    file = ("%s-%d.tgr"):format(stem, n)
  end
  return file
end

local function make_directory (path)
  if lfs.attributes(path, "mode") == "directory" then
    return true
  end
  local parent = path:match "^(.*[^/])/+[^/]+/*$"
  if parent then
    make_directory(parent)
  end
  local ok, message = lfs.mkdir(path)
  if ok or lfs.attributes(path, "mode") == "directory" then
    return true       -- somebody else may have made it
  end
  return nil, ("%s: %s"):format(path, message)
end

local function save (trace, file)
  local ok, message = make_directory(top)
  if ok then
    ok, message = trace:save(top .. "/" .. file)
  end
  return ok, message
end

-- ---- the part that runs: a test, or what is between two ---------------------

local part              -- {trace, started, test, element, name, file, failed}
local slow = {}         -- about tests that were

-- Keeps the recording of a part as it is now, under the name of its test, or of
-- what has failed outside of tests. The path, or nil when that failed, which is
-- told once.
local function keep (p, element)
  if p.failed then
    return nil
  end
  if not p.test or not p.file then
    p.name = full_name(p.element or element)
    p.file = new_file(p.name)
  end
  local called, ok, message = pcall(save, p.trace, p.file)
  if called and ok then
    return (settings.traces:gsub("(.)/*$", "%1/")) .. p.file
  end
  p.failed = true
  complain("cannot keep the recording of '%s': %s", p.name,
           called and message or ok)
end

local function keep_slow (p)
  local seconds = monotime() - p.started
  if p.element and settings.slow and seconds * 1000 > settings.slow then
    local path = keep(p)
    slow[#slow + 1] = path and ("%.3f s  %s\nRecording: %s\n"):format(
      seconds, full_name(p.element), path)
  end
end

-- The recording of a test that failed went to the failure and is made anew: it
-- goes on to the last after_each.
local function finish (p)
  p.trace:stop()
  if p.test and p.file then
    keep(p)
  elseif p.test then
    keep_slow(p)
  end
  core.forget(p.trace)
end

-- One trace begins before the other ends, so that tracing goes on: what is
-- known of functions by then need not be found out again.
local function next_part (test)
  local old = part
  part = {trace = core.watch(start_options), started = monotime(), test = test}
  if old then
    finish(old)
  end
end

local function last_part ()
  if part then
    finish(part)
    part = nil
  end
end

local function tell_slow ()
  if #slow > 0 then
    io.stderr:write("\nSlow tests:\n", table.concat(slow))
  end
  slow = {}
end

-- ---- busted's side ----------------------------------------------------------

-- Those of the outermost block: before all before_each, after all after_each.
busted.before_each(function () next_part(true) end)
busted.after_each(function () next_part(false) end)

local function subscribe (kind, what, f)
  busted.subscribe({kind, what}, function (...)
    f(...)
    return nil, true
  end)
end

subscribe("suite", "start", function () next_part(false) end)
subscribe("suite", "end", last_part)
subscribe("suite", "end", tell_slow)
subscribe("test", "start", function (element)
  if part and part.test then
    part.element = element
  end
end)

-- A failure is stopped on its way, before any output handler has it, and said
-- again with the path of its recording.
local saying = false

local function say_again (channel, element, parent, message, ...)
  local path = not saying and part and keep(part, element)
  if not path then
    return nil, true
  end
  saying = true
  local ok, problem = pcall(busted.publish, channel, element, parent,
                            ("%s\nRecording: %s"):format(message, path), ...)
  saying = false
  if not ok then
    error(problem, 0)
  end
  return nil, false
end

local descriptors = {
  "it", "before_each", "after_each", "strict_setup", "strict_teardown",
  "lazy_setup", "lazy_teardown", "describe", "file", "suite",
}
for _, descriptor in ipairs(descriptors) do
  for _, kind in ipairs {"failure", "error"} do
    local channel = {kind, descriptor}
    busted.subscribe(channel, function (...)
      return say_again(channel, ...)
    end, {priority = 1})
  end
end

-- ---- out of the picture -----------------------------------------------------

-- busted's core object, which its API is a part of.
local function find_core ()
  local index, i = getmetatable(busted).__index, 1
  local name, value = debug.getupvalue(index, i)
  while name and name ~= "busted" do
    i = i + 1
    name, value = debug.getupvalue(index, i)
  end
  return value
end

-- What our own functions call is ours too, so a function of ours around another
-- one takes it out of the picture. No tail calls: a frame that is gone hides
-- nothing. One result.
local function cover (t, name)
  local f = t[name]
  t[name] = function (...)
    return (f(...))
  end
end

-- The level counts frames, of which there is one more.
local function cover_trace (machine)
  local get_trace = machine.getTrace
  machine.getTrace = function (element, level, message)
    return (get_trace(element, (level or 3) + 1, message))
  end
end

local function hide ()
  local machine, assertion = find_core(), require "luassert"
  if machine then
    cover(machine, "publish")
    cover(machine, "rewriteMessage")
    cover_trace(machine)
  end
  cover(getmetatable(assertion), "__index")           -- assert.same
  cover(getmetatable(assertion.state()), "__index")   -- assert.are.same
end

if not settings.internals then
  hide()
end
