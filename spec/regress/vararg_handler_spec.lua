-- A message handler or __close metamethod that takes "..." has its arguments
-- below its frame, not in its first registers: what was read there as the
-- thrown value was whatever had been left over.

local run = require "spec.support.run"

local function thrown (code)
  local list = {}
  for _, packet in ipairs(run.packets(code)) do
    if packet.why == "exception" then
      list[#list + 1] = packet.throw.value
    end
  end
  return list
end

describe("the thrown value", function ()
  it("is right when the handler is a vararg function", function ()
    assert.same({"one", "one"}, thrown [[
      local function id (...) return ... end
      local function f () error("one", 0) end
      xpcall(f, id)
    ]])
  end)

  it("is right when the handler has no parameter", function ()
    assert.same({"two", "two"}, thrown [[
      local function none () end
      local function f () error("two", 0) end
      xpcall(f, none)
    ]])
  end)

  it("is right when only a vararg __close shows it", function ()
    local values = thrown [[
      local function close (...) return ... end
      local function f ()
        local c <close> = setmetatable({}, {__close = close})
        local none
        return none.field
      end
      pcall(f)
    ]]
    assert.equal(1, #values)
    assert.matches("attempt to index a nil value", values[1])
  end)
end)
