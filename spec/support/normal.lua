--- normal.lua - packets made comparable: what differs from run to run is
-- checked in one place, and taken out for the comparison.

local normal = {}

local function clean (value)
  if type(value) == "string" then
    return (value:gsub("0x%x%x%x+", "0x0"))
  end
  if type(value) ~= "table" then
    return value
  end
  local copy = {}
  for key, item in pairs(value) do
    copy[clean(key)] = clean(item)
  end
  return copy
end

--- A deep copy without times and `sequence`, addresses ("table: 0x5581...")
-- written "0x0". `keep` = {time = true, sequence = true} keeps these.
function normal.packets (packets, keep)
  keep = keep or {}
  local list = {}
  for i, packet in ipairs(packets) do
    list[i] = clean(packet)
    if not keep.time then
      list[i].time = nil
    end
    if not keep.sequence then
      list[i].sequence = nil
    end
  end
  return list
end

local whys = {["return"] = true, exception = true, yield = true,
              terminated = true}

local function checkone (packet, open, last)
  if packet.type == "enteredFrame" then
    open = open + 1
  elseif packet.type == "exitedFrame" then
    open = open - 1
    if not whys[packet.why] then
      return nil, "unknown why " .. tostring(packet.why)
    end
  else
    return nil, "unknown type " .. tostring(packet.type)
  end
  if open < 0 then
    return nil, "an exit with no frame open"
  end
  if packet.time and packet.time < last then
    return nil, "time runs backwards"
  end
  return open, packet.time or last
end

--- Whether a trace's packets obey the rules that hold for all: sequence from 0
-- without holes, every exit has its entry, known whys, time never backwards.
-- Returns true and the number of frames left open, or nil and what is wrong.
function normal.check (packets)
  local open, last = 0, 0
  for i, packet in ipairs(packets) do
    if packet.sequence ~= i - 1 then
      return nil, string.format("packet %d has sequence %s", i,
                                tostring(packet.sequence))
    end
    local now, more = checkone(packet, open, last)
    if not now then
      return nil, string.format("packet %d: %s", i, more)
    end
    open, last = now, more
  end
  return true, open
end

local function grip (value, pool)
  if type(value) == "string" then
    return string.format("%q", value)
  elseif type(value) ~= "table" then
    return tostring(value)
  elseif value.type == "object" then
    local object = pool and pool[value.objectId + 1]
    return string.format("%s#%d", object and object.class or "?",
                         value.objectId)
  elseif value.type == "undefined" then
    return "nil"
  end
  return value.type
end

local function grips (values, pool)
  local list = {}
  for i, value in ipairs(values) do
    list[i] = grip(value, pool)
  end
  return table.concat(list, ", ")
end

local function entry (packet)
  local text = packet.name or "?"
  if packet.arguments then
    text = text .. "(" .. grips(packet.arguments.values,
                                packet.arguments.objectPool) .. ")"
  end
  return text .. (packet.resumed and " resumed" or "")
end

local function exit (packet, name)
  local text = (name or "?") .. " " .. packet.why
  local what = packet["return"] or packet.throw or packet.yield
  if packet.tailCall then
    text = text .. " tail"
  elseif what then
    text = text .. " " .. grips(what.values or {what.value}, what.objectPool)
  end
  return text
end

--- Packets as a list of short lines, indented by nesting:
--     "> f(1, table#0)", "< f return 3", "< g exception \"oops\"",
--     "< h return tail", "> co() resumed"
function normal.outline (packets)
  local lines, stack = {}, {}
  for i, packet in ipairs(packets) do
    if packet.type == "enteredFrame" then
      lines[i] = string.rep("  ", #stack) .. "> " .. entry(packet)
      stack[#stack + 1] = packet.name or "?"
    else
      local name = table.remove(stack)
      lines[i] = string.rep("  ", #stack) .. "< " .. exit(packet, name)
    end
  end
  return lines
end

return normal
