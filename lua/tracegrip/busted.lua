-- busted.lua - a recording of every test that fails, for busted.
--
--   busted --helper=tracegrip.busted -Xhelper traces=DIR
--   busted --helper=tracegrip.busted -Xhelper coverage=FILE
--
-- Each test is traced, with its before_each and after_each. If it fails its
-- recording goes to DIR, under its name, and the path is told with the failure,
-- by whatever output handler there is; of the others nothing is kept. So it is
-- with what fails outside of tests: setup, teardown, a file.
--
-- One trace goes through the whole suite and begins anew with each test. It is
-- recorded on a file in DIR that has the running test's name and is removed in
-- the end, so a test that ends the process leaves its recording.
--
-- Options, NAME=VALUE, after one or more -Xhelper, with commas between them:
--   traces     the directory; made when something is to be kept
--   slow       seconds (or 500ms, 2m): slower tests are kept as well, and told
--              of on standard error when all have run
--   html       true: with each recording a page that any browser shows
--   internals  true: what busted and luassert do is recorded too
--   coverage   files for counts of lines (coverage/suite.lua), with traces or
--              without; coverageInclude, coverageExclude, coverageUntested,
--              coverageFailUnder as the command's options
--   helper     the suite's own one, a file or a module; words after it are its
--              arguments
--   trace include exclude c maxDepth ...
--              those of tracegrip.start; by default Lua functions only, the
--              last 16 MiB of events
--
-- Assertions are one frame each, "__call", with what was compared; of busted
-- and luassert nothing else is seen. For the C functions among the test's own
-- calls say c=true, and those that luassert calls come with them.

local core = require("tracegrip.installed").core
core.own(true)

local busted = require "busted"
local options = require "tracegrip.options"
local target = require "tracegrip.target"
local testcoverage = require "tracegrip.testcoverage"
local testfiles = require "tracegrip.testfiles"
local testframes = require "tracegrip.testframes"

local monotime = busted.monotime

-- A test may put anything in the place of a library's function: what is called
-- while tests run is kept here.
local format, gsub, match = string.format, string.gsub, string.match
local insert, concat = table.insert, table.concat
local rename, remove = os.rename, os.remove
local stderr = io.stderr

-- ---- options ----------------------------------------------------------------

local described = options.joined({
  {name = "traces"},
  {name = "slow", kind = "seconds"},
  {name = "html", value = true},
  {name = "internals", value = true},
  {name = "helper"},
}, testcoverage.options, options.shared)

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

