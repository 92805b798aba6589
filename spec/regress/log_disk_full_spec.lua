-- A log that could not be written to its end was cut short and nobody was told.
-- It is the program that counts, so it runs on and keeps its status; one line
-- on standard error says how much of the log is missing.

local run = require "spec.support.run"

local tracegrip = run.build .. "/bin/tracegrip"

describe("a log on a full disk", function ()
  it("is told of in one line, and the program ends as it would", function ()
    local result = run.command(
      {tracegrip, "run", "-o", "/dev/full", "program.lua"}, {files = {
        ["program.lua"] = "math.abs(1) print 'done' os.exit(7, true)"}})
    assert.equal(7, result.status)
    assert.equal("done\n", result.stdout)
    local lost = result.stderr:match(
      "^tracegrip: log: No space left on device, (%d+) lines lost\n$")
    assert.is_true((tonumber(lost) or 0) > 0, result.stderr)
  end)
end)
