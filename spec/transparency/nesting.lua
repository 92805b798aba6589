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

-- Functions that return whether what they called came to its end.
local protected = {pcall = true, ["coroutine.resume"] = true}

-- A frame that returns: did the frames that it called exit as it says?
local function agrees (frame, packet)
  local results = packet["return"]
  if not protected[frame.name] or not results then
    return
  elseif results.value == true then
    want(not frame.failed, packet, frame.name .. " hides an error")
  else
    want(frame.failed or not frame.called, packet,
         frame.name .. " invents an error")
  end
end

local function enter (stack, packet)
  local caller = stack[#stack]
  if caller then
    caller.called = true
  end
  want(packet.depth == nil or packet.depth == #stack, packet, "depth")
  want(packet.hitCount == nil or packet.hitCount >= 1, packet, "hitCount")
  want(packet.arguments == nil or not packet.resumed, packet, "arguments")
  stack[#stack + 1] = packet
end

local function exit (stack, packet)
  local frame = table.remove(stack)
  want(frame, packet, "nothing is open")
  want(whys[packet.why], packet, "why")
  local caller = stack[#stack]
  if caller and packet.why == "exception" then
    caller.failed = true
  end
  agrees(frame, packet)
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
-- a tail call is followed by its callee, frames are terminated at the end only,
-- and what pcall and resume return agrees with how their frames exit. Returns
-- how many frames are left open,
-- and their names; raises what is wrong.
function nesting.check (text)
  local stack, n, time, tail, over = {}, 0, 0, false, false
  for line in text:gmatch "[^\n]+" do
    local packet = cjson.decode(line)
    want(packet.sequence == n, packet, "sequence instead of " .. n)
    n = n + 1
    want((packet.time or time) >= time, packet, "time goes back")
    time = packet.time or time
    want(not tail or packet.type == "enteredFrame", packet, "no callee")
    tail = packet.tailCall
    want(not over or packet.why == "terminated", packet, "after the end")
    over = packet.why == "terminated"
    if packet.type == "enteredFrame" then
      enter(stack, packet)
    else
      exit(stack, packet)
    end
  end
  return #stack, names(stack)
end

return nesting
