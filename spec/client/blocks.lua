-- blocks.lua SEED ROUNDS - bytes that are nearly a blockstream, made a log and
-- a recording by core.receive. Whatever comes: no crash, and what has been
-- recorded can be read. Without damage it is the trace that was sent. Its own
-- process, as a crash is one of the outcomes.

local blocks = dofile((arg[0]:match "^(.*)/client/") .. "/support/blocks.lua")
local core = require "tracegrip.core"

local seed, rounds = tonumber(arg[1]), tonumber(arg[2])
local path = os.tmpname()
math.randomseed(seed)

local function work (t)
  local co = coroutine.wrap(function (a)
    for i = 1, 3 do
      a = coroutine.yield(a, {i, [t] = i})
    end
    error "end"
  end)
  co(t)
  co(("long"):rep(200))
  pcall(co, print)
  for _ = 1, 300 do
    math.max(select("#", t, ("x"):rep(20)))
  end
end

local function packets (trace)
  local name = path .. ".packets"
  assert(trace:export("packets", name))
  local file <close> = assert(io.open(name, "rb"))
  os.remove(name)
  return file:read "a"
end

local trace = core.start {name = "sent", trace = core.traceTypes,
                          valueDepth = 2}
work {1, {2}, key = {}}
trace:stop()
assert(trace:save(path))
local sent = blocks(path)

local function receive (list)
  local receiver <close> = core.receive({trace = core.traceTypes,
                                         valueDepth = 2}, nil,
                                        {path = path, name = "received"})
  for _, bytes in ipairs(list) do
    local ok, message, code = receiver:feed(bytes)
    if not ok then
      assert(type(message) == "string" and type(code) == "number")
    end
    receiver:pump()
  end
  receiver:finish "requested"
end

local function shown (list)
  local receiver <close> = core.receive({}, {path = "/dev/null"})
  for _, bytes in ipairs(list) do
    receiver:feed(bytes)
    receiver:pump()
  end
  receiver:finish()
end

-- Reads what there is; damage ends it, which is told.
local function read ()
  local recording = core.open(path)
  if recording then
    local all = recording:traces()[1]
    pcall(function ()
      for _ in all:packets() do end
    end)
    recording:info()
  end
end

-- A copy with one thing wrong.
local function damaged ()
  local list = table.move(sent, 1, #sent, 1, {})
  local i = math.random(#list)
  local bytes = list[i]
  local at = math.random(#bytes)
  local how = math.random(5)
  if how == 1 then        -- cut off
    list[i] = bytes:sub(1, at)
  elseif how == 2 then    -- another byte
    list[i] = bytes:sub(1, at - 1) .. string.char(math.random(0, 255))
              .. bytes:sub(at + 1)
  elseif how == 3 then    -- a part of it missing
    list[i] = bytes:sub(1, at) .. bytes:sub(at + math.random(9))
  elseif how == 4 then    -- twice, or in another order
    table.insert(list, math.random(#list), bytes)
  else
    table.remove(list, i)
  end
  return list
end

receive(sent)
assert(packets(core.open(path):traces()[1]) == packets(trace), "not the same")
for _ = 1, rounds do
  local list = damaged()
  receive(list)
  read()
  shown(list)
end
os.remove(path)
