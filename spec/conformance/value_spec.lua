-- Values: every grip, every descriptor field, every limit; by raw access only,
-- as they were at the moment, and at a cost that the limits bound.

local conform = require "spec.support.conform"
local run = require "spec.support.run"

local types = {"name", "arguments"}

local function with (options)
  options = options or {}
  return {trace = types, options = options, env = run.modules}
end

-- The grips of the values that the program passes to f.
local function shown (sentence, program, expected, options)
  it(sentence, function ()
    local text = conform.text("local function f (...) end\n" .. program,
                              with(options))
    local list = {}
    for line in text:gmatch "[^\n]+" do
      list[#list + 1] = line:match "^> f%((.*)%)$"
    end
    assert.same(expected, list)
  end)
end

-- The arguments of the only call of f, as they are in the packet.
local function grips (program, options)
  local result = conform.run("local function f (...) end\n" .. program,
                             with(options))
  assert.is_true(result.ok, result.message)
  for _, p in ipairs(result[1].packets) do
    if p.name == "f" then
      return p.arguments.values, p.arguments.objectPool
    end
  end
end

describe("a grip", function ()
  it("of a boolean, number or string is itself", function ()
    local values = grips [[
      start() f(true, false, 1, -1, 1.5, 2.0, "text", "", "\0", "é\n")
    ]]
    assert.same({true, false, 1, -1, 1.5, 2.0, "text", "", "\0", "é\n"},
                values)
    assert.equal("integer", math.type(values[3]))
    assert.equal("float", math.type(values[6]))
  end)

  it("of a float that JSON cannot say is an object", function ()
    local values = grips "start() f(0/0, 1/0, -1/0, -0.0, 0.0)"
    assert.same({type = "NaN"}, values[1])
    assert.same({type = "Infinity"}, values[2])
    assert.same({type = "-Infinity"}, values[3])
    assert.same({type = "-0"}, values[4])
    assert.equal(0.0, values[5])
  end)

  it("of an integer beyond 2^53 is a BigInt", function ()
    local values = grips [[
      start()
      f(2^53 | 0, -(2^53) | 0, (2^53 | 0) + 1, -(2^53 | 0) - 1,
        math.maxinteger, math.mininteger)
    ]]
    assert.same({
      9007199254740992, -9007199254740992,
      {type = "BigInt", text = "9007199254740993"},
      {type = "BigInt", text = "-9007199254740993"},
      {type = "BigInt", text = "9223372036854775807"},
      {type = "BigInt", text = "-9223372036854775808"},
    }, values)
  end)

  it("of large and small floats is exact", function ()
    local values = grips [[
      start() f(1e300, 5e-324, 0.1, 1e15 + 0.3, 2.0^60, 1.7976931348623157e308)
    ]]
    assert.same({1e300, 5e-324, 0.1, 1e15 + 0.3, 2.0^60,
                 1.7976931348623157e308}, values)
  end)

  it("of nil and of a null light userdata", function ()
    local values = grips [[
      local null = require("behind").null
      start() f(nil, null)
    ]]
    assert.same({{type = "undefined"}, {type = "null"}}, values)
  end)

  it("of a long string is its beginning and its length", function ()
    local values, pool = grips [[
      start() f(("x"):rep(256), ("y"):rep(257), ("z"):rep(100000))
    ]]
    assert.same({}, pool)
    assert.same({
      ("x"):rep(256),
      {type = "longString", initial = ("y"):rep(256), length = 257},
      {type = "longString", initial = ("z"):rep(256), length = 100000},
    }, {values[1], values[2], values[3]})
  end)

  it("of a long string is cut at a character boundary", function ()
    local values = grips([[
      start() f("aé", "aéb", "aaaé", "€€", "😀x")
    ]], {valueString = 3})
    assert.same({
      "aé",
      {type = "longString", initial = "aé", length = 4},
      {type = "longString", initial = "aaa", length = 5},
      {type = "longString", initial = "€", length = 6},
      {type = "longString", initial = "", length = 5},
    }, values)
  end)

  it("of a string that is not UTF-8 is base64", function ()
    local values = grips [[
      start()
      f("\xff", "a\xc3", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80")
    ]]
    assert.same({
      {type = "bytes", initial = "/w==", length = 1},
      {type = "bytes", initial = "YcM=", length = 2},
      {type = "bytes", initial = "7aCA", length = 3},
      {type = "bytes", initial = "wIA=", length = 2},
      {type = "bytes", initial = "9JCAgA==", length = 4},
    }, values)
  end)

  it("of a long string that is not UTF-8 is cut base64", function ()
    local values = grips('start() f(("\\xff"):rep(10))', {valueString = 3})
    assert.same({{type = "bytes", initial = "////", length = 10}},
                {values[1]})
  end)

  shown("of an object is a number in the pool", [[
    start() f({}, print, coroutine.create(f), io.stdout)
  ]], {
    "#1{}, #2 function print, #3 thread, #4 FILE*{}^#5{~}"
  })
end)

describe("a descriptor", function ()
  it("of a table has every field", function ()
    local values, pool = grips [[
      local t = {10, x = "y"}
      start() f(t)
    ]]
    local function property (value)
      return {enumerable = true, configurable = true, writable = true,
              value = value}
    end
    assert.same({{type = "object", objectId = 0}}, values)
    assert.same({{
      class = "table", extensible = true, frozen = false, sealed = false,
      prototype = {type = "null"}, safeGetterValues = {},
      ownProperties = {["[1]"] = property(10), x = property("y")},
    }}, pool)
  end)

  it("of a table with a metatable has class and prototype", function ()
    local values, pool = grips([[
      local t = setmetatable({}, {__name = "Account"})
      start() f(t)
    ]], {valueDepth = 2})
    local id = pool[1].prototype.objectId
    assert.same({{type = "object", objectId = 0}}, values)
    assert.equal("Account", pool[1].class)
    assert.same({type = "object", objectId = 1}, pool[1].prototype)
    assert.equal("table", pool[id + 1].class)
    assert.equal("Account", pool[id + 1].ownProperties.__name.value)
    assert.same({type = "null"}, pool[id + 1].prototype)
  end)

  it("of a function adds name, parameterNames, url and line", function ()
    local _, pool = grips [[

      local function g (a, ...) end
      start() f(g)
    ]]
    assert.same({{
      class = "function", extensible = true, frozen = false, sealed = false,
      prototype = {type = "null"}, safeGetterValues = {}, ownProperties = {},
      name = "g", parameterNames = {"a", "..."}, url = "p.lua", line = 3,
    }}, pool)
  end)

  it("of a C function has its name", function ()
    local _, pool = grips "start() f(string.rep)"
    assert.equal("function", pool[1].class)
    assert.equal("string.rep", pool[1].name)
  end)

  it("of a thread and of a userdata has class and prototype", function ()
    local _, pool = grips([[
      local co = coroutine.create(f)
      start() f(co, io.stdout)
    ]], {valueDepth = 0})
    assert.equal("thread", pool[1].class)
    assert.same({type = "null"}, pool[1].prototype)
    assert.equal("FILE*", pool[2].class)
  end)

  shown("class is __name only if that is a string", [[
    local a = setmetatable({}, {__name = 5})
    local b = setmetatable({}, {__name = "B"})
    local c = setmetatable({}, {})
    start() f(a) f(b) f(c)
  ]], {"#1{}^#2{~}", "#1 B{}^#2{~}", "#1{}^#2{}"}, {valueDepth = 1})

  shown("metatable counts as one level below its table", [[
    local mt = {x = {1}}
    local t = setmetatable({}, mt)
    start() f(t)
  ]], {"#1{}^#2{x = #3{~}}"}, {valueDepth = 2})

  shown("of a protected metatable is seen by raw access", [[
    local t = setmetatable({}, {__metatable = "no", a = 1})
    start() f(t)
  ]], {'#1{}^#2{__metatable = "no", a = 1}'}, {valueDepth = 2})

  shown("of types with a metatable of their own", [[
    debug.setmetatable(print, {__name = "Fn"})
    start() f(print)
  ]], {"#1 Fn print^#2{~}"})
end)

describe("a key", function ()
  shown("is itself when it is a string, escaped when it starts with [", [[
    local t = {["a b"] = 1, [""] = 2, ["[1]"] = 3, ["1"] = 4}
    start() f(t)
  ]], {'#1{[] = 2, [1] = 4, [["[1]"]] = 3, [a b] = 1}'})

  it("is written as in a constructor", function ()
    local _, pool = grips [[
      local inner = {}
      local t = {
        10, 20, [-1] = 1, [2.5] = 2, [true] = 3, [false] = 4,
        ["x"] = 5, ["[1]"] = 6, ["["] = 7, [inner] = 8,
        [math.maxinteger] = 9, [1e100] = 10
      }
      start() f(t)
    ]]
    local keys = {}
    for k, p in pairs(pool[1].ownProperties) do
      keys[k] = p.value
    end
    assert.same({
      ["[1]"] = 10, ["[2]"] = 20, ["[-1]"] = 1, ["[2.5]"] = 2,
      ["[true]"] = 3, ["[false]"] = 4, x = 5, ['["[1]"]'] = 6,
      ['["["]'] = 7, ["[table 1]"] = 8, ["[9223372036854775807]"] = 9,
      ["[1e+100]"] = 10
    }, keys)
  end)

  it("may be any object, by its number in the pool", function ()
    local _, pool = grips [[
      local t = {[print] = 1, [coroutine.create(f)] = 2, [io.stdout] = 3}
      start() f(t)
    ]]
    local seen = {}
    for k in pairs(pool[1].ownProperties) do
      local class, id = k:match "^%[(%S+) (%d+)%]$"
      assert.is_truthy(class, k)
      seen[class] = pool[tonumber(id) + 1].class
    end
    assert.equal("function", seen["function"])
    assert.equal("thread", seen["thread"])
  end)

  it("1..n comes first, then the rest", function ()
    local text = run.within(function (directory)
      local result = run.code(([[
        local tracegrip = require "tracegrip"
        local function f (t) end
        local t = {}
        for i = 12, 1, -1 do t[i] = i end
        t.x = 1 t[-1] = 2 t[2.5] = 3
        local trace = tracegrip.start {trace = {"arguments"}}
        f(t)
        trace:stop()
        assert(trace:export("packets", %q))
      ]]):format(directory .. "/out"))
      assert.equal(0, result.status, result.stderr)
      return run.read(directory .. "/out")
    end)
    local place = 0
    for i = 1, 12 do
      local at = text:find(('"[%d]"'):format(i), 1, true)
      assert.is_true(at and at > place, "key " .. i)
      place = at
    end
    for _, key in ipairs {'"x"', '"[-1]"', '"[2.5]"'} do
      assert.is_true(assert(text:find(key, 1, true)) > place, key)
    end
  end)
end)

describe("identity", function ()
  shown("is visible when a value comes twice", [[
    local t = {1}
    start() f(t, t, {t})
  ]], {"#1{1}, #1, #2{#1}"})

  shown("is visible in a cycle", [[
    local a, b = {}, {}
    a.self, a.other, b.other = a, b, a
    start() f(a)
  ]], {"#1{other = #2{other = #1}, self = #1}"}, {valueDepth = 2})

  shown("of a table that is its own metatable", [[
    local t = {}
    t.__index = t
    setmetatable(t, t)
    start() f(t)
  ]], {"#1{__index = #1}^#1"})

  shown("holds between a key and a value", [[
    local k = {}
    start() f({[k] = k})
  ]], {"#1{[#2{}] = #2}"})

  shown("is per packet", [[
    local t = {}
    start() f({}, t) f(t)
  ]], {"#1{}, #2{}", "#1{}"})
end)

describe("valueDepth", function ()
  local nested = [[
    local t = {x = {y = {z = {}}}}
    start() f(t)
  ]]
  shown("0 lists no properties", nested, {"#1{~}"}, {valueDepth = 0})
  shown("1 lists those of the value itself", nested, {"#1{x = #2{~}}"},
        {valueDepth = 1})
  shown("is 1 by default", nested, {"#1{x = #2{~}}"})
  shown("2 lists one level more", nested, {"#1{x = #2{y = #3{~}}}"},
        {valueDepth = 2})
  shown('"all" lists every level', nested, {"#1{x = #2{y = #3{z = #4{}}}}"},
        {valueDepth = "all"})

  shown("never marks an empty table", [[
    start() f({{}})
  ]], {"#1{#2{}}"}, {valueDepth = 1})

  shown("reaches a shared table by the shortest way", [[
    local s = {1}
    start() f({{s}, s}, s)
  ]], {"#1{#2{~}, #3{1}}, #3"}, {valueDepth = 1})
end)

describe("valueProperties", function ()
  shown("is 16 by default", [[
    local a, b = {}, {}
    for i = 1, 16 do a[i] = i b[i] = i end
    b[17] = 17
    start() f(a) f(b)
  ]], {
    "#1{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}",
    "#1{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, ~}"
  })

  shown("keeps the sequence first", [[
    start() f({1, 2, 3, x = 1})
  ]], {"#1{1, 2, ~}"}, {valueProperties = 2})

  shown("counts the rest after the sequence", [[
    start() f({1, 2, x = 3}) f({x = 3})
  ]], {"#1{1, 2, x = 3}", "#1{x = 3}"}, {valueProperties = 3})

  shown("may be 0", [[
    start() f({1}, {})
  ]], {"#1{~}, #2{}"}, {valueProperties = 0})

  it('may be "all"', function ()
    local _, pool = grips([[
      local t = {}
      for i = 1, 1000 do t[i] = i t["k" .. i] = i end
      start() f(t)
    ]], {valueProperties = "all"})
    local n = 0
    for _ in pairs(pool[1].ownProperties) do
      n = n + 1
    end
    assert.equal(2000, n)
    assert.is_nil(pool[1].truncated)
  end)
end)

describe("a level", function ()
  it("is the least of those at which a table is met", function ()
    local _, pool = grips([[
      local M = {a = 1}
      local MM = setmetatable(M, {})
      start() f({setmetatable({}, M)}, {M})
    ]], {valueDepth = 2})
    local M = pool[pool[2].ownProperties["[1]"].value.objectId + 1]
    assert.equal(1, M.ownProperties.a.value)
    assert.equal("object", M.prototype.type)
    assert.is_nil(M.truncated)
  end)

  it("that is too deep for a metatable is told of", function ()
    local _, pool = grips([[
      start() f(setmetatable({}, {}), {}, {1})
    ]], {valueDepth = 0})
    assert.same({type = "null", truncated = true}, pool[1].prototype)
    assert.same({type = "null"}, pool[2].prototype)
    assert.same({type = "null"}, pool[3].prototype)
    assert.same({true, false, true}, {pool[1].truncated, not not
                pool[2].truncated, pool[3].truncated})
    _, pool = grips([[
      start() f({setmetatable({}, {})})
    ]], {valueDepth = 1})
    assert.same({type = "null", truncated = true}, pool[2].prototype)
  end)
end)

describe("valueObjects", function ()
  it("is 64 by default, and says what it cut", function ()
    local _, pool = grips([[
      local t = {}
      for i = 1, 100 do t[i] = {} end
      start() f(t)
    ]], {valueProperties = "all"})
    assert.equal(65, #pool)
    assert.equal(63, pool[1].ownProperties["[63]"].value.objectId)
    for i = 64, 100 do
      assert.same({type = "object", objectId = 64, class = "table",
                   truncated = true},
                  pool[1].ownProperties["[" .. i .. "]"].value)
    end
  end)

  it("leaves no object without an entry, were it one for all", function ()
    local values, pool = grips([[
      local M = {}
      local o = setmetatable({}, M)
      start() f(o, print, {}, coroutine.create(print), {[{}] = 1})
    ]], {valueObjects = 2, valueDepth = 2})
    assert.same({
      {type = "object", objectId = 0}, {type = "object", objectId = 1},
      {type = "object", objectId = 2, class = "table", truncated = true},
      {type = "object", objectId = 2, class = "thread", truncated = true},
      {type = "object", objectId = 2, class = "table", truncated = true},
    }, values)
    assert.equal(3, #pool)
    assert.same({type = "object", objectId = 2, class = "table",
                 truncated = true}, pool[1].prototype)
    assert.same({
      class = "object", extensible = true, frozen = false, sealed = false,
      prototype = {type = "null"}, ownProperties = {}, safeGetterValues = {},
      truncated = true
    }, pool[3])
  end)

  it("may be anything", function ()
    local _, pool = grips([[
      local t = {}
      for i = 1, 100 do t[i] = {} end
      start() f(t)
    ]], {valueProperties = "all", valueObjects = 10})
    assert.equal(11, #pool)
    _, pool = grips([[
      local t = {}
      for i = 1, 100 do t[i] = {} end
      start() f(t)
    ]], {valueProperties = "all", valueObjects = "all"})
    assert.equal(101, #pool)
    assert.is_nil(pool[1].truncated)
  end)
end)

describe("valueString", function ()
  shown("may be 0 or all", [[
    start() f("", "ab")
  ]], {'"", long("", 2)'}, {valueString = 0})

  it('"all" shows all', function ()
    local values = grips('start() f(("x"):rep(100000))', {valueString = "all"})
    assert.equal(("x"):rep(100000), values[1])
  end)

  it("holds for keys and property values too", function ()
    local _, pool = grips('start() f({k = ("x"):rep(10)})', {valueString = 4})
    assert.same({type = "longString", initial = "xxxx", length = 10},
                pool[1].ownProperties.k.value)
  end)
end)

describe("redact", function ()
  it("hides arguments by the parameter's name", function ()
    conform.check([[
      local function login (user, password, token) end
      local function other (password2, ...) end
      start()
      login("me", "secret", {1})
      other("secret", "more")
    ]], [[
      > login("me", redacted, redacted)
      < login return
      > other(redacted, "more")
      < other return
    ]], {options = {redact = {"^pass", "token"}}})
  end)

  it("hides properties by their key, at any level", function ()
    conform.check([[
      local function f (t) end
      start()
      f({password = "secret", x = {password = {1}, y = 2}, [1] = "p"})
    ]], [[
      > f(#1{"p", password = redacted, x = #2{password = redacted, y = 2}})
      < f return
    ]], {options = {redact = {"password"}, valueDepth = "all"}})
  end)

  it("keeps secrets out of results, throws and yields", function ()
    local result = conform.run([[
      local function give () return {password = "geheim"} end
      local function fail () error({password = "geheim"}) end
      local function pause () coroutine.yield({password = "geheim"}) end
      start()
      give()
      pcall(fail)
      coroutine.wrap(pause)()
    ]], {options = {redact = {"password"}}})
    assert.is_true(result.ok)
    local text = run.literal(result[1].packets)
    assert.is_nil(text:find("geheim", 1, true))
    assert.is_truthy(text:find("redacted", 1, true))
  end)
end)

describe("raw access", function ()
  it("runs no metamethod of any value", function ()
    local program = [[
      local function loud (name)
        return function () print("ran " .. name) return 1 end
      end
      local mt = {}
      for _, e in ipairs {"index", "newindex", "call", "len", "pairs",
                          "tostring", "eq", "lt", "le", "concat", "close",
                          "metatable", "unm", "add"} do
        mt["__" .. e] = loud(e)
      end
      mt.__name = setmetatable({}, {__tostring = loud "name"})
      local function f (a, b) return a, b end
      local function fail (a) error(a) end
      local object = setmetatable({x = 1}, mt)
      local key = setmetatable({}, mt)
      debug.setmetatable(io.stdout, nil)
      start()
      f(object, {[key] = object})
      pcall(fail, object)
      coroutine.wrap(function (a) coroutine.yield(a) end)(object)
    ]]
    local result = conform.run(program, {options = {valueDepth = "all"}})
    assert.is_true(result.ok, result.message)
    assert.equal("", result.stdout)
  end)

  it("keeps nothing alive that the program lets go", function ()
    local result = conform.run [[
      local weak = setmetatable({}, {__mode = "k"})
      local function f (t) end
      start()
      do local t = {} weak[t] = true f(t) end
      do local g = function () end weak[g] = true f(g) g() end
      do
        local co = coroutine.create(function () coroutine.yield() end)
        weak[co] = true
        coroutine.resume(co)
      end
      collectgarbage() collectgarbage()
      local n = 0
      for _ in pairs(weak) do n = n + 1 end
      print(n)
    ]]
    assert.equal("0\n", result.stdout)
  end)
end)

describe("a value", function ()
  it("is shown as it was at that moment", function ()
    conform.check([[
      local function f (t) t.x = 2 t[1] = nil return t end
      local t = {7, x = 1}
      start()
      f(t)
      t.x = 3
    ]], [[
      > f(#1{7, x = 1})
      < f return #1{x = 2}
    ]])
  end)

  it("nested 10,000 deep is shown whole when asked for", function ()
    local _, pool = grips([[
      local t = {} for i = 1, 10000 do t = {t} end
      start() f(t)
    ]], {valueDepth = "all", valueObjects = "all"})
    assert.equal(10001, #pool)
  end)
end)
