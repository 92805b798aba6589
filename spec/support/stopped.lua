-- stopped.lua - stopped.at(pid): stops a process, and returns when it stands.
--
-- A signal that stops is on its way for a while: until a thread of the process
-- has taken it, which needs a processor, all others go on.

local uv = require "luv"

local run = require "spec.support.run"

local stopped = {}

-- The letter behind the name, which may have parentheses itself.
local function state (pid, task)
  local stat = run.read(("/proc/%d/task/%s/stat"):format(pid, task)) or ""
  return stat:match "^.*%) (%a)"
end

local function stands (pid)
  local scan = uv.fs_scandir(("/proc/%d/task"):format(pid))
  local task = scan and uv.fs_scandir_next(scan)
  while task do
    if state(pid, task) ~= "T" then
      return false
    end
    task = uv.fs_scandir_next(scan)
  end
  return true
end

function stopped.at (pid)
  assert(uv.kill(pid, "sigstop"))
  for _ = 1, run.patience do
    if stands(pid) then
      return
    end
    uv.sleep(1)
  end
  error("process " .. pid .. " does not stop", 2)
end

return stopped
