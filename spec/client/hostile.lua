-- hostile.lua SEED ROUNDS - packets that no program of ours would send, made a
-- log and a recording by core.replay. Whatever comes: no crash, and what has
-- been recorded can be read. Its own process, as a crash is one of the
-- outcomes.

local core = require "tracegrip.core"

local seed, rounds = tonumber(arg[1]), tonumber(arg[2])
local path = os.tmpname()
math.randomseed(seed)

---------------------------------------------------------------------------
-- Packets that make sense
---------------------------------------------------------------------------

local function work (t, ...)
  local co = coroutine.wrap(function (a)
    for i = 1, 3 do
      a = coroutine.yield(a, {i, [t] = i, ["[x"] = 0 / 0})
    end
    error({co = coroutine.running()})
  end)
  co(t)
  co("a\xff", math.mininteger, -0.0)
  co(("long"):rep(200))
  pcall(co, print)
  return select("#", ...), io.stdout, setmetatable({}, {__name = "Odd*"})
end

local function sample ()
  local trace = core.start {trace = core.traceTypes, valueDepth = 3}
  work({1, {2}, key = {}}, nil, true)
  work(setmetatable({}, {__index = {}}))
  trace:stop()
  local list = {}
  for packet in trace:packets() do
    list[#list + 1] = packet
  end
  return list
end

---------------------------------------------------------------------------
-- And what becomes of them
---------------------------------------------------------------------------

local function copy (value)
  if type(value) ~= "table" then
    return value
  end
  local result = {}
  for key, item in pairs(value) do
    result[key] = copy(item)
  end
  return result
end

local odd = {
  false, true, 0, -1, 1, 2.5, 0 / 0, 1 / 0, -1 / 0, math.maxinteger,
  math.mininteger, 1 << 31, 1 << 32, 1e300, "", "\0", "x", ("y"):rep(70000),
  "object", "longString", "[table 0]", "[table 99999999999999999999]", '["',
  '["]', "[[", "return", "yield", "exception", "terminated", "enteredFrame",
  "exitedFrame", "\xff\xfe", print, io.stdout, coroutine.create(print),
  {}, {1, 2, 3}, {type = "object", objectId = 0}, {type = "object"},
  {type = "object", objectId = 1 << 40}, {type = "BigInt", text = "x"},
  {type = "bytes", initial = "A", length = -1},
  {type = "longString", length = math.maxinteger}, {type = {}},
  {class = 5, ownProperties = {a = 1, [1] = 2}}, {url = {}, line = -1}
}

local function keys_of (t)
  local keys = {}
  for key in pairs(t) do
    keys[#keys + 1] = key
  end
  return keys
end

-- Something odd, somewhere in it.
local function spoil (t, depth)
  local keys = keys_of(t)
  local key = keys[math.random(#keys + 1)] or odd[math.random(5, 20)]
  if key ~= key then
    key = "nan"
  end
  if type(t[key]) == "table" and depth < 6 and math.random(4) > 1 then
    return spoil(t[key], depth + 1)
  elseif math.random(5) == 1 then
    t[key] = nil
  else
    t[key] = copy(odd[math.random(#odd)])
  end
end

-- A list of packets, some spoilt, left out, doubled or out of order.
local function spoilt (list)
  local result = {}
  for _, packet in ipairs(list) do
    local chance = math.random(12)
    if chance > 1 then
      packet = copy(packet)
      for _ = 1, chance > 6 and 0 or math.random(3) do
        spoil(packet, 1)
      end
      result[#result + 1] = packet
    end
    if chance == 2 then
      result[#result + 1] = list[math.random(#list)]
    end
  end
  return result
end

local function try (packets)
  local replay <close> = assert(core.replay({trace = core.traceTypes},
    {path = "/dev/null"}, {path = path, name = "hostile"}))
  for _, packet in ipairs(packets) do
    replay:put(packet)
    replay:pump()
  end
  local why = packets[1] and packets[1].why
  assert(replay:finish(type(why) == "string" and why or nil))
  local n = 0
  for _ in assert(core.open(path)):packets() do
    n = n + 1
  end
  return n
end

local list, read = sample(), 0
for _ = 1, rounds do
  read = read + try(spoilt(list))
end
os.remove(path)
print(("seed %d: %d rounds of %d packets, %d read"):format(seed, rounds, #list,
                                                           read))
