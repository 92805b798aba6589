-- A log that tracegrip.auto could not open ended the program with a traceback
-- through lua.c and require. It is the user's mistake, not a bug: one line.

local run = require "spec.support.run"

describe("tracegrip.auto", function ()
  it("says in one line that the log cannot be written", function ()
    local result = run.code("print 'ran'", {
      flags = {"-ltracegrip.auto"}, env = {TRACEGRIP_LOG = "/nonexistent/x"}})
    assert.equal(1, result.status)
    assert.equal("", result.stdout)
    assert.matches("^tracegrip: [^\n]*/nonexistent/x[^\n]*\n$", result.stderr)
  end)
end)
