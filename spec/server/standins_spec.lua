-- What a state does for being reached (stand-ins for coroutine.resume and
-- coroutine.wrap, a sentinel) is not to be seen by its program.

local generate = require "spec.transparency.generate"
local run = require "spec.support.run"

local it = run.needs("luv", it, pending)

local listen = [[
  assert(require "tracegrip.core".listen {
    host = "127.0.0.1", port = 0, title = "x"
  })
]]
local traced = listen .. [[
  KEPT = require "tracegrip.core".start {trace = {"name", "throw", "yield"}}
]]

local function outcome (program, before)
  local result = run.code(program, before and {flags = {"-e", before}})
  return {
    stdout = result.stdout, stderr = result.stderr, status = result.status
  }
end

local function compare (program)
  local plain = outcome(program)
  assert.same(plain, outcome(program, listen))
  assert.same(plain, outcome(program, traced))
end

-- Prints what comes of each of these.
local head = [[
  local function show (what, ...)
    local list = table.pack(...)
    for i = 1, list.n do
      list[i] = tostring(list[i]):gsub("0x%x+", "ADDRESS")
    end
    print(what, table.concat(list, " | "))
  end
]]

local programs = {
  ["arguments and results"] = [[
    local co = coroutine.create(function (...)
      show("in", ...)
      show("back", coroutine.yield(1, nil, 3))
      return select("#", ...), nil
    end)
    show("first", coroutine.resume(co, 1, nil))
    show("second", coroutine.resume(co))
    show("dead", coroutine.resume(co, 5))
    show("status", coroutine.status(co))
    local w = coroutine.wrap(function (...) return ... end)
    show("wrap", w(nil, 2, nil))
    show("wrap dead", pcall(w))
  ]],

  ["wrong arguments"] = [[
    show("none", pcall(coroutine.resume))
    show("string", pcall(coroutine.resume, "x"))
    show("wrap none", pcall(coroutine.wrap))
    show("wrap thread", pcall(coroutine.wrap, coroutine.create(print)))
    show("self", coroutine.resume(coroutine.running()))
    show("called", pcall(function () coroutine.wrap() end))
  ]],

  ["errors"] = [[
    local values = {"text", 42, {}, false, nil}
    for i = 1, 5 do
      local function f () error(values[i], 1) end
      show("resume", coroutine.resume(coroutine.create(f)))
      show("wrap", pcall(coroutine.wrap(f)))
    end
    local w = coroutine.wrap(function () local x = nil; x() end)
    local function outer () return (w()) end
    show("where", pcall(outer))
    show("non-suspended", pcall(coroutine.wrap(function ()
      local me = coroutine.running()
      show("inner", coroutine.resume(me))
      return coroutine.wrap(function () return coroutine.resume(me) end)()
    end)))
  ]],

  ["variables to be closed"] = [[
    local function closing (name, fails)
      return setmetatable({}, {__close = function (_, err)
        show("close", name, err)
        if fails then error(fails, 0) end
      end})
    end
    local function f (fails)
      local a <close> = closing("a")
      local b <close> = closing("b", fails)
      error("thrown", 0)
    end
    show("wrap", pcall(coroutine.wrap(f)))
    show("wrap fails", pcall(coroutine.wrap(f), "other"))
    local co = coroutine.create(f)
    show("resume", coroutine.resume(co, "other"))
    show("closed", coroutine.close(co))
    local w = coroutine.create(function ()
      local a <close> = closing("a")
      coroutine.yield()
    end)
    coroutine.resume(w)
    show("close", coroutine.close(w))
  ]],

  ["nesting, generators and tracebacks"] = [[
    local function tree (n)
      if n > 0 then
        for x in coroutine.wrap(function () tree(n - 1) end) do
          coroutine.yield(x)
        end
        coroutine.yield(n)
      end
    end
    for x in coroutine.wrap(function () tree(6) end) do io.write(x, " ") end
    print()
    show("trace", (coroutine.wrap(function ()
      return debug.traceback("here")
    end)()))
    show("trace", coroutine.resume(coroutine.create(function ()
      return coroutine.wrap(function () return debug.traceback() end)()
    end)))
    local function down (n)
      local co = coroutine.create(down)
      return select(2, coroutine.resume(co, n + 1)) or n
    end
    show("deep", down(1))
    show("yield across pcall", coroutine.resume(coroutine.create(function ()
      return pcall(function () return coroutine.yield(7) end)
    end)))
  ]],

  ["hooks of its own"] = [[
    local n, lines = 0, {}
    debug.sethook(function () n = n + 1 end, "", 1000)
    for i = 1, 100000 do end
    show("count", n > 100, (debug.gethook()) ~= nil)
    debug.sethook()
    local co = coroutine.create(function ()
      local x = 1
      coroutine.yield()
      return x
    end)
    debug.sethook(co, function (_, l) lines[#lines + 1] = l end, "l")
    coroutine.resume(co)
    coroutine.resume(co)
    show("lines", #lines, debug.gethook(co) ~= nil, debug.gethook())
  ]],

  ["finalizers and weak tables"] = [[
    local weak = setmetatable({}, {__mode = "k"})
    for i = 1, 100 do
      local w = coroutine.wrap(function () coroutine.yield() error("e") end)
      w()
      pcall(w)
      weak[w] = true
      local co = coroutine.create(function () coroutine.yield() end)
      coroutine.resume(co)
      weak[co] = true
    end
    collectgarbage()
    collectgarbage()
    show("left", next(weak))
    setmetatable({}, {__gc = function ()
      show("gc", coroutine.wrap(function () return 1 end)())
    end})
    collectgarbage()
  ]],
}

describe("a program whose state listens", function ()
  for name, program in pairs(programs) do
    it("does the same: " .. name, function ()
      compare(head .. program)
    end)
  end

  for seed = 101, 112 do
    it(("does the same: a random program (seed %d)"):format(seed), function ()
      compare(generate(seed))
    end)
  end
end)
