-- Real programs, traced from start to end with all types: nothing changes.

local nesting = require "spec.transparency.nesting"
local run = require "spec.support.run"

local files = run.needs("lfs", it, pending)

local all = {
  "name", "callsite", "time", "parameterNames", "arguments", "return",
  "throw", "yield", "location", "depth", "hitCount", "thread"
}

-- A ring, so that a program with millions of frames has a short export.
local options = {trace = all, buffer = 1 << 19, overflow = "ring"}

local function untimed (text)
  return (text:gsub("%d+%.%d+ seconds", "N seconds"):gsub("0x%x+", "0x0"))
end

local function same (it, sentence, program, how, enough)
  it(sentence, function ()
    how.timeout = 300
    local plain = run.code(program, how)
    local traced = run.traced(program, options, how)
    assert.equal(untimed(plain.stdout), untimed(traced.stdout))
    assert.equal(untimed(plain.stderr), untimed(traced.stderr))
    assert.equal(plain.status, traced.status)
    assert.is_true(#plain.stdout >= enough, plain.stdout .. plain.stderr)
    nesting.check(traced.text)
    assert.is_true(#traced.text > 1000)
  end)
end

-- Where the system keeps pure Lua modules, whatever version they are filed by.
local paths = [[
package.path = package.path
  .. ";/usr/share/lua/5.4/?.lua;/usr/share/lua/5.4/?/init.lua"
  .. ";/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua"
]]

describe("a real program", function ()
  same(files, "luacheck, on the modules of this tree", paths .. [[
    local root = arg[1]
    arg = {[0] = "luacheck", "--no-color", "--no-cache", "--std", "max",
           root .. "/spec/support", root .. "/spec/transparency"}
    require "luacheck.main"
  ]], {args = {run.root}}, 100)

  same(files, "busted, on a small suite", paths .. [[
    arg = {[0] = "busted", "--output=TAP", "some_spec.lua"}
    require "busted.runner" ({standalone = false})
  ]], {files = {["some_spec.lua"] = [[
    describe("numbers", function ()
      local n
      before_each(function () n = 1 end)
      it("add", function () assert.equal(2, n + 1) end)
      it("compare", function () assert.is_true(1 < 2) end)
      it("fail", function () assert.same({1, {2}}, {1, {3}}) end)
      it("raise", function () error("oops") end)
      pending("wait")
    end)
  ]]}}, 50)

  same(files, "Penlight at work", paths .. [[
    local List = require "pl.List"
    local pretty = require "pl.pretty"
    local class = require "pl.class"
    local stringx = require "pl.stringx"
    local tablex = require "pl.tablex"
    local template = require "pl.template"
    local seq = require "pl.seq"
    local Animal = class()
    function Animal:_init (name) self.name = name end
    function Animal:__tostring () return "<" .. self.name .. ">" end
    local Dog = class(Animal)
    function Dog:speak () return self.name .. " barks" end
    local l = List {3, 1, 2}:sort():map(function (x) return x * x end)
    print(l, l:reduce "+", List.range(1, 10):filter(function (x)
      return x % 2 == 0
    end))
    print(Dog("rex"), Dog("rex"):speak(), Dog:class_of(Dog "a"))
    print(pretty.write({1, 2, {x = {y = "z"}}}, ""))
    print(pcall(pretty.read, "{1, 2, x = }"))
    print(stringx.split("a b  c"):join(","), stringx.center("x", 9, "*"))
    print(pretty.write(tablex.merge({a = 1, b = 2}, {b = 3}, false), ""))
    print(template.substitute("$(x) # y\n", {x = 5, tostring = tostring}))
    for i = 1, 200 do
      local s = seq.sum(seq.range(1, i))
      local t = pretty.write({i, s, tostring(Animal(i))})
      io.write(#t, " ")
    end
    print()
  ]], {}, 300)

  same(it, "dkjson, there and back", paths .. [[
    local json = require "dkjson"
    local value = {list = {}, text = "é\n\"\\\u{1F600}", deep = {}}
    local at = value.deep
    for i = 1, 200 do
      value.list[i] = {i, i / 3, tostring(i), {key = i % 2 == 0}}
      if i % 10 == 0 then
        at.next = {}
        at = at.next
      end
    end
    local text = json.encode(value, {indent = true, keyorder = {"list"}})
    print(#text)
    local back, position, message = json.decode(text, 1, nil)
    print(position, message, #back.list, back.text)
    print(json.decode("{\"a\": [1, 2, }"))
    print(pcall(json.encode, {f = print}))
    print(json.encode(back.list[100]))
  ]], {}, 100)
end)
