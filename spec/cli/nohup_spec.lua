-- A signal that was ignored when a command was started, as nohup has it with
-- SIGHUP, is ignored by it: otherwise the command ends by it.

local run = require "spec.support.run"
local served = require "spec.support.served"

local it = run.needs("luv", it, pending)

local HUP = 1

-- Whether SIGHUP is in a mask of the process ("SigIgn", "SigCgt").
local function has_hangup (pid, mask)
  local status = run.read(("/proc/%d/status"):format(pid))
  local bits = tonumber(status:match(mask .. ":%s*(%x+)"), 16)
  return bits >> (HUP - 1) & 1 == 1
end

-- Each with what it says when it is there, and on which stream.
local commands = {
  {"err", "listening on", "dap", "--port=0"},
  {"err", "to debug, open", "inspect", "--port=0", "rec"},
  {"out", "http://", "view", "--no-open", "--with=html", "rec"},
  {"err", "Ctrl%-C ends", "record", "--pid=PROCESS", "-o", "samples.tgr"},
  {"err", "Ctrl%-C ends", "attach", "PORT"},
}

local function words_of (command, target)
  local words = {}
  for i = 3, #command do
    words[#words + 1] = command[i]:gsub("PROCESS", target.pid)
                                  :gsub("PORT", target.port)
  end
  return words
end

-- Calls use(directory, target) beside a program that waits and is served.
local function beside (use)
  run.within(function (directory)
    run.write(directory .. "/app.lua", "math.abs(1)")
    run.write(directory .. "/loop.lua", "while true do math.abs(1) end")
    assert.equal(0, run.command({run.build .. "/bin/tracegrip", "record", "-o",
                                 "rec", "app.lua"}, {cwd = directory}).status)
    local program = served.start({"serve", "--port=0", "loop.lua"}, directory)
    program:until_ready(function () return program.err:find ":%d+\n" end)
    local ok, message = pcall(use, directory, {
      pid = tostring(program.pid), port = program.err:match ":(%d+)\n"
    })
    program:kill "sigkill"
    program:ended()
    assert(ok, message)
  end)
end

local function each (unhung, check)
  beside(function (directory, target)
    for _, command in ipairs(commands) do
      local process = served.start(words_of(command, target), directory, nil,
                                   unhung)
      process:until_ready(function ()
        return process[command[1]]:find(command[2])
      end)
      assert.is_nil(process.status, process.err)
      check(process, command[3])
      process:ended()
    end
  end)
end

describe("a command that is told to end by SIGHUP", function ()
  it("goes on, if that is ignored when it is started", function ()
    each(true, function (process, name)
      assert.is_true(has_hangup(process.pid, "SigIgn"), name)
      process:kill "sighup"
      process:kill "sigterm"
    end)
  end)

  it("ends, if it is not", function ()
    each(false, function (process, name)
      assert.is_true(has_hangup(process.pid, "SigCgt"), name)
      process:kill "sighup"
    end)
  end)
end)
