-- The page that "export html" writes: its data against the packets and the
-- report of the same trace; and, where there is a browser, what it shows.

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
        facts.functions[varint() + 1], varint(), varint()
      step = {opens = true, name = f[1], thread = thread,
              source = f[4] == 0 and ("%s:%d"):format(f[2], f[3]) or nil,
              resumed = flags & RESUMED ~= 0,
              text = value(flags & ARGUMENTS ~= 0)}
      open[#open + 1] = step
    else
      local flags, frame = varint(), table.remove(open)
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

  each_trace("has the report's numbers", function (trace, text)
    if trace.exported.html.folded > 0 then
      return      -- calls that are not in it
    end
    local facts, rows = seen.json(script(text, "facts")), {}
    for _, row in ipairs(facts.functions) do
      local place = row[4] == 1 and "[C]" or ("%s:%d"):format(row[2], row[3])
      local name = row[1] .. " " .. place
      rows[name] = (rows[name] or 0) + row[5]
    end
    for _, row in ipairs(trace.report.functions) do
      local source = row.line and ("%s:%d"):format(row.url, row.line)
      local name = seen.label(row.name, source) .. " " .. (source or "[C]")
      rows[name] = rows[name] and rows[name] - row.calls
    end
    for name, left in pairs(rows) do
      assert.equal(0, left, name)
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
    assert.equal(5, facts.calls)
    assert.is_true(left > 0)
    assert.equal(5 + left, boxes)
    assert.equal(boxes, facts.boxes)
  end)

  it("has arguments and results, and nothing of them is markup", function ()
    local trace = exported.of([[
      local function greet (name) return "</script><b>" .. name, 2 end
      start()
      greet("<!-- Ann")
    ]], {formats = {"html"}})[1]
    local _, steps = read(trace.text.html)
    assert.equal('"<!-- Ann"', steps[1].text)
    assert.equal('"</script><b><!-- Ann", 2', steps[2].text)
    local _, ends = trace.text.html:gsub("</script", "")
    assert.equal(4, ends)
    assert.is_nil(trace.text.html:find("Ann", 1, true))
  end)

  it("needs nothing from elsewhere", function ()
    local page = assert(loadfile(run.root .. "/lua/tracegrip/htmlpage.lua"))()
    assert.is_nil(page:find "https?://")
    assert.is_nil(page:find "src=")
    assert.is_nil(page:find "import ")
    assert.is_true(#page < 100000)
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

-- What it shows of a trace.
local function shown (trace)
  return run.within(function (directory)
    run.write(directory .. "/page.html", trace.text.html)
    local result = run.command({"sh", "-c", "node --experimental-websocket "
                                .. run.root
                                .. "/spec/export/page.mjs page.html"},
                               {cwd = directory, timeout = 120})
    assert.equal(0, result.status, result.stderr)
    return seen.json(result.stdout)
  end)
end

describe("the page", function ()
  browser("shows calls, their values, sums and the report's table", function ()
    local trace = exported.of([[
      local function inner (n)
        local stop = os.clock() + 0.03
        while os.clock() < stop do end
        return n .. "!"
      end
      local function outer (word) return (inner(word)) end
      start()
      outer "hello"
    ]], {formats = {"html"}, export = {c = false}})[1]
    local seen_there = shown(trace)
    assert.matches("^2 calls, [%d.]+ ms$", seen_there.about)
    local outer, inner = table.unpack(seen_there.timeline)
    assert.matches("^outer\n.*arguments\n\"hello\"\n.*\"hello!\"", outer)
    assert.matches("^inner\n.*in\nouter, main\n.*\"hello!\"", inner)
    assert.matches("^Trace 1\n.*calls\n2\n", seen_there.flame[1])
    assert.matches("^outer\n", seen_there.flame[2])
    assert.matches("^inner\n", seen_there.flame[3])
    assert.matches("^inner\n", seen_there.callers)
    local rows = {}
    for i, row in ipairs(seen_there.table) do
      rows[i] = row[1] .. " " .. row[11] .. " " .. row[12]
    end
    assert.same({"1 inner p.lua:1", "1 outer p.lua:6"}, rows)
    assert.equal(1, seen_there.found)
  end)

  browser("shows samples where nothing else is there", function ()
    local trace = exported.of([[
      local function inner (n) local x = 0 for i = 1, n do x = x + i end end
      local function outer () inner(2e6) for i = 1, 2e6 do end end
      start {sample = 500}
      for i = 1, 5 do outer() end
    ]], {formats = {"html"}})[1]
    local there, rows = shown(trace), {}
    assert.matches("^samples, [%d.]+ ms$", there.about)
    assert.matches("known by\nsamples", there.timeline[1])
    for i, row in ipairs(there.table) do
      rows[i] = row[1] .. " " .. row[11]
    end
    table.sort(rows)
    assert.same({" (main chunk) p.lua", " inner", " outer"}, rows)
  end)
end)
