-- Lines of what is allocated where samples alone are taken, as tracegrip top
-- adds them up: against what the program counts itself.

local cjson = require "cjson"

local run = require "spec.support.run"

-- Prints what tracegrip top knows of each function of "work.lua", by its name:
-- {bytes, count, live, lines = {["line N"] = the same}}. What has no line is
-- line 0.
local prelude = [[
local core = require "tracegrip.core"
local blocks = dofile(arg[1] .. "/spec/support/blocks.lua")
local cjson = require "cjson"

local function amount (row)
  return {bytes = row.self_bytes, count = row.self_allocations,
          live = row.self_live_bytes or 0}
end

local function is_nothing (a)
  return a.bytes == 0 and a.count == 0 and a.live == 0
end

local function by_top (trace)
  assert(trace:save "saved.tgr")
  local receiver <close> = core.receive({sample = 1000, memory = true}, nil,
                                        nil, true)
  for _, bytes in ipairs(blocks "saved.tgr") do
    assert(receiver:feed(bytes))
    receiver:pump()
  end
  local sums, out = receiver:profile(true), {}
  for _, row in ipairs(sums.functions) do
    local f = amount(row)
    f.lines = {}
    out[row.name] = not is_nothing(f) and f or nil
  end
  for _, row in ipairs(sums.lines) do
    local has = amount(row)
    if not is_nothing(has) then
      out[row.name].lines["line " .. row.at] = has
    end
  end
  return out
end

-- The size of what 'make' makes, of many: the stack may grow once meanwhile.
local function size (make)
  collectgarbage() collectgarbage() collectgarbage "stop"
  local before = collectgarbage "count"
  for i = 1, 1000 do make() end
  local bytes = (collectgarbage "count" - before) * 1024 // 1000
  collectgarbage "restart"
  return math.tointeger(bytes)
end

local sizes = {
  pair = size(function () return {1, 2} end),
  empty = size(function () return {} end),
  text = size(function () return ("x"):rep(1000) end)
}

local work = assert(loadfile "work.lua")()
local trace = core.start {sample = 1000, memory = true}
work()
trace:stop()
print(cjson.encode {sizes = sizes, top = by_top(trace)})
os.exit(true, true)
]]

local function measured (code)
  return run.within(function (directory)
    run.write(directory .. "/work.lua", code)
    run.write(directory .. "/main.lua", prelude)
    local result = run.file("main.lua", {
      cwd = directory, env = run.modules, args = {run.root}
    })
    assert.equal("", result.stderr)
    assert.equal(0, result.status)
    return cjson.decode(result.stdout)
  end)
end

-- What a function and its lines have.
local function of (result, name)
  local has = result.top[name]
  local out = {whole = {bytes = has.bytes, count = has.count,
                        live = has.live}}
  for line, amount in pairs(has.lines) do
    out[line] = amount
  end
  return out
end

-- 'n' blocks of a size each, of which so many are alive.
local function blocks (n, each, alive)
  return {bytes = n * each, count = n, live = (alive or 0) * each}
end

local function together (...)
  local sum = {bytes = 0, count = 0, live = 0}
  for _, amount in ipairs {...} do
    for key, n in pairs(amount) do
      sum[key] = sum[key] + n
    end
  end
  return sum
end

-- Of a table with an array: two blocks.
local function pairs_of (n, size, alive)
  local sum = blocks(n, size, alive)
  sum.count = 2 * n
  return sum
end

-- Once for all functions of one program.
local function program ()
  return measured [[
    local kept = {}
    for i = 1, 100 do kept[i] = 0 end
    local function pair () return {1, 2} end
    local function fill (n)
      for i = 1, n do
        kept[i] = {1, 2}
        local dropped = {}
      end
    end
    local function text (n)
      for i = 1, n do local s = ("x"):rep(1000) end
    end
    local function unmet (n) if n > 0 then return unmet(n - 1) end end
    local function once () return {{}, {}} end
    local function produce ()
      for i = 1, 3000 do
        local t = {}
        coroutine.yield(t)
      end
    end
    return function ()
      for round = 1, 30 do
        fill(100)
        for i = 1, 100 do pair() unmet(2) pair() end
      end
      text(2000)
      for i = 1, 50 do kept[i] = 0 end
      local co = coroutine.wrap(produce)
      for i = 1, 3000 do co() end
      kept[100] = once()
      collectgarbage() collectgarbage()
    end
  ]]
end

describe("top, of memory by samples", function ()
  local result
  setup(function () result = program() end)

  it("has what each line and each function has made", function ()
    local sizes = result.sizes
    local kept = pairs_of(3000, sizes.pair, 49)
    local dropped = blocks(3000, sizes.empty)
    assert.same({whole = together(kept, dropped), ["line 6"] = kept,
                 ["line 7"] = dropped}, of(result, "fill"))
    local made = pairs_of(6000, sizes.pair)
    assert.same({whole = made, ["line 3"] = made}, of(result, "pair"))
  end)

  it("has at the line of its call what a C function makes", function ()
    local has = of(result, "text")
    assert.same(has.whole, has["line 11"])
    assert.equal(2000 * result.sizes.text, has.whole.bytes)
    local rep = result.top["string.rep"]        -- a coroutine's first frame
    assert.is_true(rep == nil or rep.count == 1)
  end)

  it("has a function that no sample has met", function ()
    local has = of(result, "once")
    assert.same(has.whole, has["line 14"])
    assert.equal(4, has.whole.count)
    assert.equal(has.whole.bytes, has.whole.live)
    assert.equal(result.sizes.pair + 2 * result.sizes.empty, has.whole.bytes)
  end)

  it("has what coroutines make", function ()
    local has = of(result, "produce")
    assert.same(blocks(3000, result.sizes.empty, 1), has["line 17"])
    assert.same(has.whole, together(has["line 17"], has["line 18"]))
  end)

  it("has the same by line and by function", function ()
    for name, f in pairs(result.top) do
      local all = {}
      for _, amount in pairs(f.lines) do
        all[#all + 1] = amount
      end
      assert.same(of(result, name).whole, together(table.unpack(all)), name)
    end
  end)

  it("knows of many lines what is alive", function ()
    local calls = 3
    local made = measured(([[
      local kept = {}
      for i = 1, 200 do kept[i] = 0 end
      for i = #kept, 1, -1 do kept[i] = nil end
      local function many ()
        %s
      end
      return function ()
        for i = 1, %d do many() end
      end
    ]]):format(("kept[#kept + 1] = {}\n"):rep(40), calls))
    local has = of(made, "many")
    for line = 5, 44 do
      assert.same(blocks(calls, made.sizes.empty, calls), has["line " .. line])
    end
  end)
end)
