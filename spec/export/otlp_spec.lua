-- The format otlp against the packets of the same trace.

local cjson = require "cjson"

local exported = require "spec.export.exported"
local programs = require "spec.export.programs"
local run = require "spec.support.run"

local function plain (attributes)
  local list = {}
  for _, one in ipairs(attributes) do
    assert.is_nil(list[one.key], one.key)
    local value = one.value
    list[one.key] = value.stringValue or tonumber(value.intValue)
                    or value.boolValue
  end
  return list
end

-- Whole nanoseconds, of strings as the encoding has them.
local function ns (text)
  assert.equal("string", type(text))
  return math.tointeger(tonumber(text))
end

-- All spans, by id and in their order, and the resource's attributes.
local function read (text)
  local spans, resource = {}, nil
  for line in text:gmatch "[^\n]+" do
    local batch = cjson.decode(line).resourceSpans
    assert.equal(1, #batch)
    resource = plain(batch[1].resource.attributes)
    for _, span in ipairs(batch[1].scopeSpans[1].spans) do
      assert.matches("^%x+$", span.spanId)
      assert.equal(16, #span.spanId)
      assert.equal(32, #span.traceId)
      assert.is_nil(spans[span.spanId])
      assert.is_true(span.kind == 1 or span.kind == 2)
      span.attributes = plain(span.attributes)
      span.from, span.to = ns(span.startTimeUnixNano), ns(span.endTimeUnixNano)
      spans[span.spanId] = span
      spans[#spans + 1] = span
    end
  end
  return spans, resource
end

local PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
local OTHER = "00-11111111111111111111111111111111-2222222222222222-01"

local function spans_of (code, export, options)
  local trace = exported.of(code, {formats = {"otlp"}, export = export,
                                   trace = options})[1]
  local spans, resource = read(trace.text.otlp)
  return spans, resource, trace
end

-- The only span of that name.
local function named (spans, name)
  local found
  for _, span in ipairs(spans) do
    if span.name == name then
      assert.is_nil(found, name)
      found = span
    end
  end
  return assert(found, name)
end

local function each_trace (sentence, check)
  for name, program in pairs(programs) do
    it(("%s (%s)"):format(sentence, name), function ()
      for _, trace in ipairs(exported.of(program, {formats = {"otlp"}})) do
        check(trace, (read(trace.text.otlp)))
      end
    end)
  end
end

describe("OTLP", function ()
  each_trace("has a span for each call, within the one around it",
  function (trace, spans)
    local calls, links = 0, 0
    for _, packet in ipairs(trace.packets) do
      local enters = packet.type == "enteredFrame"
      calls = calls + (enters and not packet.resumed and 1 or 0)
    end
    assert.equal(calls, #spans)
    for _, span in ipairs(spans) do
      local parent = spans[span.parentSpanId]
      assert.is_true(span.from <= span.to)
      assert.equal(span.parentSpanId == nil, parent == nil)
      if parent then
        assert.is_true(parent.from <= span.from)
        local same = parent.attributes["thread.id"]
                     == span.attributes["thread.id"]
        assert.is_true(not same or span.to <= parent.to)
      end
      for _, link in ipairs(span.links or {}) do
        assert.is_table(spans[link.spanId])
        assert.equal(span.traceId, link.traceId)
        links = links + 1
      end
    end
    return links
  end)

  it("has names, places, values", function ()
    local spans, resource = spans_of [[
      local function greet (name) return "hello " .. name end
      start()
      greet "Ann"
    ]]
    local span = named(spans, "greet")
    assert.same({["code.function.name"] = "greet", ["code.file.path"] = "p.lua",
                 ["code.line.number"] = 1, ["thread.id"] = 1,
                 ["lua.arguments"] = '"Ann"', ["lua.results"] = '"hello Ann"'},
                span.attributes)
    assert.equal("lua", resource["telemetry.sdk.language"])
    assert.equal("lua", resource["service.name"])   -- no recording
    assert.is_true(math.abs(span.from / 1e9 - os.time()) < 60)
  end)

  it("has an error as an event and a status", function ()
    local spans = spans_of [[
      local function fails () error {code = 7} end
      start()
      pcall(fails)
    ]]
    local span = named(spans, "fails")
    assert.equal(2, span.status.code)
    assert.equal("{code = 7}", span.status.message)
    assert.equal("exception", span.events[1].name)
    assert.equal("{code = 7}",
                 plain(span.events[1].attributes)["exception.message"])
    assert.is_nil(named(spans, "pcall").status)
  end)

  it("tells an error's message as it is, its type and where it was thrown",
  function ()
    local spans = spans_of [[
      local function fails () error("it is \"late\"") end
      local function calls () fails() end
      local class = setmetatable({}, {__name = "app.Error"})
      start()
      pcall(calls)
      pcall(error, class)
    ]]
    local function told (name)
      local span = named(spans, name)
      local said = plain(span.events[1].attributes)
      assert.equal(said["exception.message"], span.status.message)
      return said
    end
    local said = told "calls"
    assert.equal('p.lua:1: it is "late"', said["exception.message"])
    assert.equal("string", said["exception.type"])
    assert.equal("stack traceback:\n\t[C]: in function 'error'\n"
                 .. "\tp.lua:1: in function 'fails'\n"
                 .. "\tp.lua:2: in function 'calls'\n"
                 .. "\t[C]: in function 'pcall'", said["exception.stacktrace"])
    assert.same(said, told "fails")
    local thrown = {}
    for _, span in ipairs(spans) do
      if span.name == "error" then
        thrown[#thrown + 1] =
          plain(span.events[1].attributes)["exception.type"]
      end
    end
    assert.same({"string", "app.Error"}, thrown)
  end)

  it("makes the outermost calls of what is asked for traces of their own",
  function ()
    local spans = spans_of([[
      local function again (n) return n end
      local function handle (n, header)
        if n > 0 then handle(n - 1) coroutine.yield() end
        return again(n)
      end
      local function serve (n, header)
        local co = coroutine.wrap(handle)
        co(n, header)
        co()
      end
      start()
      serve(1)
      serve(2, "]] .. OTHER .. [[")
    ]], {request = {"^handle$"}})
    local requests, traces, inner = {}, {}, 0
    for _, span in ipairs(spans) do
      if span.kind == 2 then
        requests[#requests + 1] = span
        traces[span.traceId] = span
      end
    end
    assert.equal(2, #requests)
    assert.is_nil(requests[1].parentSpanId)
    assert.equal(OTHER:sub(4, 35), requests[2].traceId)
    assert.equal(OTHER:sub(37, 52), requests[2].parentSpanId)
    for _, span in ipairs(spans) do
      local request = traces[span.traceId]
      inner = inner + (request and 1 or 0)
      assert.equal(request ~= nil, span.name == "handle"
                   or span.name == "again" or span.name == "coroutine.yield")
      -- the tail call is a part of the request, which ends with it
      assert.is_true(not request or request.to >= span.to)
      assert.is_nil(request == span and span.attributes["lua.tail_call"]
                    or nil)
    end
    assert.equal(5 + 7, inner)
  end)

  it("links a coroutine to each resume after the first", function ()
    local spans = spans_of [[
      local function body () coroutine.yield(1) coroutine.yield(2) end
      start()
      local co = coroutine.create(body)
      local function first () coroutine.resume(co) end
      local function second () coroutine.resume(co) end
      local function third () coroutine.resume(co) end
      first() second() third()
    ]]
    local body = named(spans, "body")
    local function resumer (id) return spans[spans[id].parentSpanId].name end
    assert.equal("first", resumer(body.parentSpanId))
    assert.equal(2, #body.links)
    assert.equal("second", resumer(body.links[1].spanId))
    assert.equal("third", resumer(body.links[2].spanId))
    assert.is_true(named(spans, "first").to < body.to)
  end)

  it("tells what was suspended, and what was open", function ()
    local spans = spans_of [[
      local function body () coroutine.yield() end
      local function outer () start() coroutine.wrap(body)() inner() end
      function inner () os.exit = nil error "out" end
      pcall(outer)
    ]]
    assert.is_true(named(spans, "body").attributes["lua.suspended"])
  end)

  it("has no more than 128 links, and says how many it left out", function ()
    local spans = spans_of [[
      local function body () for _ = 1, 200 do coroutine.yield() end end
      start()
      local co = coroutine.wrap(body)
      for _ = 1, 201 do co() end
    ]]
    local body = named(spans, "body")
    assert.equal(128, #body.links)
    assert.equal(72, body.droppedLinksCount)
  end)

  it("writes lines of 512 spans", function ()
    local _, _, trace = spans_of [[
      local function f () end
      start()
      for _ = 1, 1025 do f() end
    ]]
    local _, lines = trace.text.otlp:gsub("\n", "\n")
    assert.equal(3, lines)
  end)

  it("says of the program what it is told", function ()
    local code = "local function f () end start() f()"
    local said = {"host.name", 'c"\n', "telemetry.sdk.name", "other",
                  "process.pid", "7", "a=\xFF", "%,", "nothing", ""}
    local _, resource = spans_of(code, {resource = said})
    assert.equal('c"\n', resource["host.name"])
    assert.equal("other", resource["telemetry.sdk.name"])
    assert.equal("7", resource["process.pid"])
    assert.equal("%,", resource["a=\u{FFFD}"])
    assert.is_nil(resource.nothing)
    assert.equal("lua", resource["service.name"])
  end)

  it("says of the recording what is missing", function ()
    local code = "local function f () end start() for _ = 1, %d do f() end"
    local _, resource = spans_of(code:format(1))
    assert.is_nil(resource["tracegrip.missing"])
    local _, cut, trace = spans_of(code:format(20000), nil, {
      buffer = 4096, overflow = "ring"
    })
    assert.is_true(trace.lost.ring > 0)
    assert.matches(("^events lost: %d %%(.+%%)$"):format(trace.lost.ring),
                   cut["tracegrip.missing"])
  end)

  it("refuses to be told what is no list of keys and values", function ()
    local code = "local function f () end start() f()"
    local many = {}
    for i = 1, 66 do
      many[i] = tostring(i)
    end
    for _, wrong in ipairs {"a=b", true, {"a"}, {"a", 1}, {"", "a"},
                            {"a", "b\0c"}, many} do
      assert.error_matches(function ()
        spans_of(code, {resource = wrong})
      end, "option 'resource': a list of keys and values expected")
    end
  end)

  it("hangs below the span that the trace was told of", function ()
    local spans = spans_of("local function f () end start() f()", nil,
                           {traceparent = PARENT})
    local span = named(spans, "f")
    assert.equal(PARENT:sub(4, 35), span.traceId)
    assert.equal(PARENT:sub(37, 52), span.parentSpanId)
    spans = spans_of("local function f () end start() f()",
                     {traceparent = OTHER}, {traceparent = PARENT})
    assert.equal(OTHER:sub(37, 52), named(spans, "f").parentSpanId)
  end)

  it("hangs calls below what console.traceparent says, as long as the call "
     .. "goes on that said it", function ()
    local spans = spans_of(([[
      local console = require "tracegrip.console"
      local function leaf () end
      local function before () end
      local function handled () leaf() end
      local function second () end
      local function none () end
      local function serve ()
        before()
        console.traceparent %q
        handled()
        coroutine.yield()
        second()
        console.traceparent "no header"
        none()
      end
      local function after () end
      start()
      local co = coroutine.wrap(function () serve() after() end)
      co()
      after2 = function () end
      after2()
      co()
    ]]):format(PARENT), nil, {trace = {"name", "time", "thread", "location",
                                       "yield", "markers"}})
    local own = named(spans, "serve")
    assert.is_not_equal(PARENT:sub(4, 35), own.traceId)
    for _, name in ipairs {"handled", "second"} do
      assert.equal(PARENT:sub(4, 35), named(spans, name).traceId, name)
      assert.equal(PARENT:sub(37, 52), named(spans, name).parentSpanId, name)
    end
    local leaf = named(spans, "leaf")
    assert.equal(PARENT:sub(4, 35), leaf.traceId)
    assert.equal(named(spans, "handled").spanId, leaf.parentSpanId)
    for _, name in ipairs {"before", "none"} do
      assert.equal(own.spanId, named(spans, name).parentSpanId, name)
    end
    for _, name in ipairs {"after", "after2"} do
      assert.equal(own.traceId, named(spans, name).traceId, name)
    end
  end)

  it("keeps what the trace was told in a recording", function ()
    run.within(function (directory)
      local result = run.code(([[
        local function f () end
        local console = require "tracegrip.console"
        console.startTrace("x", {traceparent = %q})
        f()
        local trace = console.stopTrace "x"
        assert(trace:save(%q))
      ]]):format(PARENT, directory .. "/x.tgr"))
      assert.equal("", result.stderr)
      local printed = run.command {run.build .. "/bin/tracegrip", "export",
                                   "otlp", "-o", "-", directory .. "/x.tgr"}
      local span = named(read(printed.stdout), "f")
      assert.equal(PARENT:sub(37, 52), span.parentSpanId)
    end)
  end)

  it("hangs below a span that is given", function ()
    local parent = PARENT
    local code = "local function f () end start() f()"
    local span = named(spans_of(code, {traceparent = parent}), "f")
    assert.equal("0af7651916cd43dd8448eb211c80319c", span.traceId)
    assert.equal("b7ad6b7169203331", span.parentSpanId)
    for _, wrong in ipairs {"", "00-0-0-0", parent .. "0", parent:upper(),
                            "01" .. parent:sub(3),
                            "00-" .. ("0"):rep(32) .. parent:sub(36)} do
      assert.error_matches(function ()
        spans_of(code, {traceparent = wrong})
      end, "option 'traceparent': 00%-TRACE")
    end
  end)
end)
