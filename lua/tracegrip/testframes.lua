-- testframes.lua - of what runs in a busted suite, the tests' own frames only.
--
-- What busted and luassert do around a test's calls is kept out of its
-- recording: most of it by patterns for their files, the rest, which calls
-- Penlight or shares a file with the assertions, by functions of ours around
-- it. An assertion is left, one frame with what was compared.
--
-- Patterns and functions hide events, but each still costs a call of the hook,
-- and busted alone calls some 600 functions for a test. So the hook is there
-- only while a test, a before_each or the like runs, if nobody else traces.
--
-- All that is needed is in busted's and luassert's API, but for what is looked
-- up among upvalues: busted's core object, the functions that it runs blocks
-- with, and luassert's geterror.

local core = require "tracegrip.core"
core.own()

local testframes = {}

-- A test may put anything in their place by the time that it fails.
local getinfo, match = debug.getinfo, string.match

-- ---- by the file ------------------------------------------------------------

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

-- The same for a source as debug.getinfo tells it.
local function source_in (name)
  return "^@" .. directory(name):sub(2)
end

--- What is left out: patterns for all that surrounds the program's own calls
-- but luassert's assert.lua, which has the function that an assertion is.
function testframes.machinery ()
  local luassert = directory "luassert.state"
  return {
    directory "busted.core", source "mediator", source "say",
    luassert .. "[^a]", luassert .. "a[^s]", luassert .. "assert[^%.]",
    "^luassert%.",
  }
end

-- ---- by functions of ours ---------------------------------------------------

local function upvalue (f, wanted)
  local i = 1
  local name, value = debug.getupvalue(f, i)
  while name and name ~= wanted do
    i = i + 1
    name, value = debug.getupvalue(f, i)
  end
  return value, name and i
end

-- What our own functions call is ours too, so a function of ours around another
-- one takes it out of the picture. No tail calls: a frame that is gone hides
-- nothing. One result.
local function covered (f)
  return function (...)
    return (f(...))
  end
end

local function cover (t, name)
  t[name] = covered(t[name])
end

-- The first frame from 'level' on, as our caller counts, that is none of C,
-- busted, luassert or ours: where the test is.
local function beyond (level, hidden)
  local at = level + 1
  local info = getinfo(at, "S")
  while info do
    local inside = info.what == "C"
    for i = 1, #hidden do
      inside = inside or match(info.source, hidden[i])
    end
    if not inside then
      return at - 1
    end
    at = at + 1
    info = getinfo(at, "S")
  end
  return level
end

-- busted passes over its own frames and luassert's, but not over ours.
local function cover_trace (machine)
  local get_trace = machine.getTrace
  local hidden = {
    source_in "busted.core", source_in "luassert.state",
    "^" .. getinfo(1, "S").source:gsub("%p", "%%%0") .. "$",
  }
  machine.getTrace = function (element, level, message)
    return (get_trace(element, beyond(level or 3, hidden) + 1, message))
  end
end

-- assert(x), for which luassert's table is called: by tests, and by luassert to
-- check its own arguments. An error is raised where the caller is.
local function cover_assert (meta)
  local call = meta.__call
  meta.__call = function (self, ok, message, level, ...)
    if not ok then
      call(self, ok, message, self:level((self:get_level(level) or 1) + 1))
    end
    return ok, message, level, ...
  end
end

-- What an assertion says when it fails.
local function cover_message (assertion)
  local geterror, i = upvalue(assertion, "geterror")
  if i then
    debug.setupvalue(assertion, i, covered(geterror))
  end
end

-- ---- while a part of the suite runs -----------------------------------------

-- Whether busted runs a function of its own: an executor, which runs other
-- parts, or the subscribers of an event.
local function is_inner (run, source_in_busted)
  return type(run) == "function"
         and match(getinfo(run, "S").source, source_in_busted)
end

-- All that is run is run by 'safe': it pushes the part, calls it under xpcall,
-- whose call must be seen for the sake of the thrown value, and pops it. What
-- it is called from may be a test itself, of a suite that tests busted. A tail
-- call, since busted makes a traceback for each test that is declared, which
-- costs more with each frame.
local function watch_runs (machine, pause, resume)
  local context = machine.context
  local safe, push, pop = machine.safe, context.push, context.pop
  local inside = source_in "busted.core"
  local runs, paused        -- of the part that is pushed next
  local depth, before = 0, {}
  machine.safe = function (descriptor, run, element)
    paused = pause()
    runs = not is_inner(run, inside)
    return safe(descriptor, run, element)
  end
  context.push = function (element)
    depth = depth + 1
    before[depth] = paused
    push(element)           -- keeps what is loaded
    if runs then
      resume()
    end
    runs, paused = false, false
  end
  context.pop = function ()
    pause()
    pop()                   -- puts that back
    depth = depth - 1
    if before[depth + 1] then
      resume()
    end
  end
end

-- busted's core object, which its API is a part of; nil if it is not found.
local function core_object (busted)
  return (upvalue(getmetatable(busted).__index, "busted"))
end

--- Calls 'before' before the first before_each of each test and 'after' after
-- its last after_each; false if that is not possible. Blocks of the suite would
-- do, but to run one costs busted as much as to run a small test.
function testframes.surround (busted, before, after)
  local machine = core_object(busted)
  local executors = machine and upvalue(machine.execute, "executors")
  local block = executors and upvalue(executors.it, "block")
  if not block then
    return false
  end
  local exec_all, dexec_all = block.execAll, block.dexecAll
  local parent = machine.context.parent
  -- Each calls itself for the part around: of the outermost one first, or last.
  block.execAll = function (descriptor, part, ...)
    if descriptor == "before_each" and not parent(part) then
      before()
    end
    return exec_all(descriptor, part, ...)
  end
  block.dexecAll = function (descriptor, part, ...)
    local success = dexec_all(descriptor, part, ...)
    if descriptor == "after_each" and not parent(part) then
      after()
    end
    return success
  end
  return true
end

--- Covers what the patterns cannot tell apart, and calls 'pause', which says
-- whether it made a difference, and 'resume' around what is the suite's. A core
-- object of busted that is not found leaves some frames more.
function testframes.hide (busted, pause, resume)
  local machine = core_object(busted)
  local assertion = require "luassert"
  if machine then
    cover(machine, "publish")
    cover(machine, "rewriteMessage")
    cover_trace(machine)
    watch_runs(machine, pause, resume)
  end
  local state = getmetatable(assertion.state())
  cover(getmetatable(assertion), "__index")           -- assert.same
  cover(state, "__index")                             -- assert.are.same
  if rawget(assertion, "get_level") then
    cover_assert(getmetatable(assertion))
  end
  cover_message(state.__call)
end

return testframes
