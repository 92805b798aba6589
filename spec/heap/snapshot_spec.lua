-- tracegrip heap PID: all objects of every Lua that is here, to the byte, and
-- what refers to what by the names that Lua has for it.

local heaps = require "spec.support.heaps"
local lookedat = require "spec.support.lookedat"
local run = require "spec.support.run"

-- All kinds of objects, and what is particular about sizes: arrays that are
-- part of their room, tables that grew and were emptied, open upvalues,
-- coroutines in all states, userdata with values, a table of strings that grew.
local everything = [[
  local weak = setmetatable({}, {__mode = "k"})
  local values = setmetatable({}, {__mode = "v"})
  local Account = {}
  Account.__index = Account
  local list, key, fleeting = {}, {}, {}
  for i = 1, 500 do
    local o = setmetatable({id = i, name = "account " .. i, log = {1, 2, i}},
                           Account)
    list[i] = o
    weak[o] = {i}
    values[i] = {i}
    o.f = function () return o, i end
    if i % 50 == 0 then
      o.co = coroutine.create(function (a, b)
        local x, y = {a}, {b}
        coroutine.yield(x, y)
        return x
      end)
      coroutine.resume(o.co, i, o)
    end
  end
  for i = 1, 20 do
    list["long" .. i] = ("long string "):rep(10) .. i
    list["over" .. i] = coroutine.create(function () end)
    coroutine.resume(list["over" .. i])
    list["new" .. i] = coroutine.create(function () end)
  end
  local t = {}
  for i = 1, 37 do t[i * 100] = i end
  t[3.5], t[true], t[key] = {}, {}, {}
  local part = {}
  for i = 1, 3000 do part[i] = i end
  for i = 1, 2000 do part[i] = nil end
  local constructed = {1, 2, 3, 4, 5, 6, 7, n = 1}
  constructed[8] = 1
  if newproxy then for i = 1, 5 do list[-i] = newproxy(true) end end
  local file = io.tmpfile()
  pcall(setmetatable, fleeting, {__gc = function () end})
  pcall(setmetatable, {}, {__gc = function () end})
  local load = loadstring or load
  for i = 1, 20 do
    list["code" .. i] = load("local a = ... return function (x) return a end")
  end
  local function deep (n) if n > 0 then return 1 + deep(n - 1) end return 0 end
  deep(150)
  local opened = 0
  local function open () opened = opened + 1 return opened end
  open()
  collectgarbage "stop"
  say(tostring(collectgarbage "count" * 1024))
  io.read()
  return list, t, part, constructed, file, fleeting, values, weak, key]]

for _, interpreter in ipairs(lookedat.interpreters()) do
  describe("a snapshot of Lua " .. interpreter.release, function ()
    it("has all objects, to the byte", function ()
      heaps.of(interpreter.path, everything, function (snapshot, document,
                                                       process)
        snapshot:check()
        assert.equal(document.state_bytes, document.bytes)
        assert.equal(document.bytes, snapshot:sum())
        assert.equal(document.objects, #snapshot:where(function (node)
          return node.type ~= "synthetic"
        end))
        local said = tonumber(process:word())
        assert.is_true(math.abs(document.bytes - said) < 4096)
        assert.equal(0, document.stopped_ms)
      end)
    end)

    it("has objects by class, and what each refers to", function ()
      heaps.of(interpreter.path, everything, function (snapshot)
        local accounts = snapshot:where(function (node)
          return node.type == "object" and node.name == "Account"
        end)
        assert.equal(500, #accounts)
        for _, account in ipairs(accounts) do
          local name = snapshot.to(account, "name", "property")
          assert.truthy(name.name:find "^account %d+$")
          assert.equal("string", name.type)
          assert.equal("table", snapshot.to(account, "log").name)
          local f = snapshot.to(account, "f")
          assert.equal("closure", f.type)
          local upvalue = snapshot.to(f, "upvalue o", "context")
          assert.equal(account, snapshot.to(upvalue, "value"))
          assert.equal("Account", (snapshot.to(account, "metatable") or {})
                                  .name == "table" and "Account")
        end
      end)
    end)
  end)
end

