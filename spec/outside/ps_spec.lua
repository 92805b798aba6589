-- tracegrip ps: processes of every Lua that is here, among all others.

local dkjson = require "dkjson"
local lookedat = require "spec.support.lookedat"
local run = require "spec.support.run"
local spied = require "spec.support.spied"
local uv = require "luv"

-- The rows by their process, and which process has listed them: that of the
-- shell, whose place it has taken.
local function list ()
  local result = run.command({"sh", "-c", 'echo $$ >&2; exec "$@"', "sh",
                              run.build .. "/bin/tracegrip", "ps", "--json"},
                             {env = {LUA = run.host}})
  assert.matches("^%d+\n$", result.stderr)
  assert.equal(0, result.status)
  local rows = {}
  for _, row in ipairs(dkjson.decode(result.stdout)) do
    rows[row.pid] = row
  end
  return rows, tonumber(result.stderr)
end

local code = [[
local co = coroutine.wrap(function () coroutine.yield(1) end)
co()
local function waiting () say 'x' io.read() end
waiting()]]

describe("ps", function ()
  for _, interpreter in ipairs(lookedat.interpreters()) do
    it("lists a process of Lua " .. interpreter.release, function ()
      lookedat.with(interpreter.path, code, function (process)
        process:waiting()
        local row = list()[process.pid]
        assert.truthy(row.lua:find(interpreter.release, 1, true))
        assert.equal(1, row.states)
        assert.equal(2, row.coroutines)
        assert.equal("io.read", row.running.name)
        assert.is_true(row.readable)
        assert.truthy(row.command:find("program.lua", 1, true))
        assert.equal("number", type(row.cpu_ms))
        assert.equal("string", type(row.user))
      end)
    end)
  end

  it("tells of states that are left out", function ()
    lookedat.with(run.lua, spied.crowd, function (process)
      process:waiting()
      local row = list()[process.pid]
      assert.equal(64, row.states)
      assert.equal(3, row.omitted)
      local result = run.command({run.build .. "/bin/tracegrip", "ps"})
      assert.truthy(result.stderr:find(
        ("3 states more of process %d left out"):format(process.pid), 1, true))
    end)
  end)

  it("leaves out processes without Lua, and itself", function ()
    local handle, pid = uv.spawn("sleep", {args = {"60"}}, function () end)
    local rows, own = list()
    handle:kill "sigkill"
    handle:close()
    uv.run "nowait"
    assert.is_nil(rows[pid])
    assert.is_nil(rows[own])
  end)

  it("prints a table for a person", function ()
    lookedat.with(run.lua, code, function (process)
      process:waiting()
      local result = run.command({run.build .. "/bin/tracegrip", "ps"})
      assert.equal(0, result.status)
      assert.truthy(result.stdout:find("pid +user +lua +states"))
      assert.truthy(result.stdout:find(("\n *%d .*io%%.read"):format(
        process.pid)))
    end)
  end)
end)
