-- acting.lua - actors whose clients, and finalizers, do anything at any time:
-- start, stop and replace traces, attach and detach, raise errors.
--
--   lua5.4 acting.lua SEED
--
-- Prints "done". What is looked for is a crash.

math.randomseed(tonumber(arg[1]))

local tracegrip = require "tracegrip"
local console = require "tracegrip.console"
local new = require("tracegrip.actor").new

local actors, traces, depth = {}, {}, 0
local act

-- One of two names, or none.
local function name ()
  return ({"x", "y"})[math.random(3)]
end

local function chance (n)
  return math.random(n) == 1
end

local function react ()
  if depth < 3 and chance(3) then
    act()
  end
end

local function make (i)
  actors[i] = new {id = "t" .. i, send = function ()
    react()
    assert(not chance(20), "lost")
  end}
end

local function ask (kind, fields)
  local i = math.random(#actors)
  fields = fields or {}
  fields.to, fields.type = "t" .. i, kind
  actors[i]:receive(fields)
end

local function nest (n)
  return n > 0 and {nest(n - 1)} or {}
end

local acts = {
  function ()
    console.startTrace(name(), {maxEvents = chance(3) and 3 or nil})
  end,
  function () console.stopTrace(name()) end,
  function () traces[math.random(3)] = tracegrip.start {name = name()} end,
  function () traces[math.random(3)] = nil end,
  function () ask "attach" end,
  function () ask "attach" end,
  function () ask "detach" end,
  function ()
    ask("startTrace", {name = name(), batch = chance(3) and 2 or nil})
  end,
  function () ask "stopTrace" end,
  function () actors[math.random(3)]:flush() end,
  function () make(math.random(3)) end,
  function () collectgarbage() end,
  function () nest(5) end,
  function () nest(3) end,
  function () setmetatable({}, {__gc = react}) end,
  function () setmetatable({}, {__gc = react}) end,
  function ()
    local trace = traces[math.random(3)]
    if trace then
      trace:stop()
    end
  end,
}

function act ()
  depth = depth + 1
  local ok, err = pcall(acts[math.random(#acts)])
  assert(ok or tostring(err):find "lost", err)
  depth = depth - 1
end

for i = 1, 3 do
  make(i)
end
for _ = 1, 2000 do
  act()
end
print "done"
