-- meter.lua - how far a command has come, on a terminal, when it takes time.

local core = require "tracegrip.core"
core.own()

local meter = {}

-- A function that shows which part of 'what' is done, 0 to 1, from the second
-- second on, and one that wipes that away. Without a terminal the first is nil.
function meter.new (what)
  if not core.isatty(2) then
    return nil, function () end
  end
  local begun, shown = os.time(), nil
  return function (part)
    local percent = math.floor(part * 100)
    if percent ~= shown and os.time() - begun > 1 then
      io.stderr:write(("\r%s %d%%"):format(what, percent))
      shown = percent
    end
  end, function ()
    io.stderr:write(shown and "\r\27[K" or "")
  end
end

-- What call(progress) returns or raises, with the meter shown meanwhile.
function meter.during (what, call)
  local show, wipe = meter.new(what)
  local results = table.pack(pcall(call, show))
  wipe()
  if not results[1] then
    error(results[2], 0)
  end
  return table.unpack(results, 2, results.n)
end

return meter