-- What comes after the suite's own helper is for that.
local function read_words (words)
  local settings, option = {}, nil
  for i, word in ipairs(words) do
    option = read_word(settings, word, option)
    if settings.helper then
      settings.words = table.move(words, i + 1, #words, 1, {})
      break
    end
  end
  if (settings.traces or "") == "" and not settings.coverage then
    refuse("option 'traces' is missing: where recordings go, as in %s",
           "-Xhelper traces=DIR")
  end
  return settings
end

-- ---- what is recorded -------------------------------------------------------

local function trace_options (settings)
  local result = options.collect(options.shared, settings)
  result.name = "busted"
  result.c = result.c or false
  result.overflow = result.overflow or "ring"
  result.buffer = result.buffer or 0x1000000    -- 16M
  if not settings.internals then
    result.exclude = options.joined(result.exclude or {},
                                    testframes.machinery())
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

if settings.html then
  require "tracegrip.htmlpage"  -- while 'require' is what it was
end

-- ---- the suite's own helper, and coverage -----------------------------------

local function load_own_helper ()
  if not settings.helper then
    return
  end
  local load_helper = require "busted.modules.helper_loader"()
  local ok, message = load_helper(busted, settings.helper,
                                  {arguments = settings.words})
  if not ok then
    refuse("helper=%s: %s", settings.helper, message)
  end
end

-- For each test that is declared busted makes a traceback, for which Lua looks
-- through the fields of all loaded modules (luaL_traceback), to name functions.
-- Ours are never in one, and would make it a sixth slower.
local function hide_modules ()
  for name, module in pairs(package.loaded) do
    if type(module) == "table" and match(name, "^tracegrip%.") then
      package.loaded[name] = setmetatable({}, {__index = module})
    end
  end
end

testcoverage.check(settings)

local finish_coverage = settings.coverage
                        and testcoverage.begin(busted, settings)
                        or function () end

if (settings.traces or "") == "" then
  load_own_helper()
  finish_coverage()
  hide_modules()
  return
end

local start_options = trace_options(settings)
try_options(start_options)

-- The same without the name, which is not one of a recording's options.
local record_options = trace_options(settings)
record_options.name = nil

-- ---- words ------------------------------------------------------------------

local function complain (...)
  stderr:write("tracegrip: " .. format(...) .. "\n")
end

-- What busted calls it: the names from the outermost describe inwards.
local function full_name (element)
  local names = {}
  repeat
    insert(names, 1, tostring(element.name or element.descriptor))
    local last = element.descriptor == "file"
    element = busted.parent(element)
  until last or not element or element.descriptor == "file"
  return concat(names, " ")
end

-- ---- the trace, and the file that it is recorded on -------------------------

local OUTSIDE = "outside-of-tests"      -- what runs then, in file names

local files = testfiles.new(settings.traces)
local trace
local running           -- {path, pid} of its file; nil: it is in memory

-- Only a ring can begin anew and again on a file.
local function record ()
  if start_options.overflow ~= "ring" or not files:make() then
    return nil
  end
  target.clear(files:running(OUTSIDE))
  local program = type(arg) == "table" and arg or {}
  local path, result = core.record(record_options, {
    path = files:running(OUTSIDE), exclusive = true, single = true,
    name = start_options.name, program = program[0], arguments = program,
  })
  if path then
    running = {path = path, pid = core.pid()}
    return result
  end
end

-- A child that a test has forked leaves the file alone.
local function ours ()
  return running and running.pid == core.pid()
end

-- The file gets the name of the test that runs.
local function name_running (name)
  local path = files:running(name)
  if ours() and rename(running.path, path) then
    running.path = path
  end
end

local function stop_trace ()
  core.forget(trace)
  if ours() then
    remove(running.path)
    files:sweep()
  end
  trace, running = nil, nil
end

-- What is known of functions by now is known to the trace that begins anew; one
-- that has come to a limit makes room for another.
local function begin_trace ()
  if trace and core.restart(trace) then
    return
  elseif trace then
    stop_trace()
  end
  trace = record() or core.watch(start_options)
  if not settings.internals then
    core.pause(trace)
  end
end

local function write_page (path)
  local recording, message = core.open(path)
  if not recording then
    return nil, message
  end
  return recording:trace():export("html", gsub(path, "%.tgr$", "") .. ".html")
end

local function save (file)
  local path = files:path(file)
  local ok, message = files:make()
  if ok then
    ok, message = trace:save(path)
  end
  if ok and settings.html then
    ok, message = write_page(path)
  end
  return ok, message
end

-- ---- the part that runs: a test, or what is between two ---------------------

local part              -- {started, test, element, name, file, failed}
local slow = {}         -- about tests that were

local function try_to_keep (p, element)
  if not p.test or not p.file then
    p.name = full_name(p.element or element)
    p.file = files:take(p.name)
  end
  local ok, message = save(p.file)
  return ok and gsub(settings.traces, "(.)/*$", "%1/") .. p.file, message
end

-- Keeps the recording of a part as it is now, under the name of its test, or of
-- what has failed outside of tests. The path, or nil when that failed, which is
-- told once.
local function keep (p, element)
  if p.failed then
    return nil
  end
  local called, path, message = pcall(try_to_keep, p, element)
  if called and path then
    return path
  end
  p.failed = true
  complain("cannot keep the recording of '%s': %s", p.name or "?",
           called and message or path)
end

local function keep_slow (p)
  local seconds = monotime() - p.started
  if p.element and settings.slow and seconds * 1000 > settings.slow then
    local path = keep(p)
    slow[#slow + 1] = path and format("%.3f s  %s\nRecording: %s\n", seconds,
                                      full_name(p.element), path)
  end
end

-- The recording of a test that failed went to the failure and is made anew: it
-- goes on to the last after_each.
local function finish (p)
  if p.test and p.file then
    keep(p)
  elseif p.test then
    keep_slow(p)
  end
end

local function next_part (test)
  if part then
    finish(part)
    if part.element then
      name_running(OUTSIDE)
    end
  end
  part = {started = monotime(), test = test}
  begin_trace()
end

local function last_part ()
  if part then
    finish(part)
    part = nil
    stop_trace()
  end
end

local function tell_slow ()
  if #slow > 0 then
    stderr:write("\nSlow tests:\n", concat(slow))
  end
  slow = {}
end

-- ---- busted's side ----------------------------------------------------------

local function begin_test ()
  next_part(true)
end

local function end_test ()
  next_part(false)
end

-- Where busted's blocks cannot be surrounded: those of the outermost context,
-- the suite's own helper's among them, are called in their order, so ours is
-- the first before_each and the last after_each.
local surrounded = testframes.surround(busted, begin_test, end_test)
if not surrounded then
  busted.before_each(begin_test)
end

load_own_helper()
finish_coverage()

if not surrounded then
  busted.after_each(end_test)
end

local function subscribe (kind, what, f)
  busted.subscribe({kind, what}, function (...)
    f(...)
    return nil, true
  end)
end

-- What fails in a file's or describe's body is in its recording from there.
subscribe("suite", "start", end_test)
subscribe("file", "start", end_test)
subscribe("describe", "start", end_test)
subscribe("suite", "end", last_part)
subscribe("suite", "end", tell_slow)
subscribe("test", "start", function (element)
  if part and part.test then
    part.element = element
    name_running(full_name(element))
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
                            message .. "\nRecording: " .. path, ...)
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

if not settings.internals then
  testframes.hide(busted, function ()
    return trace and core.pause(trace)
  end, function ()
    if trace then
      core.resume(trace)
    end
  end)
end

hide_modules()
