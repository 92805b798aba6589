-- The program's markers in the formats that have a place for them, and nowhere
-- else.

local cjson = require "cjson"

local run = require "spec.support.run"

local program = [[
local tracegrip = require "tracegrip"
local console = require "tracegrip.console"
local function f (n) %s end
local trace = tracegrip.start {include = {"^f$"}, redact = "secret"}
for i = 1, 3 do f(i) end
trace:stop()
for _, format in ipairs {"chrome", "cpuprofile", "firefox", "folded", "gecko",
                         "packets", "speedscope"} do
  assert(trace:export(format, format, {raw = true}))
end
]]

-- format -> text, of calls of f with this body. Times as recorded: those of
-- timers are what passed, with tracing.
local function exports (body)
  return run.within(function (directory)
    run.write(directory .. "/p.lua", program:format(body))
    local result = run.file("p.lua", {cwd = directory})
    assert.equal(0, result.status, result.stderr)
    local texts = {}
    for _, format in ipairs {"chrome", "cpuprofile", "firefox", "folded",
                             "gecko", "packets", "speedscope"} do
      texts[format] = assert(run.read(directory .. "/" .. format))
    end
    return texts
  end)
end

local function events_of (text)
  local list = {}
  for _, event in ipairs(cjson.decode(text).traceEvents) do
    if event.cat == "console" then
      list[#list + 1] = event
    end
  end
  return list
end

describe("an export", function ()
  it("without markers has no word of them", function ()
    for format, text in pairs(exports "") do
      assert.is_nil(text:find("onsole", 1, true), format)
      assert.is_nil(text:find("imer", 1, true), format)
    end
  end)

  it("has none in formats that have no place for them", function ()
    local texts = exports "console.warn 'unheard-of'"
    for _, format in ipairs {"cpuprofile", "folded", "speedscope"} do
      assert.is_nil(texts[format]:find("unheard-of", 1, true), format)
    end
    for _, format in ipairs {"chrome", "firefox", "gecko", "packets"} do
      assert.truthy(texts[format]:find("unheard-of", 1, true), format)
    end
  end)

  it("keeps secrets", function ()
    for format, text in pairs(exports "console.log {secret = 'geheimnis'}") do
      assert.is_nil(text:find("geheimnis", 1, true), format)
    end
  end)

  it("is valid whatever the values are", function ()
    local texts = exports [[
      console.log("\xff\0\"</script>", ("é"):rep(200))
      console.time "\n\xc3" console.timeEnd "\n\xc3"
      console.log(setmetatable({}, {__name = "\"x"}), 0/0, -0.0, 2^63)
      console.timeStamp()
    ]]
    for _, format in ipairs {"chrome", "cpuprofile", "firefox", "gecko",
                             "speedscope"} do
      assert.is_table(cjson.decode(texts[format]))
    end
    for line in texts.packets:gmatch "[^\n]+" do
      assert.is_table(cjson.decode(line))
    end
  end)
end)

describe("chrome", function ()
  it("has a moment on its track, strictly after what was before", function ()
    local doc = cjson.decode(exports "console.count 'n'".chrome)
    local count, last = 0, 0
    table.sort(doc.traceEvents, function (a, b)
      return (a.ts or 0) < (b.ts or 0)
    end)
    for _, event in ipairs(doc.traceEvents) do
      if event.ph == "I" then
        count = count + 1
        assert.equal("count: n", event.name)
        assert.same({method = "count", arguments = {"n"}, count = count},
                    event.args)
        assert.is_true(event.ts > last)
      end
      last = event.ts or last
    end
    assert.equal(3, count)
  end)

  it("has no two timers on one track at one time", function ()
    local events = events_of(exports [[
      for _, name in ipairs {"a", "b", "c"} do console.time(name) end
      for _, name in ipairs {"b", "a", "c"} do console.timeEnd(name) end
    ]].chrome)
    local ends, boxes = {}, 0
    table.sort(events, function (a, b) return a.ts < b.ts end)
    for _, event in ipairs(events) do
      if event.ph == "X" then
        boxes = boxes + 1
        assert.is_true(event.ts > (ends[event.tid] or 0))
        ends[event.tid] = event.ts + event.dur
        assert.near(event.args.us, event.dur, 0.01)
      end
    end
    assert.equal(9, boxes)
  end)
end)

describe("firefox", function ()
  it("has a timer as an interval that ends where its marker is", function ()
    local texts = exports "console.time 'x' console.timeEnd 'x'"
    local doc, ended = cjson.decode(texts.firefox), {}
    for line in texts.packets:gmatch "[^\n]+" do
      local packet = cjson.decode(line)
      if packet.method == "timeEnd" then
        ended[#ended + 1] = packet
      end
    end
    local markers, n = doc.threads[1].markers, 0
    for i, data in ipairs(markers.data) do
      if data.type == "LuaTimer" then
        n = n + 1
        assert.same({type = "LuaTimer", label = "x", from = data.from}, data)
        assert.near(ended[n].time, markers.endTime[i], 1e-9)
        assert.near(ended[n].duration,
                    markers.endTime[i] - markers.startTime[i], 1e-9)
      end
    end
    assert.equal(3, n)
  end)
end)
