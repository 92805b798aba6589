-- Coroutines that the collector has freed: memory still has them, and neither
-- dump nor ps shows them.

local dkjson = require "dkjson"
local jits = require "spec.support.jits"
local lookedat = require "spec.support.lookedat"
local run = require "spec.support.run"

-- Some ten coroutines are left of many. Which ones go is by chance, so that
-- memory is freed in any order, but always the same. The program says how many
-- there are that have begun, and that have not, by a table that keeps none.
local code = [==[
local seed, list, all = 1, {}, setmetatable({}, {__mode = "k"})
local function chance (n)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return math.floor(seed / 65536) % n + 1
end
local function body (a)
  local t = {a}
  for i = 1, 10 do t[i] = i end
  coroutine.yield(t)
end
local function fill ()
  for i = 1, 30 do
    if not list[i] then
      list[i] = coroutine.create(body)
      all[list[i]] = i % 5 > 0 and "begun" or "new"
      if i % 5 > 0 then coroutine.resume(list[i], i) end
    end
  end
end
for _ = 1, 40 do
  fill()
  for _ = 1, 20 do list[chance(30)] = nil end
  collectgarbage()
end
fill()
for i = 1, 20 do list[i] = nil end
collectgarbage()
collectgarbage "stop"
local n = {begun = 0, new = 0}
for _, is in pairs(all) do n[is] = n[is] + 1 end
say(("%d %d"):format(n.begun, n.new))
io.read()
print(list)]==]

-- The same of a document; "8 2".
local function counted (document)
  local begun, new = 0, 0
  for _, coroutine in ipairs(document.states[1].coroutines) do
    if coroutine.status == "suspended" then
      local is_new = #coroutine.frames == 0
      begun, new = begun + (is_new and 0 or 1), new + (is_new and 1 or 0)
    end
    assert.is_nil(coroutine.unconfirmed)
  end
  assert.is_nil(document.states[1].unconfirmed)
  assert.is_nil(document.states[1].dead)
  return begun .. " " .. new
end

local function listed (pid)
  local result = run.command({run.build .. "/bin/tracegrip", "ps", "--json"},
                             {env = {LUA = run.host}})
  for _, row in ipairs(dkjson.decode(result.stdout)) do
    if row.pid == pid then
      return row
    end
  end
end

local function both ()
  local list = lookedat.interpreters()
  for _, interpreter in ipairs(jits.here()) do
    list[#list + 1] = {path = interpreter.path,
                       release = "JIT " .. interpreter.release}
  end
  return list
end

for _, interpreter in ipairs(both()) do
  describe("of coroutines of Lua " .. interpreter.release, function ()
    it("those that exist are shown, and no others", function ()
      lookedat.with(interpreter.path, code, function (process)
        local said = process:waiting()
        local _, document = lookedat.dump(process.pid)
        assert.equal(said, counted(document))
        local row = listed(process.pid)
        assert.equal(#document.states[1].coroutines, row.coroutines)
        assert.is_nil(row.unconfirmed)
      end)
    end)

    local it = lookedat.has_cores and it or pending
    it("a core has the same", function ()
      lookedat.with(interpreter.path, code, function (process)
        local said = process:waiting()
        local _, document = lookedat.dump(lookedat.core_of(process))
        assert.equal(said, counted(document))
      end)
    end)
  end)
end

-- A list that comes back to itself, as one that changes may look.
local circle = [[
local module = "ffi"
local ffi = require(module)
local list = {}
for i = 1, 3 do list[i] = coroutine.create(function () end) end
collectgarbage "stop"
local last = {}
local at = tonumber(tostring(last):match "0x%x+")
ffi.cast("uint64_t *", at)[0] = at
local newer = coroutine.create(function () end)
say 'x' io.read()
os.exit(0, false)]]

describe("a state whose list of objects does not end", function ()
  local jit = jits.here()[1]
  local it = jit and it or function (sentence)
    pending(sentence .. ": needs luajit")
  end

  it("has its coroutines shown, and it is said which may be gone", function ()
    lookedat.with(jit.path, circle, function (process)
      process:waiting()
      local _, document = lookedat.dump(process.pid)
      local state = document.states[1]
      local unconfirmed = 0
      for _, coroutine in ipairs(state.coroutines) do
        unconfirmed = unconfirmed + (coroutine.unconfirmed and 1 or 0)
      end
      assert.equal(5, #state.coroutines)
      assert.same({3, 3}, {unconfirmed, state.unconfirmed})
      assert.equal(3, listed(process.pid).unconfirmed)
      local tool = run.build .. "/bin/tracegrip"
      local shown = run.command({tool, "dump", tostring(process.pid)}).stdout
      assert.truthy(shown:find("suspended, or gone already", 1, true))
      assert.truthy(shown:find("3 coroutines may be gone already", 1, true))
      assert.truthy(run.command({tool, "ps"}).stderr:find(
        ("3 coroutines of process %d may be gone"):format(process.pid), 1,
        true))
    end)
  end)
end)
