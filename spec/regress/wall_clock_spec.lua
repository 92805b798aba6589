-- Waiting for the server goes by a clock that nobody can set.

local run = require "spec.support.run"

local it = run.needs("luv", it, pending)

describe("a wall clock that is set back", function ()
  it("does not keep a program from listening, nor from its end", function ()
    local preloaded = run.build .. "/spec/yesterday.so"
    if os.getenv "LD_PRELOAD" then      -- make asan: that has to be first
      preloaded = os.getenv "LD_PRELOAD" .. ":" .. preloaded
    end
    local result = run.code([[
      local listening = require "tracegrip".listen()
      print(listening ~= nil)
    ]], {env = {LD_PRELOAD = preloaded}})
    assert.equal("true\n", result.stdout, result.stderr)
    assert.equal(0, result.status)
  end)
end)
