-- signals.lua - the signals that tell a command to end.
--
--   signals.on(name, act)   a handle of luv's, by which act() is called when
--                           that signal comes ("sighup"); nil: it is ignored
--   signals.ends(act)       list of the handles of those by which users and
--                           terminals end a command; act(name)
--
-- What was ignored when we were started, as nohup has it with SIGHUP, stays so.
-- For SIGINT that is not to be had: a shell ignores it for what it runs in the
-- background, but lua.c has a handler of its own by now, and main.lua has taken
-- that away. So it ends a command there too, as it ends any Lua script: who has
-- started "tracegrip record --pid" in a script ends it by kill -INT.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
core.own()

local signals = {}

function signals.on (name, act)
  local uv <const> = main.luv()
  if core.ignores(uv.constants[string.upper(name)]) then
    return nil
  end
  local handle = uv.new_signal()
  handle:start(name, act)
  return handle
end

function signals.ends (act)
  local handles = {}
  for _, name in ipairs {"sigint", "sigterm", "sighup"} do
    handles[#handles + 1] = signals.on(name, function () act(name) end)
  end
  return handles
end

return signals
