-- A module of tracegrip's that is loaded while a trace runs was in it: its main
-- chunk was called before it could say whose it is.

local run = require "spec.support.run"

describe("modules of tracegrip's", function ()
  it("do not show in a trace that was there before them", function ()
    local result = run.command({
      run.build .. "/bin/tracegrip", "run", "--trace", "name,location",
      "--no-c", "program.lua"
    }, {files = {
      ["program.lua"] = [[
        require "tracegrip.actor"
        require "tracegrip.console"
        require "mine"
        require "tracegrip"
      ]],
      ["mine.lua"] = "return 1",
    }})
    assert.equal([[
(main chunk)  at program.lua
│ (main chunk)  at ./mine.lua
│ └
└ (main chunk)
── 2 calls
]], result.stderr)
  end)
end)
