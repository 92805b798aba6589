-- What samples tell of lines: rows of a report, a tree, folded stacks, pprof,
-- the text of a function. The truth is counted: lines that do the same work.

local core = require "tracegrip.core"
local kept = require "spec.support.kept".new()
local recorded = require "spec.support.recorded"
local run = require "spec.support.run"

local work = "x * 3 + x / 7 - x // 5 + x % 11 * 2 - x / 3 + x // 9"

-- Two lines of 'heavy' do the same; 'outer' calls 'inner' from two lines, once
-- from the first and three times from the second: of which samples, that show
-- one frame for all, tell by the line of the caller.
local program = ([[
local sin = math.sin
local function heavy (x)
  local y = WORK + WORK + WORK + WORK
  local z = WORK + WORK + WORK + WORK
  return y + z
end
local function inner (n)
  local y
  for x = 1, n do y = WORK end
  return y
end
local function outer (n)
  inner(n)
  inner(3 * n)
end
local start = os.clock()
repeat
  for i = 1, 600 do heavy(i) end
  outer(3000)
until os.clock() - start > SECONDS
]]):gsub("WORK", (work:gsub("%%", "%%%%")))

local function code (seconds)
  return (program:gsub("SECONDS", tostring(seconds)))
end

-- Whether a tick has struck what runs the program: that is a main chunk, too.
local function has_two_mains (directory)
  local trace, mains = recorded.open(directory .. "/rec"):traces()[1], 0
  for _, row in ipairs(trace:report().functions) do
    mains = mains + (row.name == "(main chunk)" and 1 or 0)
  end
  return mains > 1
end

-- A recording with samples is made once for the same options.
local function sampled (options, use)
  options.sample = 1000
  kept:within(run.literal(options), function (directory)
    local tries = 0
    repeat
      local result = recorded.run(directory, code(2), options)
      assert.equal(0, result.status, result.stderr)
      tries = tries + 1
    until tries == 5 or not has_two_mains(directory)
  end, function (directory)
    use(recorded.open(directory .. "/rec"):traces()[1], directory)
  end)
end

local function row_of (report, name)
  for _, row in ipairs(report.functions) do
    if row.name == name then
      return row
    end
  end
end

local function by_line (row)
  local lines = {}
  for _, line in ipairs(row.lines) do
    lines[line.line] = line
  end
  return lines
end

-- The times of nodes by name and line, and of their callers.
local function walk (node, caller, use)
  for _, child in ipairs(node.children) do
    use(child, caller)
    walk(child, child, use)
  end
end

local function check_halves (one, other, whole, share)
  assert.is_true((one + other) / whole > share)
  assert.near(0.5, one / (one + other), 0.3)
end

local mixed = {trace = {"name", "time", "callsite"}, include = {"^heavy$"}}

local function each_way (sentence, check)
  it(sentence .. ", of samples alone", function ()
    sampled({}, check)
  end)
  it(sentence .. ", of samples beside calls", function ()
    sampled({trace = mixed.trace, include = mixed.include}, check)
  end)
end

teardown(function () kept:close() end)

describe("a report with lines", function ()
  each_way("has the time of each line", function (trace)
    local report = trace:report {lines = true}
    local heavy = row_of(report, "heavy")
    local lines = by_line(heavy)
    check_halves(lines[3].self_ms, lines[4].self_ms, heavy.self_ms, 0.6)
    assert.is_true(lines[3].samples + lines[4].samples > 20)
    assert.is_true(lines[3].self_error_ms > 0)
    assert.equal(6, heavy.last_line)
    assert.is_true(by_line(row_of(report, "inner"))[9].self_ms
                   > 0.8 * row_of(report, "inner").self_ms)
  end)

  each_way("divides each function's time, and no other", function (trace)
    local with, without = trace:report {lines = true}, trace:report()
    for i, row in ipairs(with.functions) do
      local sum, last = 0, math.huge
      for _, line in ipairs(row.lines or {}) do
        sum = sum + line.self_ms
        assert.is_true(line.self_ms <= last)
        last = line.self_ms
      end
      assert.equal(without.functions[i].self_ms, row.self_ms)
      if row.lines then     -- calls without a tick have none
        assert.is_true(sum <= row.self_ms + 1e-6, row.name)
        assert.near(row.self_ms, sum, 0.02 * with.duration_ms, row.name)
        assert.is_true(row.calls > 0 or row.self_ms - sum < 1e-6, row.name)
      else
        assert.is_true(row.url == "[C]" or row.self_ms == 0
                       or row.calls > 0, row.name)
      end
    end
  end)

  it("has the calls that lines have made", function ()
    sampled({trace = mixed.trace, include = {"^heavy$", "main chunk"}},
            function (trace)
      local report = trace:report {lines = true, include = {"."}}
      local heavy = row_of(report, "heavy")
      local main = row_of(report, "(main chunk)")
      assert.is_true(heavy.calls > 0)
      assert.equal(heavy.calls, by_line(main)[18].calls)
    end)
  end)

  it("has none where there are no samples", function ()
    recorded.with("print(1)", {}, nil, function (_, recording)
      local trace = recording:traces()[1]
      for _, row in ipairs(trace:report({lines = true}).functions) do
        assert.is_nil(row.lines)
      end
      assert.is_nil(trace:tree({lines = true}).children[1].at)
    end)
  end)

  it("wants true or false", function ()
    recorded.with("print(1)", {}, nil, function (_, recording)
      local trace = recording:traces()[1]
      assert.error_matches(function () trace:report {lines = 1} end,
                           "option 'lines': a boolean expected, got number")
      assert.error_matches(function () trace:tree {lines = "x"} end,
                           "option 'lines': a boolean expected, got string")
    end)
  end)
end)

