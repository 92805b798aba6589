-- What a client keeps in a file began without a word about a disk that was full
-- from the start: "Cannot allocate memory", and a file without a beginning.

local run = require "spec.support.run"

describe("a file for a client's packets that has no room", function ()
  it("says so, and is not left", function ()
    local result = run.code([[
      package.cpath = package.cpath .. ";]] .. run.build .. [[/spec/?.so"
      require("process").limit(4096)
      local core = require "tracegrip.core"
      print(core.replay({}, nil, {path = "x.tgr", name = "load"}))
      print((io.open "x.tgr"))
    ]])
    assert.matches("^nil\t[^\t]*x%.tgr: File too large\t%d+\nnil\n$",
                   result.stdout)
    assert.same({"", 0}, {result.stderr, result.status})
  end)
end)
