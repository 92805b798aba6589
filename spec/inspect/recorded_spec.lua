-- A recording in Chrome DevTools (tracegrip inspect): walked through by the
-- protocol's messages, forwards and backwards.

local debugger = require "spec.support.debugger"
local run = require "spec.support.run"
local shop = require "spec.support.shop"

local it = debugger.needed(it, pending)

local tracegrip = run.build .. "/bin/tracegrip"

-- Records a program as "app.lua", opens the recording with these words of the
-- command line and calls use(front end, directory, address, command). It has
-- not begun to walk yet.
local function opened (code, use, record, ...)
  local options = {...}
  run.within(function (where)
    run.write(where .. "/app.lua", code)
    local words = {tracegrip, "record", "--sources", "-o", "app.tgr"}
    table.move(record or {}, 1, #(record or {}), #words + 1, words)
    words[#words + 1] = "app.lua"
    run.command(words, {cwd = where})
    words = {"inspect", "--port=0", table.unpack(options)}
    words[#words + 1] = "app.tgr"
    local command, address = debugger.start(words, where)
    debugger.with(command, function ()
      local front = debugger.connect(address)
      front:ask "Runtime.enable"
      front:ask "Debugger.enable"
      use(front, where, address, command)
      front:close()
    end)
  end)
end

local function begin (front)
  front:post "Runtime.runIfWaitingForDebugger"
  return front:event "Debugger.paused"
end

-- At the first call, without C functions unless 'record' says otherwise.
local function at_entry (code, use, record)
  opened(code, function (front, ...)
    use(front, begin(front), ...)
  end, record or {"--no-c"}, "--stop-on=entry")
end

-- Goes on by some requests, or ways back, and says where each has led:
-- "function:line".
local function walk (front, ...)
  local places, paused = {}, nil
  for i, word in ipairs {...} do
    if word:find "%(" then
      front:post("Runtime.evaluate", {expression = word})
      paused = front:event "Debugger.paused"
    else
      paused = front:go(word)
    end
    places[i] = debugger.place(paused)
  end
  return places, paused
end

-- The values of a scope by its name: name -> RemoteObject; and the names.
local function scope (front, paused, frame, name)
  for _, one in ipairs(paused.callFrames[frame].scopeChain) do
    if one.name == name then
      return front:properties(one.object.objectId)
    end
  end
end

-- What the console shows, as texts.
local function said (front)
  local list = {}
  for i, message in ipairs(front:events "Runtime.consoleAPICalled") do
    local texts = {}
    for k, one in ipairs(message.args) do
      texts[k] = tostring(one.value or one.description)
    end
    list[i] = message.type .. ": " .. table.concat(texts, " ")
  end
  return list
end

describe("a recording in DevTools", function ()
  it("stands at its first error, with the stack, its values and the text",
     function ()
    opened(shop, function (front)
      local paused = begin(front)
      assert.equal("exception", paused.reason)
      assert.equal("table", paused.data.className)
      assert.is_false(paused.data.uncaught)
      assert.equal(7, front:properties(paused.data.objectId).code.value)
      assert.equal("discount:2 Shop.price:7 all:13 (main chunk):18",
                   debugger.place(paused))
      assert.equal("discount", paused.callFrames[1].functionName)
      assert.equal(7, front:properties(scope(
        front, paused, 1, "Error")["1"].objectId).code.value)
      assert.equal("table", scope(front, paused, 1,
                                  "Arguments of error")["(vararg 1)"].className)
      local values, names = scope(front, paused, 1, "Arguments")
      assert.same({"price", "class"}, names)
      assert.equal(10, values.price.value)
      assert.equal("blue", values.class.value)
      values, names = scope(front, paused, 2, "Arguments")
      assert.same({"item", "class", "(vararg 1)"}, names)
      local item = front:properties(values.item.objectId)
      assert.equal("tea", item.name.value)
      local text = front:ask("Debugger.getScriptSource", {
        scriptId = paused.callFrames[1].location.scriptId
      }).scriptSource
      assert.equal(shop, text)
      assert.equal(front:events "Debugger.scriptParsed"[1].length, #shop)
    end)
  end)

  it("is stepped over, into and out, and back again", function ()
    at_entry(shop, function (front, paused)
      assert.equal("step", paused.reason)
      assert.equal("(main chunk):1", debugger.place(paused))
      assert.same({
        "all:10 (main chunk):17", "all:13 (main chunk):17",
        "Shop.price:6 all:13 (main chunk):17",
        "discount:1 Shop.price:7 all:13 (main chunk):17",
        "Shop.price:7 all:13 (main chunk):17"
      }, (walk(front, "stepInto", "stepOver", "stepInto", "stepInto",
               "stepOut")))
      local places
      places, paused = walk(front, "stepOver")
      assert.same({"all:13 (main chunk):17"}, places)
      local results = scope(front, paused, 1, "Results of Shop.price")
      assert.equal(10, results["1"].value)
      assert.equal("table", results["2"].description)
      assert.equal(19, scope(front, paused, 1, "Returns")["1"].value)
      assert.same({"all:13 (main chunk):17", "all:10 (main chunk):17",
                   "(main chunk):1"},
                  (walk(front, "stepBack()", "stepBack()", "stepBack()")))
      assert.same({
        "(main chunk):17", "all:13 (main chunk):17",
        "Shop.price:7 all:13 (main chunk):17", "all:13 (main chunk):17",
        "(main chunk):1"
      }, (walk(front, "stepOver", "stepBackIn()", "stepBackIn()",
               "stepBackOut()", "stepBackOut()")))
    end)
  end)

  it("ends at both ends of its history, and says so", function ()
    at_entry(shop, function (front)
      local _, paused = walk(front, "reverseContinue()")
      assert.equal("(beginning of the recording)",
                   paused.callFrames[1].functionName)
      _, paused = walk(front, "resume")
      assert.equal("(end of the recording)",
                   paused.callFrames[1].functionName)
      _, paused = walk(front, "stepOver", "moment(2)")
      assert.equal("all:10 (main chunk):17", debugger.place(paused))
      assert.equal("2 of 22", scope(front, paused, 1, "Moment").number.value)
      local lines = table.concat(said(front), "\n")
      assert.truthy(lines:find("info: The beginning of the recording.", 1,
                               true))
      assert.truthy(lines:find("info: The end of the recording.", 1, true))
    end)
  end)

  it("shows the locals that it has, also to code", function ()
    at_entry([[
      local function g (x) local twice = 2 * x return tostring(twice) end
      local function f (item)
        local price, name = item.price * 2, "tea"
        local kept = g(price)
        return kept
      end
      f {price = 5}
    ]], function (front)
      front:stop_at(4)
      local paused = front:go "resume"
      local locals, names = front:scope(paused, 1, "local")
      assert.same({"item", "price", "name"}, names)
      assert.equal(10, locals.price.value)
      assert.equal(15, front:value(paused, 1, "price + item.price").value)
      local both = front:value(paused, 1, "name, item")
      both = front:properties(both.objectId)
      assert.equal("tea", both["1"].value)
      assert.equal(5, front:properties(both["2"].objectId).price.value)
      local _, problem = front:value(paused, 1, "item.x.y")
      assert.truthy(problem.exception.description:find "index a nil value")
      _, problem = front:value(paused, 1, "kept")
      assert.equal("ReferenceError: kept was not recorded here",
                   problem.exception.description)
      assert.equal("undefined", front:value(paused, 1, "item.x").type)
      assert.equal("undefined", front:value(paused, 1, "err").type)
      front:stop_at(1)
      paused = front:go "resume"
      assert.equal(20, front:scope(paused, 1, "local").twice.value)
      assert.equal("tea5",
                   front:value(paused, 2, "name .. item.price").value)
    end, {"--no-c", "--trace", "name,callsite,time,parameterNames,arguments,"
                               .. "return,location,locals"})
  end)

  it("stops at lines and conditions in both directions", function ()
    at_entry(shop, function (front)
      local set = front:stop_at(7)
      local line13 = front:stop_at(13, "classes[2] == 'none'")
      assert.equal(6, set.locations[1].lineNumber)
      local function all (word)
        local places = {}
        while #places < 20 do
          local some, paused = walk(front, word)
          if paused.callFrames[1].functionName:find "^%(%l+ing of"
             or paused.callFrames[1].functionName:find "^%(end of" then
            break
          end
          places[#places + 1] = #paused.hitBreakpoints .. some[1]:match "^%S+"
        end
        return table.concat(places, " ")
      end
      local at13, at7 = "1all:13", "1Shop.price:7"
      assert.equal(table.concat({at13, at7, at13, at7, at7, at7}, " "),
                   all "resume")
      assert.equal(table.concat({at7, at7, at7, at13, at7, at13}, " "),
                   all "reverseContinue()")
      assert(front:ask("Debugger.removeBreakpoint",
                       {breakpointId = set.breakpointId}))
      local paused = front:go "resume"
      assert.same({line13.breakpointId}, paused.hitBreakpoints)
      assert(front:ask("Debugger.setBreakpointsActive", {active = false}))
      paused = front:go "resume"
      assert.equal("(end of the recording)", paused.callFrames[1].functionName)
    end)
  end)

  it("says which breakpoints stop nowhere, and what logpoints give", function ()
    at_entry(shop, function (front)
      assert.equal(1, #front:stop_at(1, "1 +").locations)
      assert.same({}, front:stop_at(30).locations)
      front:stop_at(6, "/** DEVTOOLS_LOGPOINT */ console.log(class, item)")
      walk(front, "resume", "reverseContinue()")
      local lines = table.concat(said(front), "\n")
      assert.truthy(lines:find "error: The breakpoint at line 1: .-near")
      assert.truthy(lines:find("error: The breakpoint at line 30: nothing is "
                               .. "called", 1, true))
      local _, count = lines:gsub("log: %l+ table", "")
      assert.equal(4, count)
    end)
  end)

  it("leaves the call that is shown, where that is in a function of C",
     function ()
    opened(shop, function (front)
      begin(front)
      assert.same({
        "discount:1 Shop.price:7 all:13 (main chunk):18",
        "discount:2 Shop.price:7 all:13 (main chunk):18",
        "Shop.price:6 all:13 (main chunk):18",
        "discount:1 Shop.price:7 all:13 (main chunk):18",
        "(main chunk):18"
      }, (walk(front, "stepBack()", "stepInto", "stepBackOut()", "stepInto",
               "stepOut")))
    end)
  end)

  it("goes back to where a frame has begun, and to a place ahead", function ()
    opened(shop, function (front)
      local paused = begin(front)
      local frame = paused.callFrames[3]
      assert.is_true(frame.canBeRestarted)
      paused = front:go("restartFrame", {callFrameId = frame.callFrameId,
                                         mode = "StepInto"})
      assert.equal("all:10 (main chunk):18", debugger.place(paused))
      local at = frame.location
      paused = front:go("continueToLocation", {location = {
        scriptId = at.scriptId, lineNumber = 5
      }})
      assert.equal("Shop.price:6 all:13 (main chunk):18",
                   debugger.place(paused))
    end)
  end)

  it("tells caught and uncaught errors apart", function ()
    at_entry([[
      local function fail (x) error(x) end
      pcall(fail, "caught")
      fail "uncaught"
    ]], function (front)
      assert(front:ask("Debugger.setPauseOnExceptions", {state = "uncaught"}))
      local paused = front:go "resume"
      assert.is_true(paused.data.uncaught)
      assert.truthy(paused.data.value:find "uncaught$")
      assert(front:ask("Debugger.setPauseOnExceptions", {state = "caught"}))
      local _, before = walk(front, "reverseContinue()")
      assert.truthy(before.data.value:find "[^n]caught$")
      assert.truthy(front:value(before, 1, "err").value:find "caught$")
    end, {})
  end)

  it("has coroutines as they were, and what the program has said", function ()
    at_entry([[
      local console = require "tracegrip.console"
      local function inner () console.warn("deep", {n = 1}) end
      local co = coroutine.wrap(function (x)
        coroutine.yield(x)
        inner()
      end)
      co(1)
      co()
    ]], function (front)
      front:ask("Debugger.setAsyncCallStackDepth", {maxDepth = 8})
      front:stop_at(2)
      local paused = front:go "resume"
      assert.equal("inner", paused.callFrames[1].functionName)
      local other = paused.asyncStackTrace
      assert.equal("main (normal)", other.description)
      assert.equal("(main chunk)",
                   other.callFrames[#other.callFrames].functionName)
      assert.equal(7, other.callFrames[#other.callFrames].lineNumber)
      front:go "stepOut"
      assert.truthy(table.concat(said(front), "\n"):find("warning: deep table",
                                                         1, true))
    end, {})
  end)

  it("is not changed by anybody, and says so", function ()
    at_entry(shop, function (front, paused)
      local id = paused.callFrames[1].callFrameId
      local function refusal (method, params)
        local result, problem = front:ask(method, params)
        assert.is_nil(result)
        return problem.message, problem.code
      end
      assert.same({"Nothing can be changed in a recording", -32000},
                  {refusal("Debugger.setVariableValue", {
                    callFrameId = id, scopeNumber = 0, variableName = "x",
                    newValue = {value = 1}
                  })})
      assert.equal("Nothing can be changed or called in a recording",
                   (refusal("Runtime.callFunctionOn",
                            {functionDeclaration = "function () {}"})))
      assert.equal("'Profiler.start' wasn't found", (refusal "Profiler.start"))
      assert.equal("'Debugger.setScriptSource' wasn't found",
                   (refusal "Debugger.setScriptSource"))
      local _, problem = front:value(paused, 1, "stepBack()",
                                     {throwOnSideEffect = true})
      assert.truthy(problem.exception.description:find "side%-effect")
      problem = select(2, front:value(paused, 1, "os.exit()"))
      assert.truthy(problem.exception.description:find "'os'")
      front:go "stepOver"
      assert.equal("Could not find call frame with given id",
                   (refusal("Debugger.evaluateOnCallFrame",
                            {callFrameId = id, expression = "1"})))
    end)
  end)

  it("passes over files that are ignored, and tells of source maps", function ()
    local compiled = run.root .. "/spec/dap/compiled/basket.ts."
    run.within(function (where)
      run.write(where .. "/app.lua", run.read(compiled .. "out"))
      run.write(where .. "/app.lua.map", run.read(compiled .. "map"))
      run.write(where .. "/start.lua", "local function own () end\n"
                .. "own() pcall(dofile, 'app.lua') own()")
      run.command({tracegrip, "record", "--sources", "--no-c", "-o", "app.tgr",
                   "start.lua"}, {cwd = where})
      local command, address = debugger.start(
        {"inspect", "--port=0", "--stop-on=entry", "app.tgr"}, where)
      debugger.with(command, function ()
        local front = debugger.connect(address)
        front:ask "Debugger.enable"
        local maps = {}
        for _, script in ipairs(front:events "Debugger.scriptParsed") do
          maps[script.url:match "[^/]*$"] = script.sourceMapURL or false
        end
        assert.same({"app.lua.map", false}, {
          (maps["app.lua"] or ""):match "[^/]*$", maps["start.lua"]
        })
        assert(front:ask("Debugger.setBlackboxPatterns",
                         {patterns = {"/app\\.lua$"}}))
        begin(front)
        assert.same({"own:1 (main chunk):2", "(main chunk):2",
                     "(main chunk):2", "own:1 (main chunk):2"},
                    (walk(front, "stepInto", "stepInto", "stepInto",
                          "stepInto")))
        front:close()
      end)
    end)
  end)

  it("lists the calls that had a table", function ()
    at_entry([[
      local function put (t, x) t[#t + 1] = x return t end
      local list = put({}, 1)
      put(list, 2)
    ]], function (front)
      front:stop_at(1)
      local paused = front:go "resume"
      local function history (of)
        return front:ask("Debugger.evaluateOnCallFrame", {
          callFrameId = paused.callFrames[1].callFrameId,
          expression = "history(" .. of .. ")"
        })
      end
      assert.equal("undefined", history "t".result.type)
      local lines
      repeat      -- the recording is gone through behind the reply
        front:event "Runtime.consoleAPICalled"
        lines = table.concat(said(front), "\n")
      until lines:find("{1, 2}", 1, true)
      assert.truthy(lines:find("info: moment 2: put is called with it: {}", 1,
                               true), lines)
      assert.truthy(lines:find "moment %d %*: put gives it: {1, 2}", lines)
      assert.truthy(history "x".exceptionDetails)
      front:go "stepOver"
    end, {"--no-c", "--trace", "name,callsite,time,parameterNames,arguments,"
                               .. "return,location,identity"})
  end)
end)
