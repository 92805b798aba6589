-- The profiler actor: packets in, packets out.

local run = require "spec.support.run"

local prelude = [[
local profileractor = require "tracegrip.profileractor"
local wire = require "tracegrip.wire"
local sent = {}
local function new (profiler)
  return profileractor.new {
    id = "profiler1", profiler = profiler,
    send = function (packet) sent[#sent + 1] = packet end
  }
end
local function ask (actor, kind, fields)
  local packet = {to = "profiler1", type = kind}
  for key, value in pairs(fields or {}) do packet[key] = value end
  actor:receive(packet)
  return table.remove(sent, 1)
end
local function show (packet)
  print(packet.from, packet.type, packet.error, packet.status, packet.message)
end
local started = {startMode = 1, windowID = 1}
local function work () for _ = 1, 3 do string.rep("x", 3) end end
]]

local function prints (code, expected)
  local result = run.code(prelude .. code)
  assert.equal("", result.stderr)
  assert.equal(expected, result.stdout)
end

describe("the profiler actor", function ()
  it("answers with the service's messages", function ()
    prints([[
      local actor = new()
      local one = ask(actor, "startProfiler", started)
      work()
      local two = ask(actor, "stopProfiler", {sessionID = 1})
      print(one.from, one.type, one.sessionID)
      print(two.type, two.sessionID, two.windowID, #two.timelineList)
      local three = ask(actor, "getEvents", {
        sessionID = 1, timelineID = 1, mode = 3, eventID = wire.null,
        maxDepth = 2, eventTypeList = wire.array {32},
        interval = {start = 0}
      })
      print(three.type, three.eventList[3].hits,
            three.eventList[3].functionCall.name)
      show(ask(actor, "releaseSession", {sessionID = 1}))
      show(ask(actor, "releaseSession"))
    ]], [[
profiler1	startedProfiler	1
stoppedProfiler	1	1	1
events	3	string.rep
profiler1	releasedSession	nil	nil	nil
profiler1	releasedSession	nil	nil	nil
]])
  end)

  it("is ready for JSON, whatever is empty", function ()
    prints([[
      local actor = new()
      ask(actor, "startProfiler", started)
      ask(actor, "stopProfiler", {sessionID = 1})
      local packet = ask(actor, "getEvents", {
        sessionID = 1, timelineID = 1, eventTypeList = {11}
      })
      print(wire.encode(packet):match '"eventList":%[%]')
    ]], '"eventList":[]\n')
  end)

  it("answers what is wrong with an error", function ()
    prints([[
      local actor = new()
      show(ask(actor, "stopProfiler", {sessionID = 1}))
      show(ask(actor, "startProfiler"))
      show(ask(actor, "startProfiler", {startMode = 1, windowID = "1"}))
      show(ask(actor, "getEvents", {sessionID = 1, timelineID = 1}))
      show(ask(actor, "getEvents", {session = 1}))
      show(ask(actor, "startTrace"))
      actor:receive {type = "getEvents"}
      show(table.remove(sent))
      actor:receive {to = "profiler1", type = 5}
      show(table.remove(sent))
      actor:receive {to = "other", type = "getEvents"}
      show(table.remove(sent))
      print(pcall(actor.receive, actor, 5))
    ]], [[
profiler1	nil	badRequest	3	no session is in progress
profiler1	nil	badRequest	3	'startMode' is missing
profiler1	nil	badRequest	3	]]
.. [['windowID' must be a whole number from 0 to 2^32 - 1
profiler1	nil	badRequest	3	there is no session 1
profiler1	nil	badRequest	3	unknown field 'session' (known: sessionID, ]]
.. [[timelineID, mode, eventID, maxDepth, eventTypeList, interval)
profiler1	nil	unrecognizedPacketType	nil	]]
.. [[Actor profiler1 does not recognize the packet type 'startTrace'
profiler1	nil	missingParameter	nil	'to' is missing
profiler1	nil	badParameterType	nil	'type' must be a string, not a number
other	nil	noSuchActor	nil	No such actor for ID: other
false	bad argument #1 to 'receive' (table expected, got number)
]])
  end)

  it("waits for a profiler that answers later, and keeps the order",
     function ()
    prints([[
      local later = {}
      local far = {close = function () print "closed" end}
      for _, name in ipairs {"start", "stop", "release"} do
        far[name] = function (self, fields, done)
          later[#later + 1] = {name, done}
        end
      end
      function far.events () return 0, {eventList = {}} end
      local actor = new(far)
      ask(actor, "startProfiler", started)
      ask(actor, "getEvents", {})
      ask(actor, "stopProfiler", {})
      print(#later, #sent)
      later[1][2](0, {sessionID = 9})
      later[1][2](0, {sessionID = 10})
      print(#later, #sent, sent[1].sessionID, sent[2].type)
      later[2][2](7)
      show(sent[3])
      ask(actor, "releaseSession", {})
      actor:close()
      actor:close()
      later[3][2](0)
      actor:receive {to = "profiler1", type = "getEvents"}
      print(#sent)
    ]], [[
1	0
2	2	9	events
profiler1	nil	outOfMemory	7	unknown
closed
2
]])
  end)

  it("stops what it has started when its client goes", function ()
    prints([[
      local actor = new()
      ask(actor, "startProfiler", started)
      print(debug.gethook() ~= nil or "none of the program's")
      actor:close()
      print(debug.gethook(), actor:advance())
    ]], "none of the program's\nnil\tfalse\n")
  end)

  it("passes on what send raises, and goes on", function ()
    prints([[
      local fail = true
      local actor = profileractor.new {
        id = "p", send = function (packet)
          if fail then error("gone", 0) end
          print(packet.type)
        end
      }
      local packet = {to = "p", type = "startProfiler", startMode = 1,
                      windowID = 1}
      print(pcall(actor.receive, actor, packet))
      fail = false
      actor:receive {to = "p", type = "stopProfiler", sessionID = 1}
    ]], "false\tgone\nstoppedProfiler\n")
  end)

  it("checks what it is made of", function ()
    prints([[
      local send = function () end
      for _, options in ipairs {{}, {id = ""}, {id = "x"},
                                {id = "x", send = send, more = 1},
                                {id = "x", send = send, profiler = {}}} do
        print(select(2, pcall(profileractor.new, options)))
      end
    ]], [[
option 'id' must be a string that is not empty
option 'id' must be a string that is not empty
option 'send' must be a function
unknown option 'more' (known: id, send, profiler)
option 'profiler' has no method 'start'
]])
  end)
end)
