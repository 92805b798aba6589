-- tracegrip diff-runs: the first call in which two recordings part.

local cjson = require "cjson"

local run = require "spec.support.run"

local tracegrip = run.build .. "/bin/tracegrip"

-- Records two programs, which have the same name, and compares them: calls
-- use(document, text, compare). `options`: of record.
local function compared (one, other, use, options)
  run.within(function (directory)
    local function command (...)
      return run.command({tracegrip, ...}, {cwd = directory})
    end
    for name, code in pairs {a = one, b = other} do
      run.write(directory .. "/p.lua", code)
      local words = {"record", "-o", name, "--exclude", "^os%.getenv$"}
      table.move(options or {}, 1, #(options or {}), #words + 1, words)
      words[#words + 1] = "p.lua"
      local result = command(table.unpack(words))
      assert.equal("", result.stderr)
    end
    local function compare (...)
      local result = command("diff-runs", "a", "b", ...)
      assert.equal("", result.stderr)
      assert.equal(0, result.status)
      return result.stdout
    end
    use(cjson.decode(compare("--json")), compare(), compare)
  end)
end

-- Both programs are `code`, with each $ in it replaced.
local function parted (code, one, other, use, options)
  compared(code:gsub("%$", {["$"] = one}), code:gsub("%$", {["$"] = other}),
           use, options)
end

describe("two runs are the same", function ()
  local function same (sentence, one, other)
    it(sentence, function ()
      compared(one, other or one, function (document, text)
        assert.same({}, document)
        assert.matches("^a and b are the same: [%d,]+ events\n$", text)
      end)
    end)
  end

  same("if all they do is the same", [[
    local function f (n) return n * 2, {n} end
    for i = 1, 10 do f(i) end
    print(pcall(error, {code = 1}))
  ]])

  -- The order of fields is another in each process.
  same("whatever the order of a table's fields", [[
    local function f (t) return t end
    local t = {list = {1, 2, {3}}, [1.5] = "x", [true] = "y"}
    for i = 1, 9 do t["field" .. i] = {i, "v" .. i, t} end
    f(t)
  ]])

  same("if they differ in addresses", [[
    local function f (text) return text end
    f(tostring({})) f(tostring(print) .. " and more")
  ]])

  same("if coroutines run in the same order", [[
    local co = {}
    for i = 1, 3 do
      co[i] = coroutine.create(function (x)
        while true do x = coroutine.yield(x + i) end
      end)
    end
    for i = 1, 9 do coroutine.resume(co[i % 3 + 1], i) end
  ]])

  same("if only times are others", [[
    local function f (x) return x end f(1) f(2)
  ]], [[
    local function f (x) return x end f(1) for _ = 1, 1e6 do end f(2)
  ]])
end)

describe("two runs part", function ()
  local program = [[
    local function discount (price, class)
      return class == "gold" and price * 0.9 or price
    end
    local function price (item, class)
      return (discount(item.price, class))
    end
    price({price = 10}, "gold") price({price = 20}, $)
  ]]

  it("in the first call whose arguments differ", function ()
    parted(program, "'gold'", "'blue'", function (document, text)
      assert.equal(5, document.packet)
      assert.equal("values", document.difference)
      for side, class in pairs {a = "gold", b = "blue"} do
        local call = document[side]
        assert.equal("enteredFrame", call.type)
        assert.equal("price", call.name)
        assert.equal(class, call.arguments.values[2])
        assert.equal(20, call.arguments.objectPool[1].ownProperties.price.value)
        assert.same({url = "p.lua", line = 7}, call.callsite)
        assert.equal("(main chunk)", call.stack[1].name)
        assert.equal(7, call.stack[1].at)
        assert.is_nil(call.stack[2])
      end
      assert.matches("^The first 5 events are the same, then the arguments "
                     .. "differ:\n\na  ", text)
      assert.matches('\na   price%({price = 20}, "gold"%)  p%.lua:7', text)
      assert.matches('\nb   price%({price = 20}, "blue"%)  p%.lua:7', text)
    end)
  end)

  it("in results, which are shown with the call's arguments", function ()
    parted([[
      local function g () end
      local function f (n) g() return n $ end
      f(4)
    ]], "+ 1", "+ 2", function (document, text)
      assert.equal(4, document.packet)
      assert.equal("exitedFrame", document.b.type)
      assert.equal("f", document.b.name)
      assert.same({4}, document.b.arguments.values)
      assert.equal(5, document.a["return"].value)
      assert.equal(6, document.b["return"].value)
      assert.matches("then the results differ:\n\na   f%(4%) returns 5", text)
    end)
  end)

  it("in errors", function ()
    parted([[local t = setmetatable({}, {__name = "$"})
      pcall(function (x) return t .. x end, 1)]], "One", "Two",
           function (document, text)
      assert.equal("exception", document.a.why)
      assert.matches("One value", document.a.throw.value)
      assert.matches("Two value", document.b.throw.value)
      assert.matches("the error differs", text)
    end, {"--exclude", "setmetatable"})
  end)

  it("in the function, in the place, in what they do", function ()
    local function differ (one, other, word)
      local code = [[
        local function f () end local function g () end
        $
      ]]
      parted(code, one, other, function (document)
        assert.equal(word, document.difference)
      end)
    end
    differ("f()", "g()", "function")
    differ("f()", "\nf()", "place")
    differ("f() f()", "f()", "kind")
    differ("pcall(f)", "pcall(f) f()", "kind")
  end)

  it("where one of them ends", function ()
    run.within(function (directory)
      local function command (...)
        return run.command({tracegrip, ...}, {cwd = directory})
      end
      run.write(directory .. "/p.lua", "print(1) print(2)")
      command("record", "-o", "a", "p.lua")
      command("record", "-o", "b", "--max-events", "3", "p.lua")
      local document = cjson.decode(
        command("diff-runs", "--json", "a", "b").stdout)
      assert.equal("end", document.difference)
      assert.equal(3, document.packet)
      assert.equal("print", document.a.name)
      assert.same({ended = true}, document.b)
      assert.matches("then one of the runs ends:\n\nb   %(it has ended%)",
                     command("diff-runs", "b", "a").stdout)
    end)
  end)

  it("in the coroutine", function ()
    parted([[
      local function f () coroutine.yield() end
      local a, b = coroutine.create(f), coroutine.create(f)
      local resume = coroutine.resume
      resume(a) resume(b) resume($)
    ]], "a", "b", function (document, text)
      assert.equal("thread", document.difference)
      assert.equal(2, document.a.thread)
      assert.equal(3, document.b.thread)
      assert.matches("the coroutine differs", text)
    end)
  end)

  it("in a table deep inside, and in a function", function ()
    local deep = {"--value-depth", "all"}
    parted([[
      local t = {1, {name = {x = {$}}}}
      local function f (t) end
      f({t, t})
    ]], 1, 2, function (document)
      assert.equal("f", document.a.name)
    end, deep)
    parted([[
      local a, b = {}, {}
      local function f (t) end
      f({a, $})
    ]], "a", "b", function (document)
      assert.equal("f", document.a.name)
    end)
    parted([[
      local function g () end local function h () end
      local function f (t) end
      f({g, $})
    ]], "g", "h", function (document)
      assert.equal("f", document.a.name)
    end)
  end)

  it("but for what the filters leave out", function ()
    parted([[
      local function clock () return $ end
      local function f () clock() return 1 end
      f()
    ]], 1, 2, function (document, _, compare)
      assert.equal("clock", document.a.name)
      assert.same({}, cjson.decode(compare("--json", "--exclude", "^clock$")))
    end)
  end)
end)

describe("tracegrip diff-runs", function ()
  it("wants two recordings", function ()
    local result = run.command {tracegrip, "diff-runs", "a"}
    assert.equal(2, result.status)
    assert.matches("^tracegrip: missing argument 'b'[^\n]*\n$", result.stderr)
    result = run.command {tracegrip, "diff-runs", "nowhere", "nowhere"}
    assert.equal(1, result.status)
    assert.matches("^tracegrip: nowhere[^\n]*\n$", result.stderr)
  end)
end)
