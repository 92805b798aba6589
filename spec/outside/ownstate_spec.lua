-- A program that listens has a state of tracegrip's beside its own, which may
-- be the larger one: who looks from outside sees the program's alone.

local heaps = require "spec.support.heaps"
local lookedat = require "spec.support.lookedat"
local run = require "spec.support.run"
local serving = require "spec.server.serving"
local spied = require "spec.support.spied"

local listens = [[
  kept = setmetatable({}, {__name = "Kept"})
  assert(require "tracegrip".listen())
  local function waiting () print "waits" io.stdout:flush() io.read() end
  waiting()]]

describe("a state of tracegrip's own", function ()
  it("is left alone by heap, dump, ps and record", function ()
    run.within(function (directory)
      local process = serving.start(listens)
      finally(function () process:close() end)
      process:says "waits"
      local path = directory .. "/x.heapsnapshot"
      local result = heaps.take(process.pid, path)
      assert.equal(1, result.states)
      assert.equal(result.state_bytes, result.bytes)
      assert.equal(1, #heaps.read(path):where(function (node)
        return node.type == "object" and node.name == "Kept"
      end))

      local _, document = lookedat.dump(process.pid, {"--all"})
      assert.equal(1, #document.states)
      assert.equal("waiting", document.states[1].coroutines[1].frames[2].name)

      local ps = run.command({run.build .. "/bin/tracegrip", "ps"},
                             {env = {LUA = run.host}})
      assert.matches("\n *" .. process.pid .. " +%S+ +%S+ +1 ", ps.stdout)

      local recording = directory .. "/x.tgr"
      local command = spied.ended(spied.start {
        "record", "--pid", tostring(process.pid), "-o", recording, "--wall",
        "--duration", "200ms"})
      assert.equal(0, command.status, command.stderr)
      local report = run.command({run.build .. "/bin/tracegrip", "report",
                                  recording}, {env = {LUA = run.host}})
      assert.matches("waiting", report.stdout)
      assert.is_nil(report.stdout:find("tracegrip", 1, true), report.stdout)
    end)
  end)
end)