describe("a tree with lines", function ()
  each_way("tells which call was open", function (trace)
    local times = {}
    walk(trace:tree {lines = true}, {name = ""}, function (node, caller)
      if node.name == "inner" and node.at == 9 then
        assert.equal("outer", caller.name)
        times[caller.at] = (times[caller.at] or 0) + node.self_ms
      end
    end)
    assert.near(0.25, times[13] / (times[13] + times[14]), 0.15)
  end)

  each_way("has the times of the tree without them", function (trace)
    local function sums (filter)
      local times, calls = {}, {}
      local root = trace:tree(filter)
      walk(root, root, function (node)
        times[node.name] = (times[node.name] or 0) + node.self_ms
        calls[node.name] = (calls[node.name] or 0) + node.calls
      end)
      return root, times, calls
    end
    local with, times, calls = sums {lines = true}
    local without, expected, counted = sums()
    -- calls from two lines have times of their own, which ticks have a part in
    assert.near(without.total_ms, with.total_ms, 0.05 * without.total_ms)
    assert.same(counted, calls)
    for name, ms in pairs(expected) do
      assert.near(ms, times[name], 0.05 * without.total_ms, name)
    end
  end)

  it("sums up what is below the last level", function ()
    sampled({}, function (trace)
      local root = trace:tree {lines = true, levels = 1}
      local sum, before = root.self_ms, 0
      walk(root, root, function (node)
        assert.equal("(main chunk)", node.name)
        sum = sum + node.self_ms
        if node.at ~= nil and node.at < 17 then
          before = before + node.self_ms
        end
      end)
      assert.near(root.total_ms, sum, 1e-6)
      -- a tick may strike what comes before the loop
      assert.is_true(before < 0.05 * root.total_ms)
    end)
  end)
end)

describe("folded stacks with lines", function ()
  each_way("have the tree's times", function (trace, directory)
    local path, stacks = directory .. "/out", {}
    assert(trace:export("folded", path, {lines = true,
                                         weight = "nanoseconds"}))
    for stack, ns in run.read(path):gmatch "([^\n]*) (%d+)\n" do
      stacks[stack:gsub("^main [^;]*", "main")] = tonumber(ns)   -- losses
    end
    local main = "main;(main chunk):"
    assert.is_true(stacks[main .. "18;heavy:3"] > 0)
    assert.is_true(stacks[main .. "18;heavy:4"] > 0)
    assert.near(0.25, stacks[main .. "19;outer:13;inner:9"]
                      / (stacks[main .. "19;outer:13;inner:9"]
                         + stacks[main .. "19;outer:14;inner:9"]), 0.15)
    local whole = 0
    for _, ns in pairs(stacks) do
      whole = whole + ns
    end
    local root = trace:tree()
    local running = root.total_ms - root.self_ms
    assert.near(running, whole / 1e6, 0.05 * running)
  end)

end)

---------------------------------------------------------------------------
-- The command line
---------------------------------------------------------------------------

local function shell (directory, script)
  return run.command({"sh", "-c", script}, {
    cwd = directory, timeout = 120,
    env = {T = run.build .. "/bin/tracegrip", LUA = run.lua, HOME = "."}})
end

local function record (directory, options)
  run.write(directory .. "/p.lua", code(1))
  local result = shell(directory, ("$T record %s -o rec p.lua")
                                  :format(options))
  assert.equal(0, result.status, result.stderr)
