-- The type "identity": which table a value is, from call to call.

local conform = require "spec.support.conform"
local run = require "spec.support.run"

local TYPES = {"name", "arguments", "return", "identity"}

-- The tables that "see" was given first, by its calls: numbers.
local function numbers_of (result)
  local list = {}
  for _, packet in ipairs(result.packets) do
    local first = packet.type == "enteredFrame" and packet.name == "see"
                  and packet.arguments.values[1]
    if type(first) == "table" and first.type == "object" then
      list[#list + 1] = packet.arguments.objectPool[first.objectId + 1].identity
    end
  end
  return list
end

-- `how`: options of conform.run; `index`: of the trace.
local function seen (program, how, index)
  how = how or {}
  how.trace = how.trace or TYPES
  local result = conform.run("local function see (t) end\n" .. program, how)
  assert.is_true(result.ok, result.message)
  return numbers_of(result[index or 1]), result
end

-- Numbers as letters in the order of their appearance: "a b a".
local function pattern (list)
  local letters, n = {}, 0
  for i, number in ipairs(list) do
    if not letters[number] then
      n = n + 1
      letters[number] = string.char(96 + n)
    end
    list[i] = letters[number]
  end
  return table.concat(list, " ")
end

describe("identity", function ()
  it("is the same for the same table, whatever is in it", function ()
    assert.equal("a b a c a b", pattern(seen [[
      local t, u = {1}, {1}
      start()
      see(t) see(u) t.x = {} t[1] = nil see(t) see(t.x)
      setmetatable(t, {__name = "named"})
      coroutine.wrap(function () see(t) end)()
      see(u)
    ]]))
  end)

  it("is told of tables in tables, and of metatables", function ()
    local _, result = seen([[
      local t = setmetatable({}, {__name = "T"})
      t.self = t
      local u = {t = t, meta = getmetatable(t)}
      start()
      see(u)
    ]], {options = {valueDepth = 3}})
    local pool = result[1].packets[1].arguments.objectPool
    local u = pool[1]
    local t = pool[u.ownProperties.t.value.objectId + 1]
    local meta = pool[u.ownProperties.meta.value.objectId + 1]
    assert.equal(t, pool[t.ownProperties.self.value.objectId + 1])
    assert.equal(meta, pool[t.prototype.objectId + 1])
    local ids = {u.identity, t.identity, meta.identity}
    table.sort(ids)
    assert.is_true(ids[1] < ids[2] and ids[2] < ids[3])
  end)

  -- Most of them come to an address where another one was.
  it("is never that of a table that is gone", function ()
    local list = seen [[
      start()
      for i = 1, 3000 do
        see {i}
        if i % 100 == 0 then collectgarbage() end
      end
    ]]
    local met = {}
    for _, number in ipairs(list) do
      assert.is_nil(met[number])
      met[number] = true
    end
    assert.equal(3000, #list)
  end)

  it("is nobody's who has not asked for it", function ()
    local list, result = seen("start() see {}", {trace = {"name", "arguments"}})
    assert.same({}, list)
    assert.is_nil(result[1].packets[1].arguments.objectPool[1].identity)
  end)

  it("goes with what is allocated, in any order, and leaves no trace",
  function ()
    local result = run.code([[
      local tracegrip = require "tracegrip"
      local types = {"name", "arguments", "identity"}
      local function see (t) end
      local function numbers (trace)
        local list = {}
        for packet in trace:packets() do
          if packet.name == "see" then
            list[#list + 1] = packet.arguments.objectPool[1].identity
          end
        end
        return list
      end
      local t = {}
      for round = 1, 4 do
        local memory = {trace = {"name", "allocations"}}
        local a = tracegrip.start(round % 2 == 0 and memory or {trace = types})
        local b = tracegrip.start(round % 2 == 1 and memory or {trace = types})
        see(t) see {} see(t)
        if round > 2 then a, b = b, a end
        a:stop()
        b:stop()
        local one = round % 2 == 1 and a or b
        if round > 2 then one = one == a and b or a end
        local list = numbers(one)
        assert(#list == 3 and list[1] == list[3] and list[1] ~= list[2])
      end
      for i = 1, 1000 do local u = {i} end
      collectgarbage()
      print "done"
    ]])
    assert.equal("done\n", result.stdout, result.stderr)
  end)

  it("stays when values are hidden, also by scrub", function ()
    run.within(function (directory)
      local tracegrip = run.build .. "/bin/tracegrip"
      run.write(directory .. "/p.lua", [[
        local function see (t) end
        local t = {password = "swordfish", n = 1}
        see(t) see(t)
      ]])
      local function command (...)
        local result = run.command({tracegrip, ...}, {cwd = directory})
        assert.equal(0, result.status, result.stderr)
        return result.stdout
      end
      command("record", "--no-c", "--trace", "name,arguments,identity", "-o",
              "a.tgr", "p.lua")
      command("scrub", "a.tgr", "-o", "b.tgr", "--redact", "password")
      local text = command("export", "packets", "b.tgr", "-o", "-")
      assert.is_nil(text:find "swordfish")
      local first, second = text:match '"identity":(%d+).*"identity":(%d+)'
      assert.equal(first, second)
      assert.truthy(first)
    end)
  end)
end)
