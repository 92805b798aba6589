-- Numbers that no trace takes ended the commands that read with a traceback.

local run = require "spec.support.run"

describe("a command that reads", function ()
  it("refuses numbers that cannot be in one line", function ()
    local script = [[
      $1 record -o rec program.lua
      for o in "--max-depth 0" "--max-depth 99999999999" "--thread 4294967295" \
               "--to 99999999999999999999"; do
        $1 log $o rec >/dev/null || echo $?
      done]]
    local words = {"sh", "-c", script, "sh", run.build .. "/bin/tracegrip"}
    local result = run.command(words, {files = {["program.lua"] = ""}})
    assert.equal(("2\n"):rep(4), result.stdout)
    assert.equal([[
tracegrip: --max-depth wants a number from 1 on (see tracegrip log --help)
tracegrip: --max-depth wants a number from 1 on (see tracegrip log --help)
tracegrip: --thread wants a number from 1 on (see tracegrip log --help)
]] .. "tracegrip: --to wants a time: 500ms, 2s, or +2s from the first call "
   .. "(see tracegrip log --help)\n", result.stderr)
  end)
end)
