-- What each document says beyond times: values, marks, what is missing; and
-- where documents go.

local cjson = require "cjson"

local exported = require "spec.export.exported"
local run = require "spec.support.run"
local seen = require "spec.export.seen"

-- The first trace of a program.
local function traced (program, how)
  return exported.of(program, how)[1]
end

local function document (trace, format)
  return seen.json(trace.text[format])
end

-- The args of the calls of a function, in the order in which they end, on the
-- first track or one that is given.
local function args_of (doc, name, track)
  local list = {}
  for _, event in ipairs(doc.traceEvents) do
    if event.ph == "X" and event.name == name and event.tid == (track or 1) then
      list[#list + 1] = event.args
    end
  end
  return list
end

local function names_of (doc)
  local list = {}
  for _, profile in ipairs(doc.profiles) do
    list[#list + 1] = profile.name
  end
  return list
end

describe("the name of a box", function ()
  -- What a program's functions are called in each format, sorted.
  local function called (format, list_of)
    local doc = document(traced([[
      start()
      local list = {function () end, function () end}
      for i = 1, #list do list[i]() end
      load("return 1", "=(load)")()
      load("return 2", "@lib/part.lua")()
      load("return 3", "@lib/some/init.lua")()
      load("return function () end", "a/b")()()
      string.gsub("x", "x", string.upper)
    ]], {formats = {format}}), format)
    local list = list_of(doc)
    table.sort(list)
    return list
  end

  local wanted = {
    "(main chunk) (load)", '(main chunk) [string "a/b"]',
    "(main chunk) part.lua", "(main chunk) some/init.lua",
    '[string "a/b"]:1', "load", "load", "load", "load",
    "p.lua:2", "p.lua:2", "string.gsub", "string.upper"
  }

  it("is the place of a function that has none: chrome", function ()
    assert.same(wanted, called("chrome", function (doc)
      local list = {}
      for _, event in ipairs(doc.traceEvents) do
        list[#list + 1] = event.ph == "X" and event.name or nil
      end
      return list
    end))
  end)

  -- The same function is there once, two of one place are one.
  local function each_once (list)
    local once, seen_names = {}, {}
    for _, name in ipairs(list) do
      if not seen_names[name] and not name:find "^%[%l+" then
        seen_names[name], once[#once + 1] = true, name
      end
    end
    return once
  end

  it("is the same in what has a table of functions", function ()
    assert.same(each_once(wanted), each_once(called("speedscope", function (doc)
      local list = {}
      for i, frame in ipairs(doc.shared.frames) do
        list[i] = frame.name
      end
      return list
    end)))
  end)
end)

describe("what chrome shows of a call", function ()
  it("is where it is, who called it, what it got and gave", function ()
    local doc = document(traced [[
      local function f (...) return select("#", ...) end
      start()
      f(1, "x\n\"", {1, a = 2}, nil, 0/0, 1/0, print)
    ]], "chrome")
    assert.same({{
      source = "p.lua:1", called = "p.lua:3",
      arguments = {1, "x\n\"", {["[1]"] = 1, a = 2}, cjson.null,
                   "0/0", "math.huge", "function: print"}, returns = {7}
    }}, args_of(doc, "f"))
  end)

  it("is C, which has no place", function ()
    local doc = document(traced "start() math.abs(-1)", "chrome")
    assert.same({{source = "[C]", called = "p.lua:1", arguments = {-1},
                  returns = {1}}}, args_of(doc, "math.abs"))
  end)

  it("is an error, in every frame that it left", function ()
    local doc = document(traced [[
      local function g () error({code = 1}) end
      local function f () g() end
      start()
      pcall(f)
    ]], "chrome")
    for _, name in ipairs {"error", "g", "f"} do
      assert.same({{code = 1}}, args_of(doc, name)[1].throw)
    end
    assert.same({false, {code = 1}}, args_of(doc, "pcall")[1].returns)
  end)

  it("is a yield, and the resume after it", function ()
    local doc = document(traced [[
      local function f (n) return coroutine.yield(n + 1) end
      start()
      local next = coroutine.wrap(function (n) local x = f(n) return x end)
      next(1) next(5)
    ]], "chrome")
    local first, second = table.unpack(args_of(doc, "f"))
    assert.same({2}, first.yield)
    assert.is_nil(first.resumed)
    assert.same({source = "p.lua:1", resumed = true, returns = {5}}, second)
    assert.same({5}, args_of(doc, "coroutine.yield")[2].returns)
  end)

  it("is a tail call", function ()
    local doc = document(traced [[
      local function g (n) return n end
      local function f (n) return g(n + 1) end
      start()
      f(1)
    ]], "chrome")
    assert.is_true(args_of(doc, "f")[1].tailCall)
    assert.is_nil(args_of(doc, "f")[1].returns)
    assert.same({2}, args_of(doc, "g")[1].returns)
  end)

  it("is the end of the trace or of the program", function ()
    local doc = document(traced [[
      local trace = start()
      local function f () trace:stop() end
      f()
    ]], "chrome")
    assert.same({{source = "p.lua:2", called = "p.lua:3", arguments = {},
                  unfinished = true}}, args_of(doc, "f"))
  end)

  it("keeps secrets", function ()
    local doc = document(traced([[
      local function login (user, password) return {password = password} end
      start()
      login("me", "hush")
    ]], {trace = {redact = {"^password$"}}}), "chrome")
    local args = args_of(doc, "login")[1]
    assert.same({"me", "<redacted>"}, args.arguments)
    assert.same({{password = "<redacted>"}}, args.returns)
  end)

  it("has no values that the trace did not ask for", function ()
    local doc = document(traced([[
      local function f (n) return n end
      start()
      f(1)
      pcall(error, "x")
    ]], {trace = {trace = {"name", "time", "location", "thread"}}}), "chrome")
    assert.same({{source = "p.lua:1"}}, args_of(doc, "f"))
    assert.same({{source = "[C]", throw = "?"}}, args_of(doc, "error"))
  end)

  it("is a tree: sequences, tables of a class, what is in itself", function ()
    local doc = document(traced([[
      local function f (...) return ... end
      local loop = {n = 2^53 | 1, list = {1, 2, {3}}, [2.5] = true, [true] = 0}
      loop.me = loop
      start()
      f(loop, setmetatable({x = 1}, {__name = "Point"}), {}, "\xff\n",
        coroutine.create(f), 1 << 62)
    ]], {trace = {valueDepth = 4}}), "chrome")
    assert.same({{
      {n = "9007199254740993", list = {1, 2, {3}}, ["[2.5]"] = true,
       ["[true]"] = 0, me = "..."},
      {["(class)"] = "Point", x = 1}, {}, "\\xFF\\n", "thread",
      "4611686018427387904"
    }}, {args_of(doc, "f")[1].arguments})
  end)

  it("is valid however many values there are", function ()
    local doc = document(traced([[
      local function f (...) return select("#", ...) end
      local t = {}
      for i = 1, 300 do t[i] = {name = "item " .. i, list = {i, i, i}} end
      start()
      f(t)
      f(table.unpack(t))
    ]], {trace = {valueDepth = 4, valueProperties = "all"}}), "chrome")
    local one, many = table.unpack(args_of(doc, "f"))
    local list = one.arguments[1]
    assert.equal("item 1", list[1].name)
    assert.equal("...", list[#list])
    assert.equal("...", many.arguments[#many.arguments])
    assert.same({300}, many.returns)
  end)

  it("is cut where it is very long, at a character", function ()
    local doc = document(traced([[
      local function f (s) return #s end
      start()
      f(("\u{20AC}"):rep(1000))
    ]], {trace = {valueString = "all"}}), "chrome")
    local text = args_of(doc, "f")[1].arguments[1]
    assert.is_true(#text > 990 and #text <= 1003)
    assert.is_truthy(utf8.len(text))
    assert.equal("\u{20AC}...", text:sub(-6))
  end)
end)

describe("what is missing", function ()
  local calls = [[
    local function f (n) return n end
    start {trace = {"name", "time", "location", "thread"}, buffer = 4096,
           overflow = "%s"}
    for i = 1, 50000 do f(i) end
  ]]

  local function of_buffer (overflow)
    local trace = traced(calls:format(overflow))
    assert.is_true(trace.lost[overflow == "ring" and "ring" or "overflow"] > 0)
    return trace
  end

  local function sentence (trace)
    local cause, n = next(trace.lost)
    return ("events lost: %d (%s)"):format(n, cause)
  end

  it("is a mark at the end, if a buffer was full", function ()
    local trace = of_buffer "stop"
    local doc = document(trace, "chrome")
    local tracks, _, marks = seen.chrome(doc)
    assert.equal(1, #marks)
    assert.equal(sentence(trace), marks[1].name)
    assert.equal(sentence(trace), doc.otherData.lost)
    assert.is_true(marks[1].ts * 1000 >= tracks[1][#tracks[1]].ns - 40)
  end)

  it("is a mark at the beginning, if it was a ring", function ()
    local trace = of_buffer "ring"
    local tracks, _, marks = seen.chrome(document(trace, "chrome"))
    assert.equal(sentence(trace), marks[1].name)
    assert.equal(1, marks[1].ts)
    assert.is_true(tracks[1][1].ns < 1e6)
  end)

  it("is part of a name where there are no marks", function ()
    local trace = of_buffer "stop"
    local name = ("main (%s)"):format(sentence(trace))
    assert.same({name}, names_of(document(trace, "speedscope")))
    assert.equal(("%s (%s)"):format(trace.name, sentence(trace)),
                 document(trace, "cpuprofile").title)
    local lines = seen.folded(trace.text.folded)
    assert.is_truthy(lines[name .. ";f"])
  end)

  it("is what was too much, and said so", function ()
    local trace = traced([[
      local function g () end
      local function f () g() g() end
      start()
      for i = 1, 10 do f() end
    ]], {export = {limit = 4, raw = true}})
    local told = "^26 calls shorter than [%d.]+ us left out %([%d.]+ ms%)$"
    for _, result in pairs(trace.exported) do
      assert.equal(4, result.calls)
      assert.equal(26, result.leftOut)
      assert.equal(4, result.limit)
      assert.is_true(result.leftOut_ms > 0)
      assert.is_true(result.shortest_ms > 0)
    end
    local doc = document(trace, "chrome")
    local _, _, marks = seen.chrome(doc)
    assert.matches(told, marks[1].name)
    assert.equal(26, doc.otherData.leftOut)
    local name = names_of(document(trace, "speedscope"))[1]
    assert.matches(told, name:match "^main %((.*)%)$")
  end)

  it("is what was shortest, wherever it was", function ()
    local program = [[
      local function wait (us)
        local t = os.clock() + us / 1e6
        repeat until os.clock() > t
      end
      local function short () end
      local function outer (us) short() wait(us) short() end
      start()
      for i = 1, 2000 do short() end
      outer(60000)
      for i = 1, 2000 do short() end
      outer(40000)
      for i = 1, 2000 do short() end
    ]]
    local trace = traced(program, {export = {limit = 4, exclude = {"clock"},
                                             raw = true}})
    for format, result in pairs(trace.exported) do
      assert.equal(4, result.calls, format)
    end
    local doc = document(trace, "chrome")
    assert.equal(2, #args_of(doc, "outer"))
    assert.equal(2, #args_of(doc, "wait"))
    assert.equal(0, #args_of(doc, "short"))
  end)

  it("is a part of many that are as long, the first ones", function ()
    local trace = traced([[
      local function down (n) if n > 0 then down(n - 1) end end
      start()
      down(400)
    ]], {export = {limit = 50}})
    local steps = seen.chrome(document(trace, "chrome"))[1]
    for i = 1, 50 do
      assert.equal("down", steps[i].name)
    end
    assert.equal("(calls left out)", steps[51].name)
    assert.equal(102, #steps)
  end)

  it("is kept whole where there is no more than the limit", function ()
    local trace = traced("start() for i = 1, 100 do math.abs(i) end",
                         {export = {limit = 100}})
    for _, result in pairs(trace.exported) do
      assert.equal(100, result.calls)
      assert.equal(0, result.leftOut)
      assert.is_nil(result.leftOut_ms)
    end
  end)

  it("is the inside of what is too deep, and its time is kept", function ()
    local trace = traced [[
      local function down (n) if n > 0 then return 1 + down(n - 1) end end
      local function ends () end
      start()
      pcall(down, 5000)
      ends()
    ]]
    local doc = document(trace, "chrome")
    local down = args_of(doc, "down")
    assert.equal(2999, #down)
    assert.equal(2002, down[1].folded)
    assert.is_nil(down[2].folded)
    assert.equal(2002, doc.otherData.folded)
    assert.equal(3000, trace.exported.chrome.depth)
    local title = "(2002 calls deeper than 3000 folded)"
    assert.equal("main " .. title,
                 document(trace, "speedscope").profiles[1].name)
    assert.is_truthy(trace.text.folded:find("down [2002 calls deeper]", 1,
                                            true))
  end)

  it("is what is deeper than a viewer draws, if that is said", function ()
    local trace = traced([[
      local function down (n) if n > 0 then return 1 + down(n - 1) end end
      start()
      down(999)
    ]], {export = {levels = 512}})
    assert.equal(512, trace.exported.chrome.calls)
    assert.equal(488, trace.exported.chrome.folded)
    assert.equal(512, trace.exported.chrome.depth)
    assert.equal(1000, trace.exported.packets.calls)
  end)

  it("is not said of a trace that is all there", function ()
    local trace = traced "start() tostring(1)"
    assert.same({"main"}, names_of(document(trace, "speedscope")))
    local _, _, marks = seen.chrome(document(trace, "chrome"))
    assert.same({}, marks)
    local other = document(trace, "chrome").otherData
    assert.is_nil(other.lost or other.leftOut or other.folded)
  end)
end)

describe("speedscope", function ()
  -- What was noted, as "note in function".
  local function notes (doc)
    local list, open = {}, {}
    for _, event in ipairs(doc.profiles[1].events) do
      local name = doc.shared.frames[event.frame + 1].name
      if event.type == "C" then
        open[#open] = nil
      else
        if name:find "^%[" then
          list[#list + 1] = name .. " in " .. open[#open]
        end
        open[#open + 1] = name
      end
    end
    return list
  end

  it("notes an error where it was thrown", function ()
    local doc = document(traced [[
      local function f (n) if n == 0 then error "x" end f(n - 1) end
      start()
      pcall(f, 3) pcall(f, 0)
    ]], "speedscope")
    assert.same({"[error] in error", "[error] in error"}, notes(doc))
  end)

  it("notes the innermost frame that has not ended", function ()
    local doc = document(traced [[
      local trace = start()
      local function g () trace:stop() end
      local function f () g() end
      f()
    ]], "speedscope")
    assert.same({"[unfinished] in g"}, notes(doc))
  end)

  it("notes where there was more", function ()
    local doc = document(traced [[
      local function down (n)
        if n > 0 then return 1 + down(n - 1) end
        return 0
      end
      start()
      down(4000)
    ]], "speedscope")
    assert.same({"[deeper calls] in down"}, notes(doc))
  end)
end)

describe("a document", function ()
  it("begins with its first call, and says when that was", function ()
    local trace = traced [[
      local function wait ()
        local t = os.clock() + 0.005
        repeat until os.clock() > t
      end
      start {trace = {"name", "time"}, include = {"^f$"}}
      wait()
      local function f () wait() end
      f()
    ]]
    local first = trace.packets[1].time
    assert.is_true(first > 4)
    for _, format in ipairs {"chrome", "cpuprofile", "speedscope"} do
      assert.near(first, trace.exported[format].start_ms, 1e-6)
    end
    assert.equal(1, seen.chrome(document(trace, "chrome"))[1][1].ns // 1000)
    local profile = document(trace, "speedscope").profiles[1]
    assert.equal(0, profile.startValue)
    assert.equal(0, profile.events[1].at)
    local cpu = document(trace, "cpuprofile")
    assert.equal(0, cpu.timeDeltas[1])
    assert.is_true(cpu.endTime - cpu.startTime
                   < 1000 * (trace.report.duration_ms - first / 2))
  end)
end)

describe("two functions of one name", function ()
  local program = [[
    local list = {
      load("return function () end", "=a.lua")(),
      load("return function () end", "=b.lua")(),
      load("return function () end", "=b.lua")()
    }
    local function wait () for i = 1, 1e5 do end end
    start()
    for i = 1, 6000 do local f = list[i % 3 + 1] f() end
    wait()
  ]]

  it("are told apart by their place; one that was loaded twice is one",
  function ()
    local trace = traced(program)
    local frames = {}
    for _, frame in ipairs(document(trace, "speedscope").shared.frames) do
      frames[#frames + 1] = frame.file
    end
    table.sort(frames)
    assert.same({"a.lua", "b.lua", "p.lua"}, frames)
    local lines = seen.folded(trace.text.folded)
    assert.is_truthy(lines["main;f (a.lua:1)"])
    assert.is_truthy(lines["main;f (b.lua:1)"])
    assert.is_truthy(lines["main;wait"])
  end)
end)

describe("folded", function ()
  it("has one line for a stack, whatever its names are", function ()
    local trace = traced [[
      local f = load("for i = 1, 1e5 do end", "=a;b\nc 12")
      local function g () for i = 1, 1e5 do end end
      start()
      f() g()
    ]]
    local lines = seen.folded(trace.text.folded)
    assert.is_truthy(lines["main;(main chunk)"] or lines["main;f"])
    assert.is_truthy(lines["main;g"])
  end)

  -- The stacks below coroutines, sorted: 'n' coroutines of each body.
  local function of_coroutines (n)
    local trace = traced(([[
      local function wait () for i = 1, 2e4 do end end
      local function short () wait() end
      local function long () wait() coroutine.yield() wait() end
      local function last () wait() wait() end
      local function passing () coroutine.yield() return last() end
      start()
      for i = 1, %d do
        for _, body in ipairs {short, long, passing} do
          local co = coroutine.create(body)
          coroutine.resume(co)
          coroutine.resume(co)
        end
      end
    ]]):format(n), {formats = {"folded"}, export = {c = false}})
    local stacks = {}
    for stack in pairs(seen.folded(trace.text.folded)) do
      if stack:find ", coroutine;.*wait$" then
        stacks[#stacks + 1] = stack
      end
    end
    table.sort(stacks)
    return stacks
  end

  it("has as many lines for many coroutines of one body as for one",
  function ()
    local wanted = {"long (p.lua:3), coroutine;long;wait",
                    "passing (p.lua:5), coroutine;last;wait",
                    "short (p.lua:2), coroutine;short;wait"}
    assert.same(wanted, of_coroutines(1))
    assert.same(wanted, of_coroutines(100))
  end)
end)

describe("a filter", function ()
  it("leaves the calls of a thread", function ()
    local trace = traced([[
      local function f () coroutine.yield() end
      start()
      local next = coroutine.wrap(f)
      next() next()
    ]], {export = {thread = 2}})
    assert.same({"f (p.lua:1), coroutine 2"},
                names_of(document(trace, "speedscope")))
    local doc = document(trace, "chrome")
    assert.equal(0, #args_of(doc, "next") + #args_of(doc, "next", 2))
    assert.equal(0, #args_of(doc, "f"))
    assert.equal(2, #args_of(doc, "f", 2))
  end)
end)

-- ---- where documents go ----

-- Runs a program with a trace that has stopped; 'formats' is what it may use.
local function prints (program)
  local result = run.code([[
    local tracegrip = require "tracegrip"
    local trace = tracegrip.start()
    tostring(1)
    trace:stop()
    local formats = {"chrome", "cpuprofile", "folded", "packets", "speedscope"}
  ]] .. program)
  assert.equal("", result.stderr)
  return result.stdout
end

describe("an export", function ()
  it("is the same whether compressed or not", function ()
    assert.equal("", prints [[
      for _, format in ipairs(formats) do
        assert(trace:export(format, "plain"))
        assert(trace:export(format, "packed.gz"))
        local pipe = io.popen "gzip -dc packed.gz | cmp - plain"
        io.write(pipe:read "a")
        pipe:close()
      end
    ]])
  end)

  it("goes to standard output", function ()
    local text = prints [[trace:export("chrome", "-")]]
    assert.equal(1, #args_of(seen.json(text), "tostring"))
  end)

  it("says that a file cannot be written", function ()
    assert.equal([[
nil	no/such.json: No such file or directory	2
]], prints [[print(trace:export("chrome", "no/such.json"))]])
  end)

  it("says that a disk is full", function ()
    local expected = {}
    for i = 1, 5 do
      expected[i] = "nil\t/dev/full: No space left on device\t28\n"
    end
    assert.equal(table.concat(expected), prints [[
      for _, format in ipairs(formats) do
        print(trace:export(format, "/dev/full"))
      end
    ]])
  end)

  it("is the same of a recording as of the live trace", function ()
    assert.equal("", prints [[
      trace:save "trace.rec"
      local again = assert(tracegrip.open "trace.rec"):traces()[1]
      local function read (of, format)
        assert(of:export(format, "file", {samples = true}))
        local file = io.open "file"
        return file:read "a", file:close()
      end
      for _, format in ipairs(formats) do
        if read(trace, format) ~= read(again, format) then
          print(format)
        end
      end
    ]])
  end)

  it("of a trace that runs is what there is", function ()
    local text = prints [[
      local running = tracegrip.start()
      local function f () running:export("speedscope", "-") end
      f()
    ]]
    assert.is_truthy(text:find '"name":"f"')
    assert.equal("main", seen.json(text).profiles[1].name)
  end)
end)
