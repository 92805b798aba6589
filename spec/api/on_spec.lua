-- on and calls: a trace of the calls of some functions and of nothing else.

local run = require "spec.support.run"

-- What a program prints. 'tell' prints a trace's packets as a tree.
local prelude = [[
  local tracegrip = require "tracegrip"
  local function tell (trace)
    trace:stop()
    for p in trace:packets() do
      local entered = p.type == "enteredFrame"
      print((". "):rep(p.depth) .. (entered and "> " .. p.name
            .. (p.resumed and " again" or "") or "< " .. p.why
            .. (p.tailCall and " tail" or "")))
    end
  end
  local function on (pattern, options)
    options = options or {}
    options.on = pattern
    options.trace = {"name", "depth"}
    return tracegrip.start(options)
  end
  local function helper () end
  local function f (...) helper() return nil, ... end
]]

local function output (program)
  local result = run.code(prelude .. program)
  assert.equal(0, result.status, result.stderr)
  return result.stdout
end

local function lines (...)
  return table.concat({...}, "\n") .. "\n"
end

local ONE_CALL = {"> f", ". > helper", ". < return", "< return"}

describe("a trace with 'on'", function ()
  it("has the first call of the function, with what is in it", function ()
    assert.equal(lines("true", "false", table.unpack(ONE_CALL)), output [[
      local trace = on "^f$"
      helper()
      print(trace.active)
      f()
      print(trace.active)
      helper() f()
      tell(trace)
    ]])
  end)

  it("leaves no hook when it has ended", function ()
    assert.equal("true\n", output [[
      on "^f$"
      f()
      print(not debug.gethook())
    ]])
  end)

  it("has so many calls as 'calls' says, and nothing between", function ()
    local text = {}
    for i = 1, 12 do
      text[i] = ONE_CALL[(i - 1) % 4 + 1]
    end
    assert.equal(lines(table.unpack(text)), output [[
      local trace = on("^f$", {calls = 3})
      for i = 1, 5 do helper() f() helper() end
      tell(trace)
    ]])
  end)

  it("goes on if 'calls' is \"all\"", function ()
    assert.equal("true\n400\n", output [[
      local trace = on("^f$", {calls = "all"})
      for i = 1, 100 do helper() f() end
      print(trace.active)
      trace:stop()
      local n = 0
      for _ in trace:packets() do n = n + 1 end
      print(n)
    ]])
  end)

  it("finds functions by their source, too", function ()
    assert.equal(lines("> (main chunk)", "< return"), output [[
      local chunk = load("return 1", "@here.lua")
      local trace = on "here%.lua"
      helper()
      chunk()
      tell(trace)
    ]])
  end)

  it("waits for the next call if one is open when it starts", function ()
    assert.equal(lines("> g", "< return"), output [[
      local trace
      local function g (first)
        if first then trace = on "^g$" end
        helper()
      end
      g(true)
      helper()
      trace = on("^g$", {name = "Trace 1", c = false, include = {"^g$"}})
      g()
      tell(trace)
    ]])
  end)

  it("counts recursion once", function ()
    assert.equal(lines("> g", ". > g", ". . > g", ". . < return",
                       ". < return", "< return"), output [[
      local function g (n) if n > 0 then g(n - 1) end end
      local trace = on "^g$"
      g(2) g(2)
      tell(trace)
    ]])
  end)

  it("shows the function itself, whatever else is shown", function ()
    assert.equal(lines("> f", ". > helper", ". < return", "< return",
                       "> f", "< return"),
                 output [[
      local trace = on("^f$", {include = {"helper"}})
      f()
      tell(trace)
      trace = on("^f$", {maxDepth = 1})
      f()
      tell(trace)
    ]])
  end)

  it("waits for functions of C as for any other", function ()
    assert.equal(lines("> table.sort", ". > before", ". < return",
                       "< return"),
                 output [[
      local function before (a, b) return a < b end
      local trace = on("^table.sort$", {c = false})
      helper()
      table.sort({2, 1}, before)
      tell(trace)
    ]])
  end)

  it("does not wait for functions of its own", function ()
    assert.equal("true\n", output [[
      local trace = on ""
      tracegrip.start():stop()
      print(trace.active)
    ]])
  end)
end)

