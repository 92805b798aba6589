-- topgazer.lua - what tracegrip top --pid shows: a process that is looked at
-- from outside, in the place of a connection, its trace and what takes it.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local spying = require "tracegrip.cli.spying"
core.own()

local topgazer = {}

local Gazer = {}
Gazer.__index = Gazer

function topgazer.new (uv, parsed)
  return setmetatable({
    uv = uv, pid = parsed.pid, spy = spying.open(parsed, nil, true)
  }, Gazer)
end

---------------------------------------------------------------------------
-- As what takes a trace
---------------------------------------------------------------------------

function Gazer:profile (lines)
  return self.spy:profile(lines)
end

function Gazer:lost ()
  return 0
end

function Gazer:threads ()
  local file = io.open(("/proc/%d/status"):format(self.pid), "rb")
  local text = file and file:read "a" or ""
  if file then
    file:close()
  end
  return math.tointeger(tonumber(text:match "\nThreads:%s*(%d+)" or 0))
end

function Gazer:process ()
  return {
    time_ms = self.uv.hrtime() / 1e6, processor_ms = core.cputime(self.pid),
    threads = self:threads(), notes = spying.losses(self.spy:counts().dropped)
  }
end

---------------------------------------------------------------------------
-- As a connection and its trace
---------------------------------------------------------------------------

function Gazer:detach ()
  self.left = true
end

function Gazer:close ()
  self.left = true
end

-- Until top is left, or the process ends: then how, in words.
function Gazer:follow ()
  return spying.follow(self.spy, self.pid, function () return self.left end)
end

function Gazer:__close ()
  local ok, message = self.spy:finish()
  if not ok then
    main.note("%s", message)
  end
end

return topgazer
