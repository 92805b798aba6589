-- A program whose first thread has ended (pthread_exit in main), while another
-- one runs Lua: the kernel shows its files and memory by that one alone.

local editor = require "spec.support.editor"
local lookedat = require "spec.support.lookedat"
local run = require "spec.support.run"
local waiting = require "spec.support.waiting"

local it = editor.needed(it, pending)

local paths = ([[
package.path = %q .. package.path
package.cpath = %q .. package.cpath
]]):format(run.path .. ";", run.cpath .. ";" .. run.build .. "/spec/?.so;")

-- 'opens' is what opens it to debuggers, at once or later.
local function code (opens)
  return paths .. "require 'states'.new():last [==[" .. paths .. ([[
    local tracegrip, uv = require "tracegrip", require "luv"
    %s
    local timer = uv.new_timer()
    timer:start(100, 100, function () if over then os.exit(0) end end)
    local file = io.open("word.part", "w")
    file:write("begun")
    file:close()
    os.rename("word.part", "word")
    uv.run() ]]):format(opens) .. "]==]"
end

local function has_lost_its_first (pid)
  local status = run.read(("/proc/%d/task/%d/status"):format(pid, pid)) or ""
  return status:find "State:%s*Z"
end

local function check (opens)
  lookedat.with(run.lua, code(opens), function (process)
    process:word()
    assert(waiting.till(function () return has_lost_its_first(process.pid) end,
                        run.patience))
    editor.start():with(function (self)
      self:initialize()
      assert(self:ask("attach", {pid = process.pid}))
      assert(self:ask "configurationDone")
      assert(self:ask("evaluate", {expression = "over = true",
                                   context = "repl"}))
    end)
    assert(waiting.till(function () return process.status end, run.patience))
    assert.equal(0, process.status)
  end)
end

describe("a program whose first thread has ended", function ()
  it("is attached to by its process", function ()
    check "tracegrip.listen {inspect = 0}"
  end)

  it("is found to open itself on SIGUSR2", function ()
    check [[
      uv.new_signal():start("sigusr2", function ()
        tracegrip.listen {inspect = 0}
      end)]]
  end)
end)
