-- Calls and returns: what is entered, with what, and what comes back.

local conform = require "spec.support.conform"
local run = require "spec.support.run"

-- Since 5.5 pairs gives one more value, to be closed.
local fourth = run.older "5.5" and "" or ", nil"

local function frames (...)
  conform.frames(it, ...)
end

describe("a call", function ()
  frames("of a Lua function is entered and exited", [[
    local function f () end
    start()
    f()
  ]], [[
    > f()
    < f return
  ]])

  frames("returns no value, one, or several", [[
    local function none () end
    local function null () return nil end
    local function one () return 1 end
    local function many () return 1, "two", nil end
    start()
    none() null() one() many()
  ]], [[
    > none()
    < none return
    > null()
    < null return nil
    > one()
    < one return 1
    > many()
    < many return 1, "two", nil
  ]])

  frames("shows the parameters as the function has them", [[
    local function f (a, b) end
    start()
    f(1)
    f(1, 2, 3)
    f()
  ]], [[
    > f(1, nil)
    < f return
    > f(1, 2)
    < f return
    > f(nil, nil)
    < f return
  ]])

  frames("shows every value of a vararg function", [[
    local function v (a, ...) local n = select("#", ...) return n end
    start()
    v(1, 2, nil, "x")
    v()
    v(nil)
  ]], [[
    > v(1, 2, nil, "x")
      > select("#", 2, nil, "x")
      < select return 3
    < v return 3
    > v(nil)
      > select("#")
      < select return 0
    < v return 0
    > v(nil)
      > select("#")
      < select return 0
    < v return 0
  ]])

  frames("shows two hundred values", [[
    local function v (...) return ... end
    local list = {}
    for i = 1, 200 do list[i] = i end
    local unpack = table.unpack
    start()
    v(unpack(list, 1, 200))
  ]], (function ()
    local list = {}
    for i = 1, 200 do
      list[i] = i
    end
    local all = table.concat(list, ", ")
    local cut = {}
    for i = 1, 16 do
      cut[i] = i
    end
    return ([[
    > table.unpack(#1{%s, ~}, 1, 200)
    < table.unpack return %s
    > v(%s)
    < v return %s
    ]]):format(table.concat(cut, ", "), all, all, all)
  end)())

  frames("of a method has self first", [[
    local Account = {}
    Account.__index = Account
    function Account:deposit (v) self.balance = self.balance + v end
    local a = setmetatable({balance = 1}, Account)
    start()
    a:deposit(5)
  ]], [[
    > Account:deposit(#1{balance = 1}^#2{~}, 5)
    < Account:deposit return
  ]])

  frames("nests", [[
    local function h (x) return x end
    local function g (x) local y = h(x + 1) return y end
    local function f (x) local y = g(x + 1) local z = h(y) return z end
    start()
    f(1)
    h(0)
  ]], [[
    > f(1)
      > g(2)
        > h(3)
        < h return 3
      < g return 3
      > h(3)
      < h return 3
    < f return 3
    > h(0)
    < h return 0
  ]])

  frames("of a recursive function nests", [[
    local function fact (n)
      if n == 0 then return 1 end
      return n * fact(n - 1)
    end
    start()
    fact(3)
  ]], [[
    > fact(3)
      > fact(2)
        > fact(1)
          > fact(0)
          < fact return 1
        < fact return 1
      < fact return 2
    < fact return 6
  ]])

  frames("of a closure sees its own arguments", [[
    local function counter (n)
      return function (by) n = n + by return n end
    end
    local a, b = counter(0), counter(10)
    start()
    local up = a
    up(1)
    up = b
    up(2)
    up = a
    up(3)
  ]], [[
    > up(1)
    < up return 1
    > up(2)
    < up return 12
    > up(3)
    < up return 4
  ]])

  frames("passes values back and forth in one statement", [[
    local function one () return 1 end
    local function add (a, b) return a + b end
    start()
    local x = add(one(), add(one(), one()))
  ]], [[
    > one()
    < one return 1
    > one()
    < one return 1
    > one()
    < one return 1
    > add(1, 1)
    < add return 2
    > add(1, 2)
    < add return 3
  ]])
end)

describe("a C function", function ()
  frames("is entered and exited like any other", [[
    start()
    local s = string.rep("ab", 2)
    local n = tonumber("12")
    s = s:upper()
  ]], [[
    > string.rep("ab", 2)
    < string.rep return "abab"
    > tonumber("12")
    < tonumber return 12
    > string.upper("abab")
    < string.upper return "ABAB"
  ]])

  frames("may be called without values and return none", [[
    start()
    local n = math.type(1)
    pcall(collectgarbage, "isrunning")
    table.insert({}, 1)
  ]], [[
    > math.type(1)
    < math.type return "integer"
    > pcall(#1 function collectgarbage, "isrunning")
      > collectgarbage("isrunning")
      < collectgarbage return true
    < pcall return true, true
    > table.insert(#1{}, 1)
    < table.insert return
  ]])

  frames("calls back", [[
    local function up (c) local s = c .. c return s end
    start()
    local s = string.gsub("ab", ".", up)
  ]], [[
    > string.gsub("ab", ".", #1 function up)
      > up("a")
      < up return "aa"
      > up("b")
      < up return "bb"
    < string.gsub return "aabb", 2
  ]])

  frames("calls a comparator", [[
    local function less (a, b) return a < b end
    local t = {2, 1}
    start()
    table.sort(t, less)
  ]], [[
    > table.sort(#1{2, 1}, #2 function less)
      > less(1, 2)
      < less return true
    < table.sort return
  ]])

  frames("is called by a C function", [[
    start()
    local s = string.gsub("x", ".", string.upper)
  ]], [[
    > string.gsub("x", ".", #1 function string.upper)
      > string.upper("x")
      < string.upper return "X"
    < string.gsub return "X", 1
  ]])
end)

describe("a tail call", function ()
  frames("exits the caller before the callee is entered", [[
    local function g (x) return x + 1 end
    local function f (x) return g(x) end
    start()
    f(1)
  ]], [[
    > f(1)
    < f tail
    > g(1)
    < g return 2
  ]])

  frames("chains", [[
    local function a (n)
      if n == 0 then return "end", 0 end
      return a(n - 1)
    end
    start()
    a(3)
  ]], [[
    > a(3)
    < a tail
    > a(2)
    < a tail
    > a(1)
    < a tail
    > a(0)
    < a return "end", 0
  ]])

  frames("chains at the depth of its caller", [[
    local function leaf () end
    local function b () leaf() return leaf() end
    local function a () leaf() return b() end
    local function outer () a() leaf() end
    start()
    outer()
  ]], [[
    > outer()
      > a()
        > leaf()
        < leaf return
      < a tail
      > b()
        > leaf()
        < leaf return
      < b tail
      > leaf()
      < leaf return
      > leaf()
      < leaf return
    < outer return
  ]])

  frames("of a vararg function", [[
    local function v (...) local n = select("#", ...) return n end
    local function w (...) return v(...) end
    start()
    w(1, nil)
  ]], [[
    > w(1, nil)
    < w tail
    > v(1, nil)
      > select("#", 1, nil)
      < select return 2
    < v return 2
  ]])

  frames("of a method", [[
    local M = {}
    M.__index = M
    function M:get () return self[1] end
    local o = setmetatable({7}, M)
    local function f () return o:get() end
    start()
    f()
  ]], [[
    > f()
    < f tail
    > M:get(#1{7}^#2{~})
    < M:get return 7
  ]])

  frames("of a callable table", [[
    local function call (self, x) return x end
    local t = setmetatable({}, {__call = call})
    local function f () return t(5) end
    start()
    f()
  ]], [[
    > f()
    < f tail
    > call(#1{}^#2{~}, 5)
    < call return 5
  ]])

  frames("of a C function is a plain call, as Lua reports it", [[
    local function f (x) return tostring(x) end
    start()
    f(1)
  ]], [[
    > f(1)
      > tostring(1)
      < tostring return "1"
    < f return "1"
  ]])

  frames("made by a function called from C", [[
    local function g (c) return c .. "!" end
    local function f (c) return g(c) end
    start()
    local s = string.gsub("ab", "a", f)
  ]], [[
    > string.gsub("ab", "a", #1 function f)
      > f("a")
      < f tail
      > g("a")
      < g return "a!"
    < string.gsub return "a!b", 1
  ]])

  frames("of a frame that was open at the start", [[
    local function g () return 1 end
    local function f () start() return g() end
    local function h () end
    f()
    h()
  ]], [[
    > g()
    < g return 1
    > h()
    < h return
  ]])
end)

describe("a metamethod", function ()
  frames("__index is a call", [[
    local function index (t, k) return k .. "!" end
    local t = setmetatable({}, {__index = index})
    start()
    local x = t.key
    local y = t[1.5]
  ]], [[
    > index(#1{}^#2{~}, "key")
    < index return "key!"
    > index(#1{}^#2{~}, 1.5)
    < index return "1.5!"
  ]])

  frames("__newindex is a call", [[
    local function newindex (t, k, v) rawset(t, k, v) end
    local t = setmetatable({}, {__newindex = newindex})
    start()
    t.a = 1
  ]], [[
    > newindex(#1{}^#2{~}, "a", 1)
      > rawset(#1{}^#2{~}, "a", 1)
      < rawset return #1{a = 1}^#2{~}
    < newindex return
  ]])

  frames("__call is a call with the object first", [[
    local function call (self, ...) local n = ... return n end
    local t = setmetatable({}, {__call = call})
    start()
    t(1, 2)
  ]], [[
    > call(#1{}^#2{~}, 1, 2)
    < call return 1
  ]])

  frames("of arithmetic, comparison and concatenation is a call", [[
    local function add (a, b) return 1 end
    local function unm (a) return 2 end
    local function concat (a, b) return "c" end
    local function eq (a, b) return true end
    local function lt (a, b) return 1 end
    local function le (a, b) return nil end
    local function len (a) return 3 end
    local mt = {__add = add, __unm = unm, __concat = concat, __eq = eq,
                __lt = lt, __le = le, __len = len}
    local a, b = setmetatable({}, mt), setmetatable({}, mt)
    start()
    local _ = a + 1
    _ = 1 + a
    _ = -a
    _ = a .. "x"
    _ = "y" .. a .. "z"
    _ = a == b
    _ = a ~= b
    _ = a < b
    _ = a <= b
    _ = #a
  ]], [[
    > add(#1{}^#2{~}, 1)
    < add return 1
    > add(1, #1{}^#2{~})
    < add return 1
    > unm(#1{}^#2{~})
    < unm return 2
    > concat(#1{}^#2{~}, "x")
    < concat return "c"
    > concat(#1{}^#2{~}, "z")
    < concat return "c"
    > eq(#1{}^#2{~}, #3{}^#2)
    < eq return true
    > eq(#1{}^#2{~}, #3{}^#2)
    < eq return true
    > lt(#1{}^#2{~}, #3{}^#2)
    < lt return 1
    > le(#1{}^#2{~}, #3{}^#2)
    < le return nil
    > len(#1{}^#2{~})
    < len return 3
  ]])

  frames("called by a C function nests in it", [[
    local function text (x) return "T" end
    local function iter (x) return next, x, nil end
    local o = setmetatable({}, {__tostring = text, __pairs = iter})
    start()
    local s = tostring(o)
    for k, v in pairs(o) do end
  ]], [[
    > tostring(#1{}^#2{~})
      > text(#1{}^#2{~})
      < text return "T"
    < tostring return "T"
    > pairs(#1{}^#2{~})
      > iter(#1{}^#2{~})
      < iter return #1 function next, #2{}^#3{~}, nil
    < pairs return #1 function next, #2{}^#3{~}, nil]]
    .. fourth .. [[

    > next(#1{}^#2{~}, nil)
    < next return nil
  ]])

  frames("__gc is called by Lua with hooks off, and shows no frames", [[
    local ran = false
    local function helper () ran = true end
    local function finalizer (o) helper() end
    setmetatable({}, {__gc = finalizer})
    local collect = collectgarbage
    start()
    collect()
    local function after () return ran end
    after()
  ]], [[
    > collectgarbage()
    < collectgarbage return 0
    > after()
    < after return true
  ]])
end)

describe("a loop", function ()
  frames("calls its iterator once more than it runs", [[
    local function step (s, i) if i < s then return i + 1 end end
    start()
    for i in step, 2, 0 do end
  ]], [[
    > step(2, 0)
    < step return 1
    > step(2, 1)
    < step return 2
    > step(2, 2)
    < step return
  ]])

  frames("left by goto or break leaves no frame behind", [[
    local function f (x) return x end
    start()
    for i = 1, 3 do
      if f(i) == 2 then break end
    end
    do
      local i = 0
      ::again::
      i = f(i + 1)
      if i < 2 then goto again end
    end
  ]], [[
    > f(1)
    < f return 1
    > f(2)
    < f return 2
    > f(1)
    < f return 1
    > f(2)
    < f return 2
  ]])
end)
