-- consoled.lua - what the program says by its console, and what its logpoints
-- and errors say, as output with a place.
--
--   consoled.said(live, params)      Runtime.consoleAPICalled
--   consoled.thrown(live, params)    Runtime.exceptionThrown
--
-- A client that does not read does not get all of it: how much is left out is
-- told when it reads again.

local core = require "tracegrip.core"
local logmessage = require "tracegrip.dap.logmessage"
local remote = require "tracegrip.dap.remote"
core.own()

local MOST = 8 << 20            -- bytes that a client has not read

local consoled = {}

local categories = {error = "stderr", warning = "stderr", assert = "stderr"}
local groups = {startGroup = "start", startGroupCollapsed = "startCollapsed",
                endGroup = "end"}

local function texts_of (args)
  local list, parts = {}, logmessage.parts(args)
  for i, object in ipairs(parts or args) do
    list[i] = remote.brief(object)
  end
  return table.concat(list, parts and "" or "\t") .. "\n"
end

local function tell (live, text, params, stack)
  if live.port.unread() > MOST then
    live.unsaid = (live.unsaid or 0) + 1
    return
  elseif live.unsaid then
    live.port.send_event("output", {category = "important", output =
      string.format("tracegrip: %d messages of the console were left out: the "
                    .. "editor did not read them in time\n", live.unsaid)})
    live.unsaid = nil
  end
  local frame, source, line = stack and stack.callFrames[1], nil, nil
  if frame then
    source, line = live.places:position(frame.scriptId, frame.lineNumber)
  end
  live.port.send_event("output", {
    category = categories[params.type] or "console", output = text,
    group = groups[params.type],
    source = source, line = source and live.places:line(line)
  })
end

function consoled.said (live, params)
  tell(live, texts_of(params.args), params, params.stackTrace)
end

function consoled.thrown (live, params)
  local details = params.exceptionDetails
  tell(live, remote.error(details) .. "\n", {type = "error"},
       details.stackTrace)
end

return consoled
