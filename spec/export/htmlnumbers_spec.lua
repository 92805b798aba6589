-- The numbers of the page of "export html", as its own code makes them of its
-- data (in Node, without a browser): against the report of the same trace,
-- whatever the timeline leaves out; what it shows beside calls; what it finds;
-- its colours.

local exported = require "spec.export.exported"
local run = require "spec.support.run"
local seen = require "spec.export.seen"

local found_node = os.execute "command -v node >/dev/null"
local it = found_node and it or function (name)
  pending(name .. ": no node here")
end

-- What the page says of calls that are drawn is in these; they ask a browser
-- for nothing.
local parts = {"words", "data", "colours", "timeline", "markers", "search",
               "flamegraph", "functions", "elements", "details"}

local function script ()
  local list = {}
  for i, name in ipairs(parts) do
    list[i] = dofile(("%s/lua/tracegrip/htmlpage/%s.lua"):format(run.root,
                                                                 name))
  end
  return table.concat(list)
end

-- What pages make of their data; 'asked', JSON: what is searched for in each,
-- and text and page of the themes whose colours are to be told.
local function answers (texts, asked)
  return run.within(function (directory)
    run.write(directory .. "/parts.js", script())
    local words = {"node", run.root .. "/spec/export/numbers.mjs", "parts.js",
                   asked or '{"search": [], "inks": []}'}
    for i, text in ipairs(texts) do
      run.write(("%s/%d.html"):format(directory, i), text)
      words[#words + 1] = i .. ".html"
    end
    local result = run.command(words, {cwd = directory, timeout = 120})
    assert.equal(0, result.status, result.stderr)
    local list = {}
    for line in result.stdout:gmatch "[^\n]+" do
      list[#list + 1] = seen.json(line)
    end
    assert.equal(#texts, #list)
    return table.unpack(list)
  end)
end

local function of (program, how)
  how = how or {}
  how.formats = {"html"}
  return exported.of(program, how)[1]
end

local function ns (ms)
  return math.floor(ms * 1e6 + 0.5)
end

-- A line for each function, as both tell it.
local function report_lines (report)
  local list = {}
  for i, row in ipairs(report.functions) do
    local place = row.line and ("%s:%d"):format(row.url, row.line)
    list[i] = ("%s %s %d %d %d %d %d %d %d %d"):format(
      seen.label(row.name, place), place or "[C]", row.calls, ns(row.self_ms),
      ns(row.self_error_ms), ns(row.total_ms), ns(row.min_ms), ns(row.max_ms),
      row.throws, row.yields)
  end
  table.sort(list)
  return list
end

local function page_lines (answer)
  local list = {}
  for i, row in ipairs(answer.rows) do
    list[i] = ("%s %s %d %d %d %d %d %d %d %d"):format(
      row.name, row.place, row.calls, row.self, row.error, row.total, row.min,
      row.max, row.throws, row.yields)
  end
  table.sort(list)
  return list
end

local function check (trace, answer)
  assert.same(report_lines(trace.report), page_lines(answer))
  assert.equal(ns(trace.report.duration_ms), answer.whole)
  local selves, of_coroutines = 0, 0
  for i, row in ipairs(answer.rows) do
    local box = answer.flame[i]
    assert.same({row.calls, row.self, row.total},
                {box.calls, box.own, box.total}, row.name)
    selves = selves + row.self
  end
  assert.equal(answer.whole, selves + answer.nobody)
  for _, rows in ipairs(answer.coroutines) do
    for _, row in ipairs(rows) do
      of_coroutines = of_coroutines + row.own
    end
  end
  assert.equal(selves, of_coroutines)
  local first = {}
  for _, box in ipairs(answer.callers) do
    first[box.name] = (first[box.name] or 0) + box.total
  end
  for _, row in ipairs(answer.rows) do
    first[row.name] = (first[row.name] or 0) - row.self
  end
  for name, left in pairs(first) do
    assert.equal(0, left, name)
  end
end

local many = [[
  local function leaf (n) return n end
  local function middle (n) for i = 1, 20 do leaf(i) end return leaf(n) end
  local function fails (n) if n % 3 == 0 then error("third") end end
  local function body (n)
    for i = 1, n do middle(i) coroutine.yield(i) end
  end
  local function down (n) if n > 0 then return (down(n - 1)) end leaf(1) end
  start()
  for i = 1, 40 do middle(i) pcall(fails, i) end
  local a, b = coroutine.wrap(body), coroutine.wrap(body)
  for i = 1, 9 do a(9) b(9) end
  down(60)
]]

describe("the numbers of an HTML page", function ()
  it("are the report's, whatever the timeline leaves out", function ()
    local traces, texts = {}, {}
    for _, how in ipairs {
      {}, {limit = 50}, {limit = 1}, {limit = 300, c = false},
      {minDuration = 0.002}, {minDuration = 0.001, limit = 20}
    } do
      traces[#traces + 1] = of(many, {export = how})
      texts[#texts + 1] = traces[#traces].text.html
    end
    local list = {answers(texts)}
    for i, trace in ipairs(traces) do
      check(trace, list[i])
    end
    assert.matches("calls? .*not in the timeline, %d", list[2].missing[1])
    assert.same({}, list[1].missing)
  end)

  it("are the report's where frames are deeper than it draws", function ()
    local trace = of [[
      local function down (n) if n > 0 then down(n - 1) end end
      start()
      down(4000)
    ]]
    local answer = answers {trace.text.html}
    assert.same(report_lines(trace.report), page_lines(answer))
    assert.matches("^1,00%d calls deeper than 3,000 part of those around them",
                   answer.missing[1])
    local own = 0
    for _, row in ipairs(answer.flame) do
      own = own + row.own
    end
    assert.equal(answer.whole - answer.nobody, own)
  end)

  it("are the report's of samples, with their number", function ()
    local trace = of([[
      local function inner (n) local x = 0 for i = 1, n do x = x + i end end
      local function outer () inner(2e6) for i = 1, 2e6 do end end
      start {sample = 1000}
      for i = 1, 5 do outer() end
    ]])
    local answer = answers {trace.text.html}
    assert.same(report_lines(trace.report), page_lines(answer))
    assert.equal(ns(trace.report.duration_ms), answer.whole + answer.nobody)
    local units = require "tracegrip.cli.units"
    assert.matches("^" .. units.several(trace.report.samples, "sample")
                   .. ", [%d.]+ m?s$", answer.contents)
  end)

  it("have what was allocated, and the heap's size", function ()
    local trace = of([[
      local function make (n) local t = {} for i = 1, n do t[i] = {} end end
      local function outer () make(100) make(200) end
      start {memory = true}
      for i = 1, 5 do outer() end
      collectgarbage()
    ]])
    local answer = answers {trace.text.html}
    local boxes = {}
    for i, row in ipairs(answer.rows) do
      assert.equal(row.bytes, answer.bytes[i].own, row.name)
      assert.equal(row.totalBytes, answer.bytes[i].total, row.name)
    end
    for _, row in ipairs(trace.report.functions) do
      for _, one in ipairs(answer.rows) do
        if one.name == row.name then
          assert.equal(row.self_bytes, one.bytes)
          assert.equal(row.total_bytes, one.totalBytes)
          assert.equal(row.total_allocations > 0, one.totalBytes > 0)
        end
      end
    end
    for _, call in ipairs(answer.calls) do
      boxes[call.name] = (boxes[call.name] or 0) + call.bytes
    end
    for _, row in ipairs(answer.rows) do
      assert.equal(row.totalBytes, boxes[row.name], row.name)
    end
    assert.is_true(#answer.heap.time > 5)
    assert.is_true(answer.heap.most > 10000)
  end)

  it("have what lines have allocated, and what is alive of it", function ()
    local trace = of([[
      local kept = {}
      local function make (n)
        for i = 1, n do
          kept[i] = {i}
          kept[-i] = {{}, i}
        end
      end
      start {memory = true}
      for i = 1, 5 do make(20) end
      collectgarbage()
    ]], {lines = true})
    local answer, told = answers {trace.text.html}, 0
    local rows = {}
    for _, row in ipairs(answer.rows) do
      rows[row.name] = row
    end
    for _, f in ipairs(trace.report.functions) do
      local lines = {}
      for _, line in ipairs(rows[f.name] and rows[f.name].lines or {}) do
        lines[line.line] = line
      end
      for _, line in ipairs(f.lines or {}) do
        assert.equal(line.self_bytes, lines[line.line].bytes)
        assert.equal(line.self_allocations, lines[line.line].allocations)
        assert.equal(line.self_live_bytes, lines[line.line].live)
        told = told + (line.self_live_bytes > 0 and 1 or 0)
      end
    end
    assert.is_true(told >= 2)
    local details = answer.details.make
    assert.matches("line %d+", details[1][1])
    assert.matches("^[%d,.]+ %a+ in %d%d%d allocations; [%d,.]+ %a+ alive$",
                   details[2][2])
  end)

  it("name a filter and its time 0", function ()
    local trace = of(many, {export = {
      c = false, exclude = {"fails"}, maxDepth = 3, minDuration = 0.0001
    }})
    local answer = answers {trace.text.html}
    assert.equal("--no-c --exclude fails --max-depth 3 --min-ms 0.0001",
                 table.concat(answer.filtered, " "))
    assert.matches("^%d%d? %u%l%l%l? 2%d%d%d, %d%d:%d%d:%d%d ", answer.begun)
  end)
end)

describe("the timeline of an HTML page", function ()
  local program = [[
    local console = require "tracegrip.console"
    local function work (n, what) for i = 1, n do end return what end
    start {trace = {"name", "time", "arguments", "return", "throw", "markers"}}
    console.time "all"
    console.log("begin \u{202E}turned", {phase = 1})
    console.time "first" work(2e4, "Needle") console.timeEnd "first"
    console.time "second" work(2e4, "hay") console.timeEnd "second"
    pcall(error, "Task \u{C4}PFEL failed")
    console.time "open"
    console.count "turn"
    console.timeEnd "all"
  ]]

  local answer, trace
  local function ready ()
    if not answer then
      trace = of(program)
      answer = answers({trace.text.html},
        [[{"inks": [], "search": ["needle", "\u00e4pfel", "phase", "second",
                                  "work", "nowhere"]}]])
    end
    return answer
  end

  it("has markers, and timers in as few lanes as they need", function ()
    local labels = {}
    for i, mark in ipairs(ready().markers) do
      labels[i] = mark.label:gsub("  %d.*", "")
    end
    assert.same({'log: "begin \\u{202E}turned", {phase = 1}', "first",
                 "second", "time: open", "count: turn", "all"}, labels)
    assert.same({{"all"}, {"first", "second"}}, ready().lanes)
  end)

  it("has a timer where it was", function ()
    local spans, works = {}, {}
    for _, mark in ipairs(ready().markers) do
      spans[mark.label:match "^%w+"] = mark
    end
    for _, call in ipairs(ready().calls) do
      if call.name == "work" then works[#works + 1] = call end
    end
    for i, name in ipairs {"first", "second"} do
      assert.is_true(spans[name].begin <= works[i].begin)
      assert.is_true(spans[name]["end"] >= works[i]["end"])
    end
    assert.is_true(spans.second.begin >= spans.first["end"])
    assert.is_true(spans.all.begin <= spans.first.begin)
  end)

  it("finds arguments, results, errors and markers", function ()
    local needle, apple, phase, second, work, nowhere =
      table.unpack(ready().searched)
    assert.same({"work"}, needle)
    assert.same({"pcall", "error"}, apple)
    assert.equal(1, #phase)
    assert.matches("^log: ", phase[1])
    assert.equal(1, #second)
    assert.same({"work", "work"}, work)
    assert.same({}, nowhere)
  end)
end)

describe("the colours of an HTML page", function ()
  -- 0 to 255 -> 0 to 1, and what a person sees of it (WCAG 2.2).
  local function luminance (rgb)
    local sum = 0
    for i, weight in ipairs {0.2126, 0.7152, 0.0722} do
      local x = rgb[i] / 255
      x = x <= 0.04045 and x / 12.92 or ((x + 0.055) / 1.055) ^ 2.4
      sum = sum + weight * x
    end
    return sum
  end

  local function contrast (a, b)
    local x, y = luminance(a), luminance(b)
    return (math.max(x, y) + 0.05) / (math.min(x, y) + 0.05)
  end

  local function rgb (hex)
    local list = {}
    for two in hex:gmatch "%x%x" do
      list[#list + 1] = tonumber(two, 16)
    end
    return list
  end

  -- The names of the theme: light is what stands first.
  local function themes ()
    local style = dofile(run.root .. "/lua/tracegrip/htmlpage/style.lua")
    local light, dark = style:match ":root {(.-)}.*:root%.dark {(.-)}"
    local list = {}
    for i, text in ipairs {light, dark} do
      list[i] = {}
      for name, hex in text:gmatch "%-%-(%w+): (#%x+);" do
        list[i][name], list[i]["#" .. name] = rgb(hex), hex
      end
    end
    return list
  end

  local READABLE, VISIBLE = 4.5, 3

  it("can be read, light and dark", function ()
    for _, ink in ipairs(themes()) do
      for _, name in ipairs {"text", "faint", "accent"} do
        assert.is_true(contrast(ink[name], ink.page) >= READABLE, name)
        assert.is_true(contrast(ink[name], ink.panel) >= READABLE, name)
      end
      assert.is_true(contrast(ink.hit, ink.onhit) >= READABLE)
      for _, name in ipairs {"error", "warn", "mark"} do
        assert.is_true(contrast(ink[name], ink.page) >= VISIBLE, name)
      end
    end
  end)

  it("can be read on boxes of every hue, and on those beside a search's hits",
  function ()
    local trace, inks = of "start()", themes()
    local answer = answers({trace.text.html},
      ('{"search": [], "inks": [["%s", "%s"], ["%s", "%s"]]}'):format(
        inks[1]["#text"], inks[1]["#page"], inks[2]["#text"],
        inks[2]["#page"]))
    for i, ink in ipairs(inks) do
      assert.equal(360 * 12, #answer.colours[i])
      local least, faintest, error_least = 21, 21, 21
      for _, pair in ipairs(answer.colours[i]) do
        least = math.min(least, contrast(pair[1], ink.text))
        faintest = math.min(faintest, contrast(pair[2], ink.faint))
        error_least = math.min(error_least, contrast(pair[1], ink.error))
      end
      assert.is_true(least >= READABLE, ("%d: %g"):format(i, least))
      assert.is_true(faintest >= READABLE, ("%d: %g"):format(i, faintest))
      assert.is_true(error_least >= 2, ("%d: %g"):format(i, error_least))
    end
  end)
end)
