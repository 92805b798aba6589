-- A recording in an editor: walked through forwards and backwards.

local editor = require "spec.support.editor"
local run = require "spec.support.run"
local shop = require "spec.support.shop"
local wrongstops = require "spec.support.wrongstops"

local it = editor.needed(it, pending)

local tracegrip = run.build .. "/bin/tracegrip"

-- Records a program as "app.lua" and opens it in an editor, up to
-- "initialized": calls use(self, directory). record: options of that command;
-- more: fields of launch.
local function opened (code, use, record, more, client)
  run.within(function (where)
    run.write(where .. "/app.lua", code)
    local words = {tracegrip, "record", "-o", "app.tgr"}
    table.move(record or {}, 1, #(record or {}), #words + 1, words)
    words[#words + 1] = "app.lua"
    run.command(words, {cwd = where})
    editor.start():with(function (self)
      self:initialize(client)
      local arguments = {recording = where .. "/app.tgr"}
      for name, value in pairs(more or {}) do
        arguments[name] = value
      end
      self.where = where
      assert(self:ask("launch", arguments))
      self:event "initialized"
      use(self, where)
    end)
  end)
end

-- Without C functions, unless 'record' says otherwise.
local function at_entry (code, use, record)
  opened(code, use, record or {"--no-c"}, {stopOnEntry = true})
end

-- Goes on by some requests, and says where each has led: "function:line".
local function walk (self, stopped, ...)
  local places = {}
  for i, command in ipairs {...} do
    stopped = self:go(command, stopped)
    local _, place = self:stack(stopped)
    places[i] = place
  end
  return places, stopped
end

describe("a recording", function ()
  it("stops at its first error, with the stack and the error", function ()
    opened(shop, function (self)
      local stopped = self:run()
      assert.equal("exception", stopped.reason)
      assert.equal("{code = 7}", stopped.text)
      assert.is_true(stopped.allThreadsStopped)
      local frames, place = self:stack(stopped)
      assert.equal("error", frames[1].name)
      assert.equal("discount:2 price:7 all:13 (main chunk):18",
                   (place:gsub("Shop.", "")))
      local info = self:ask("exceptionInfo", {threadId = stopped.threadId})
      assert.equal("{code = 7}", info.description)
      assert.equal("always", info.breakMode)
      assert.equal("table", info.details.typeName)
      assert.truthy(info.details.stackTrace:find "app.lua:2: discount")
      local arguments, names = self:scope(frames[2], "Arguments")
      assert.same({"price", "class"}, names)
      assert.equal("10", arguments.price.value)
      assert.equal('"blue"', arguments.class.value)
      local item = self:scope(frames[3], "Arguments").item
      assert.equal('{name = "tea", price = 10}', item.value)
      local fields = self:variables(item.variablesReference)
      assert.equal('"tea"', fields.name.value)
      assert.equal("item.name", fields.name.evaluateName)
      local _, others = self:scope(frames[3], "Arguments")
      assert.same({"item", "class", "(vararg 1)"}, others)
    end)
  end)

  it("is stepped over, in and out, and back again", function ()
    at_entry(shop, function (self)
      local stopped = self:run()
      assert.equal("entry", stopped.reason)
      local _, place = self:stack(stopped)
      assert.equal("(main chunk):1", place)
      local places
      places, stopped = walk(self, stopped, "stepIn", "next", "stepIn",
                             "stepIn")
      assert.same({
        "all:10 (main chunk):17", "all:13 (main chunk):17",
        "Shop.price:6 all:13 (main chunk):17",
        "discount:1 Shop.price:7 all:13 (main chunk):17"
      }, places)
      places, stopped = walk(self, stopped, "stepOut", "next")
      assert.same({"Shop.price:7 all:13 (main chunk):17",
                   "all:13 (main chunk):17"}, places)
      local frames = self:stack(stopped)
      local results = self:scope(frames[1], "Results of Shop.price")
      assert.equal("10", results["1"].value)
      assert.equal('{name = "tea", price = 10}', results["2"].value)
      assert.equal("19.0", self:scope(frames[1], "Returns")["1"].value)
      -- the moments before, at the same depth
      places, stopped = walk(self, stopped, "stepBack", "stepBack", "stepBack")
      assert.same({"all:13 (main chunk):17", "all:10 (main chunk):17",
                   "(main chunk):1"}, places)
      -- over all of it, then back into it, and out again
      places = walk(self, stopped, "next", "stepBackIn", "stepBackIn",
                    "stepBackOut", "stepBackOut")
      assert.same({
        "(main chunk):17", "all:13 (main chunk):17",
        "Shop.price:7 all:13 (main chunk):17",
        "all:13 (main chunk):17", "(main chunk):1"
      }, places)
    end)
  end)

  it("ends at both ends of its history with a stop", function ()
    at_entry(shop, function (self)
      local stopped = self:run()
      stopped = self:go("reverseContinue", stopped)
      assert.equal("The beginning of the recording", stopped.description)
      assert.same({}, (self:stack(stopped)))
      stopped = self:go("stepBack", stopped)
      assert.equal("The beginning of the recording", stopped.description)
      assert(self:ask("setExceptionBreakpoints", {filters = {}}))
      stopped = self:go("continue", stopped)
      assert.equal("The end of the recording", stopped.description)
      assert.same({}, (self:stack(stopped)))
      local _, place = self:stack(self:go("stepBackIn", stopped))
      assert.equal("(main chunk):19", place)
    end, {})
  end)

  it("shows the locals that the recording has, also to code", function ()
    at_entry([[
      local function g (x) local twice = 2 * x return tostring(twice) end
      local function f (item)
        local price, name = item.price * 2, "tea"
        local kept = g(price)
        return kept
      end
      f {price = 5}
    ]], function (self)
      self:stop_at {4}
      local stopped = self:go("continue", self:run())
      local frames = self:stack(stopped)
      local locals, names = self:scope(frames[1], "Locals")
      assert.same({"item", "price", "name"}, names)
      assert.equal("10", locals.price.value)
      assert.equal("price", locals.price.evaluateName)
      assert.equal("15", self:value(frames[1], "price + item.price"))
      self:stop_at {1}
      stopped = self:go("continue", stopped)
      frames = self:stack(stopped)
      assert.equal("g", frames[1].name)
      assert.equal("20", self:scope(frames[1], "Locals").twice.value)
      local outer = self:scope(frames[2], "Locals")
      assert.same({"10", '"tea"', nil},
                  {outer.price.value, outer.name.value, outer.kept})
      assert.equal('"tea5"', self:value(frames[2], "name .. item.price"))
    end, {"--no-c", "--trace", "name,callsite,time,parameterNames,arguments,"
                               .. "return,location,locals"})
  end)

  it("stops at lines, functions and conditions in both directions", function ()
    at_entry(shop, function (self)
      local set = self:stop_at {
        7, {line = 13, condition = "classes[2] == 'none'"}
      }
      assert.same({true, true}, {set[1].verified, set[2].verified})
      local named = assert(self:ask("setFunctionBreakpoints", {
        breakpoints = {{name = "price", condition = "result == 10"}}
      })).breakpoints
      local stopped = self:run()
      local reasons, places = {}, {}
      local function all (command)
        repeat
          stopped = self:go(command, stopped)
          local _, place = self:stack(stopped)
          reasons[#reasons + 1] = stopped.reason
          places[#places + 1] = place:match "^%S*"
        until stopped.description
        local told = table.concat(places, " ")
        reasons, places = {}, {}
        return told
      end
      assert(self:ask("setExceptionBreakpoints", {filters = {}}))
      local line13, line7 = "all:13", "Shop.price:7"
      assert.equal(table.concat({
        line13, line7, line13, line7, line13, line7, line7, ""
      }, " "), all "continue")
      assert.equal(table.concat({
        line7, line7, line13, line7, line13, line7, line13, ""
      }, " "), all "reverseContinue")
      stopped = self:go("continue", stopped)
      assert.same({set[2].id}, stopped.hitBreakpointIds)
      assert.equal("breakpoint", stopped.reason)
      self:stop_at {}
      stopped = self:go("continue", stopped)
      assert.same({named[1].id}, stopped.hitBreakpointIds)
      assert.equal("function breakpoint", stopped.reason)
    end)
  end)

  it("says which breakpoints it cannot have", function ()
    at_entry(shop, function (self, where)
      local set = self:stop_at {
        {line = 1, condition = "1 +"}, {line = 1, hitCondition = "3"}
      }
      assert.truthy(set[1].message:find "near")
      assert.truthy(set[2].message:find "hits are not counted")
      local none = assert(self:ask("setBreakpoints", {
        source = {path = where .. "/other.lua"}, breakpoints = {{line = 1}}
      })).breakpoints
      assert.same({false, "the recording has nothing of this file"},
                  {none[1].verified, none[1].message})
      local names = assert(self:ask("setFunctionBreakpoints", {
        breakpoints = {{name = "nobody"}}
      })).breakpoints
      assert.equal("no function of this name in the recording",
                   names[1].message)
    end)
  end)

  it("prints logpoints on the way forwards, and goes on", function ()
    at_entry(shop, function (self)
      self:stop_at {{line = 6, logMessage = "{class} of {item.name}"}}
      local stopped = self:run()
      assert(self:ask("setExceptionBreakpoints", {filters = {}}))
      self:go("reverseContinue", self:go("continue", stopped))
      local printed = self:printed "console"
      assert.truthy(printed:find("gold of tea\nnone of tea\ngold of tea\n"
                                 .. "blue of tea\n", 1, true))
      assert.equal(4, select(2, printed:gsub("of tea\n", "")))
    end)
  end)

  it("stops where a log message is empty", function ()
    at_entry(shop, function (self)
      local set = self:stop_at {{line = 6, logMessage = ""}}
      local stopped = self:go("continue", self:run())
      assert.same({set[1].id}, stopped.hitBreakpointIds)
    end)
  end)

  it("says where a breakpoint can stand, and has none elsewhere", function ()
    local code = [[
local t = {}
local function add (x)

  local n = #t
  local y = x
  t[n + 1] = y
end
local function never ()
  print "never"
end
add(1)
local last = t
return last
]]
    local function check (self)
      local function lines (...)
        return self:locations("app.lua", ...)
      end
      assert.equal("2 4 6 11", lines(1, 100))
      assert.equal("", lines(3))
      assert.equal("4", lines(3, 5))
      assert.equal("6", lines(6))
      local told = {}
      for i, one in ipairs(self:stop_at {1, 3, 5, 9, 12}) do
        told[i] = ("%d %s"):format(one.line, one.message or "")
      end
      assert.same({"2 ", "4 ", "6 ",
                   "9 no function of this line was called in the recording",
                   "12 nothing is called at this line or after it"}, told)
    end
    at_entry(code, check)
    at_entry(code, check, {"--no-c", "--sources"})
  end)

  it("tells lines of a file that has changed as far as it knows", function ()
    opened("local function f (x)\n  print(x)\nend\nf(1)\n", function (self)
      run.write(self.where .. "/app.lua", "print 'another'\n\n\nprint()\n")
      assert.equal("1", self:locations("app.lua", 1, 100))
      assert.equal("", self:locations("other.lua", 1, 100))
      assert.same({3, true}, {self:stop_at({3})[1].line,
                              self:stop_at({3})[1].verified})
    end)
  end)

  it("refuses what says not where to stop, by its name", function ()
    at_entry(shop, function (self)
      self:run()
      for _, case in ipairs(wrongstops) do
        local body, message = self:ask(case[1], case[2])
        assert.is_nil(body)
        assert.equal(case[3], message)
      end
    end)
  end)

  it("begins at its end, if that is wanted", function ()
    opened(shop, function (self)
      assert.equal("The end of the recording", self:run().description)
    end, nil, {stopOn = "end"})
  end)

  it("is of the trace that was named", function ()
    opened([[
      local console = require "tracegrip.console"
      local function within () error("x", 0) end
      pcall(error, "y")
      console.startTrace "part"
      pcall(within)
      console.stopTrace "part"
    ]], function (self)
      local _, place = self:stack(self:run())
      assert.equal("within:2", place)
    end, nil, {trace = "part"})
  end)

  it("tells caught and uncaught errors apart", function ()
    local code = "local function f (x) error(x, 0) end\n"
                 .. "pcall(f, 'one') pcall(f, 'two') f('three')"
    local function texts (filters, options)
      local list = {}
      at_entry(code, function (self)
        local stopped = self:run()
        assert(self:ask("setExceptionBreakpoints", {
          filters = filters, filterOptions = options
        }))
        repeat
          stopped = self:go("continue", stopped)
          list[#list + 1] = stopped.text
        until stopped.description ~= "Paused on error"
        assert.equal("The end of the recording", stopped.description)
      end, {})
      return table.concat(list, " ")
    end
    assert.equal("three", texts {"uncaught"})
    assert.equal("one two", texts {"caught"})
    assert.equal("two", texts({}, {{filterId = "caught", condition = "^tw"}}))
  end)

  it("has coroutines as they were", function ()
    at_entry([[
      local function body (n)
        while true do n = coroutine.yield(n * 2, {n}) end
      end
      local a, b = coroutine.create(body), coroutine.wrap(function (x)
        return x
      end)
      coroutine.resume(a, 1)
      coroutine.resume(a, 2)
      b(3)
    ]], function (self)
      local stopped = self:run()
      self:stop_at {9}
      assert(self:ask("setExceptionBreakpoints", {filters = {}}))
      stopped = self:go("continue", stopped)
      local threads = assert(self:ask "threads").threads
      assert.same({{id = 1, name = "main (running)"},
                   {id = 2, name = "coroutine 2: body (suspended)"}}, threads)
      local frames = assert(self:ask("stackTrace", {threadId = 2})).stackFrames
      assert.equal("coroutine.yield", frames[1].name)
      local yielded = self:scope(frames[1], "Arguments")
      assert.equal("4", yielded["(vararg 1)"].value)
      assert.equal("{2}", yielded["(vararg 2)"].value)
      assert.same({"body", 2}, {frames[2].name, frames[2].line})
      -- over the resume, which stays in its thread; and back over it
      stopped = self:go("stepBack", stopped)
      local _, place = self:stack(stopped)
      assert.equal("(main chunk):8", place)
      assert.equal(1, stopped.threadId)
      stopped = self:go("next", stopped)
      _, place = self:stack(stopped)
      assert.equal("(main chunk):9", place)
      stopped = self:go("stepBack", stopped)
      stopped = self:go("stepIn", self:go("stepIn", stopped))
      assert.equal(2, stopped.threadId)
      threads = assert(self:ask "threads").threads
      assert.same({{id = 2, name = "coroutine 2: body (running)"},
                   {id = 1, name = "main (normal)"}}, threads)
    end, {})
  end)

  it("evaluates what was recorded", function ()
    opened(shop, function (self)
      local frames = self:stack(self:run())
      assert.equal("18.0", (self:value(frames[2], "price * 1.8")))
      assert.equal('"table"', (self:value(frames[3], "type(item)")))
      assert.equal('"tea!", 3', (self:value(frames[3],
                                            "item.name .. '!', args.n")))
      assert.equal('"x"', (self:value(frames[3], "(...)")))
      assert.equal("7", (self:value(frames[1], "err.code")))
      assert.equal("tea", (self:value(frames[3], "item.name", "clipboard")))
      assert.equal("{1, 2}", (self:value(frames[3], "{1, 2}", "repl")))
      local none, message = self:value(frames[3], "nobody.x", "repl")
      assert.is_nil(none)
      assert.truthy(message:find "nobody")
      none, message = self:value(frames[3], "(function () while true do end "
                                            .. "end)()")
      assert.is_nil(none)
      assert.equal("this takes too long", message)
      none, message = self:value(frames[3], "os.exit()")
      assert.is_nil(none)
      assert.truthy(message:find "'os'")
    end)
  end)

  it("lets code assign to what is its own, and to nothing else", function ()
    opened(shop, function (self)
      local frames = self:stack(self:run())
      for _, code in ipairs {"string.format = nil", "table.concat = nil",
                             "math.type, utf8.len = nil",
                             "item.name = 'coffee'"} do
        assert.equal("", (self:value(frames[3], code, "repl")))
      end
      assert.equal('"1 tea"', (self:value(
        frames[3], "string.format('%d %s', math.min(1, 2), item.name)")))
      local item = self:scope(frames[3], "Arguments").item
      assert.equal('{name = "tea", price = 10}', item.value)
      assert.equal(frames[1].name, self:stack({threadId = 1})[1].name)
    end)
  end)

  it("prints what the program said, on the way", function ()
    at_entry([[
      local console = require "tracegrip.console"
      console.log("one", {1})
      local function f () console.warn("two") end
      f()
    ]], function (self)
      local stopped = self:run()
      assert(self:ask("setExceptionBreakpoints", {filters = {}}))
      self:go("continue", stopped)
      assert.equal("one {1}\n", self:printed "stdout")
      assert.equal("two\n", self:printed "stderr")
    end, {"--no-c"})
  end)

  it("shows the text that it keeps, where the file is another now", function ()
    run.within(function (where)
      run.write(where .. "/app.lua", shop)
      run.command({tracegrip, "record", "--sources", "-o", "app.tgr",
                   "app.lua"}, {cwd = where})
      run.write(where .. "/app.lua", "-- nothing\n")
      editor.start():with(function (self)
        self:initialize()
        assert(self:ask("launch", {recording = "app.tgr", cwd = where}))
        self:event "initialized"
        local frames = self:stack(self:run())
        local source = frames[2].source
        assert.is_nil(source.path)
        local body = assert(self:ask("source", {
          source = source, sourceReference = source.sourceReference
        }))
        assert.equal(shop, body.content)
      end)
    end)
  end)

  it("has its files elsewhere, if the client says where", function ()
    run.within(function (here)
      run.write(here .. "/app.lua", shop)
      run.within(function (where)
        run.write(where .. "/app.lua", shop)
        run.command({tracegrip, "record", "-o", "app.tgr", "app.lua"},
                    {cwd = where})
        editor.start():with(function (self)
          self:initialize()
          assert(self:ask("launch", {
            recording = "app.tgr", cwd = where,
            pathMappings = {{localRoot = here .. "/", remoteRoot = where}}
          }))
          self:event "initialized"
          self.where = here
          assert.is_true(self:stop_at({7})[1].verified)
          local frames = self:stack(self:run())
          assert.equal(here .. "/app.lua", frames[1].source.path)
        end)
      end)
    end)
  end)

  it("counts lines from 0 for those who do", function ()
    opened(shop, function (self)
      local _, place = self:stack(self:run())
      assert.truthy(place:find "^discount:1 Shop%.price:6 ")
    end, nil, nil, {linesStartAt1 = false})
  end)

  it("can step back, and takes back what only a program can do", function ()
    opened(shop, function (self)
      local can = self:events("capabilities")[1].capabilities
      assert.is_true(can.supportsStepBack)
      assert.is_false(can.supportsSetVariable)
      assert.is_false(can.supportsRestartRequest)
      local _, message = self:ask("setVariable", {
        variablesReference = 1, name = "x", value = "1"
      })
      assert.truthy(message:find "not possible")
    end)
  end)

  it("is refused if it is none, or if launch is wrong", function ()
    local function refused (arguments)
      editor.start():with(function (self)
        self:initialize()
        local none, message = self:ask("launch", arguments)
        assert.is_nil(none)
        arguments.message = message
      end)
      return arguments.message
    end
    assert.truthy(refused({recording = "/dev/null"}):find "cannot open")
    assert.truthy(refused({recording = "/nowhere"}):find "No such file")
    assert.truthy(refused({recording = "x", stopOn = "never"}):find "stopOn")
    opened(shop, function (_, where)
      local arguments = {recording = where .. "/app.tgr", pathMappings = {{}}}
      assert.truthy(refused(arguments):find "^'pathMappings' has to be a list")
      arguments = {recording = where .. "/app.tgr", trace = "another"}
      assert.truthy(refused(arguments):find "no trace named 'another'")
    end)
  end)

  it("is searched in pieces, between which pause is heard", function ()
    at_entry([[
      local function f (i) end
      for i = 1, 60000 do f(i) end
    ]], function (self)
      self:run()
      assert(self:ask("setExceptionBreakpoints", {filters = {}}))
      assert(self:ask("setFunctionBreakpoints", {
        breakpoints = {{name = "f", condition = "i == 0 or i == 60000"}}
      }))
      for _, command in ipairs {"continue", "reverseContinue"} do
        local asked
        self:together(function ()
          self:post(command, {threadId = 1})
          asked = {self:post("stackTrace", {threadId = 1}),
                   self:post("next", {threadId = 1})}
          self:post("pause", {threadId = 1})
        end)
        for _, seq in ipairs(asked) do
          local answer = self:answer(seq)
          assert.is_false(answer.success)
          assert.equal("the recording is being searched", answer.message)
        end
        local stopped = self:event "stopped"
        assert.equal("pause", stopped.reason)
        assert.is_nil(stopped.description)
        if command == "continue" then
          stopped = self:go("continue", stopped)
          assert.equal("function breakpoint", stopped.reason)
        end
      end
    end)
  end)
end)

local till = [[
local function add (t, n) t.sum, t.count = t.sum + n, t.count + 1 end
local function look (till) return till.sum end
local function rename (till) till.name = "second" end
local function main ()
  local till, other = {sum = 0, count = 0, name = "first"}, {sum = 7}
  look(till) look(other)
  for i = 1, 3 do add(till, i) end
  look(till)
  rename(till)
  look(other) look(till)
end
main()
]]

describe("a table of a recording", function ()
  local identity = {"--no-c", "--trace", "name,callsite,parameterNames,"
                                         .. "arguments,return,identity"}

  -- The number of what `look` is given first, by its argument.
  local function at_first (use, record)
    at_entry(till, function (self)
      self:stop_at {2}
      local stopped = self:go("continue", self:run())
      local frame = self:stack(stopped)[1]
      assert.equal("look", frame.name)
      self:stop_at {}
      local _, _, reference = self:scope(frame, "Arguments")
      local function info (name, of)
        return assert(self:ask("dataBreakpointInfo", {
          name = name, variablesReference = of or reference
        }))
      end
      use(self, stopped, info, frame)
    end, record or identity)
  end

  local function set (self, ...)
    return assert(self:ask("setDataBreakpoints", {breakpoints = {...}}))
             .breakpoints
  end

  local function follow (self, stopped, command)
    local places = {}
    repeat
      stopped = self:go(command, stopped)
      local _, place = self:stack(stopped)
      local what = (stopped.text or ""):match "^table %d+, (.-) %(" or ""
      places[#places + 1] = ("%s @%s"):format(what, place:match "^%S*")
    until stopped.reason ~= "data breakpoint"
    places[#places] = nil
    return places, stopped
  end

  it("stops the walk where it has changed, in both directions", function ()
    at_first(function (self, stopped, info)
      local whole = info "till"
      assert.matches("^%d+$", whole.dataId)
      assert.same({"write"}, whole.accessTypes)
      local one = set(self, {dataId = whole.dataId})[1]
      assert.is_true(one.verified)
      -- add's changes are seen where the table comes again
      local there = {
        "count: 0 -> 1, sum: 0 -> 1 @add:1",
        "count: 1 -> 2, sum: 1 -> 3 @add:1",
        "count: 2 -> 3, sum: 3 -> 6 @look:2",
        'name: "first" -> "second" @look:2',
      }
      local places
      places, stopped = follow(self, stopped, "continue")
      assert.same(there, places)
      assert.equal("The end of the recording", stopped.description)
      places = follow(self, stopped, "reverseContinue")
      local back = {}
      for i, place in ipairs(there) do
        back[#there + 1 - i] = place
      end
      assert.same(back, places)
    end)
  end)

  it("is watched by a single field, and with a condition", function ()
    at_first(function (self, stopped, info, frame)
      local fields = self:scope(frame, "Arguments").till
      local name = info("name", fields.variablesReference)
      assert.matches("^%d+:name$", name.dataId)
      local sum = info("sum", fields.variablesReference)
      set(self, {dataId = name.dataId})
      local places, last = follow(self, stopped, "continue")
      assert.same({'name: "first" -> "second" @look:2'}, places)
      set(self, {dataId = sum.dataId, condition = "till.sum == 6"})
      places = follow(self, last, "reverseContinue")
      assert.same({"sum: 3 -> 6 @look:2"}, places)
    end)
  end)

  it("tells all calls that had it", function ()
    at_first(function (self, _, _, frame)
      local answer = assert(self:ask("history", {expression = "till",
                                                 frameId = frame.id}))
      assert.equal(7, #answer.calls)
      assert.matches("^moment 3: look is called with it: {count = 0",
                     answer.calls[1])
      local text = assert(self:ask("evaluate", {
        expression = "history(till)", context = "repl", frameId = frame.id
      })).result
      assert.equal(table.concat(answer.calls, "\n"), text)
    end)
  end)

  it("is looked for in pieces, between which pause is heard", function ()
    at_entry([[
      local function f (t) end
      local t = {n = 0}
      for i = 1, 60000 do f(t) end
      t.n = 1
      f(t)
    ]], function (self)
      local stopped = self:go("stepIn", self:run())
      local frame = self:stack(stopped)[1]
      local _, _, reference = self:scope(frame, "Arguments")
      set(self, {dataId = assert(self:ask("dataBreakpointInfo", {
        name = "t", variablesReference = reference
      })).dataId})
      self:together(function ()
        self:post("continue", {threadId = 1})
        self:post("pause", {threadId = 1})
      end)
      local paused = self:event "stopped"
      assert.same({"pause"}, {paused.reason, paused.description})
      assert.equal(frame.name, self:stack(paused)[1].name)
      stopped = self:go("continue", paused)
      assert.equal("data breakpoint", stopped.reason)
      assert.matches("n: 0 %-> 1 %(last seen at moment 120000%)", stopped.text)
    end, identity)
  end)

  it("says what cannot be watched", function ()
    at_first(function (self, _, info)
      local answer = info "till"
      assert.is_nil(tonumber(answer.dataId))
      assert.matches("record with %-%-trace .*identity", answer.description)
      assert.same({false, false}, {set(self, {dataId = "x"})[1].verified,
        set(self, {dataId = "1", accessType = "read"})[1].verified})
      local _, message = self:ask("history", {expression = "till"})
      assert.matches("identity", message)
      _, message = self:ask("history", {expression = "till.sum"})
      assert.equal("a recording tells of changes in tables alone", message)
    end, {"--no-c"})
  end)
end)
