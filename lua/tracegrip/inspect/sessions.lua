-- sessions.lua - the debuggers that are connected, each with what it has
-- switched on. A session:
--   client                number of its connection
--   debugger, runtime     whether it has enabled the domain
--   breakpoints           id -> breakpoint (breakpoints.lua)
--   active, skips         whether its breakpoints are; whether it wants none
--                         of the pauses
--   exceptions            which errors it wants to hear of (exceptions.lua)
--   async_depth           how many resumers it wants to see
--   ignored               functions: whether steps pass over an address
--   skipped               script id -> ends of ranges of lines that steps pass
--                         over: the first line of one, the first behind it ...
--   instrumented          whether scripts with a source map stop at first
--   waits                 for that it is yet to say that they may go on
--   interval, profile     us between samples; the trace of them while one runs
--   sampling              its "Allocation sampling" (sampling.lua), or nil
--   timeline              its "Allocations on timeline" (timeline.lua), or nil
--   coverage              what it wants of coverage: {counts, detailed}; nil
--   behind, missed        whether it reads too slowly; messages of the console
--                         that it is yet to be told it has missed
--   heap, suspended       whether its Memory panel has been opened; whether it
--                         has switched debugging off for a snapshot (heap.lua)
--   send(method, params)  an event
--   note(kind, text)      a line for its console: "info", "error"
--
--   sessions.of(client)   made at its first message
--   sessions.remove(client)
--   sessions.all()              the table of them, by client
--   sessions.each(domain, f)    f(session) of all that have it enabled
--   sessions.any(domain)
--   sessions.clients()          their numbers

local core = require "tracegrip.core"
local wire = require "tracegrip.wire"
core.own()

local sessions = {}

local all = {}

local Session = {__name = "tracegrip.session"}
Session.__index = Session

function Session:send (method, params)
  core.inspector.send(self.client, wire.json {method = method,
                                              params = params})
end

function Session:note (kind, text)
  if self.runtime then
    self:send("Runtime.consoleAPICalled", {
      type = kind, executionContextId = 1, timestamp = core.inspector.now(),
      args = wire.array {{type = "string", value = text}}
    })
  end
end

function sessions.of (client)
  all[client] = all[client] or setmetatable({
    client = client, debugger = false, runtime = false, breakpoints = {},
    active = true, skips = false, exceptions = "none", async_depth = 0,
    ignored = {}, skipped = {}, instrumented = false, waits = false,
    behind = false, missed = 0, interval = 1000, profile = nil,
    sampling = nil, timeline = nil, coverage = nil, heap = false,
    suspended = false
  }, Session)
  return all[client]
end

function sessions.remove (client)
  all[client] = nil
end

function sessions.all ()
  return all
end

function sessions.each (domain, f)
  for _, session in next, all do
    if session[domain] then
      f(session)
    end
  end
end

-- Of all, whatever they have enabled.
function sessions.clients ()
  local list = {}
  for client in next, all do
    list[#list + 1] = client
  end
  return list
end

function sessions.any (domain)
  for _, session in next, all do
    if session[domain] then
      return true
    end
  end
  return false
end

return sessions
