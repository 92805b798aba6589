-- Who keeps memory: what is alive at a trace's end, and was when the heap was
-- at its highest, by function and path; against what the program counts itself.

local cjson = require "cjson"
local lfs = require "lfs"

local run = require "spec.support.run"

-- row(trace, name): a function's row, or the whole's memory.
local prelude = [[
local tracegrip = require "tracegrip"
local function row (trace, name, filter)
  local report = trace:report(filter)
  for _, r in ipairs(report.functions) do
    if r.name == name then return r, report.memory end
  end
  return nil, report.memory
end
local function start (options)
  options = options or {}
  options.trace, options.memory = options.trace or {"name"}, true
  return tracegrip.start(options)
end
local function bytes ()
  collectgarbage() collectgarbage()
  return math.tointeger(collectgarbage "count" * 1024)
end
]]

local function output (program, modules)
  local result = run.code(prelude .. program, {env = modules or run.modules})
  assert.equal("", result.stderr)
  assert.equal(0, result.status)
  return result.stdout
end

-- What each makes is of no use but to be kept.
local makers = {
  tables = "function (i) return {i, i + 1, key = i} end",
  strings = "function (i) return ('x'):rep(100) .. i end",
  closures = "function (i) return function () return i end end",
  coroutines = [[function (i)
    local c = coroutine.create(function (...) coroutine.yield(...) end)
    coroutine.resume(c, i)
    return c
  end]],
  userdata = "function () return io.tmpfile() end",
}

