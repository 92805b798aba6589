-- A traceparent that is none was shown by luaL_tolstring, which calls the
-- program's __tostring: an option's message runs none of its code.

local run = require "spec.support.run"

describe("a wrong traceparent", function ()
  it("is told by its type, without its __tostring", function ()
    local result = run.code [[
      local called = false
      local value = setmetatable({}, {__tostring = function ()
        called = true
        return "mine"
      end})
      local ok, message = pcall(require "tracegrip".start,
                                {traceparent = value})
      print(ok, called, message:match "got (.*)$")
    ]]
    assert.equal("", result.stderr)
    assert.equal("false\tfalse\ttable\n", result.stdout)
  end)
end)
