-- nesting.lua - the rules that hold for the packets of every program.

local cjson = require "cjson"

local nesting = {}

local whys = {["return"] = true, exception = true, yield = true,
              terminated = true}

local function want (condition, packet, message)
  if not condition then
    error(("packet %d: %s"):format(packet.sequence, message), 0)
  end
end

local function enter (stack, packet)
  want(packet.depth == nil or packet.depth == #stack, packet, "depth")
  want(packet.hitCount == nil or packet.hitCount >= 1, packet, "hitCount")
  want(packet.arguments == nil or not packet.resumed, packet, "arguments")
  stack[#stack + 1] = packet
end

local function exit (stack, packet)
  local frame = table.remove(stack)
  want(frame, packet, "nothing is open")
  want(whys[packet.why], packet, "why")
  want(packet.why == "return" or packet["return"] == nil, packet, "return")
  want(packet.why == "exception" or packet.throw == nil, packet, "throw")
  want(packet.why == "yield" or packet.yield == nil, packet, "yield")
end

local function names (stack)
  local list = {}
  for i, packet in ipairs(stack) do
    list[i] = tostring(packet.name)
  end
  return table.concat(list, " ")
end

--- Checks packets (JSON Lines): the sequence has no holes, the time never goes
-- back, every exit closes the innermost frame, depths are those of the frames,
-- a tail call is followed by its callee. Returns how many frames are left open,
-- and their names; raises what is wrong.
function nesting.check (text)
  local stack, n, time, tail = {}, 0, 0, false
  for line in text:gmatch "[^\n]+" do
    local packet = cjson.decode(line)
    want(packet.sequence == n, packet, "sequence instead of " .. n)
    n = n + 1
    want((packet.time or time) >= time, packet, "time goes back")
    time = packet.time or time
    want(not tail or packet.type == "enteredFrame", packet, "no callee")
    tail = packet.tailCall
    if packet.type == "enteredFrame" then
      enter(stack, packet)
    else
      exit(stack, packet)
    end
  end
  return #stack, names(stack)
end

return nesting
