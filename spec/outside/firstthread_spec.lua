-- A process whose first thread has ended (pthread_exit in main), while another
-- one runs Lua: the kernel shows its memory by that one alone.

local dkjson = require "dkjson"
local lookedat = require "spec.support.lookedat"
local run = require "spec.support.run"
local spied = require "spec.support.spied"
local waiting = require "spec.support.waiting"

local code = spied.cpath .. [[
require "states".new():last [=[
  local co = coroutine.wrap(function () coroutine.yield() end)
  co()
  local function served () io.read() end
  served()]=] ]]

-- Whether its first thread has ended, and the other one waits in read(2).
local function is_waiting (pid)
  local folder = ("/proc/%d/task"):format(pid)
  local status = run.read(("%s/%d/status"):format(folder, pid)) or ""
  local others = io.popen("cat " .. folder .. "/*/syscall 2>/dev/null")
  local calls <const> = others:read "a"
  others:close()
  return status:find "State:%s*Z" and ("\n" .. calls):find "\n0 "
end

local function with (use)
  lookedat.with(run.lua, code, function (process)
    assert(waiting.till(function () return is_waiting(process.pid) end,
                        run.patience))
    use(process)
  end)
end

local function tracegrip (...)
  local result = run.command({run.build .. "/bin/tracegrip", ...},
                             {env = {LUA = run.host}})
  assert.equal(0, result.status, result.stderr)
  return result.stdout
end

describe("a process whose first thread has ended", function ()
  it("is shown by dump", function ()
    with(function (process)
      local _, document = lookedat.dump(process.pid)
      local state = document.states[2]
      local names = {}
      for i, frame in ipairs(state.coroutines[1].frames) do
        names[i] = frame.name
      end
      assert.same({"io.read", "served", "(main chunk)"}, names)
      assert.equal("suspended", state.coroutines[2].status)
      assert.is_true(state.coroutines[1].waits)
      assert.truthy(document.exe:find("lua", 1, true))
    end)
  end)

  it("is listed by ps, with its command line", function ()
    with(function (process)
      for _, row in ipairs(dkjson.decode(tracegrip("ps", "--json"))) do
        if row.pid == process.pid then
          assert.equal(2, row.states)
          assert.is_true(row.readable)
          assert.truthy(row.command:find("program.lua", 1, true))
          return
        end
      end
      error "it is not listed"
    end)
  end)

  it("is sampled, and its heap is taken", function ()
    with(function (process)
      local pid, file = tostring(process.pid), process.directory .. "/x"
      tracegrip("record", "--pid", pid, "--wall", "--duration", "300ms", "-o",
                file .. ".tgr")
      assert.truthy(tracegrip("report", file .. ".tgr"):find("served", 1, true))
      tracegrip("heap", pid, "-o", file .. ".heapsnapshot")
    end)
  end)
end)
