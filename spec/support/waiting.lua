--- waiting.lua - runs luv's loop until something is so.
--
-- It is looked at after every event, and now and then without one: what is
-- waited for may be a file, or a number below /proc.

local uv = require "luv"

local waiting = {}

local LOOK = 20         -- ms, without an event

--- What ready() gives, once that is true; false, after so many ms.
function waiting.till (ready, ms)
  local result, late = ready(), false
  if result then
    return result
  end
  local limit, look = uv.new_timer(), uv.new_timer()
  uv.update_time()      -- the loop's clock stands still while it does not run
  limit:start(math.ceil(ms), 0, function () late = true end)
  look:start(LOOK, LOOK, function () end)
  while not result and not late do
    uv.run "once"
    result = ready()
  end
  limit:close()
  look:close()
  return result or false
end

return waiting
