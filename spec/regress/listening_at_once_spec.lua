-- States on threads of their own that listen and close again at the same time:
-- the last one to close ends the server's thread, which two joined, so that the
-- program hung. Who began to listen meanwhile was told that the server was
-- silent.

local run = require "spec.support.run"

local it = run.needs("luv", it, pending)

local code = [[
local tracegrip = require "tracegrip"
for i = 1, 150 do
  local listener, message = tracegrip.listen {port = 0}
  if not listener then return message end
  listener:close()
end
return "well"
]]

describe("states that listen and close at the same time", function ()
  it("each have a server", function ()
    local result = run.code([[
      local code = ]] .. run.literal(code) .. [[

      local states = require "states"
      print(table.concat({states.together(code, code, code, code)}, ", "))
    ]], {env = run.modules})
    assert.equal("well, well, well, well\n", result.stdout)
  end)
end)
