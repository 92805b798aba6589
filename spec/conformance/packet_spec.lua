-- The exact shape of packets, field by field, as Lua tables and as JSON Lines.

local conform = require "spec.support.conform"
local notation = require "spec.support.notation"
local run = require "spec.support.run"

local all = {
  "name", "callsite", "time", "parameterNames", "arguments", "return",
  "throw", "yield", "location", "depth", "hitCount", "thread"
}

local program = [[
local function f (a, ...)
  if a == 0 then error("no", 0) end
  return a, {x = ...}
end
start()
f(1, "y")
pcall(f, 0)
]]

local function untimed (packets)
  for _, p in ipairs(packets) do
    assert.equal("number", type(p.time))
    p.time = nil
  end
  return packets
end

local function pool (...)
  local list = {}
  for i, properties in ipairs {...} do
    list[i] = {
      class = "table", extensible = true, frozen = false, sealed = false,
      prototype = {type = "null"}, safeGetterValues = {}, ownProperties = {}
    }
    for k, v in pairs(properties) do
      list[i].ownProperties[k] = {
        enumerable = true, configurable = true, writable = true, value = v
      }
    end
  end
  return list
end

-- f(1, "y") with the default types
local function first_call (packets)
  assert.same({
    type = "enteredFrame", sequence = 0, name = "f",
    callsite = {url = "p.lua", line = 6}, parameterNames = {"a", "..."},
    arguments = {values = {1, "y"}, objectPool = {}}
  }, packets[1])
  assert.same({
    type = "exitedFrame", sequence = 1, why = "return",
    ["return"] = {
      value = 1, values = {1, {type = "object", objectId = 0}},
      objectPool = pool {x = "y"}
    }
  }, packets[2])
end