describe("what is alive", function ()
  for kind, maker in pairs(makers) do
    it("is its maker's to the byte, for " .. kind, function ()
      local told, real, first = output(([[
        local make, kept = %s, nil
        local function leak (n)
          local list = {}
          for i = 1, n do list[i] = make(i) end
          kept = list
        end
        local function churn (n) for i = 1, n do make(i) end end
        churn(10)
        collectgarbage()
        local trace = start()
        churn(50) leak(100) churn(200)
        collectgarbage() collectgarbage()
        trace:stop()
        local list = row(trace, "leak")
        local others = row(trace, "churn")
        local before = bytes()
        kept = nil
        print(list.total_live_bytes, before - bytes(),
              others.total_live_bytes)
      ]]):format(maker)):match "(%d+)\t(%d+)\t(%d+)\n"
      assert.equal(real, told)
      assert.is_true(tonumber(real) > 100 * 24)
      assert.equal("0", first)
    end)
  end

  it("is its grower's where a block becomes larger", function ()
    assert.equal("56\t16384\t1\n", output [[
      local function make () return {} end
      local function grow (t) for i = 1, 1024 do t[i] = i end end
      local trace = start {c = false}
      local t = make()
      grow(t)
      trace:stop()
      local made, grown = row(trace, "make"), row(trace, "grow")
      print(made.self_live_bytes, grown.self_live_bytes,
            grown.self_live_blocks)
    ]])
  end)

  it("is what the heap has, with what was there before", function ()
    assert.equal("true\t0\ttrue\n", output [[
      local old = {}
      for i = 1, 1000 do old[i] = {i} end
      local function free () old = nil collectgarbage() end
      local before = bytes()
      local trace = start()
      free()
      trace:stop()
      local freed, memory = row(trace, "free")
      print(memory.heap_bytes < before - 1000 * 56, freed.self_live_bytes,
            memory.total_live_bytes < 2000)
    ]])
  end)

  it("is of the trace in which it was made", function ()
    assert.equal("true\ttrue\n", output [[
      local kept = {}
      local function keep (n) kept[#kept + 1] = ("x"):rep(n) end
      local outer = start()
      keep(10000)
      local inner = start()
      keep(5000)
      inner:stop()
      keep(2000)
      outer:stop()
      local all, part = row(outer, "keep"), row(inner, "keep")
      local own = all.total_live_bytes - part.total_live_bytes
      print(own > 12000 and own < 13000,
            part.total_live_bytes > 5000 and part.total_live_bytes < 6000)
    ]])
  end)

  it("is the caller's where a filter leaves its maker out", function ()
    assert.equal("true\n", output [[
      local kept = {}
      local function keep (n) kept[#kept + 1] = ("x"):rep(n) end
      local function call () keep(10000) end
      local trace = start {c = false}
      call()
      trace:stop()
      local keeps = row(trace, "keep")
      local calls = row(trace, "call", {exclude = "^keep$"})
      print(calls.self_live_bytes
            == keeps.self_live_bytes + row(trace, "call").self_live_bytes)
    ]])
  end)

  it("knows what goes outside of calls that are waited for", function ()
    assert.equal("true\t0\n", output [[
      local kept
      local function serve () kept = ("x"):rep(50000) end
      local trace = start {on = "^serve$", calls = "all"}
      serve()
      kept = nil
      collectgarbage()
      serve()
      local held = kept
      kept = nil
      collectgarbage()
      trace:stop()
      local one = row(trace, "serve").total_live_bytes
      held = nil
      trace = start {on = "^serve$", calls = "all"}
      serve()
      kept = nil
      collectgarbage() collectgarbage()         -- a buffer has a finalizer
      trace:stop()
      local none = row(trace, "serve").total_live_bytes
      print(one > 50000 and one < 60000, none)
    ]])
  end)

  it("was at the peak, also between two events", function ()
    assert.equal("true\t0\ttrue\ttrue\n", output [[
      local function build ()
        local t = {}
        for i = 1, 100 do t[i] = {i, i} end
        local s = ("x"):rep(1000000)
        s, t = nil, nil
      end
      local kept
      local function keep () kept = ("y"):rep(100000) end
      collectgarbage() collectgarbage "stop"
      local trace = start()
      keep() build()
      collectgarbage() collectgarbage()
      trace:stop()
      local r, memory = row(trace, "build")
      local k = row(trace, "keep")
      print(r.total_peak_live_bytes > 1000000, r.total_live_bytes,
            k.total_peak_live_bytes // 1000 == 100
            and k.total_live_bytes // 1000 == 100,
            memory.total_peak_live_bytes <= memory.peak_bytes)
    ]])
  end)

  it("is known by path of calls", function ()
    assert.equal("20000\t30000\n", output [[
      local kept = {}
      local function keep (n) kept[#kept + 1] = ("x"):rep(n) end
      local function a () keep(20000) end
      local function b () keep(30000) end
      local trace = start {c = false}
      a() b()
      trace:stop()
      local found = {}
      for _, node in ipairs(trace:tree().children) do
        found[node.name] = node.children[1].self_live_bytes
        assert(node.total_live_bytes >= node.children[1].self_live_bytes)
      end
      print(found.a // 1000 * 1000, found.b // 1000 * 1000)
    ]])
  end)

  it("is estimated of blocks that are sampled", function ()
    local told, real, every, all = output([[
      local kept = {}
      local function keep (n) for i = 1, n do kept[#kept + 1] = {i} end end
      local trace = start {c = false, memoryEvery = 4096}
      keep(20000)
      trace:stop()
      local r, memory = row(trace, "keep")
      local before = bytes()
      kept = nil
      print(r.self_live_bytes, before - bytes(), memory.every_bytes,
            memory.heap_bytes)
    ]]):match "(%d+)\t(%d+)\t(%d+)\t(%d+)"
    told, real = tonumber(told), tonumber(real)
    assert.equal("4096", every)
    -- Six standard errors.
    assert.is_true(math.abs(told - real) < 6 * math.sqrt(real * 4096),
                   told .. " of " .. real)
    assert.is_true(tonumber(all) > real)
  end)

  it("is counted whole if one of two traces wants that", function ()
    assert.equal("true\tnil\n", output [[
      local kept = {}
      local function keep (n) for i = 1, n do kept[#kept + 1] = {i} end end
      local sampled = start {c = false, memoryEvery = 65536}
      local exact = start {c = false}
      keep(100)
      exact:stop() sampled:stop()
      local a, b = row(sampled, "keep"), row(exact, "keep")
      print(a.self_live_bytes == b.self_live_bytes,
            select(2, row(exact, "keep")).every_bytes)
    ]])
  end)

  it("says what is wrong with a number of bytes", function ()
    for _, bad in ipairs {"0", "-1", "1.5", "'x'", "1 << 40"} do
      assert.matches("false\t[^\n]*option 'memoryEvery': a number of bytes, "
                     .. "1 to 1073741824, expected", output(
        "print(pcall(tracegrip.start, {memoryEvery = " .. bad .. "}))"))
    end
  end)

  it("is right in a forked child", function ()
    assert.equal("true\n0\n", output [[
      local states = require "states"
      local kept = {}
      local function keep (n) kept[#kept + 1] = ("x"):rep(n) end
      local trace = start {c = false}
      keep(1000)
      local function live ()
        trace:stop()
        return row(trace, "keep").self_live_bytes
      end
      local status = states.fork(function ()
        keep(4000)
        local n = live()
        return n > 5000 and n < 5500 and 0 or 1
      end)
      keep(2000)
      local n = live()
      print(n > 3000 and n < 3500)
      print(status)
    ]])
  end)
end)

describe("a recording of what is alive", function ()
  local directory

  local function shell (command)
    return run.command({"sh", "-c", command}, {cwd = directory, env = {
      T = run.build .. "/bin/tracegrip", LUA = run.lua
    }})
  end

  local function printed (command)
    local result = shell(command)
    assert.equal("", result.stderr)
    assert.equal(0, result.status)
    return result.stdout
  end

  local function rows (name)
    local report = cjson.decode(printed("$T report --json " .. name
                                        .. " 2>/dev/null"))
    local found = {}
    for _, r in ipairs(report.functions) do
      found[r.name] = r
    end
    return found, report.memory
  end

  setup(function ()
    directory = os.tmpname() .. ".d"
    assert(lfs.mkdir(directory))
    run.write(directory .. "/leak.lua", [[
      local cache = {}
      local function leaky (i) cache[#cache + 1] = ("x"):rep(1000) .. i end
      local function churn ()
        local t = {}
        for i = 1, 100 do t[i] = ("y"):rep(2000) .. i end
      end
      for i = 1, 100 do leaky(i) churn() end
      collectgarbage()
      if arg[1] == "die" then os.execute "kill -9 $PPID" end
    ]])
    assert.equal(0, shell "$T record --memory -o rec leak.lua".status)
  end)

  teardown(function () os.execute("rm -r " .. directory) end)

  it("has the function first that leaks", function ()
    for _, order in ipairs {"live", "total-live"} do
      local text = printed("$T report --sort " .. order .. " rec")
      assert.matches(", [%d.]+ KiB alive\n", text)
      assert.matches("calls +live +%% +total +blocks +at peak +allocated +"
                     .. "function", text)
      assert.matches("%(from before the trace, or tracegrip's%)", text)
    end
    local text = printed "$T report --sort live rec"
    assert.matches("\n +100 +[%d.]+ KiB +9[%d.]+%% [^\n]+ leaky ", text)
    assert.matches("where *\n[^\n]+ leaky ", text)
    assert.matches("where *\n[^\n]+ churn ",
                   printed "$T report --sort peak-live rec")
    local list = {}
    for name in printed("$T tree --sort live rec"):gmatch "[├└] (%S+)" do
      list[#list + 1] = name
    end
    assert.equal("(main", list[1])
    assert.equal("leaky", list[2])
  end)

  it("has it in info, in stacks and for pprof", function ()
    local found, memory = rows "rec"
    local about = cjson.decode(printed "$T info --json rec").memory
    assert.equal(memory.total_live_bytes, about.live_bytes)
    assert.equal(memory.total_live_blocks, about.live_blocks)
    assert.equal(memory.total_peak_live_bytes, about.peak_live_bytes)
    assert.equal(memory.heap_bytes, about.heap_bytes)
    assert.matches("; [%d.]+ KiB of it alive at the end", printed "$T info rec")
    for weight, key in pairs {live = "self_live_bytes",
                              ["peak-live"] = "self_peak_live_bytes"} do
      local sums = {}
      for name, n in printed("$T export folded -o - --weight " .. weight
                             .. " rec 2>/dev/null"):gmatch "([^; ]+) (%d+)\n" do
        sums[name] = (sums[name] or 0) + tonumber(n)
      end
      assert.equal(found.leaky[key], sums.leaky)
      assert.equal(found.churn[key], sums.churn or 0)
    end
  end)

  it("names what gives back the memory of C buffers", function ()
    local found = rows "rec"
    assert.is_true(found["luaL_Buffer.__close"].self_freed_bytes > 1000000)
    assert.is_nil(found["(anonymous function)"])
  end)

  it("survives a program that is killed", function ()
    local whole = rows "rec"
    assert.not_equal(0, shell "$T record --memory -o cut leak.lua die".status)
    local about = cjson.decode(printed "$T info --json cut 2>/dev/null")
    assert.equal("cut off", about.state)
    assert.equal(whole.leaky.self_live_bytes,
                 rows("cut").leaky.self_live_bytes)
  end)

  it("knows of a ring what was made in the part that is left", function ()
    assert.equal(0, shell("$T record --memory --overflow ring --buffer 1M "
                          .. "-o ring leak.lua").status)
    local whole, part = rows "rec", rows "ring"
    assert.is_true(part.leaky.calls < whole.leaky.calls)
    assert.is_true(part.leaky.self_live_bytes > 1000 * part.leaky.calls)
    assert.is_true(part.leaky.self_live_bytes
                   < whole.leaky.self_live_bytes)
    assert.equal(0, part.churn.self_live_bytes)
  end)

  it("says how sure it is of samples", function ()
    assert.equal(0, shell("$T record --memory-every 8K -o sampled leak.lua")
                    .status)
    for _, order in ipairs {"live", "bytes"} do
      local text = printed("$T report --sort " .. order .. " sampled")
      assert.matches(" ± ", text)
      assert.matches("\nnote: one block in 8.00 KiB was counted", text)
    end
    assert.matches("one block in 8.00 KiB was counted",
                   printed "$T info sampled")
    assert.is_true(lfs.attributes(directory .. "/sampled", "size")
                   < lfs.attributes(directory .. "/rec", "size"))
  end)

  it("is told to be missing where it is", function ()
    assert.equal(0, shell "$T record -o without leak.lua".status)
    for _, command in ipairs {"report --sort live", "tree --sort peak-live",
                              "export folded --weight live -o -"} do
      local result = shell("$T " .. command .. " without")
      assert.equal(1, result.status)
      assert.matches("does not tell what was allocated", result.stderr)
    end
  end)
end)