end

-- A recording of the program on the file "rec", made with these options, and
-- not in this directory.
local function with_recording (options, use)
  kept:within(options, function (directory)
    record(directory, options)
  end, function (directory)
    use(directory, function (script) return shell(directory, script) end)
  end)
end

describe("the command line", function ()
  it("shows lines of functions, and functions with lines", function ()
    with_recording("--sample 1000", function (_, sh)
      local report = sh("$T report --lines rec")
      assert.equal("", report.stderr)
      assert.matches("\n[^\n]* heavy +p.lua:2\n[^\n]+ line %d +p.lua:%d\n",
                     report.stdout)
      assert.matches("\n[^\n]* outer:14 +p.lua:12\n", sh("$T tree --lines rec")
                                                     .stdout)
      assert.matches(";outer:14;inner:9 %d+\n",
                     sh("$T export folded --lines -o - rec").stdout)
      local json = sh("$T report --lines --json rec").stdout
      assert.matches('"lines": %[{"line": %d+, "samples": %d+, "self_ms": ',
                     json)
      assert.is_nil(sh("$T report --json rec").stdout:find('"lines"', 1, true))
    end)
  end)

  it("says what to record, where nothing tells of lines", function ()
    run.within(function (directory)
      run.write(directory .. "/p.lua", "local function f () end f()")
      shell(directory, "$T record -o rec p.lua")
      for _, command in ipairs {"report --lines", "report --source f",
                                "tree --lines"} do
        local result = shell(directory, "$T " .. command .. " rec")
        assert.equal(1, result.status)
        assert.equal("tracegrip: rec has no samples, which tell of lines "
                     .. "(record --sample 1000)\n", result.stderr)
      end
      local result = shell(directory, "$T export folded --lines rec")
      assert.equal(1, result.status)
      assert.equal("tracegrip: option 'lines': the recording has no samples, "
                   .. "which tell of lines (record --sample 1000)\n",
                   result.stderr)
    end)
  end)

  it("refuses what does not go with lines", function ()
    run.within(function (directory)
      run.write(directory .. "/p.lua", "print(1)")
      shell(directory, "$T record --memory -o rec p.lua")
      for _, command in ipairs {
        "report --lines --diff rec rec", "report --source f --diff rec rec",
        "report --lines --sort total-live rec", "export pprof --lines rec"
      } do
        local result = shell(directory, "$T " .. command)
        assert.equal(2, result.status, command)
        assert.matches("^tracegrip: [^\n]+\n$", result.stderr, command)
      end
    end)
  end)
end)

if os.execute "command -v go >/dev/null" then
  describe("go tool pprof", function ()
    it("lists a function with the time of each line", function ()
      with_recording("--sample 1000", function (_, sh)
        local result = sh [[$T export pprof -o p.pb.gz rec &&
                            go tool pprof -list '^heavy$' p.pb.gz]]
        assert.equal(0, result.status, result.stderr)
        local times, units = {}, {ms = 1, s = 1000, us = 0.001}
        for flat, unit, line in result.stdout:gmatch
            "\n *([%d.]+)(%a+) +[%d.]+%a+ +(%d+):" do
          times[tonumber(line)] = tonumber(flat) * units[unit]
        end
        check_halves(times[3], times[4], times[3] + times[4] + (times[5] or 0),
                     0.6)
      end)
    end)
  end)
end

---------------------------------------------------------------------------
-- A function's text
---------------------------------------------------------------------------

