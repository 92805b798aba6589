-- The profiler service: every command, field, default and error.

local run = require "spec.support.run"

-- Runs `code` with a few helpers and compares what it prints.
local prelude = [[
local scope = require "tracegrip.scope"
local tracegrip = require "tracegrip"
local types = scope.eventTypes
local function all (events)     -- names by event, in their order
  local list = {}
  for i, event in ipairs(events.eventList) do
    list[i] = event.functionCall and event.functionCall.name or event.type
  end
  return table.concat(list, " ")
end
local function recorded (f, options)
  options = options or {trace = {"name", "time", "arguments"}}
  local trace = tracegrip.start(options)
  f()
  return trace:stop()
end
local profiler = scope.new()
local function session (f, options)
  local status, s = profiler:load(recorded(f, options))
  assert(status == 0, s.description)
  return s.sessionID, s
end
local function get (fields)
  local status, events = profiler:GetEvents(fields)
  return status == 0 and events or print(status, events.description)
end
local function leaf () end
local function twice () leaf() leaf() end
local function tree () twice() leaf() end
]]

local function prints (code, expected)
  local result = run.code(prelude .. code)
  assert.equal("", result.stderr)
  assert.equal(expected, result.stdout)
end

describe("StartProfiler", function ()
  it("gives numbers from 1 on", function ()
    prints([[
      for i = 1, 2 do
        local status, s = profiler:StartProfiler {startMode = 1, windowID = 1}
        print(status, s.sessionID)
        profiler:StopProfiler(s)
      end
    ]], "0\t1\n0\t2\n")
  end)

  it("is refused while a session is in progress", function ()
    prints([[
      local how = {startMode = 1, windowID = 1}
      profiler:StartProfiler(how)
      local status, message = profiler:StartProfiler(how)
      print(status, message.description)
      print((scope.new():StartProfiler(how)))   -- another profiler may
    ]],
    "3\tsession 1 is in progress\n0\n")
  end)

  it("needs both of its fields", function ()
    prints([[
      for _, fields in ipairs {{}, {startMode = 1}, {windowID = 1},
                               {startMode = 3, windowID = 1},
                               {startMode = 1, windowID = -1},
                               {startMode = "1", windowID = 1},
                               {startMode = 1.5, windowID = 1},
                               {startMode = 1, windowID = 1, more = 1}} do
        local status, message = profiler:StartProfiler(fields)
        print(status, message.description)
      end
      print((profiler:StartProfiler {startMode = 1.0, windowID = 1}))
    ]], [[
3	'startMode' is missing
3	'windowID' is missing
3	'startMode' is missing
3	'startMode' cannot be 3
3	'windowID' must be a whole number from 0 to 2^32 - 1
3	'startMode' must be a whole number from 0 to 2^32 - 1
3	'startMode' must be a whole number from 0 to 2^32 - 1
3	unknown field 'more' (known: startMode, windowID)
0
]])
  end)

  it("begins with the first chunk in the mode URL", function ()
    prints([[
      local chunk = load("return ...", "@chunk.lua")
      local f = function () chunk() end
      profiler:StartProfiler {startMode = 2, windowID = 1}
      leaf() f() leaf()
      profiler:StopProfiler {sessionID = 1}
      local events = get {sessionID = 1, timelineID = 1}
      print(all(events), events.interval.start)
    ]], "(main chunk) leaf\t0.0\n")
  end)

  it("takes the options of the profiler", function ()
    prints([[
      profiler = scope.new {include = {"^twice$", "^load$"},
                            trace = {"arguments"}}
      profiler:StartProfiler {startMode = 1, windowID = 1}
      twice() load("", "=name")
      profiler:StopProfiler {sessionID = 1}
      local events = get {sessionID = 1, timelineID = 1}
      print(all(events), events.eventList[2].scriptCompilation.url)
      print(select(2, pcall(scope.new, {name = "x"})))
      print(select(2, pcall(scope.new, 5)))
      print((pcall(scope.new {inclde = {}}.StartProfiler,
                   scope.new {inclde = {}}, {startMode = 1, windowID = 1})))
    ]], "twice load\tname\n"
        .. "option 'name': the traces of a profiler have none\n"
        .. "bad argument #1 to 'new' (table expected, got number)\nfalse\n")
  end)

  it("is not seen by the program", function ()
    prints([[
      local console = require "tracegrip.console"
      profiler:StartProfiler {startMode = 1, windowID = 1}
      print(console.stopTrace())
      console.startTrace("mine")
      leaf()
      print(console.stopTrace().name)
      profiler:StopProfiler {sessionID = 1}
      print(debug.gethook())
    ]], "nil\tno trace is running\twrongState\nmine\nnil\n")
  end)
end)

