-- markers.lua - what a recorded program has said (console.log and the like), as
-- text.
--
--   markers.text(marker)    a marker, as replay:markers has it, in one line

local core = require "tracegrip.core"
local units = require "tracegrip.cli.units"
local values = require "tracegrip.replay.values"
core.own()

local markers = {}

function markers.text (marker)
  local list, parts = marker.arguments or {values = {}}, {}
  for i, grip in ipairs(list.values) do
    parts[i] = values.said(grip, list.objectPool)
  end
  local text = table.concat(parts, " ")
  if marker.duration then
    text = ("%s: %s"):format(text, units.span(marker.duration))
  elseif marker.count then
    text = ("%s: %d"):format(text, marker.count)
  end
  return text
end

return markers
