-- VS Code's debugger for JavaScript, which other editors use too: what it sends
-- (taken down from it) is JavaScript around the Lua that a person has typed.

local debugger = require "spec.support.debugger"
local expression = require "tracegrip.inspect.expression"

local it = debugger.needed(it, pending)

local function condition (text)
  return "(()=>{try{return " .. text .. ";}catch(e){console.error(`Breakpoint "
         .. "condition error: ${e.message||e}`);return false}})()"
end

local function logged (format, ...)
  local arguments = {format}
  for _, text in ipairs {...} do
    arguments[#arguments + 1] = "(() => {\n  try {\n    return " .. text
      .. ";\n  } catch (e) {\n    return e.stack || e.message || String(e);\n"
      .. "  }\n})()"
  end
  return "console.log(" .. table.concat(arguments, ", ") .. "), false\n"
         .. "//# sourceURL=logpoint-9cb43c6.cdp"
end

local function named (text)
  return text .. "\n//# sourceURL=eval-1f3c2a55.repl\n"
end

-- The beginning and the end of the function that lists an object's fields.
local COMPLETION = [[function(target, prefix, isGlobal) {
  const result = [];
  const props = Object.getOwnPropertyNames(object).filter((l) => 1);
  result.push({ label: name, sortText: sortPrefix + name, type, detail });
  return { result, isArray: this instanceof Array };

//# sourceURL=dapdebugger.cdp
}]]

local program = [[
local Account = {}
Account.__index = Account
function Account:add (n)
  self.sum = self.sum + n
  return self.sum
end
local account = setmetatable({sum = 0}, Account)
for i = 1, 3 do
  account:add(i)
end
print(account.sum)
]]

describe("VS Code's debugger", function ()
  it("stops where its conditions hold, and logs what its logpoints say",
     function ()
    debugger.debug(program, function (front)
      front:stop_at(4, condition "n == 2")
      front:stop_at(9, logged([["i %O \"q\" \u0041 %O 100%%"]], "i",
                              "account.sum + 1"))
      front:stop_at(10, logged [["no values"]])
      local paused = front:go "resume"
      assert.equal("add:4 (main chunk):9", debugger.place(paused))
      assert.equal(2, front:scope(paused, 1, "local").n.value)
      local said = {}
      for i, one in ipairs(front:events "Runtime.consoleAPICalled") do
        said[i] = {}
        for k, argument in ipairs(one.args) do
          said[i][k] = argument.value
        end
      end
      local text = 'i %O "q" A %O 100%%'
      assert.same({{text, 1, 1}, {text, 2, 2}}, said)
    end)
  end)

  it("evaluates what is typed, and sets variables", function ()
    debugger.debug(program, function (front)
      front:stop_at(4)
      local paused = front:go "resume"
      assert.equal(2, front:value(paused, 1, named "n + 1").value)
      assert.equal(3, front:ask("Runtime.evaluate", {
        expression = named "1 + 2"
      }).result.value)
      assert.equal(100, front:value(paused, 1,
        "100 \n//# sourceURL=eval-66d0ad31.repl\n").value)
      front:value(paused, 1, named "n = 100")
      assert.equal(100, front:scope(paused, 1, "local").n.value)
      assert.same({}, front:ask("Runtime.compileScript", {
        expression = named "n = 1", sourceURL = "", persistScript = false
      }))
    end)
  end)

  it("completes fields and methods of a table", function ()
    debugger.debug(program, function (front)
      front:stop_at(4)
      local paused = front:go "resume"
      local self = front:value(paused, 1, "(self)")
      local function names (begin)
        local answer = front:ask("Runtime.callFunctionOn", {
          functionDeclaration = COMPLETION, objectId = self.objectId,
          returnByValue = true,
          arguments = {setmetatable({}, {__jsontype = "object"}),
                       {value = begin}, {value = false}}
        }).result.value
        local list = {}
        for i, one in ipairs(answer.result) do
          list[i] = one.label .. " " .. one.type
        end
        table.sort(list)
        return list
      end
      assert.same({"__index property", "add method", "sum property"},
                  names "")
      assert.same({"sum property"}, names "su")
    end)
  end)

  it("is understood in all that its texts may have in them", function ()
    local function arguments (text)
      return (expression.condition(text):match
              "^/%*%* DEVTOOLS_LOGPOINT %*/ console%.log%((.*)%)$")
    end
    assert.equal([["a\"), false \\", t["x"], f("}")]], arguments(
      logged([["a\"), false \\"]], 't["x"]', 'f("}")')))
    assert.equal([["\u{001f}\n/"]], arguments(logged [["\u001f\n\/"]]))
    assert.equal("a or b", expression.condition(condition "a or b"))
    assert.equal("a // 2", expression.condition "a // 2")
    assert.equal("a", expression.condition
                 "a\n\n//# sourceURL=debugger://breakpoint")
    assert.is_nil(expression.condition "")
    assert.is_nil(expression.condition "//# sourceURL=debugger://breakpoint")
    assert.equal("console.log(x), false",
                 expression.condition "console.log(x), false")
  end)
end)
