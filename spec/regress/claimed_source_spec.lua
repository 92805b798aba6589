-- A chunk says itself which file it is of: record --sources kept the text of
-- whatever file that was.

local run = require "spec.support.run"

local program = [[
  load("local function f () end f()", "@data.txt")()
  load("local function f () end f()", "@other.lua")()
  dofile "unit.lua"
]]

describe("record --sources", function ()
  it("keeps the text of Lua's files only", function ()
    run.within(function (directory)
      for name, text in pairs {
        ["program.lua"] = program, ["data.txt"] = "root:x:geheim\n",
        ["other.lua"] = "local kept = 1\n",
        ["unit.lua"] = "#!/usr/bin/lua\nlocal unit = 2\n"
      } do
        run.write(directory .. "/" .. name, text)
      end
      local result = run.command(
        {run.build .. "/bin/tracegrip", "record", "--sources", "-o", "p.tgr",
         "program.lua"}, {cwd = directory})
      assert.equal(0, result.status, result.stderr)
      local recording = run.read(directory .. "/p.tgr")
      assert.is_nil(recording:find("geheim", 1, true))
      assert.is_truthy(recording:find("local kept = 1", 1, true))
      assert.is_truthy(recording:find("local unit = 2", 1, true))
      assert.is_truthy(recording:find('dofile "unit.lua"', 1, true))
    end)
  end)
end)