describe("StopProfiler", function ()
  it("gives the session and a timeline for each coroutine", function ()
    prints([[
      profiler:StartProfiler {startMode = 1, windowID = 9}
      for _ = 1, 2 do coroutine.wrap(leaf)() end
      local status, s = profiler:StopProfiler {sessionID = 1}
      print(status, s.sessionID, s.windowID, #s.timelineList, s.lost)
      for _, t in ipairs(s.timelineList) do print(t.timelineID, t.frameID) end
      print(s.duration > 0, s.callOverhead > 0, s.returnOverhead > 0)
    ]], "0\t1\t9\t3\tnil\n1\t1\n2\t2\n3\t3\ntrue\ttrue\ttrue\n")
  end)

  it("is refused if that session is not in progress", function ()
    prints([[
      local function stop (fields)
        local status, message = profiler:StopProfiler(fields)
        print(status, message.description)
      end
      stop {sessionID = 1}
      stop {}
      profiler:StartProfiler {startMode = 1, windowID = 1}
      stop {sessionID = 2}
      stop {sessionID = 1}
      stop {sessionID = 1}
    ]], "3\tno session is in progress\n3\t'sessionID' is missing\n"
        .. "3\tsession 2 is not in progress\n0\tnil\n"
        .. "3\tno session is in progress\n")
  end)

  it("has a timeline of the main coroutine even if nothing was called",
     function ()
    prints([[
      local id, s = session(function () end, {include = "nothing"})
      print(#s.timelineList, s.timelineList[1].frameID)
      local events = get {sessionID = id, timelineID = 1}
      print(#events.eventList, events.interval)
      for mode = 1, 4 do
        print(#get {sessionID = id, timelineID = 1, mode = mode}.eventList)
      end
    ]], "1\t1\n0\tnil\n0\n0\n0\n0\n")
  end)

  it("tells what has been lost", function ()
    prints([[
      local _, s = session(function () for _ = 1, 10000 do leaf() end end,
                           {buffer = 4096})
      print(s.lost > 1000)
    ]], "true\n")
  end)
end)

describe("ReleaseSession", function ()
  it("releases one, or all that are not in progress", function ()
    prints([[
      local function release (fields)
        local status, message = profiler:ReleaseSession(fields)
        print(status, message.description)
      end
      for _ = 1, 3 do session(leaf) end
      release {sessionID = 2}
      release {sessionID = 2}
      profiler:StartProfiler {startMode = 1, windowID = 1}
      release {sessionID = 4}
      release {}
      print((profiler:GetEvents {sessionID = 1, timelineID = 1}))
      print((profiler:StopProfiler {sessionID = 4}))
      print((profiler:GetEvents {sessionID = 4, timelineID = 1}))
      release()
      print((profiler:GetEvents {sessionID = 4, timelineID = 1}))
    ]], "0\tnil\n3\tthere is no session 2\n3\tsession 4 is in progress\n"
        .. "0\tnil\n3\n0\n0\n0\tnil\n3\n")
  end)
end)

describe("GetEvents", function ()
  it("gives all events with all their fields", function ()
    prints([[
      local id = session(tree)
      local events = get {sessionID = id, timelineID = 1}
      for i, e in ipairs(events.eventList) do
        print(e.type, e.hits, e.eventID, e.parentEventID, e.childCount,
              e.functionCall.name, e.functionCall.line, e.functionCall.kind,
              e.functionCall.source)
        assert(e.time >= 0 and e.overhead >= 0)
        assert(e.interval.start <= e.interval["end"])
        assert(math.type(e.time) == "float")
      end
      local root = events.eventList[1]
      assert(events.interval.start == root.interval.start)
      assert(events.interval["end"] == root.interval["end"])
      assert(math.abs(root.aggregatedTime - (root.interval["end"]
                                             - root.interval.start)) < 1e-9)
    ]], [[
32	1	1	nil	2	tree	29	1	program.lua
32	1	2	1	2	twice	28	1	program.lua
32	1	3	2	0	leaf	27	1	program.lua
32	1	4	2	0	leaf	27	1	program.lua
32	1	5	1	0	leaf	27	1	program.lua
]])
  end)

  it("knows the types that there are here", function ()
    prints([[
      local f = io.open("file.lua", "w")
      f:write("collectgarbage()")
      f:close()
      io.open("plain.lua", "w"):close()
      package.path = "./?.lua"
      local id = session(function ()
        loadfile("file.lua")()
        load("return 1", "=piece")()
        load("return 2")
        require "plain"
        pcall(require, "nothing.such")
        load(function () end, "@there.lua")
        collectgarbage "step"
        collectgarbage()
        coroutine.wrap(function () leaf() end)()
      end)
      for timeline = 1, 2 do
        for _, e in ipairs(get {
          sessionID = id, timelineID = timeline, eventTypeList = {5, 6, 33}
        }.eventList) do
          local c, t = e.scriptCompilation, e.scriptThreadEvaluation
          local g, f = e.garbageCollection, e.functionCall
          print(e.type, f.name, c and c.scriptType, c and c.url,
                t and t.scriptThreadType, t and t.eventName,
                g and tostring(g.option))
        end
      end
    ]], [[
5	loadfile	1	file.lua	nil	nil	nil
6	(main chunk)	nil	nil	1	nil	nil
33	collectgarbage	nil	nil	nil	nil	nil
5	load	4	piece	nil	nil	nil
6	(main chunk)	nil	nil	1	nil	nil
5	load	4	nil	nil	nil	nil
5	require	1	plain	nil	nil	nil
6	(main chunk)	nil	nil	1	nil	nil
5	require	1	nothing.such	nil	nil	nil
5	load	4	there.lua	nil	nil	nil
33	collectgarbage	nil	nil	nil	nil	step
33	collectgarbage	nil	nil	nil	nil	nil
6	(anonymous function)	nil	nil	3	(anonymous function)	nil
]])
  end)

  it("counts a hit for each stay of a coroutine", function ()
    prints([[
      local id = session(function ()
        local co = coroutine.wrap(function ()
          coroutine.yield() coroutine.yield() leaf()
        end)
        co() co() co()
      end)
      for _, e in ipairs(get {sessionID = id, timelineID = 2}.eventList) do
        print(e.functionCall.name, e.hits, e.childCount, e.parentEventID)
        local i = e.interval
        local span = i["end"] - i.start
        assert(e.hits > 1 and e.time < span or e.time < span + 1e-9)
      end
    ]], [[
(anonymous function)	3	3	nil
coroutine.yield	2	0	4
coroutine.yield	2	0	4
leaf	1	0	4
]])
  end)

  it("adds up in three ways", function ()
    prints([[
      local id = session(function () tree() load "" end)
      for mode = 2, 4 do
        local events = get {sessionID = id, timelineID = 1, mode = mode}
        for _, e in ipairs(events.eventList) do
          print(mode, e.type, e.hits, e.functionCall and e.functionCall.name,
                e.eventID, e.parentEventID, e.childCount, e.aggregatedTime,
                e.aggregatedOverhead, e.scriptCompilation and "data")
        end
      end
    ]], [[
2	32	6	nil	nil	nil	nil	nil	nil	nil
2	5	1	nil	nil	nil	nil	nil	nil	nil
3	32	1	f	nil	nil	nil	nil	nil	nil
3	32	1	tree	nil	nil	nil	nil	nil	nil
3	32	1	twice	nil	nil	nil	nil	nil	nil
3	32	3	leaf	nil	nil	nil	nil	nil	nil
3	5	1	load	nil	nil	nil	nil	nil	data
4	1	7	nil	nil	nil	nil	nil	nil	nil
]])
  end)

  it("goes into an event, which is not itself in the answer", function ()
    prints([[
      local id = session(tree)
      local function ask (eventID, maxDepth)
        local fields = {sessionID = id, timelineID = 1, eventID = eventID,
                        maxDepth = maxDepth}
        print(all(get(fields)))
      end
      ask(1) ask(2) ask(3) ask(1, 1) ask(1, 2) ask(nil, 1) ask(nil, 2)
      ask(nil, 4294967295) ask(1, 4294967295)
    ]], [[
twice leaf leaf leaf
leaf leaf

twice leaf
twice leaf leaf leaf
tree
tree twice leaf
tree twice leaf leaf leaf
twice leaf leaf leaf
]])
  end)

  it("counts depth in the whole tree, whatever types are asked for",
     function ()
    prints([[
      local id = session(function () load "" end)
      local fields = {sessionID = id, timelineID = 1, eventTypeList = {5}}
      print(all(get(fields)))
      fields.maxDepth = 1
      print(#get(fields).eventList)
      fields.eventTypeList = {1, 2, 3, 4, 7, 8, 9, 10, 11, 34}
      fields.maxDepth = nil
      print(#get(fields).eventList)
      fields.eventTypeList = {}
      print(all(get(fields)))
    ]], "load\n0\n0\nf load\n")
  end)

  it("takes what has a moment in common with an interval, whole", function ()
    prints([[
      local id = session(tree)
      local list = get {sessionID = id, timelineID = 1}.eventList
      local function ask (start, stop, mode)
        return get {sessionID = id, timelineID = 1, mode = mode,
                    interval = {start = start, ["end"] = stop}}
      end
      local second = list[4].interval   -- the second leaf of twice
      print(all(ask(second.start, second.start)))
      print(all(ask(second["end"], second["end"])))
      print(all(ask(second.start - 1e-6, second.start - 1e-6)))
      print(all(ask(nil, second.start)))
      print(all(ask(second.start)))
      print(#ask(-5, -1).eventList, #ask(1e9).eventList)
      print(#ask(-math.huge, math.huge).eventList, #ask().eventList)
      print(#ask(1e300, 1e301).eventList)
      local sum = ask(second.start, second.start, 4).eventList[1]
      assert(sum.interval.start == list[1].interval.start)
      assert(sum.time == (list[1].time * 1e6 + list[2].time * 1e6
                          + list[4].time * 1e6 + 0.5) // 1 / 1e6)
    ]], [[
tree twice leaf
tree twice leaf
tree twice
tree twice leaf leaf
tree twice leaf leaf
0	0
5	5
0
]])
  end)

  it("has ALL for its default mode", function ()
    prints([[
      local id = session(tree)
      print(#get {sessionID = id, timelineID = 1}.eventList,
            #get {sessionID = id, timelineID = 1, mode = 1}.eventList)
    ]], "5\t5\n")
  end)

  it("is refused with a field that makes no sense", function ()
    prints([[
      local id = session(tree)
      profiler:StartProfiler {startMode = 1, windowID = 1}
      local function ask (changes)
        local fields = {sessionID = id, timelineID = 1}
        for key, value in pairs(changes) do
          fields[key] = value ~= "none" and value or nil
        end
        get(fields)
      end
      ask {sessionID = "none"} ask {timelineID = "none"}
      ask {sessionID = 77} ask {sessionID = 2}
      ask {timelineID = 0} ask {timelineID = 2}
      ask {mode = 0} ask {mode = 5} ask {mode = "x"}
      ask {eventID = 0} ask {eventID = 6} ask {eventID = -1}
      ask {maxDepth = 0} ask {maxDepth = 2^32}
      ask {eventTypeList = 5} ask {eventTypeList = {12}}
      ask {eventTypeList = {5, n = 1}}
      ask {interval = 5} ask {interval = {start = "x"}}
      ask {interval = {stop = 1}} ask {interval = {start = 0/0}}
      ask {maxdepth = 1}
    ]], [[
3	'sessionID' is missing
3	'timelineID' is missing
3	there is no session 77
3	session 2 is in progress
3	there is no timeline 0
3	there is no timeline 2
3	'mode' cannot be 0
3	'mode' cannot be 5
3	'mode' must be a whole number from 0 to 2^32 - 1
3	there is no event 0
3	there is no event 6 on timeline 1
3	'eventID' must be a whole number from 0 to 2^32 - 1
3	'maxDepth' must be 1 at least
3	'maxDepth' must be a whole number from 0 to 2^32 - 1
3	'eventTypeList' must be a list
3	'eventTypeList' cannot be 12
3	'eventTypeList' must be a list
3	'interval' must be a message, not a number
3	'interval.start' must be a number
3	unknown field 'interval.stop' (known: start, end)
3	'interval.start' must be a number
3	unknown field 'maxdepth' (known: sessionID, timelineID, mode, eventID, ]]
.. "maxDepth, eventTypeList, interval)\n")
  end)

  it("finds no event of another timeline", function ()
    prints([[
      local id = session(function () coroutine.wrap(leaf)() end)
      local events = get {sessionID = id, timelineID = 2}
      local event = events.eventList[1].eventID
      print(#get {sessionID = id, timelineID = 2, eventID = event}.eventList)
      get {sessionID = id, timelineID = 1, eventID = event}
    ]], "0\n3\tthere is no event 4 on timeline 1\n")
  end)
end)

describe("an event that is open at the end", function ()
  it("ends there", function ()
    prints([[
      local trace = tracegrip.start()
      local function f () trace:stop() end
      f()
      local _, s = profiler:load(trace)
      local event = get {sessionID = 1, timelineID = 1}.eventList[1]
      print(event.interval["end"] == s.duration, event.functionCall.name)
    ]], "true\tf\n")
  end)
end)

describe("overhead", function ()
  it("is part of what has passed, and not of time", function ()
    prints([[
      local function work (n)
        return n < 2 and 1 or work(n - 1) + work(n - 2)
      end
      local trace = recorded(function () work(18) end, {trace = {"time"}})
      local _, s = profiler:load(trace)
      local sum = get {sessionID = 1, timelineID = 1, mode = 4}.eventList[1]
      local whole = 0
      for _, f in ipairs(trace:report{raw = true}.functions) do
        whole = whole + f.self_ms
      end
      assert(math.abs(sum.time + sum.overhead - whole) < whole / 100)
      assert(s.callOverhead > 5e-6 and s.callOverhead < 1e-2)
      -- of 8361 calls, and their returns; what else passes is the machine's
      print(sum.overhead > 8361 * s.callOverhead, sum.time > 0)
    ]], "true\ttrue\n")
  end)
end)

describe("command", function ()
  it("takes names and numbers", function ()
    prints([[
      local names = {StartProfiler = 1, StopProfiler = 2, GetEvents = 3,
                     ReleaseSession = 4}
      for name, number in pairs(names) do
        assert(scope.commands[name] == number)
      end
      print((profiler:command(1, {startMode = 1, windowID = 1})))
      print((profiler:command("StopProfiler", {sessionID = 1})))
      print((profiler:command(3, {sessionID = 1, timelineID = 1})))
      print((profiler:command("ReleaseSession")))
      for _, name in ipairs {"getEvents", 0, 5, 1.5, true, {}} do
        local status, message = profiler:command(name, {})
        print(status, message.description)
      end
      print(pcall(profiler.command, profiler, 3, 5))
    ]], "0\n0\n0\n0\n" .. ("5\tno such command\n"):rep(6)
        .. "false\ta table of fields expected, got number\n")
  end)
end)

describe("json", function ()
  it("is the list form, where what is missing is null", function ()
    prints([==[
      local function show (status, text)
        local two = "[%d.e-]+,[%d.e-]+"
        text = text:gsub("^%[%[" .. two .. "%]", "[[t,t]")
          :gsub("%[(%d+)," .. two .. ",(%d+),%[" .. two .. "%]",
                "[%1,t,t,%2,[t,t]")
          :gsub("%],(%d+),(%w+),(%d+)," .. two, "],%1,%2,%3,t,t")
        print(status, text)
      end
      local one, two = profiler:json(1, "[1,3]")
      tree()
      local three, text = profiler:json("StopProfiler", "[1]")
      print(one, two)
      print(three, (text:gsub("[%d.e-]+,[%d.e-]+,[%d.e-]+%]$", "a,b,c]")))
      show(profiler:json(3, "[1,1,1,null,2]"))
      show(profiler:json(3, "[1,1,3,1,null,[32],[0,1e9]]"))
      print(profiler:json(3, "[1,1,4,null,null,[5]]"))
      print(profiler:json(3, "[1,1,4,3,1,[],[null,0],\"later\"]"))
      print(profiler:json(4))
    ]==], table.concat {
      "0\t[1]\n0\t[1,3,[[1,1]],a,b,c]\n",
      "0\t[[t,t],[[32,t,t,1,[t,t],1,null,2,t,t,null,null,null,null,null,null,",
      '["tree","program.lua",29,1]],[32,t,t,1,[t,t],2,1,2,t,t,null,null,null,',
      'null,null,null,["twice","program.lua",28,1]],[32,t,t,1,[t,t],5,1,0,t,t,',
      'null,null,null,null,null,null,["leaf","program.lua",27,1]]]]\n',
      "0\t[[t,t],[[32,t,t,1,[t,t],null,null,null,null,null,null,null,null,",
      'null,null,null,["twice","program.lua",28,1]],[32,t,t,3,[t,t],',
      "null,null,null,null,null,null,null,null,null,null,null,",
      '["leaf","program.lua",27,1]]]]\n',
      "0\t[null,[]]\n0\t[null,[]]\n0\t[]\n"
    })
  end)

  it("says what is wrong in the same form", function ()
    prints([==[
      for _, text in ipairs {"[", "{}", "5", '{"sessionID":1}', "[1]", "",
                             '[1,"x"]', "[[1],1]", "[1,1,null,null,null,5]"} do
        print(profiler:json(3, text))
      end
      print(profiler:json(7, "["))
    ]==], [[
3	["not a list: no JSON at byte 2"]
3	["'sessionID' is missing"]
3	["not a list: 5"]
3	["not a list but an object"]
3	["'timelineID' is missing"]
3	["'sessionID' is missing"]
3	["'timelineID' must be a whole number from 0 to 2^32 - 1"]
3	["'sessionID' must be a whole number from 0 to 2^32 - 1"]
3	["'eventTypeList' must be a list"]
5	["no such command"]
]])
  end)
end)

describe("load", function ()
  it("makes a session of a recording, or of one of its traces", function ()
    prints([[
      recorded(tree, {name = "one"}):save("one.tg")
      local status, s = profiler:load("one.tg")
      print(status, s.sessionID, s.windowID, #s.timelineList)
      print(all(get {sessionID = 1, timelineID = 1}))
      print((profiler:load("one.tg", "one")))
      print((profiler:load(tracegrip.open("one.tg"))))
      print((profiler:load(tracegrip.open("one.tg"):trace())))
      for _, path in ipairs {"none.tg", "program.lua"} do
        local status, message = profiler:load(path)
        print(status, message.description)
      end
      status, s = profiler:load("one.tg", "two")
      print(status, s.description)
      print(pcall(profiler.load, profiler, 5))
      local running = tracegrip.start()
      status, s = profiler:load(running)
      print(status, s.description)
    ]], [[
0	1	nil	1
tree twice leaf leaf leaf
0
0
0
3	none.tg: No such file or directory
3	program.lua: not a recording
3	no trace named 'two' in this recording
false	a path, a Recording or a Trace expected, got number
4	this trace is still running
]])
  end)

  it("gives the same events as the trace had", function ()
    prints([[
      local trace = recorded(function () tree() coroutine.wrap(tree)() end)
      trace:save("same.tg")
      profiler:load(trace)
      profiler:load("same.tg")
      for timeline = 1, 2 do
        for mode = 1, 4 do
          local texts = {}
          for id = 1, 2 do
            texts[id] = select(2, profiler:json(3,
              ("[%d,%d,%d]"):format(id, timeline, mode)))
          end
          -- what is overhead was measured twice
          local function names (text)
            return text:gsub("%d+%.?%d*[e%d-]*", "#")
          end
          assert(names(texts[1]) == names(texts[2]))
        end
      end
      print "same"
    ]], "same\n")
  end)

  it("keeps what it needs of a trace that is gone", function ()
    prints([[
      session(tree)
      collectgarbage() collectgarbage()
      print(all(get {sessionID = 1, timelineID = 1}))
    ]], "tree twice leaf leaf leaf\n")
  end)
end)

describe("each", function ()
  it("gives one event at a time", function ()
    prints([[
      local id = session(tree)
      for _, mode in ipairs {1, 3} do
        local _, each = profiler:each {sessionID = id, timelineID = 1,
                                       mode = mode}
        for event in each do io.write(event.functionCall.name, " ") end
        print()
      end
      local _, a = profiler:each {sessionID = id, timelineID = 1}
      local _, b = profiler:each {sessionID = id, timelineID = 1}
      print(a().eventID, b().eventID, a().eventID, b().eventID)
      print((profiler:each {sessionID = id, timelineID = 1, eventID = 9}))
    ]],
    "tree twice leaf leaf leaf \ntree twice leaf \n1\t1\t2\t2\n3\n")
  end)
end)

describe("close", function ()
  it("stops and releases everything", function ()
    prints([[
      session(tree)
      profiler:StartProfiler {startMode = 1, windowID = 1}
      profiler:close()
      print(debug.gethook())
      print((profiler:GetEvents {sessionID = 1, timelineID = 1}))
      print((profiler:StartProfiler {startMode = 1, windowID = 1}))
    ]], "nil\n3\n0\n")
  end)
end)
