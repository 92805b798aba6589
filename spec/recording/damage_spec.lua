-- Bytes of a recording that are not what they should be end what is read, and
-- that is all that they do. spec/fuzz tries many more of them.

local core = require "tracegrip.core"

local run = require "spec.support.run"

local count = tonumber(os.getenv "TRACEGRIP_FUZZ") or 200
local seed = tonumber(os.getenv "TRACEGRIP_SEED") or 1

-- A recording of three blocks of events, and where they are.
local program = [[
  local function f (n) return {n, tostring(n)} end
  for i = 1, 9000 do f(i) end
]]

local function with_recording (use)
  run.within(function (directory)
    run.write(directory .. "/program.lua", program)
    local result = run.command({"sh", "-c", "$T record -o rec program.lua"}, {
      cwd = directory,
      env = {T = run.build .. "/bin/tracegrip", LUA = run.lua}
    })
    assert.equal(0, result.status, result.stderr)
    use(directory .. "/rec", run.read(directory .. "/rec"), directory)
  end)
end

-- Into the middle of the second block of events something that is none.
local function damaged (bytes)
  local at = bytes:find("TBLK\1\0\0\0", 1, true)
  at = bytes:find("TBLK\1\0\0\0", at + 1, true) + 100000
  return bytes:sub(1, at - 1) .. ("\xff"):rep(64) .. bytes:sub(at + 64), at
end

local function count_packets (trace)
  local n = 0
  for _ in trace:packets() do
    n = n + 1
  end
  return n
end

describe("damage to a recording", function ()
  it("gives an error in words, or what there is", function ()
    run.within(function (directory)
      local result = run.file(run.root .. "/spec/recording/damage.lua", {
        args = {directory, count, seed}, timeout = 600
      })
      assert.equal("", result.stderr)
      assert.equal(0, result.status)
      for line in result.stdout:gmatch "[^\n]+" do
        assert.equal("#", line:sub(1, 1), line)
      end
    end)
  end)

  it("inside its events ends them there, and the trace knows where",
     function ()
    with_recording(function (path, bytes)
      local all = count_packets(assert(core.open(path)))
      local worse, at = damaged(bytes)
      run.write(path, worse)
      local recording = assert(core.open(path))
      assert.equal("complete", recording:info(true).state)
      local trace = recording:trace()
      assert.is_nil(trace.damage)
      local n = count_packets(trace)
      assert.is_true(n > all // 9 and n < all, n .. " of " .. all)
      assert.is_true(trace.damage > at - 100 and trace.damage < at + 64)
      local info = recording:info()
      assert.equal("damaged", info.state)
      assert.equal("no event at byte " .. trace.damage, info.reason)
      assert.equal(n, info.events)
      local report = trace:report {raw = true}
      assert.equal(n, report.events)
      assert.equal(report.duration_ms, info.duration_ms)
      assert.is_truthy(trace:export("packets", "/dev/null"))
      assert.is_true(trace:log {path = "/dev/null"})
    end)
  end)

  it("is told once by the commands, which show what there is", function ()
    with_recording(function (path, bytes, directory)
      local worse = damaged(bytes)
      run.write(path, worse)
      for _, command in ipairs {"report", "tree", "log", "report --json",
                                "export packets -o -"} do
        local result = run.command(
          {"sh", "-c", "$T " .. command .. " rec"},
          {cwd = directory,
           env = {T = run.build .. "/bin/tracegrip", LUA = run.lua}})
        assert.equal(0, result.status, command)
        assert.is_true(#result.stdout > 100, command)
        local _, told = result.stderr:gsub(
          "tracegrip: rec is damaged %(no event at byte %d+%); "
          .. "shown as far as it goes\n", "")
        assert.equal(1, told, command .. ": " .. result.stderr)
      end
    end)
  end)
end)
