-- A recording in Chrome DevTools (tracegrip inspect): walked through by the
-- protocol's messages, forwards and backwards.

local debugger = require "spec.support.debugger"
local run = require "spec.support.run"

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

local shop = [[
local function discount (price, class)
  if class == "blue" then error {code = 7} end
  return class == "gold" and price * 0.9 or price
end
local Shop = {}
function Shop.price (item, class, ...)
  local price = discount(item.price, class)
  return price, item
end
local function all (classes)
  local sum = 0
  for _, class in ipairs(classes) do
    sum = sum + Shop.price({name = "tea", price = 10}, class, "x")
  end
  return sum
end
all {"gold", "none"}
pcall(all, {"gold", "blue"})
print("done")
]]

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
end)