describe("a packet", function ()
  it("has the protocol's eight types by default", function ()
    local result = conform.run((program:gsub("start%(%)", "start {}")))
    first_call(untimed(result[1].packets))
  end)

  it("has the same types when options are left out", function ()
    local result = conform.run((program:gsub("start%(%)",
      "trace = tracegrip.start()")) .. [[
      trace:stop()
      for p in trace:packets() do
        print(p.name, p.callsite and p.callsite.line, p.depth, p.thread)
        break
      end
    ]])
    assert.equal("f\t6\tnil\tnil\n", result.stdout, result.message)
  end)

  it("has nothing but type, sequence and why without types", function ()
    local result = conform.run((program:gsub("pcall.*", "")), {trace = {}})
    assert.same({
      {type = "enteredFrame", sequence = 0},
      {type = "exitedFrame", sequence = 1, why = "return"}
    }, result[1].packets)
  end)

  for _, one in ipairs(all) do
    it("has only what was asked for: " .. one, function ()
      local text = conform.text(program, {trace = {one}})
      assert.equal(8, select(2, text:gsub("[^\n]+", "")))
    end)
  end

  it("has all twelve types", function ()
    local text, result = conform.text(program, {trace = all})
    assert.equal(notation.expected [[
      > f{a, ...}(1, "y") @6 ^1 d0 t1 n1
      < f return 1, #1{x = "y"}
    ]], text:match "^[^\n]+\n[^\n]+")
    assert.equal(8, #result[1].packets)
  end)

  it("of a throw has the thrown value", function ()
    local result = conform.run(program)
    assert.same({
      type = "exitedFrame", sequence = 5, why = "exception",
      throw = {value = "no", objectPool = {}}
    }, untimed(result[1].packets)[6])
  end)

  it("of a return without values has none", function ()
    local result = conform.run [[
      local function f () end
      start()
      f()
    ]]
    assert.same({
      type = "exitedFrame", sequence = 1, why = "return",
      ["return"] = {value = {type = "undefined"}, values = {}, objectPool = {}}
    }, untimed(result[1].packets)[2])
  end)

  it("of a return with one value has no list", function ()
    local result = conform.run [[
      local function f () return 5 end
      start()
      f()
    ]]
    assert.same({
      type = "exitedFrame", sequence = 1, why = "return",
      ["return"] = {value = 5, objectPool = {}}
    }, untimed(result[1].packets)[2])
  end)

  it("of a tail call says so", function ()
    local result = conform.run [[
      local function g () end
      local function f () return g() end
      start()
      f()
    ]]
    assert.same({
      type = "exitedFrame", sequence = 1, why = "return", tailCall = true
    }, untimed(result[1].packets)[2])
  end)

  it("of a yield and of a resume", function ()
    local packets = untimed(conform.run([[
      local function f () coroutine.yield(1, 2) end
      local gen = coroutine.wrap(f)
      start()
      gen()
      gen()
    ]])[1].packets)
    assert.same({
      type = "exitedFrame", sequence = 3, why = "yield",
      yield = {value = 1, values = {1, 2}, objectPool = {}}
    }, packets[4])
    assert.same("f", packets[8].name)
    assert.is_true(packets[8].resumed)
    assert.is_nil(packets[8].arguments)
  end)
end)

describe("JSON Lines", function ()
  local function exported (text, options)
    return run.within(function (directory)
      local result = run.code(([[
        local tracegrip = require "tracegrip"
        local trace
        local function start () trace = tracegrip.start(%s) end
      ]]):format(run.literal(options or {})) .. text .. ([[

        trace:stop()
        assert(trace:export("packets", %q))
      ]]):format(directory .. "/out"), {name = "p.lua"})
      assert.equal(0, result.status, result.stderr)
      return run.read(directory .. "/out")
    end)
  end

  it("are the same packets", function ()
    local text = exported([[
      local function f (a, ...) return a, {x = ...} end
      start()
      f(1, "y")
      pcall(error, {1, 2.5, "é\n\1\"\\"})
    ]], {trace = {"name", "arguments", "return", "throw", "time"}})
    local packets = run.decode(text)
    assert.equal(notation.expected [[
      > f(1, "y")
      < f return 1, #1{x = "y"}
      > pcall(#1 function error, #2{1, 2.5, "é\n\1\"\\"})
        > error(#1{1, 2.5, "é\n\1\"\\"})
        < error throw #1{1, 2.5, "é\n\1\"\\"}
      < pcall return false, #1{1, 2.5, "é\n\1\"\\"}
    ]], notation.render(packets, {
      trace = {"name", "arguments", "return", "throw", "time"}
    }))
  end)

  it("write empty lists as lists and empty objects as objects", function ()
    local text = exported([[
      local function f (...) end
      start()
      f()
      f({})
    ]], {trace = {"arguments", "return", "parameterNames"}})
    local lines = {}
    for line in text:gmatch "[^\n]+" do
      lines[#lines + 1] = line
    end
    assert.is_truthy(lines[1]:find('"values":%s*%[%]'), lines[1])
    assert.is_truthy(lines[1]:find('"objectPool":%s*%[%]'), lines[1])
    assert.is_truthy(lines[2]:find('"values":%s*%[%]'), lines[2])
    assert.is_truthy(lines[3]:find('"ownProperties":%s*{}'), lines[3])
    assert.is_truthy(lines[3]:find('"safeGetterValues":%s*{}'), lines[3])
  end)

  it("keep floats floats and integers integers", function ()
    local text = exported([[
      local function f (...) end
      start()
      f(1.0, 1, 1e100, 0.1, -7.0, 2^53)
    ]], {trace = {"arguments"}})
    local values = run.decode(text)[1].arguments.values
    assert.same({"float", "integer", "float", "float", "float", "float"}, {
      math.type(values[1]), math.type(values[2]), math.type(values[3]),
      math.type(values[4]), math.type(values[5]), math.type(values[6])
    })
    assert.same({1.0, 1, 1e100, 0.1, -7.0, 2^53}, values)
  end)

  it("give the time in milliseconds to the nanosecond", function ()
    local text = exported([[
      local function f () end
      start()
      for i = 1, 100 do f() end
    ]], {trace = {"time"}})
    for number in text:gmatch '"time":%s*([^,}]+)' do
      local _, decimals = number:match "^(%d+)%.(%d+)$"
      assert.is_truthy(decimals or number:match "^%d+$", number)
      assert.is_true(#(decimals or "") <= 6, number)
    end
  end)
end)
