-- A recording that an older tracegrip has made shows what it did then. In
-- versions/ is one of version 4, whose values refer to others by how far back
-- these are, and the packets that were exported when it was made: twelve calls
-- with a table that has changed in one place, twelve with others of one kind.

local run = require "spec.support.run"

local here = run.root .. "/spec/recording/versions/"

local function output (...)
  local result = run.command({run.build .. "/bin/tracegrip", ...},
                             {env = {LUA = run.host}})
  assert.equal(0, result.status, result.stderr)
  return result.stdout
end

describe("a recording of version 4", function ()
  it("says so", function ()
    assert.matches("format 4\n", output("info", here .. "4.tgr"))
  end)

  it("has the packets that it had", function ()
    local packets = run.read(here .. "4.packets")
    assert.equal(packets, output("export", "packets", "-o", "-",
                                 here .. "4.tgr"))
  end)

  it("has them from tables and strings that refer to others", function ()
    assert.is_true(#run.read(here .. "4.packets")
                   > 3 * #run.read(here .. "4.tgr"))
  end)
end)
