-- Recordings in Chrome DevTools that are led at random, and by nobody who means
-- well: each step is compared with what the packets say, files that are none
-- are refused, and messages that make no sense are answered.

local dkjson = require "dkjson"

local debugger = require "spec.support.debugger"
local generate = require "spec.transparency.generate"
local model = require "spec.replay.model"
local run = require "spec.support.run"
local schema = require "spec.support.schema"
local served = require "spec.support.served"
local tracegrip = require "tracegrip"

local it = debugger.needed(it, pending)

local command = run.build .. "/bin/tracegrip"
local SEED = tonumber(os.getenv "TRACEGRIP_SEED") or 11
local STEPS = 120

local moves = {
  {"in", "stepInto"}, {"over", "stepOver"}, {"out", "stepOut"},
  {"backIn", "stepBackIn()"}, {"backOver", "stepBack()"},
  {"backOut", "stepBackOut()"}
}

local TYPES = "name,location,callsite,thread,time,arguments,return,throw,yield"

local function record (where, code, name)
  run.write(where .. "/app.lua", code)
  run.command({command, "record", "--sources", "--no-c", "--trace", TYPES,
               "-o", name, "app.lua"}, {cwd = where})
  return where .. "/" .. name
end

local function open (where, use, ...)
  local started, address = debugger.start({"inspect", "--port=0", ...}, where)
  debugger.with(started, function ()
    local front = debugger.connect(address)
    front:ask "Runtime.enable"
    front:ask "Debugger.enable"
    front:post "Runtime.runIfWaitingForDebugger"
    use(front, front:event "Debugger.paused")
    front:close()
  end)
end

