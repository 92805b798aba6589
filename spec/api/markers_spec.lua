-- tracegrip.console: what the program says, in the traces that run.

local run = require "spec.support.run"

-- The program's markers, a line each, by 'show (packet)'; and what it prints
-- itself. 'trace' runs from the beginning.
local function printed (program, env)
  local result = run.code([[
    local tracegrip = require "tracegrip"
    local console = require "tracegrip.console"
    local function words (p)
      local list = {}
      for i, value in ipairs(p.arguments.values) do
        list[i] = type(value) == "table" and value.type or tostring(value)
      end
      return table.concat(list, ",")
    end
    -- method(values) and, if there are, =count, ~duration, groups and depth
    local function show (p)
      return p.method .. "(" .. words(p) .. ")"
             .. (p.count and "=" .. p.count or "")
             .. (p.duration and "~" or "")
             .. ("+"):rep(p.groups or 0)
    end
    local function markers (trace, filter)
      local list = {}
      for p in trace:packets(filter) do
        if p.type == "marker" then
          list[#list + 1] = show(p)
        end
      end
      return table.concat(list, " ")
    end
    local trace = tracegrip.start {include = {"^nothing$"}}
  ]] .. program, env)
  assert.equal(0, result.status, result.stderr)
  assert.equal("", result.stderr)
  return result.stdout
end

local function said (program)
  return (printed(program .. " trace:stop() print(markers(trace))")
          :gsub("\n$", ""))
end

describe("a marker", function ()
  it("is a packet between those of frames, without a sequence", function ()
    assert.equal([[
enteredFrame 0 f nil
marker nil nil log
exitedFrame 1 nil nil
]], printed [[
      trace:stop()
      local function f () console.log "here" end
      trace = tracegrip.start {include = {"^f$"}}
      f()
      trace:stop()
      for p in trace:packets() do
        print(p.type, p.sequence, p.name, p.method)
      end
    ]]:gsub("\t", " "))
  end)

  it("has its place, its time, its depth and its coroutine", function ()
    assert.equal("p.lua:3 1 2 true\n", printed [[
      trace:stop()
      trace = tracegrip.start {trace = {"callsite", "time", "depth", "thread",
                                        "markers"}}
      assert(load("local console = ...\ncoroutine.wrap(function ()\n"
                  .. "console.log() end)()", "=p.lua"))(console)
      trace:stop()
      local before
      for p in trace:packets() do
        if p.type == "marker" then
          print(p.callsite.url .. ":" .. p.callsite.line .. " "
                .. p.depth - 2 .. " " .. p.thread .. " "
                .. tostring(p.time >= before))
        end
        before = p.time
      end
    ]])
  end)

  it("shows nothing of tracegrip's own", function ()
    assert.equal("f g\n", printed [[
      trace:stop()
      local function g () end
      local function f ()
        console.time() console.timeEnd() console.warn("x", {}) g()
      end
      trace = tracegrip.start()
      f()
      trace:stop()
      local names = {}
      for p in trace:packets() do
        if p.type == "enteredFrame" then names[#names + 1] = p.name end
      end
      print(table.concat(names, " "))
    ]])
  end)

  it("has the values of its call, with the limits and the secrets of calls",
     function ()
    assert.equal([[
longString 300
5 undefined redacted true
]], printed [[
      trace:stop()
      trace = tracegrip.start {redact = "^pin$", valueProperties = 2}
      console.log(("x"):rep(300))
      console.log(5, nil, {pin = 1234, {}, {}, {}})
      trace:stop()
      for p in trace:packets() do
        if p.type == "marker" then
          local v, pool = p.arguments.values, p.arguments.objectPool
          if v[1] == 5 then
            print(v[1], v[2].type,
                  (pool[1].ownProperties.pin or {value = {}}).value.type
                    or "redacted", pool[1].truncated)
          else
            print(v[1].type, v[1].length)
          end
        end
      end
    ]]:gsub("\t", " "))
  end)

  it("runs no metamethod, neither of a value nor of a label", function ()
    assert.equal("log(object) time(table) timeEnd(table)~\n", printed [[
      local t = setmetatable({}, {__tostring = error, __name = error,
                                  __index = error, __len = error})
      console.log(t)
      console.time(t)
      console.timeEnd(t)
      trace:stop()
      print(markers(trace))
    ]])
  end)

  it("prints nothing, returns nothing", function ()
    assert.equal("0\n", printed [[
      trace:stop()
      local n = 0
      for i = 1, 2 do
        for _, f in pairs {console.log, console.time, console.timeEnd,
                           console.count, console.group, console.groupEnd,
                           console.error, console.timeStamp} do
          n = n + select("#", f("x"))
        end
        trace = tracegrip.start()
      end
      print(n)
    ]])
  end)

  it("is in every trace that runs and wants it", function ()
    assert.equal("log(1) log(2)|log(2)|log(2) log(3)|\n", printed [[
      local a = tracegrip.start()
      local none = tracegrip.start {trace = {"name", "time"}}
      console.log(1)
      local b = tracegrip.start()
      local c = tracegrip.start {trace = {"markers"}}
      console.log(2)
      a:stop() b:stop()
      console.log(3)
      c:stop() none:stop()
      local list = {}
      for i, t in ipairs {a, b, c, none} do list[i] = markers(t) end
      print(table.concat(list, "|"))
    ]])
  end)

  it("is left out by a filter of types, of threads and of times", function ()
    assert.equal([[
log(main) log(other)

log(main)
log(other)

]], printed [[
      trace:stop()
      trace = tracegrip.start()
      console.log "main"
      coroutine.wrap(function () console.log "other" end)()
      trace:stop()
      print(markers(trace))
      print(markers(trace, {trace = {"name", "arguments"}}))
      print(markers(trace, {thread = 1}))
      print(markers(trace, {thread = 2}))
      print(markers(trace, {from = 1e6}))
    ]])
  end)

  it("does not count as an event of a trace that stops after so many",
     function ()
    assert.equal("log(1) log(2)\n", printed [[
      trace:stop()
      local function f () end
      trace = tracegrip.start {maxEvents = 2, include = "^f$"}
      console.log(1)
      console.log(2)
      f()
      console.log(3)
      local list = markers(trace)
      print(list)
    ]])
  end)

  it("is kept in a ring, also one that began in the middle", function ()
    assert.equal("true\tlog(last)\n", printed [[
      trace:stop()
      trace = tracegrip.start {buffer = 300000, overflow = "ring"}
      for i = 1, 20000 do console.log("marker number", i) end
      console.log "last"
      trace:stop()
      local all = markers(trace)
      print(#all < 19000 * 20, all:match "%S+$")
    ]])
  end)

  it("is captured whole when there is no room left in a chunk", function ()
    assert.equal("200\t20000\n", printed [[
      trace:stop()
      trace = tracegrip.start {valueString = "all"}
      local text = ("x"):rep(20000)
      for i = 1, 200 do console.log(i, text .. i) end
      trace:stop()
      local n, least = 0, math.huge
      for p in trace:packets() do
        if p.type == "marker" then
          n = n + 1
          assert(p.arguments.values[1] == n)
          least = math.min(least, #p.arguments.values[2])
        end
      end
      print(n, least // 1000 * 1000)
    ]])
  end)

  it("is in a recording", function ()
    assert.equal("log(1) time(default) timeEnd(default)~\n", printed [[
      trace:stop()
      local path = os.tmpname()
      trace = tracegrip.start()
      console.log(1)
      console.time()
      console.timeEnd()
      trace:stop()
      assert(trace:save(path))
      print(markers(assert(tracegrip.open(path)):traces()[1]))
      os.remove(path)
    ]])
  end)
end)

describe("a timer", function ()
  it("tells how long it has run, and how long it ran", function ()
    assert.equal("true\ttrue\ttrue\n", printed [[
      console.time "load"
      local t = os.clock()
      repeat until os.clock() - t > 0.02
      console.timeLog("load", "half")
      repeat until os.clock() - t > 0.04
      console.timeEnd "load"
      trace:stop()
      local times, durations = {}, {}
      for p in trace:packets() do
        times[#times + 1], durations[#durations + 1] = p.time, p.duration
      end
      -- os.clock is another clock than the trace's
      print(durations[1] >= 19 and durations[2] >= 39,
            math.abs(times[2] - times[1] - durations[1]) < 0.001,
            math.abs(times[3] - times[1] - durations[2]) < 0.001)
    ]])
  end)

  it("has the label 'default', and others beside", function ()
    assert.equal("time(default) time(a) timeEnd(default)~ time(7) "
                 .. "timeEnd(a)~ timeEnd(7)~", said [[
      console.time() console.time "a" console.timeEnd() console.time(7)
      console.timeEnd "a" console.timeEnd "7"
    ]])
  end)

  it("that does not run is a warning, and so is one that does", function ()
    assert.equal("warn(Timer 'x' does not exist) time(x) "
                 .. "warn(Timer 'x' already exists) timeEnd(x)~ "
                 .. "warn(Timer 'x' does not exist) "
                 .. "warn(Timer 'default' does not exist)", said [[
      console.timeEnd "x" console.time "x" console.time "x"
      console.timeEnd "x" console.timeLog "x" console.timeLog(nil, 1)
    ]])
  end)

  it("is forgotten when nothing traces any more", function ()
    assert.equal("warn(Timer 'x' does not exist)\n", printed [[
      console.time "x"
      trace:stop()
      trace = tracegrip.start()
      console.timeEnd "x"
      trace:stop()
      print(markers(trace))
    ]])
  end)

  it("may be one of many", function ()
    assert.equal("30000\t0\n", printed [[
      for i = 1, 20000 do
        console.time("request " .. i)
        if i > 100 then console.timeEnd("request " .. i - 100) end
      end
      for i = 1, 10000 do console.time "again" console.timeEnd "again" end
      trace:stop()
      local ends, warnings = 0, 0
      for p in trace:packets() do
        ends = ends + (p.method == "timeEnd" and 1 or 0)
        warnings = warnings + (p.method == "warn" and 1 or 0)
      end
      print(ends + 100, warnings)
    ]])
  end)
end)

describe("a counter", function ()
  it("counts by label, from one, and again from one", function ()
    assert.equal("count(default)=1 count(a)=1 count(default)=2 "
                 .. "countReset(default) count(default)=1 count(a)=2 "
                 .. "warn(Count for 'b' does not exist)", said [[
      console.count() console.count "a" console.count(nil)
      console.countReset() console.count() console.count "a"
      console.countReset "b"
    ]])
  end)
end)

describe("a group", function ()
  it("is what is said until its end, one level in", function ()
    assert.equal("log(0) group(a,1) log(1)+ groupCollapsed(b)+ log(2)++ "
                 .. "groupEnd()+ log(1)+ groupEnd() log(0)", said [[
      console.log(0) console.group("a", 1) console.log(1)
      console.groupCollapsed "b" console.log(2) console.groupEnd()
      console.log(1) console.groupEnd() console.groupEnd() console.log(0)
    ]])
  end)
end)

describe("the methods", function ()
  it("are those of a browser's console, each a marker of its name", function ()
    assert.equal("timeStamp(a,object) log() info(1) warn(true) error(e) "
                 .. "debug(1.5)", said [[
      console.timeStamp("a", {}) console.log() console.info(1)
      console.warn(true) console.error "e" console.debug(1.5)
    ]])
  end)

  it("are seen through pcall, a tail call and a metamethod", function ()
    assert.equal("log(1) log(2) log(x)", said [[
      pcall(console.log, 1)
      local function f () return console.log(2) end
      f()
      local t = setmetatable({}, {__index = function (_, k) console.log(k) end})
      local _ = t.x
    ]])
  end)
end)