describe("report --source", function ()
  it("shows a function's text with the time of each line", function ()
    with_recording("--sample 1000 --sources", function (directory, sh)
      os.remove(directory .. "/p.lua")
      local result = sh "$T report --source heavy rec"
      assert.equal("", result.stderr)
      local rows = {}
      for row in result.stdout:gmatch "[^\n]*" do
        rows[#rows + 1] = row
      end
      assert.matches("^heavy, p.lua:2: [%d.]+ ms of its own, [%d.]+%%, "
                     .. "%d+ samples, text of the recording$", rows[1])
      assert.matches("%% +self +± +samples +line  source$", rows[3])
      assert.matches(" 2  local function heavy %(x%)$", rows[4])
      assert.matches("^> +[%d.]+%% +[%d.]+ ms +[%d.]+%% +%d+ +3    local y = ",
                     rows[5])
      assert.matches("^> .* 4    local z = ", rows[6])
      assert.matches(" 6  end$", rows[8])
      local all = sh "$T report --source '(main chunk)' --limit all rec"
      assert.matches("\n +9    for x = 1, n do", all.stdout)
      local part = sh "$T report --source p.lua:1 rec"
      assert.matches("\n +… %d+ lines\n", part.stdout)
      assert.is_nil(part.stdout:find("\n +9    for x = 1, n do"))
    end)
  end)

  it("finds functions by name, by place, by a pattern", function ()
    with_recording("--sample 1000", function (_, sh)
      local function headings (wanted)
        local list = {}
        local result = sh("$T report --source " .. run.quote(wanted) .. " rec")
        for name in result.stdout:gmatch "([^\n]+), p.lua:%d+: " do
          list[#list + 1] = name
        end
        return table.concat(list, " "), result
      end
      assert.equal("inner", (headings "inner"))
      assert.equal("inner", (headings "p.lua:7"))
      local both = headings "^[hi]"
      assert.is_true(both == "heavy inner" or both == "inner heavy", both)
      local _, none = headings "nobody"
      assert.equal(1, none.status)
      assert.equal("tracegrip: rec has no function 'nobody'\n", none.stderr)
      local _, c = headings "os.clock"
      assert.equal(1, c.status)
      assert.matches("^tracegrip: rec has no [^\n]+ 'os.clock'\n$", c.stderr)
      local _, wrong = headings "%"
      assert.equal(2, wrong.status)
    end)
  end)

  it("is for programs, too", function ()
    with_recording("--sample 1000", function (_, sh)
      local cjson = require "cjson"
      local one = cjson.decode(sh("$T report --source heavy --json rec")
                               .stdout).functions[1]
      assert.equal("heavy", one.name)
      assert.same({2, 6}, {one.line, one.last_line})
      assert.equal(5, #one.lines)
      local sum = one.rest_ms
      for i, line in ipairs(one.lines) do
        assert.equal(i + 1, line.line)
        sum = sum + line.self_ms
      end
      assert.near(one.self_ms, sum, 1e-6)
      assert.equal("  return y + z", one.lines[4].text)
      assert.matches("/p.lua$", one.source)
    end)
  end)

  it("shows no text that may be another one", function ()
    run.within(function (directory)
      record(directory, "--sample 1000")
      local text = run.read(directory .. "/p.lua")
      local function sh (script) return shell(directory, script) end
      local function says (problem)
        local result = sh "$T report --source heavy rec"
        assert.equal(1, result.status)
        assert.equal("", result.stdout)
        assert.matches("^tracegrip: rec: [^\n]*" .. problem
                       .. " %(record %-%-sources keeps it%)\n$", result.stderr)
      end
      sh "mv p.lua elsewhere"
      says "the text of [^\n]*/p.lua is not there"
      run.write(directory .. "/p.lua", text)      -- younger
      says "/p.lua has changed since it was recorded"
      run.write(directory .. "/p.lua", "-- one more line\n" .. text)
      sh "touch -d '1 hour ago' p.lua"            -- says that it is older
      says "/p.lua has changed since it was recorded"
      sh "mkfifo pipe && mv pipe p.lua"
      says "/p.lua has changed since it was recorded"
      sh "rm p.lua && mv elsewhere p.lua"
      assert.equal(0, sh("$T report --source heavy rec").status)
    end)
  end)

  it("fits the terminal, whatever the text has", function ()
    run.within(function (directory)
      local long = ("漢字é"):rep(30)
      run.write(directory .. "/p.lua", ("local function f (x)\n"
        .. "\tlocal s = %q\t-- \27[31m\u{202E}\n"
        .. "  for i = 1, 1e5 do x = %s end\n"
        .. "  return x, s\nend\nlocal t = os.clock()\n"
        .. "repeat f(1) until os.clock() - t > 0.3\n"):format(long, work))
      local result = shell(directory, [[
        $T record --sample 1000 --sources -o rec p.lua &&
        script -qec "stty cols 60 && $T report --source f rec" /dev/null \
          </dev/null]])
      local seen = 0
      for row in result.stdout:gsub("\r", ""):gmatch "[^\n]+" do
        assert.is_true(core.textwidth(row) <= 60, row)
        assert.is_nil(row:find("\27", 1, true))
        seen = seen + (row:find "…$" and 1 or 0)
      end
      assert.is_true(seen > 0)
      local whole = shell(directory, "$T report --source f rec").stdout
      assert.is_truthy(whole:find("        local s = \"" .. long, 1, true))
      assert.is_truthy(whole:find("\\x1B[31m\\u{202E}", 1, true))
    end)
  end)
end)
