-- Lines of memory where a frame is a function with a line: trees, folded
-- stacks, pprof's locations, the page. The truth is the report's lines, which
-- lines_spec.lua compares with what programs count.

local kept = require "spec.support.kept".new()
local pprof = require "spec.export.pprof"
local recorded = require "spec.support.recorded"
local run = require "spec.support.run"

local program = [[
local kept = {}
local function make (i)
  local pair = {i, i}
  return {pair}
end
local function fill (n, round)
  for i = 1, n do
    kept[i] = make(i)
    kept[n + i] = ("x"):rep(40) .. round .. i
  end
  if n > 20 then
    fill(n // 2, round)
    kept[#kept + 1] = {}
  end
end
local function produce ()
  for i = 1, 30 do
    kept[500 + i] = {i}
    coroutine.yield(i)
  end
end
for round = 1, 20 do
  fill(100, round)
  fill(30, round)
  if round == 10 then kept = {} collectgarbage() collectgarbage() end
end
local co = coroutine.wrap(produce)
for i = 1, 25 do co() end
]]

local variants = {
  ["all calls"] = {memory = true},
  ["calls beside samples"] = {memory = true, sample = 2000,
                              trace = {"name", "callsite", "time"}},
  ["samples alone"] = {memory = true, sample = 2000},
  ["calls of Lua functions"] = {memory = true, c = false},
  ["some blocks"] = {memory = true, memoryEvery = 300},
}

-- use(trace, directory) of a recording that is made once.
local function with (variant, use)
  kept:within(variant, function (directory)
    local result = recorded.run(directory, program, variants[variant])
    assert.equal(0, result.status, result.stderr)
  end, function (directory)
    use(recorded.open(directory .. "/rec"):traces()[1], directory)
  end)
end

local fields = {"self_bytes", "self_allocations", "self_live_bytes",
                "self_live_blocks", "self_peak_live_bytes",
                "self_peak_live_blocks"}

local function add (sums, key, n)
  if n > 0 then
    sums[key] = (sums[key] or 0) + n
  end
end

-- By "FUNCTION:LINE", or "FUNCTION" of what has no line: what the report has in
-- this field.
local function by_report (trace, field)
  local sums = {}
  for _, row in ipairs(trace:report({lines = true}).functions) do
    local rest = row[field]
    for _, line in ipairs(row.lines or {}) do
      if line.line > 0 then
        add(sums, row.name .. ":" .. line.line, line[field])
        rest = rest - line[field]
      end
    end
    add(sums, row.name, rest)
  end
  return sums
end

local function by_tree (node, field, sums)
  for _, child in ipairs(node.children) do
    add(sums, child.name .. (child.at and ":" .. child.at or ""), child[field])
    by_tree(child, field, sums)
  end
  return sums
end

-- Each node has in all what is in it and below it.
local function check_totals (node)
  for _, field in ipairs(fields) do
    local total = field:gsub("^self", "total")
    local sum = node[field]
    for _, child in ipairs(node.children) do
      sum = sum + child[total]
    end
    assert.equal(sum, node[total], node.name .. " " .. total)
  end
  for _, child in ipairs(node.children) do
    check_totals(child)
  end
end

teardown(function () kept:close() end)

local function calls_of (node, name)
  local n = 0
  for _, child in ipairs(node.children) do
    n = n + (child.name == name and child.calls or 0) + calls_of(child, name)
  end
  return n
end

describe("a tree of lines", function ()
  for variant in pairs(variants) do
    it("has what the report's lines have, of " .. variant, function ()
      with(variant, function (trace)
        local tree, plain = trace:tree {lines = true}, trace:tree()
        for _, field in ipairs(fields) do
          local total = field:gsub("^self", "total")
          assert.same(by_report(trace, field), by_tree(tree, field, {}), field)
          assert.equal(plain[total], tree[total])
          assert.equal(plain[field], tree[field])
        end
        check_totals(tree)
        assert.equal(calls_of(plain, "make"), calls_of(tree, "make"))
        assert.is_number(tree.peak_bytes)
        assert.is_nil(tree.children[1].peak_bytes)
      end)
    end)
  end

  it("has the line of each caller and of what allocates", function ()
    with("all calls", function (trace)
      local by_way = {}
      local function down (node, way)
        for _, child in ipairs(node.children) do
          local here = way .. "/" .. child.name .. ":" .. (child.at or "?")
          by_way[here] = child
          down(child, here)
        end
      end
      down(trace:tree {lines = true}, "")
      for way, calls in pairs {["/(main chunk):23/fill:8"] = 2000,
                               ["/(main chunk):24/fill:8"] = 600,
                               ["/(main chunk):23/fill:12/fill:8"] = 1000} do
        for line = 3, 4 do
          local node = by_way[way .. "/make:" .. line]
          assert.equal(2 * calls, node.self_allocations, way)
        end
      end
      assert.is_nil(by_way["/(main chunk):23/fill:13"].children[1])
    end)
  end)
end)

describe("folded stacks of lines", function ()
  -- By the innermost frame. Roots name coroutines by what they begin with.
  local function by_stack (trace, directory, weight)
    local sums, path = {}, directory .. "/folded"
    assert(trace:export("folded", path, {lines = true, weight = weight}))
    for stack, n in run.read(path):gmatch "([^\n]*) (%d+)\n" do
      local leaf = stack:match "[^;]*$"
      add(sums, leaf:gsub("^(%(main chunk%)) %b()", "%1"), tonumber(n))
    end
    return sums
  end

  for variant in pairs(variants) do
    it("have what the report's lines have, of " .. variant, function ()
      with(variant, function (trace, directory)
        local weights = {bytes = "self_bytes", allocations = "self_allocations",
                         live = "self_live_bytes",
                         ["peak-live"] = "self_peak_live_bytes"}
        for weight, field in pairs(weights) do
          assert.same(by_report(trace, field),
                      by_stack(trace, directory, weight), weight)
        end
      end)
    end)
  end
end)

describe("pprof's locations", function ()
  local values = {["alloc_objects/count"] = "self_allocations",
                  ["alloc_space/bytes"] = "self_bytes",
                  ["inuse_objects/count"] = "self_live_blocks",
                  ["inuse_space/bytes"] = "self_live_bytes"}

  -- What has no line is at a function's first one.
  local function at_lines (trace, field)
    local sums, first = {}, {}
    for _, row in ipairs(trace:report().functions) do
      first[row.name] = row.line or 0
    end
    for key, n in pairs(by_report(trace, field)) do
      local name = key:match "^(.*):%d+$"
      add(sums, name and key or key .. ":" .. first[key], n)
    end
    return sums
  end

  for variant in pairs(variants) do
    it("have what the report's lines have, of " .. variant, function ()
      with(variant, function (trace, directory)
        assert(trace:export("pprof", directory .. "/p.pb"))
        local profile = pprof.read(run.read(directory .. "/p.pb"))
        for i, kind in ipairs(profile.types) do
          local sums = {}
          for _, sample in ipairs(values[kind] and profile.samples or {}) do
            local leaf = sample.stack[#sample.stack]
            local name = leaf.name:gsub("^(%(main chunk%)) .*", "%1")
            add(sums, name .. ":" .. leaf.line, sample.values[i])
          end
          if values[kind] then
            assert.same(at_lines(trace, values[kind]), sums, kind)
          end
        end
      end)
    end)
  end

  if os.execute "command -v go >/dev/null" then
    it("are listed by go tool pprof beside the text", function ()
      with("all calls", function (trace, directory)
        assert(trace:export("pprof", directory .. "/p.pb"))
        local result = run.command(
          {"go", "tool", "pprof", "-sample_index=alloc_objects", "-list",
           "^make$", "p.pb"},
          {cwd = directory, timeout = 120, env = {HOME = "."}})
        assert.equal(0, result.status, result.stderr)
        local sums = by_report(trace, "self_allocations")
        for line = 3, 4 do
          local flat, cum = result.stdout:match(
            "\n +(%d+) +(%d+) +" .. line .. ":[^\n]*pair")
          assert.equal(sums["make:" .. line], tonumber(flat))
          assert.equal(flat, cum)
        end
      end)
    end)
  end
end)
