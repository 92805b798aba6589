-- A key with a zero byte in it, or a long one, was compared up to its zero or
-- its 255th byte with what is to be kept secret when a trace was read.

local run = require "spec.support.run"

local program = [[
  local tracegrip = require "tracegrip"
  local function login (fields) return fields end
  local trace = tracegrip.start {valueString = "all"}
  login {["a\0password"] = "hunter1",
         [("x"):rep(300) .. "password"] = "hunter2",
         ["password"] = "hunter3", user = "me"}
  trace:stop()
  local filter = {redact = "password$"}
  trace:log({fd = 1}, filter)
  for _, format in ipairs {"packets", "chrome", "firefox", "gecko"} do
    trace:export(format, "out", filter)
    for line in io.lines "out" do print(line) end
  end
]]

describe("a trace that is read with redact", function ()
  it("hides the values of keys with zeros and of long keys", function ()
    local out = run.within(function (directory)
      return run.code(program, {directory = directory}).stdout
    end)
    assert.matches("user = \"me\"", out, 1, true)
    for _, secret in ipairs {"hunter1", "hunter2", "hunter3"} do
      assert.is_nil(out:find(secret, 1, true), secret)
    end
  end)
end)
