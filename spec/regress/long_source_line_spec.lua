-- A debugger stood still at a program with a long line: where its text ends was
-- looked for by a pattern that is tried at each character. A string of 20,000
-- characters took seven seconds, one of 300,000 as good as for ever.

local debugger = require "spec.support.debugger"

local it = debugger.needed(it, pending)

local function with_lines (ending)
  return 'local long = "' .. ("y"):rep(300000) .. '"\n' .. ending
end

-- Line and column where the script ends, as the debugger is told.
local function end_of (text)
  local line, column
  debugger.debug(text, function (front, _, command)
    for _, script in ipairs(front:events "Debugger.scriptParsed") do
      if script.url:find "/app%.lua$" then
        line, column = script.endLine, script.endColumn
      end
    end
    front:post "Debugger.resume"
    assert.equal(0, command:ended())
  end)
  return {line, column}
end

describe("a source with a long line", function ()
  it("is debugged as any other", function ()
    assert.same({2, 0}, end_of(with_lines "print(#long)\n"))
  end)

  it("ends where its last line does", function ()
    assert.same({1, 12}, end_of(with_lines "print(#long)"))
    assert.same({0, 300020}, end_of('return #"' .. ("y"):rep(300000)
                                    .. '" < math.pi'))
  end)
end)
