-- The page that "export html" writes: its data against the packets of the same
-- trace; and, where there is a browser, what it shows and how it is used
-- without a mouse. Its numbers: htmlnumbers_spec.lua.

local exported = require "spec.export.exported"
local programs = require "spec.export.programs"
local protobuf = require "spec.support.protobuf"
local run = require "spec.support.run"
local seen = require "spec.export.seen"

local letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                .. "+/"

local function bytes_of (base64)
  local list = {}
  for group in base64:gmatch "...." do
    local n, padding = 0, select(2, group:gsub("=", "="))
    for letter in group:gmatch "." do
      n = n << 6 | (letters:find(letter, 1, true) or 1) - 1
    end
    list[#list + 1] = (">I3"):pack(n):sub(1, 3 - padding)
  end
  return table.concat(list)
end

local function script (text, id)
  return assert(text:match('<script id="' .. id .. '" type="[%w/]+">(.-)</s'),
                id)
end

local RESUMED, ARGUMENTS, VALUES, TAIL = 1, 4, 1, 2
local whys = {"return", "exception", "yield", "unfinished"}
local left_out = {"(calls left out)", "", 0, 1}

-- The document's data: facts, and steps as seen.lua has them, with the text of
-- values.
local function read (text)
  local facts = seen.json(script(text, "facts"))
  local bytes = run.unzip(bytes_of(script(text, "events")))
  local texts = run.unzip(bytes_of(script(text, "values")))
  local at, taken, now = 1, 1, 0
  local steps, open = {}, {}
  local function varint ()
    local number
    number, at = protobuf.varint(bytes, at)
    return number
  end
  local function value (there)
    local size = there and varint() or 0
    taken = taken + size
    return there and texts:sub(taken - size, taken - 1) or nil
  end
  while at <= #bytes do
    local head = varint()
    now = now + (head >> 1)
    local step
    if head & 1 == 1 then
      local f, thread, flags =
        facts.functions[varint() + 1] or left_out, varint(), varint()
      step = {opens = true, name = f[1], thread = thread,
              source = f[4] == 0 and ("%s:%d"):format(f[2], f[3]) or nil,
              resumed = flags & RESUMED ~= 0,
              text = value(flags & ARGUMENTS ~= 0)}
      open[#open + 1] = step
    else
      local flags = varint()
      assert.is_true(flags > 0)   -- no marker
      local frame = table.remove(open)
      step = {opens = false, name = frame.name, thread = frame.thread,
              source = frame.source, why = whys[flags >> 2],
              tail = flags & TAIL ~= 0, text = value(flags & VALUES ~= 0)}
    end
    step.ns = now
    steps[#steps + 1] = step
  end
  assert.equal(#texts + 1, taken)
  assert.equal(0, #open)
  return facts, steps
end

local function each_trace (sentence, check)
  for name, program in pairs(programs) do
    if name ~= "names" then       -- of which some are shown otherwise
      it(("%s (%s)"):format(sentence, name), function ()
        for _, trace in ipairs(exported.of(program, {formats = {"html"}})) do
          check(trace, trace.text.html)
        end
      end)
    end
  end
end

describe("an HTML document", function ()
  each_trace("has each call, its time to the nanosecond, its place",
  function (trace, text)
    local _, steps = read(text)
    local expected = seen.packets(trace.packets, {depth = 3000})
    local threads = {}      -- numbers of coroutines are those of appearance
    assert.equal(#expected, #steps)
    for i, step in ipairs(expected) do
      local got = steps[i]
      threads[got.thread] = threads[got.thread] or step.thread
      local wanted = ("%s %s %s %s"):format(step.opens, step.name, step.source,
                                            step.thread)
      local there = ("%s %s %s %s"):format(got.opens, got.name, got.source,
                                           threads[got.thread])
      local ns = (step.ns or 0) - expected[1].ns
      if wanted ~= there or ns ~= got.ns and step.why ~= "unfinished" then
        assert.equal(wanted .. " " .. ns, there .. " " .. got.ns)
      end
    end
  end)

  it("says how many boxes it has, with those of calls left out", function ()
    local trace = exported.of([[
      local function short () end
      local function outer () short() short() for i = 1, 1e5 do end short() end
      start()
      for i = 1, 5 do outer() end
    ]], {formats = {"html"}, export = {limit = 5}})[1]
    local facts, steps = read(trace.text.html)
    local boxes, left = 0, 0
    for _, step in ipairs(steps) do
      boxes = boxes + (step.opens and 1 or 0)
      left = left + (step.opens and step.name == "(calls left out)" and 1 or 0)
    end
    assert.equal(5, facts.shown)
    assert.equal(5 * 4, facts.calls)
    assert.is_true(left > 0)
    assert.equal(5 + left, boxes)
    assert.equal(boxes, facts.boxes)
  end)

  it("has arguments and results, and nothing of them is markup", function ()
    local trace = exported.of([[
      local function greet (name) return "</script><b>" .. name, 2 end
      start()
      greet("<!-- Annabella")
    ]], {formats = {"html"}})[1]
    local _, steps = read(trace.text.html)
    assert.equal('"<!-- Annabella"', steps[1].text)
    assert.equal('"</script><b><!-- Annabella", 2', steps[2].text)
    local _, ends = trace.text.html:gsub("</script", "")
    assert.equal(6, ends)
    assert.is_nil(trace.text.html:find("Annabella", 1, true))
  end)

  it("needs nothing from elsewhere", function ()
    local page = assert(loadfile(run.root .. "/lua/tracegrip/htmlpage.lua"))()
    assert.is_nil(page:find "https?://")
    assert.is_nil(page:find "src=")
    assert.is_nil(page:find "import ")
    assert.is_true(#page < 100000)
  end)

  it("is the same each time", function ()
    local result = run.code [[
      local tracegrip = require "tracegrip"
      local trace = tracegrip.start {memory = true}
      for i = 1, 100 do pcall(tostring, {i}) end
      trace:stop()
      local texts = {}
      for i = 1, 2 do
        local path = os.tmpname()
        trace:export("html", path, {limit = 50})
        local file = io.open(path, "rb")
        texts[i] = file:read "a"
        file:close()
        os.remove(path)
      end
      print(texts[1] == texts[2], #texts[1] > 10000)
    ]]
    assert.equal("true\ttrue\n", result.stdout, result.stderr)
  end)

  it("ends as one where nothing was called", function ()
    local trace = exported.of("start()", {formats = {"html"}})[1]
    local facts, steps = read(trace.text.html)
    assert.equal(0, #steps)
    assert.equal(0, #facts.functions)
    assert.matches("</html>\n$", trace.text.html)
  end)
end)

-- What Chromium shows, where there is one, and node to ask it.
local function browser (sentence, check)
  if os.execute "command -v chromium node >/dev/null" then
    return it(sentence, check)
  end
  pending(sentence .. " needs chromium and node")
end

-- What it shows of traces: a table of answers for each.
local function shown (traces)
  return run.within(function (directory)
    local words = {"node", "--experimental-websocket",
                   run.root .. "/spec/export/page.mjs"}
    for i, trace in ipairs(traces) do
      run.write(("%s/%d.html"):format(directory, i), trace.text.html)
      words[#words + 1] = i .. ".html"
    end
    local result = run.command(words, {cwd = directory, timeout = 180})
    assert.equal(0, result.status, result.stderr)
    return table.unpack(seen.json(result.stdout))
  end)
end

-- All pages are asked in one browser, since that takes long to begin.
local page, sampled

local function asked ()
  if page then return end
  local types = {"name", "time", "arguments", "return", "throw", "location",
                 "markers", "thread"}
  page, sampled = shown {
    exported.of([[
      local console = require "tracegrip.console"
      local function inner (n)
        for _ = 1, 5e6 do end
        return n .. "!"
      end
      local function outer (word) return (inner(word)) end
      local function fails () error("task \u{202E}failed", 0) end
      start {trace = ]] .. run.literal(types) .. [[, memory = true}
      outer "hello"
      console.log "half way"
      pcall(fails)
    ]], {formats = {"html"}, export = {c = false}})[1],
    exported.of([[
      local function inner (n) local x = 0 for i = 1, n do x = x + i end end
      local function outer () inner(2e6) for i = 1, 2e6 do end end
      start {sample = 500}
      for i = 1, 5 do outer() end
    ]], {formats = {"html"}})[1]
  }
end

describe("the page", function ()
  browser("says that it loads, and has no dead buttons meanwhile", function ()
    asked()
    assert.same({"Loading…", true}, page.loading)
  end)

  browser("shows calls, their values, sums and the report's table", function ()
    asked()
    assert.matches("^3 calls, [%d.]+ m?s; filtered: %-%-no%-c$", page.about)
    local outer, inner = table.unpack(page.clicked)
    assert.matches("^outer\n.*arguments\n\"hello\"\n.*\"hello!\"", outer)
    assert.matches("^inner\n.*\"hello!\".*in\nouter, main\n", inner)
    assert.matches("^Trace 1\n.*calls\n3\n.*time 0\n[%d.]+ m?s on",
                   page.flame[1])
    assert.matches("^outer\n", page.flame[2])
    assert.matches("^inner\n", page.flame[3])
    local rows = {}
    for i, row in ipairs(page.table) do
      rows[i] = row[1] .. " " .. row[2]
    end
    assert.equal("inner 1", rows[1])
    assert.equal("(no traced function) ", table.remove(rows))
    table.sort(rows)
    assert.same({"fails 1", "inner 1", "outer 1"}, rows)
    assert.equal("2 of 3 functions", page.found)
  end)

  browser("has a function's own time and that of its callers apart", function ()
    asked()
    local inner, outer = table.unpack(page.callers)
    local own = inner:match "^inner\n.*self\n([%d.]+ m?s, [%d.]+%%)\ntotal\n"
    assert.is_truthy(own, inner)
    assert.is_true(tonumber(own:match "^[%d.]+") > 1)
    assert.matches("^outer\n.*self of inner\n" .. own:gsub("%p", "%%%0")
                   .. ", by outer → inner", outer)
  end)

  browser("is walked by keys, and what is chosen is read out", function ()
    asked()
    assert.same({"outer", "inner", "outer", "fails"}, page.walked)
    assert.matches("^fails\n.*\nerror\n\"task \\u{202E}failed\"\n",
                   page.error)
    assert.matches("place\nlevel 1, 2 of 2", page.error)
    assert.matches("^log\n.*says\n\"half way\"", page.marker)
    assert.equal("1 of 1", page.hits)
    assert.matches("^fails\n", page.hit)
    assert.equal("TR inner", page.row)
    assert.equal("TR " .. page.table[2][1], page.nextrow)
  end)

  browser("steps from moment to moment, forwards and backwards", function ()
    asked()
    local moments = page.moments
    local led = {}
    for i, step in ipairs(moments.steps) do
      local key, there = table.unpack(step)
      assert.equal(there.moment, there.value)
      led[i] = ("%s %d %s"):format(key, there.moment, there.what)
    end
    assert.same({
      "Home 0 The beginning", "ArrowRight 1 outer is called",
      "ArrowDown 3 inner returns", "ArrowUp 1 outer is called",
      "o 4 outer returns", "ArrowRight 5 fails is called",
      "ArrowRight 6 fails fails", "ArrowLeft 5 fails is called",
      "O 4 outer returns", "End 6 fails fails"
    }, led)
    local called = moments.steps[2][2]
    assert.same({'outer "hello"'}, called.stack)
    assert.is_nil(called.detail:find "hello!")     -- that is to come
    assert.matches("next\ninner is called", called.detail)
    assert.matches('returned\n"hello!"', moments.steps[3][2].detail)
    assert.matches('said\nlog: "half way"', moments.steps[6][2].detail)
    assert.matches("next\nthe end", moments.steps[10][2].detail)
    assert.same({'inner "hello"', 'outer "hello"'}, moments.slid.stack)
    assert.equal("2 of 6: inner is called", moments.spoken)
    assert.equal(3, moments.pressed.moment)
    assert.equal("fails is called", moments.found.what)
    assert.equal("inner is called", moments.chosen.what)
    assert.same({"Beginning", "Back out", "Back over", "Back"}, moments.dead)
  end)

  browser("names what it has for who cannot see it", function ()
    asked()
    local names = {}
    for _, node in ipairs(page.tree) do
      names[node] = true
    end
    for _, node in ipairs {
      "button Timeline pressed=true", "button Flame graph pressed=false",
      "searchbox Search names, places, arguments, results, errors, markers",
      "combobox Coroutine", "button Zoom in", "region What is chosen polite",
      "grid Functions", "button self ▾", "rowheader inner"
    } do
      assert.is_true(names[node], node .. " of\n"
                     .. table.concat(page.tree, "\n"))
    end
    assert.same({"col self ▾ descending"}, page.sorted)
    assert.matches("^application Timeline, 3 calls, .*Arrow keys", page.canvas)
    assert.matches("^3px solid", page.outline)
  end)

  browser("stays where it is from view to view", function ()
    asked()
    assert.equal(page.tops[1], page.tops[2])
    assert.equal(page.tops[1], page.tops[3])
    assert.equal(page.tops[1], page.tops[4])
  end)

  browser("is used with fingers on a phone", function ()
    asked()
    assert.equal("none", page.phone.gestures)
    assert.equal(1, page.phone.scale)
    assert.is_true(page.phone.zoomed < page.phone.whole / 2)
    assert.is_true(page.phone.moved > page.phone.from)
    assert.equal(390, page.phone.width)
    assert.equal("inner", page.phone.first)
  end)

  browser("asks for nothing", function ()
    asked()
    assert.same({}, page.requests)
  end)

  browser("shows samples where nothing else is there", function ()
    asked()
    assert.matches("^%d+ samples, [%d.]+ m?s$", sampled.about)
    assert.matches("known by\nsamples", sampled.clicked[1])
    local rows = {}
    for _, row in ipairs(sampled.table) do
      if row[1] ~= "(not running)" then
        rows[#rows + 1] = row[1]
      end
    end
    table.sort(rows)
    assert.same({"(main chunk) p.lua", "inner", "outer"}, rows)
  end)

  browser("tells of a function which of its lines took the time", function ()
    asked()
    local name, lines = sampled.row:match "^(%a+)\n.*\n(line .*)$"
    assert.equal(sampled.table[1][1], name)
    assert.matches("^line %d+\n[%d.]+ m?s, [%d.]+%%, %d+ samples?$",
                   lines:match "^[^\n]*\n[^\n]*")
  end)
end)
