-- A message handler is called from within the instruction that failed, and Lua
-- calls it by the metamethod of that instruction: the handler of lua.c was
-- "__index" in every log that ended with an indexed nil. A true metamethod is
-- in the metatable of an operand, and keeps its name.

local conform = require "spec.support.conform"
local run = require "spec.support.run"

local tracegrip = run.build .. "/bin/tracegrip"

local function frames (sentence, program, expected)
  conform.frames(it, sentence, program, expected, {trace = {"name"}})
end

describe("the name of a message handler", function ()
  frames("is not that of the failing instruction's metamethod", [[
    local handlers = {function () end, coroutine.wrap(coroutine.yield)}
    local function add () return nil + 1 end
    local function index (x) return x.y end
    start()
    xpcall(add, handlers[1])
    xpcall(index, handlers[2])
  ]], [[
    > xpcall
      > add
        > (anonymous function)
        < (anonymous function) return
      < add throw
    < xpcall return
    > xpcall
      > index
        > (anonymous function)
          > coroutine.yield
          < coroutine.yield yield
        < (anonymous function) return
      < index throw
    < xpcall return
  ]])

  it("is none in the interpreter", function ()
    local result = run.command({tracegrip, "run", "program.lua"},
                               {files = {["program.lua"] = "return (nil).x"}})
    assert.equal(1, result.status)
    assert.matches("│ function <[^>]+>%(\"program.lua:1: ",
                   result.stderr)
    assert.not_matches("__index", result.stderr)
  end)
end)

describe("the name of a metamethod", function ()
  frames("is its own, or that of the event", [[
    local function make () return function () end end
    local function plus () end
    local object = setmetatable({}, {
      __add = plus, __sub = make(), __index = rawget, __newindex = rawset,
      __len = coroutine.wrap(function () end),
    })
    start()
    local x = object + 1
    x = 1 + object
    x = object - 1
    x = 1 - object
    x = object.field
    object.field = 1
    x = #object
  ]], [[
    > plus
    < plus return
    > plus
    < plus return
    > __sub
    < __sub return
    > __sub
    < __sub return
    > rawget
    < rawget return
    > rawset
    < rawset return
    > __len
      > (anonymous function)
      < (anonymous function) return
    < __len return
  ]])
end)