describe("a snapshot", function ()
  it("names classes by __name, and by where they are kept", function ()
    heaps.of(run.lua, [[
      local named = setmetatable({}, {__name = "my.class"})
      package.loaded["app.model"] = {Order = {}}
      local order = setmetatable({}, package.loaded["app.model"].Order)
      Point = {}
      Point.__index = Point
      local point = setmetatable({}, {__index = Point})
      say 'x' io.read()
      return named, order, point]], function (snapshot)
      for _, name in ipairs {"my.class", "app.model.Order", "Point"} do
        assert.equal(1, #snapshot:where(function (node)
          return node.type == "object" and node.name == name
        end), name)
      end
    end)
  end)

  it("has variables of frames, and coroutines by what they run", function ()
    heaps.of(run.lua, [[
      local function work ()
        local cache = {"in work"}
        coroutine.yield()
        return cache
      end
      local co = coroutine.create(function () local r = work() return r end)
      coroutine.resume(co)
      say 'x' io.read()
      return co]], function (snapshot)
      local thread = snapshot:where(function (node)
        return node.type == "object" and node.name:find "^thread "
      end)[1]
      assert.truthy(thread.name:find "^thread program.lua:%d+$")
      local cache
      for _, edge in ipairs(thread.edges) do
        if edge.name:find "^local cache of program.lua:%d+$" then
          cache = edge.to
        end
      end
      assert.equal("in work", snapshot.to(cache, 1, "element").name)
    end)
  end)

  it("has weak references as weak, and ephemerons as V8 has them", function ()
    heaps.of(run.lua, [[
      weak = setmetatable({}, {__mode = "k"})
      values = setmetatable({}, {__mode = "v"})
      key = {"the key"}
      weak[key] = {"the value"}
      values.x = key
      say 'x' io.read()]], function (snapshot)
      local globals = snapshot.to(snapshot.to(snapshot.nodes[1], "registry"), 2)
      local weak = snapshot.to(globals, "weak")
      local key = snapshot.to(globals, "key", "property")
      assert.equal(key, snapshot.to(weak, "key", "weak"))
      local pair
      for _, edge in ipairs(weak.edges) do
        if edge.type == "internal" and edge.name:find "in WeakMap" then
          pair = edge
        end
      end
      assert.equal("the value", snapshot.to(pair.to, 1).name)
      assert.equal(("1 / part of key (key @%d) -> value (value @%d) pair in "
                    .. "WeakMap (table @%d)"):format(key.id, pair.to.id,
                                                     weak.id), pair.name)
      assert.equal(pair.to, snapshot.to(key, pair.name, "internal"))
      local values = snapshot.to(globals, "values")
      assert.equal(key, snapshot.to(values, "x", "weak"))
      assert.is_nil(snapshot.to(values, "x", "property"))
    end)
  end)

  it("keeps what is to be collected apart from what is reached", function ()
    heaps.of(run.lua, [[
      collectgarbage() collectgarbage "stop"
      local mt = {__name = "lost"}
      local chain = setmetatable({}, mt)
      for _ = 1, 9 do chain = setmetatable({next = chain}, mt) end
      chain = nil
      say 'x' io.read() return mt]], function (snapshot, document)
      local last = snapshot.nodes[#snapshot.nodes]
      assert.equal("(to be collected)", last.name)
      assert.equal("synthetic", last.type)
      local lost = snapshot:where(function (node)
        return node.name == "lost" and node.type == "object"
      end)
      assert.equal(10, #lost)
      local heads = 0
      for _, edge in ipairs(last.edges) do
        heads = heads + (edge.to.name == "lost" and 1 or 0)
      end
      assert.equal(1, heads)
      assert.is_true(document.garbage >= 10 * 56)
    end)
  end)

  -- Also of all that refers to it only the owner keeps the inner table.
  it("lets what is to be collected keep nothing of what is reached", function ()
    heaps.of(run.lua, [[
      collectgarbage() collectgarbage "stop"
      local inner = {}
      for i = 1, 1000 do inner[i] = i end
      local owner = setmetatable({inner = inner}, {__name = "owner"})
      local lost = {inner, by = inner, [inner] = true, one = {inner}}
      inner, lost = nil, nil
      say 'x' io.read() return owner]], function (snapshot, _, _, path)
      local owner = snapshot:where(function (node)
        return node.name == "owner" and node.type == "object"
      end)[1]
      local inner, kinds = snapshot.to(owner, "inner"), {}
      for _, node in ipairs(snapshot.nodes) do
        for _, edge in ipairs(node.edges) do
          if edge.to == inner then
            kinds[#kinds + 1] = edge.type .. " " .. edge.name
          end
        end
      end
      table.sort(kinds)
      assert.same({"property inner", "weak [1]", "weak [1]", "weak by",
                   "weak key"}, kinds)
      local _, document = heaps.command {path, "--find", "owner", "--json"}
      assert.equal(owner.id, document.objects[1].id)
      assert.is_true(document.objects[1].retained > 1000 * 8)
    end)
  end)

  it("of a core is as one of the process", function ()
    if not os.execute "command -v gcore >/dev/null 2>&1" then
      return pending "needs gcore (package gdb)"
    elseif os.getenv "LD_PRELOAD" then
      return pending "a core has the terabytes that a sanitizer maps"
    end
    heaps.of(run.lua, everything, function (snapshot, document, process)
      local core = process.directory .. "/core"
      os.execute(("gcore -o %s %d >/dev/null 2>&1"):format(
        core, process.pid))
      local path = process.directory .. "/y.heapsnapshot"
      local other = heaps.take(core .. "." .. process.pid, path)
      assert.equal(document.bytes, other.bytes)
      assert.equal(other.state_bytes, other.bytes)
      assert.equal(document.objects, other.objects)
      local nodes = heaps.read(path).nodes
      assert.equal(#snapshot.nodes, #nodes)
      for i, node in ipairs(snapshot.nodes) do
        assert.equal(node.id, nodes[i].id)
      end
    end)
  end)
end)

describe("a process that runs", function ()
  it("is whole in a snapshot, whatever it is doing", function ()
    lookedat.with(run.lua, [[
      local list = {}
      say 'x'
      while true do
        for i = 1, 1000 do
          list[i % 100] = {i, tostring(i), function () return i end}
          if i % 10 == 0 then list["k" .. i] = {} end
          if i % 100 == 0 then
            coroutine.wrap(function () local x = {} end)()
          end
        end
        list = {}
      end]], function (process)
      process:word()
      for i = 1, 5 do
        local path = process.directory .. "/" .. i .. ".heapsnapshot"
        local document = heaps.take(process.pid, path)
        assert.equal(document.state_bytes, document.bytes)
        assert.equal(document.bytes, heaps.read(path):sum())
        assert.is_true(document.stopped_ms > 0)
      end
    end)
  end)
end)