describe("a call that a trace waits for is over", function ()
  it("with an error that goes through it", function ()
    assert.equal(lines("false", "> bad", ". > error", ". < exception",
                       "< exception"), output [[
      local function bad () error "bad" end
      local trace = on "^bad$"
      pcall(bad)
      print(trace.active)
      helper()
      tell(trace)
    ]])
  end)

  it("not with an error that is caught inside", function ()
    assert.equal(lines("> g", ". > pcall", ". . > error", ". . < exception",
                       ". < return", ". > helper", ". < return",
                       "< return"), output [[
      local function g () pcall(error, "bad") helper() end
      local trace = on "^g$"
      g() helper()
      tell(trace)
    ]])
  end)

  it("when what it called in its place has returned", function ()
    assert.equal(lines("false", "> g", "< return tail", "> f", ". > helper",
                       ". < return", "< return"), output [[
      local function g () return f() end
      local trace = on "^g$"
      g()
      print(trace.active)
      helper()
      tell(trace)
    ]])
  end)

  it("then as well if that were hidden elsewhere", function ()
    assert.equal(lines("> g", "< return tail", "> f", ". > helper",
                       ". < return", "< return"), output [[
      local function g () return f() end
      local trace = on("^g$", {exclude = {"^f$"}})
      g() helper()
      tell(trace)
    ]])
  end)

  it("with its coroutine's death", function ()
    assert.equal(lines("false", "> bad", ". > error", ". < exception",
                       "< exception"), output [[
      local function bad () error "bad" end
      local trace = on "^bad$"
      coroutine.resume(coroutine.create(bad))
      print(trace.active)
      tell(trace)
    ]])
  end)

  it("not with a yield, between which and the resume is nothing", function ()
    assert.equal(lines("true", "false",
                       "> g", ". > coroutine.yield", ". < yield", "< yield",
                       "> g again", ". > coroutine.yield again",
                       ". < return", ". > helper", ". < return", "< return"),
                 output [[
      local function g () coroutine.yield() helper() end
      local trace = on "^g$"
      local co = coroutine.create(function () helper() g() helper() end)
      coroutine.resume(co)
      f()
      print(trace.active)
      coroutine.resume(co)
      print(trace.active)
      tell(trace)
    ]])
  end)

  it("never, if its coroutine is not resumed", function ()
    assert.equal(lines("true", "> g", ". > coroutine.yield", ". < yield",
                       "< yield"), output [[
      local function g () coroutine.yield() end
      local trace = on "^g$"
      for i = 1, 3 do coroutine.wrap(g)() end
      print(trace.active)
      tell(trace)
    ]])
  end)
end)

describe("within a call that a trace waits for", function ()
  it("are coroutines that it resumes", function ()
    assert.equal(lines("> g", ". > (wrap)", ". . > body", ". . . > helper",
                       ". . . < return", ". . < return", ". < return",
                       "< return"), (output [[
      local function body () helper() end
      local function g (co) co() end
      local co = coroutine.wrap(body)
      local trace = on("^g$", {exclude = {"^coroutine"}})
      g(co) helper()
      tell(trace)
    ]]:gsub("> [^\n]*wrap[^\n]*", "> (wrap)"):gsub("> co\n", "> (wrap)\n")))
  end)

  it("is what other calls of its coroutine are not", function ()
    assert.equal(lines("> g", ". > coroutine.yield", ". < yield", "< yield",
                       "> g", ". > coroutine.yield", ". < yield", "< yield",
                       "> g again", ". > coroutine.yield again",
                       ". < return", "< return",
                       "> g again", ". > coroutine.yield again",
                       ". < return", "< return"), output [[
      local function g () coroutine.yield() end
      local trace = on("^g$", {calls = 2})
      local all = {}
      for i = 1, 3 do
        all[i] = coroutine.create(function () helper() g() helper() end)
        coroutine.resume(all[i])
      end
      for i = 1, 3 do coroutine.resume(all[i]) end
      tell(trace)
    ]])
  end)
end)

describe("a trace with 'on' beside others", function ()
  local program = [[
    local function last () helper() end
    local function g (n) helper() coroutine.yield() return last() end
    local function run (before)
      local all = {}
      for i = 1, 4 do
        all[i] = coroutine.create(function () helper() g() helper() end)
        coroutine.resume(all[i])
      end
      local bad = coroutine.wrap(function () g() error "bad" end)
      bad()
      for i = 4, 1, -1 do coroutine.resume(all[i]) f() end
      pcall(bad)
      return all
    end
  ]]

  -- The packets of a trace with these options, with others there or without.
  local function seen (options, others, beside)
    local text = output(program .. [[
      local others = {}
      ]] .. others .. [[
      local trace = on("^g$", {]] .. options .. [[})
      ]] .. (beside or "") .. [[
      run()
      tell(trace)
    ]])
    assert.is_truthy(text:find "> helper")
    return text
  end

  it("has what it has alone", function ()
    for _, options in ipairs {"calls = 1", "calls = 3", "calls = 'all'",
                              "calls = 2, c = false",
                              "calls = 2, maxDepth = 2"} do
      local alone = seen(options, "")
      assert.equal(alone, seen(options, "others[1] = tracegrip.start()"))
      assert.equal(alone, seen(options, "", "others[1] = tracegrip.start()"))
      assert.equal(alone, seen(options, "others[1] = on('^f$', {calls = 2})"))
      assert.equal(alone, seen(options, [[
        others[1] = tracegrip.start {maxDepth = 1}
        others[2] = on("^helper$", {calls = 'all'})
      ]]))
    end
  end)

  it("keeps nothing from them", function ()
    local text = program .. [[
      local other = tracegrip.start {trace = {"name", "depth"}}
      %s
      run()
      tell(other)
    ]]
    assert.equal(output(text:format ""),
                 output(text:format "tracegrip.start {on = '^helper$'}"))
  end)
end)

describe("the option 'calls'", function ()
  it("wants 'on'", function ()
    assert.equal("false\toption 'calls': counts calls of what the option "
                 .. "'on' says, which is missing\n",
                 output "print(pcall(tracegrip.start, {calls = 2}))")
  end)
end)
