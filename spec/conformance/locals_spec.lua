-- The type "locals": what a frame's locals are where it calls and returns.

local conform = require "spec.support.conform"
local run = require "spec.support.run"

local literal

-- A value of a packet as text: tables with what they hold, sorted.
function literal (grip, pool)
  if type(grip) ~= "table" then
    return type(grip) == "string" and ("%q"):format(grip) or tostring(grip)
  elseif grip.type ~= "object" then
    return grip.type
  end
  local object, list = pool[grip.objectId + 1], {}
  if object.class == "function" then
    return "function"
  end
  for key, property in pairs(object.ownProperties) do
    list[#list + 1] = key .. "=" .. literal(property.value, pool)
  end
  table.sort(list)
  return "{" .. table.concat(list, " ") .. "}"
end

local function locals_text (packet)
  local list = {"@" .. packet.locals.line}
  for i, one in ipairs(packet.locals.values) do
    list[i + 1] = one.name .. "=" .. literal(one.value,
                                             packet.locals.objectPool)
  end
  return table.concat(list, " ")
end

-- One line for each packet: "> name" or "< why", and its locals if there are
-- any.
local function lines_of (packets)
  local lines = {}
  for i, p in ipairs(packets) do
    local head = p.type == "enteredFrame" and "> " .. p.name or "< " .. p.why
    lines[i] = p.locals and head .. " " .. locals_text(p) or head
  end
  return lines
end

local function checks (sentence, program, expected, options)
  it(sentence, function ()
    local result = conform.run(program, {trace = {"name", "locals"},
                                         options = options})
    assert.is_true(result.ok, result.message)
    local want = {}
    for line in expected:gmatch "[^\n]+" do
      want[#want + 1] = line:match "^%s*(.*%S)"
    end
    assert.same(want, lines_of(result[1].packets))
  end)
end

describe("locals", function ()
  it("are fields of a packet, like arguments", function ()
    local result = conform.run([[
      local function g () end
      local function f (a)
        local t = {a}
        g()
        return t
      end
      start()
      f(7)
    ]], {trace = {"locals"}})
    local pool = result[1].packets[2].locals.objectPool
    assert.equal(1, #pool)
    assert.same({value = 7, enumerable = true, configurable = true,
                 writable = true}, pool[1].ownProperties["[1]"])
    assert.same({
      {type = "enteredFrame", sequence = 0},
      {type = "enteredFrame", sequence = 1, locals = {
        line = 4, objectPool = pool, values = {
          {name = "a", value = 7},
          {name = "t", value = {type = "object", objectId = 0}}
        }
      }},
      {type = "exitedFrame", sequence = 2, why = "return",
       locals = {line = 1, values = {}, objectPool = {}}},
      {type = "exitedFrame", sequence = 3, why = "return", locals = {
        line = 5, objectPool = pool, values = {
          {name = "a", value = 7},
          {name = "t", value = {type = "object", objectId = 0}}
        }
      }}
    }, result[1].packets)
  end)

  checks("are those in scope at the line, as they are by then", [[
    local function g () end
    local function f (a)
      local x = a + 1
      g(x)
      do
        local inner, x = "i", nil
        g()
      end
      x = x * 2
      local none
      return x, g()
    end
    start()
    f(1)
  ]], [[
    > f
    > g @4 a=1 x=2
    < return @1
    > g @7 a=1 x=2 inner="i" x=undefined
    < return @1
    > g @11 a=1 x=4 none=undefined
    < return @1
    < return @11 a=1 x=4 none=undefined
  ]])

  checks("are without temporaries, the state of loops and extra arguments", [[
    local function g () end
    local function f (a, ...)
      for i = 1, 1 do
        for _, v in next, {"e"} do
          g(1 + a, v)
        end
      end
    end
    start()
    f(5, 6, 7)
  ]], [[
    > f
    > next @4 a=5 i=1
    < return
    > g @5 a=5 i=1 _=1 v="e"
    < return @1
    > next @4 a=5 i=1
    < return
    < return @8 a=5
  ]])

  checks("are not there where C calls a function, or returns", [[
    local function f (x) return x end
    local function run (list)
      table.sort(list, function (a, b) return a < b end)
    end
    start()
    pcall(f, 1)
    run {2, 1}
  ]], [[
    > pcall
    > f
    < return @1 x=1
    < return
    > run
    > table.sort @3 list={[1]=2 [2]=1}
    > (anonymous function)
    < return @3 a=1 b=2
    < return
    < return @4 list={[1]=1 [2]=2}
  ]])

  checks("are not there with a tail call, but where the callee returns", [[
    local function g (n) local m = n + 1 return m end
    local function f (x) local y = x return g(y) end
    local function outer () local z = f(1) return z end
    start()
    outer()
  ]], [[
    > outer
    > f @3
    < return
    > g
    < return @1 n=1 m=2
    < return @3 z=2
  ]])

  checks("are there at the call that throws, and not where frames unwind", [[
    local function f (x) local why = "no" error(why, 0) end
    local function g (t) return (t.x.y) end
    start()
    pcall(f, 1)
    pcall(g, {})
  ]], [[
    > pcall
    > f
    > error @1 x=1 why="no"
    < exception
    < exception
    < return
    > pcall
    > g
    < exception
    < return
  ]])

  checks("go with coroutines", [[
    local function body (a)
      local b = coroutine.yield(a)
      return a, b
    end
    start()
    local co = coroutine.create(body)
    coroutine.resume(co, 1)
    coroutine.resume(co, 2)
  ]], [[
    > coroutine.create
    < return
    > coroutine.resume
    > body
    > coroutine.yield @2 a=1
    < yield
    < yield
    < return
    > coroutine.resume
    > body
    > coroutine.yield
    < return
    < return @3 a=1 b=2
    < return
  ]])

  checks("go with metamethods", [[
    local mt = {__add = function (a, b) local sum = 9 return sum end}
    local function f (o) local p = o + 1 return p end
    start()
    f(setmetatable({k = 1}, mt))
  ]], [[
    > setmetatable
    < return
    > f
    > __add @2 o={k=1}
    < return @1 a={k=1} b=1 sum=9
    < return @2 o={k=1} p=9
  ]])

  checks("of a caller that is left out are left out", [[
    local function inner () end
    local function hidden () local x = 1 inner(x) return x end
    local function f (y) hidden(y) return y end
    start()
    f(2)
  ]], [[
    > f
    > inner
    < return @1
    < return @3 y=2
  ]], {exclude = {"^hidden$"}})

  it("are many, in large chunks and small ones", function ()
    local result = conform.run([[
      local names, values = {}, {}
      for i = 1, 150 do names[i], values[i] = "v" .. i, tostring(i * 1000) end
      local code = "local g = ... local " .. table.concat(names, ",") .. " = "
                   .. table.concat(values, ",") .. " for i = 1, 1000 do g() end"
      local f = load(code)
      local function g () end
      start()
      f(g)
    ]], {trace = {"name", "locals"}})
    local packets = result[1].packets
    assert.equal(2002, #packets)
    for i = 2, 2000, 2 do
      local values = packets[i].locals.values
      assert.equal(152, #values)
      assert.same({name = "v150", value = 150000}, values[151])
      assert.same({name = "i", value = i // 2}, values[152])
    end
  end)

  it("have the limits of values", function ()
    local result = conform.run([[
      local function f (text, list)
        return text
      end
      start()
      f(("x"):rep(100), {1, 2, 3, {4}})
    ]], {trace = {"name", "locals"},
         options = {valueString = 10, valueProperties = 2, c = false}})
    local locals = result[1].packets[2].locals
    assert.equal("longString", locals.values[1].value.type)
    assert.equal("xxxxxxxxxx", locals.values[1].value.initial)
    assert.equal("list", locals.values[2].name)
    assert.is_true(locals.objectPool[1].truncated)
    assert.is_nil(locals.objectPool[1].ownProperties["[3]"])
  end)

  it("are not there unless asked for", function ()
    local result = conform.run([[
      local function f (x) return tostring(x) .. "" end
      start()
      f(1)
    ]])
    for _, packet in ipairs(result[1].packets) do
      assert.is_nil(packet.locals)
    end
  end)

  it("are what a wrong type's message lists, too", function ()
    local result = run.code [[
      require "tracegrip".start {trace = {"local"}}
    ]]
    assert.matches("allocations, locals", result.stderr, 1, true)
  end)
end)

describe("locals whose names are secret", function ()
  local program = [[
    local function seen (text) return text end
    local function f (user)
      local password = "geheim1"
      local copy = "<" .. password .. ">"
      local t = {token = "geheim2", n = 1}
      seen(copy)
      return user
    end
    start()
    f("ann")
    seen("geheim1 again")
  ]]
  local hide = {"^pass", "^token"}

  it("are hidden, and what they hold from then on", function ()
    local result = conform.run(program, {options = {redact = hide},
                                         trace = {"name", "arguments",
                                                  "return", "locals"}})
    local text = run.literal(result[1].packets)
    assert.is_nil(text:find("geheim", 1, true), text)
    assert.same({
      '> f', '> seen @6 user="ann" password=redacted copy=redacted '
              .. 't={n=1 token=redacted}',
      '< return @1 text=redacted',
      '< return @7 user="ann" password=redacted copy=redacted '
      .. 't={n=1 token=redacted}',
      '> seen', '< return @1 text=redacted'
    }, lines_of(result[1].packets))
  end)

  it("are hidden by scrub and by readers, as when recorded", function ()
    run.within(function (directory)
      local tracegrip = run.build .. "/bin/tracegrip"
      local function command (...)
        local result = run.command({tracegrip, ...}, {cwd = directory})
        assert.equal(0, result.status, result.stderr)
        return result.stdout
      end
      run.write(directory .. "/p.lua", (program:gsub("start%(%)", "")))
      command("record", "--trace", "name,arguments,return,locals", "-o",
              "p.tgr", "p.lua")
      assert.matches("geheim1", run.read(directory .. "/p.tgr"), 1, true)
      command("scrub", "p.tgr", "-o", "s.tgr", "--redact", "^pass",
              "--redact", "^token")
      assert.is_nil(run.read(directory .. "/s.tgr"):find("geheim", 1, true))
      run.write(directory .. "/read.lua", [[
        local file, hide = ...
        local function text (value)
          local list = {}
          if type(value) ~= "table" then return tostring(value) end
          for k, v in pairs(value) do list[#list + 1] = k .. "=" .. text(v) end
          return "{" .. table.concat(list, " ") .. "}"
        end
        local filter = hide and {redact = {"^pass", "^token"}} or nil
        for p in require "tracegrip".open(file):packets(filter) do
          for _, one in ipairs(p.locals and p.locals.values or {}) do
            print(one.name, text(one.value))
          end
          print(text(p))
        end
      ]])
      for file, filter in pairs {["s.tgr"] = "", ["p.tgr"] = "hide"} do
        local out = run.file(directory .. "/read.lua", {
          cwd = directory, args = {file, filter ~= "" and filter or nil}
        }).stdout
        assert.matches('user\tann\n', out, 1, true)
        assert.matches('password\t{type=redacted}', out, 1, true)
        assert.matches('copy\t{type=redacted}', out, 1, true)
        assert.is_nil(out:find("geheim", 1, true), out)
      end
    end)
  end)
end)
