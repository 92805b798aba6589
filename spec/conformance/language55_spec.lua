-- What Lua 5.5 brought to the language: named extra arguments, global
-- declarations, loop variables that are constants.
-- luacheck: no max line length

local conform = require "spec.support.conform"
local run = require "spec.support.run"

-- By both ways to read a frame.
local function frames (sentence, program, expected)
  for way, direct in pairs {["from memory"] = "1", ["when asked"] = "0"} do
    conform.frames(it, sentence .. ", " .. way, program, expected,
                   {env = {TRACEGRIP_DIRECT = direct}})
  end
end

describe("Lua 5.5", function ()
  if run.older "5.5" then
    it("has its own language", function ()
      pending("no Lua 5.5 here")
    end)
    return
  end

  -- Without a table: it is only indexed.
  frames("has the extra arguments of a function that names them", [[
    local function f (a, ...t) return t.n, t[2] end
    start()
    f()
    f(1)
    f(1, 2, nil, {}, nil)
  ]], [[
    > f(nil)
    < f return 0, nil
    > f(1)
    < f return 0, nil
    > f(1, 2, nil, #1{}, nil)
    < f return 4, nil
  ]])

  -- In one that the function has from the start.
  frames("has them where they are in a table", [[
    local function f (a, ...t) T = t end
    start()
    f()
    f(1)
    f(1, 2)
    f(1, nil)
    f(1, 2, nil, {x = 1}, nil)
    f(nil, nil, nil, nil)
  ]], [[
    > f(nil)
    < f return
    > f(1)
    < f return
    > f(1, 2)
    < f return
    > f(1, nil)
    < f return
    > f(1, 2, nil, #1{x = 1}, nil)
    < f return
    > f(nil, nil, nil, nil)
    < f return
  ]])

  frames("has them of a message handler", [[
    local function handler (...t) T = t return t[1] end
    local function f () error("boom", 0) end
    start()
    xpcall(f, handler)
  ]], [[
    > xpcall(#1 function f, #2 function handler)
      > f()
        > error("boom", 0)
          > handler("boom")
          < handler return "boom"
        < error throw "boom"
      < f throw "boom"
    < xpcall return false, "boom"
  ]])

  frames("has them of a function that is tail called", [[
    local function f (...t) T = t return #t end
    local function g (...) return f(...) end
    start()
    g(1, 2)
    g()
  ]], [[
    > g(1, 2)
    < g tail
    > f(1, 2)
    < f return 2
    > g()
    < g tail
    > f()
    < f return 0
  ]])

  it("has many of them", function ()
    local packets = run.packets([[
      local function f (...t) T = t end
      f(table.unpack({}, 1, 5000))
    ]], {trace = {"name", "arguments"}})
    for _, p in ipairs(packets) do
      if p.name == "f" and p.arguments then
        assert.equal(4096, #p.arguments.values)
        assert.is_true(p.arguments.truncated)
        return
      end
    end
    error "no call of f"
  end)

  frames("declares its globals", [[
    global print, start
    global function f (a) return a end
    start()
    f(1)
  ]], [[
    > f(1)
    < f return 1
  ]])
end)
