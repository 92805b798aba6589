-- resting.lua - a program that waits in a system call of a C function, where
-- its debuggers are answered from a signal handler (csrc/signal/asleep.h).
--
--   resting.begin(waits)           what comes from now on comes there; or the
--                                  program runs, and all can be answered
--   resting.postpones(method, params)
--                                  whether such a request has to wait until the
--                                  program runs: it would run code, or begin a
--                                  trace
--   resting.keep(client, text)     the message is for then
--   resting.forget(client)         it is gone, and what was kept of it
--   resting.finish(co)             the last was answered; co waits
--
-- luv's loop is woken, if that is where the program waits: then it runs at
-- once. Else the debugger is told where the program is.

local core = require "tracegrip.core"
local sessions = require "tracegrip.inspect.sessions"
local stacktrace = require "tracegrip.inspect.stacktrace"
core.own()

local getinfo, getregistry = debug.getinfo, debug.getregistry

local resting = {}

local there = false             -- the program waits
local kept = {}                 -- messages: {client =, text =}
local told = {}                 -- client -> true: it knows where the program is

function resting.begin (waits)
  there, kept = waits, {}
  told = waits and told or {}
end

-- Fields are assigned by raw access, but what the program is in the middle of
-- may be to traverse that very table.
local running = {
  ["HeapProfiler.getSamplingProfile"] = true,
  ["HeapProfiler.startSampling"] = true, ["HeapProfiler.stopSampling"] = true,
  ["Profiler.start"] = true, ["Profiler.stop"] = true,
  ["Profiler.startPreciseCoverage"] = true, ["Runtime.callFunctionOn"] = true,
  ["Runtime.evaluate"] = true
}

function resting.postpones (method, params)
  return there and running[method] and params.throwOnSideEffect ~= true
end

function resting.keep (client, text)
  kept[#kept + 1] = {client = client, text = text}
end

function resting.forget (client)
  told[client] = nil
  for i = #kept, 1, -1 do
    if kept[i].client == client then
      table.remove(kept, i)
    end
  end
end

---------------------------------------------------------------------------
-- luv
---------------------------------------------------------------------------

-- The program's own luv, if it is in the loop's usual mode: in any other one
-- the loop would end with our event. All of it C functions: nothing that the
-- program has put there is called.
local function running_luv (co)
  local inner = getinfo(co, 0, "f")
  local loaded = rawget(getregistry(), "_LOADED")
  for _, name in ipairs {"luv", "uv"} do
    local uv, found = rawget(loaded, name), {}
    for _, field in ipairs {"run", "loop_mode", "new_async", "async_send",
                            "close"} do
      local f = type(uv) == "table" and rawget(uv, field)
      found[field] = type(f) == "function" and getinfo(f, "S").what == "C"
                     and f or nil
    end
    if inner and found.run == inner.func and found.loop_mode
       and found.new_async and found.async_send and found.close
       and found.loop_mode() == "default" then
      return found
    end
  end
end

-- By a handle that goes as soon as the loop has seen it. Its callback is the
-- Lua code at whose call the program can be asked.
local function wake (uv)
  local handle
  handle = uv.new_async(function ()
    uv.close(handle)
  end)
  return handle and uv.async_send(handle)
end

---------------------------------------------------------------------------
-- Elsewhere
---------------------------------------------------------------------------

-- "accept at app.lua:12"
local function place (co)
  local list = stacktrace.capture(co, 200)
  local inner = list[1]
  for i, info in ipairs(list) do
    if info.what ~= "C" then
      local at = string.format("%s:%d", info.short_src, info.currentline)
      return i == 1 and at or string.format("%s at %s", inner.name or "?", at)
    end
  end
  return inner and inner.name or "?"
end

local function tell (client, co)
  if not told[client] then
    told[client] = true
    sessions.of(client):note("info", string.format(
      "The program is in a C function: %s. What is typed runs when that "
      .. "returns.", place(co)))
  end
end

-- The oldest is given back last.
function resting.finish (co)
  for i = #kept, 1, -1 do
    core.inspector.postpone(kept[i].client, kept[i].text)
  end
  local uv = #kept > 0 and running_luv(co)
  if not (uv and wake(uv)) then
    for _, one in ipairs(kept) do
      tell(one.client, co)
    end
  end
end

return resting
