-- transcript.lua - what a client and an actor said to each other, for specs.
--
-- The program runs in a child with spec/support/client.lua at hand as "client"
-- and these locals: client, actor, ask, mark, console.

local run = require "spec.support.run"

local transcript = {}

local prelude = [[
local client = require "client"
local actor, ask, mark = client.actor, client.ask, client.mark
local console = require "tracegrip.console"
]]
-- One line, so that the program's own lines keep their numbers plus one.
prelude = prelude:gsub("\n", " ") .. "\n"

local function complain (result)
  local text = ("status %d\n%s%s"):format(result.status, result.stdout,
                                          result.stderr)
  error(text, 4)
end

local function execute (code)
  local path = run.root .. "/spec/support/client.lua"
  local result = run.code(prelude .. code,
                          {files = {["client.lua"] = run.read(path)}})
  if result.status ~= 0 or result.stderr ~= "" then
    complain(result)
  end
  return run.decode(result.stdout)
end

--- Runs a program; gives all packets, the client's requests and marks too.
function transcript.all (code)
  return execute(code)
end

--- Runs a program; gives what the actor said.
function transcript.said (code)
  local list = {}
  for _, packet in ipairs(execute(code)) do
    if packet.from then
      list[#list + 1] = packet
    end
  end
  return list
end

local function frame (packet)
  return packet.type == "enteredFrame" and "> " .. (packet.name or "?")
         or "< " .. packet.why
end

local function text (packet)
  if packet.error then
    return packet.error
  elseif packet.type == "traces" then
    local list = {}
    for i, event in ipairs(packet.traces) do
      list[i] = frame(event)
    end
    return "[" .. table.concat(list, ", ") .. "]"
  elseif packet.type:find "Frame$" then
    return frame(packet)
  end
  local words = {packet.type}
  words[#words + 1] = packet.why
  words[#words + 1] = packet.name
  return table.concat(words, " ")
end

--- Packets as lines: "attach?" is a request, "-- here" a mark; replies and
-- notifications are their type, why and name; "> f" and "< return" are frames.
function transcript.lines (packets)
  local lines = {}
  for i, packet in ipairs(packets) do
    lines[i] = packet.asked and packet.asked .. "?"
               or packet.mark and "-- " .. packet.mark or text(packet)
  end
  return lines
end

--- Runs a program; gives everything as lines.
function transcript.talk (code)
  return transcript.lines(execute(code))
end

--- The packets of one type.
function transcript.select (packets, kind)
  local list = {}
  for _, packet in ipairs(packets) do
    if packet.type == kind then
      list[#list + 1] = packet
    end
  end
  return list
end

--- The frame packets.
function transcript.frames (packets)
  local list = {}
  for _, packet in ipairs(packets) do
    if packet.sequence then
      list[#list + 1] = packet
    end
  end
  return list
end

return transcript