local function packets_of (path)
  local list = {}
  for packet in assert(tracegrip.open(path)):traces()[1]:packets {
    trace = {"name", "location", "callsite", "thread", "time", "throw"}
  } do
    list[#list + 1] = packet
  end
  return list
end

-- The number that the pause tells; and how many frames there are, if not all of
-- them are shown.
local function moment_of (front, paused)
  for _, scope in ipairs(paused.callFrames[1].scopeChain) do
    if scope.name == "Moment" then
      local items = front:properties(scope.object.objectId)
      return math.tointeger(tonumber(items.number.value:match "^%d+")),
             items.frames and items.frames.value
    end
  end
end

local function names_of (paused)
  local names = {}
  for i, frame in ipairs(paused.callFrames) do
    names[i] = frame.functionName
  end
  return names
end

local function names_at (m, n)
  local names = {}
  local list = m:stack(n, m:running(n))
  for i, frame in ipairs(list) do
    if i <= 180 or i > #list - 20 then
      names[#names + 1] = frame.packet.name
    end
  end
  if #names == 0 then
    names[1] = n == 0 and "(beginning of the recording)"
               or "(end of the recording)"
  end
  return names
end

-- A coroutine that was collected while it was suspended: with that its calls
-- are over, which packets do not tell.
local function is_gone (m, n, thread)
  local list, running = m:stack(n, thread)
  return #list > 0 and running == 0
end

local function go (front, word)
  if word:find "%(" then
    front:post("Runtime.evaluate", {expression = word})
    return front:event "Debugger.paused"
  end
  return front:go(word)
end

describe("a recording in DevTools", function ()
  it(("is walked through as its packets are (seed %d)"):format(SEED),
     function ()
    run.within(function (where)
      local path = record(where, generate(SEED), "app.tgr")
      local m = model.new(packets_of(path))
      open(where, function (front, paused)
        local n, state = moment_of(front, paused), SEED
        for step = 1, STEPS do
          state = (state * 48271 + 11) % 2147483647
          local move = moves[state // 7 % #moves + 1]
          if step % 9 == 0 then         -- far away
            n = state // 7 % (m.total + 1)
            while not m:stands(n) do n = n + 1 end
            paused = go(front, ("moment(%d)"):format(n))
          else
            local from, thread = n, m:running(n)
            paused = go(front, move[2])
            n = moment_of(front, paused)
            local wanted = m:step(from, move[1], thread)
            assert.truthy(n == wanted or is_gone(m, n, thread)
                          or m:in_errors(math.min(n, wanted) + 1,
                                         math.max(n, wanted)),
                          ("%s from %d leads to %d, not to %d"):format(
                            move[2], from, n, wanted))
          end
          assert.same(names_at(m, n), names_of(paused))
        end
        assert.is_true(front.valid > STEPS or not schema.known())
      end, "--stop-on=entry", "app.tgr")
    end)
  end)

  it("is refused in one line, if it is none", function ()
    run.within(function (where)
      local whole = run.read(record(where, "print(#'x')", "app.tgr"))
      run.write(where .. "/none.tgr", "no recording\n")
      run.write(where .. "/empty.tgr", "")
      run.write(where .. "/head.tgr", whole:sub(1, 12))
      for _, name in ipairs {"none.tgr", "empty.tgr", "head.tgr", "absent"} do
        local result = run.command({command, "inspect", "--port=0", name},
                                   {cwd = where})
        assert.equal(1, result.status)
        assert.truthy(result.stderr:find("^tracegrip: [^\n]*" .. name:sub(1, 4)
                                         .. "[^\n]*\n$"), result.stderr)
      end
      local result = run.command({command, "inspect", "--trace", "nobody",
                                  "app.tgr"}, {cwd = where})
      assert.equal(1, result.status)
      assert.truthy(result.stderr:find "^tracegrip: [^\n]*nobody[^\n]*\n$")
    end)
  end)

  it("is shown as far as it goes", function ()
    run.within(function (where)
      local code = "local function f (x) return {x} end\n"
                   .. "for i = 1, 3000 do f(i) end\n"
      local path = record(where, code, "app.tgr")
      local whole = run.read(path)
      run.write(where .. "/cut.tgr", whole:sub(1, #whole * 2 // 3))
      local middle = #whole // 2
      run.write(path, whole:sub(1, middle) .. ("\xee"):rep(200)
                      .. whole:sub(middle + 201))
      for name, word in pairs {["cut.tgr"] = "cut off",
                               ["app.tgr"] = "damaged"} do
        open(where, function (front, paused)
          assert.equal(1, moment_of(front, paused))
          go(front, "resume")
          local told = ""
          for _, line in ipairs(front:events "Runtime.consoleAPICalled") do
            told = told .. line.args[1].value .. "\n"
          end
          assert.truthy(told:find(word, 1, true), told)
          paused = go(front, "stepBackIn()")
          assert.truthy(moment_of(front, paused) > 1000)
          assert.equal(1, moment_of(front, go(front, "moment(1)")))
        end, "--stop-on=entry", name)
      end
    end)
  end)

  it("is told of at its door, to those who may know", function ()
    run.within(function (where)
      record(where, "print(1)", "app.tgr")
      local started, address = debugger.start({"inspect", "--port=0",
                                               "app.tgr"}, where)
      debugger.with(started, function ()
        local port = tonumber(address:match ":(%d+)/")
        local function get (path, host)
          local status, _, body = served.parse(served.exchange(port, (
            "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n"):format(
              path, host or "127.0.0.1")))
          return status, dkjson.decode(body)
        end
        local status, body = get "/json/list"
        assert.equal(200, status)
        assert.truthy(started.err:find(body[1].devtoolsFrontendUrl, 1, true))
        assert.equal("tracegrip: a recording", body[1].description)
        assert.truthy(body[1].url:find "^file:///.*/app%.tgr$")
        status, body = get "/json/protocol"
        assert.equal(200, status)
        assert.same({"Debugger", "Runtime"},
                    {body.domains[1].domain, body.domains[2].domain})
        assert.is_nil(body.domains[3])
        assert.equal(400, (get("/json/list", "evil.example")))
      end)
    end)
  end)

  it("answers what makes no sense, and whoever else looks", function ()
    run.within(function (where)
      record(where, "local function f () end f() f()", "app.tgr")
      local started, address = debugger.start({"inspect", "--port=0",
                                               "app.tgr"}, where)
      debugger.with(started, function ()
        local front, other = debugger.connect(address),
                             debugger.connect(address)
        for _, text in ipairs {"{", "[]", "7", '{"id": 777777}',
                               '{"method": "x"}', ("["):rep(5000)} do
          front:say(text)
        end
        local function code (method, params)
          local _, problem = front:ask(method, params)
          return problem and problem.code
        end
        assert.equal(-32000, code "Debugger.resume")
        assert.equal(-32000, code("Debugger.evaluateOnCallFrame",
                                  {callFrameId = "x", expression = "1"}))
        assert.equal(-32000, code("Runtime.getProperties", {objectId = "9"}))
        assert.equal(-32000, code("Debugger.getScriptSource",
                                  {scriptId = "99"}))
        assert.equal(-32602, code("Debugger.setBreakpointByUrl",
                                  {lineNumber = -1, url = ""}))
        assert.equal(-32000, code("Debugger.setBreakpointByUrl",
                                  {lineNumber = 1, urlRegex = "(?<=x)"}))
        assert.equal(-32601, code "HeapProfiler.takeHeapSnapshot")
        for i, one in ipairs {front, other} do
          one:ask "Debugger.enable"
          one:post "Runtime.runIfWaitingForDebugger"
          local paused = one:event "Debugger.paused"
          assert.equal("(end of the recording)",
                       paused.callFrames[1].functionName)
          if i == 1 then
            go(one, "moment(2)")
          end
        end
        front:close()
        assert.equal("(main chunk)",
                     go(other, "stepBackIn()").callFrames[1].functionName)
        other:close()
        started:kill "sigint"
        assert.equal(0, started:ended())
      end)
    end)
  end)
end)
