-- sending.lua - what the commands share that send calls as spans: their
-- options, and a taker of blocks whose spans go to a collector.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local otlp = require "tracegrip.send.otlp"
core.own()

local sending = {}

local FLUSH_MS = 1000           -- a span waits no longer for others
local FINISH_MS = 5000          -- for a collector, when all is over

sending.options = {
  {name = "otlp", metavar = "URL", group = "Spans",
   help = "Send calls as spans of OpenTelemetry to the collector there "
          .. "(OTLP/HTTP), with times as recorded; env: where "
          .. "OTEL_EXPORTER_OTLP_ENDPOINT says."},
  {name = "otlpFormat", metavar = "FORMAT", choices = {"protobuf", "json"},
   group = "Spans", default = "protobuf", help = "How spans are written."},
  {name = "request", kind = "pattern", metavar = "PATTERN", list = true,
   group = "Spans",
   help = "Each outermost call of a function whose name or source a Lua "
          .. "pattern finds is a trace of its own, of kind SERVER."},
  {name = "otlpArguments", flag = "--otlp-arguments", value = true,
   group = "Spans",
   help = "Send what calls were given and gave, too; without it they stay "
          .. "here."},
  {name = "traceparent", kind = "traceparent", metavar = "PARENT",
   group = "Spans", default = "TRACEPARENT from the environment",
   help = "The span around the program, 00-TRACE-SPAN-FLAGS "
          .. "(W3C Trace Context)."},
}

local flags = {otlpFormat = "--otlp-format", request = "--request",
               otlpArguments = "--otlp-arguments"}

-- Of an option that may be given more than once.
local function none (given)
  return type(given) == "table" and #given == 0
end

-- The plan (otlp.lua) that the command line asks for; nil: it does not.
function sending.plan (parsed)
  if not parsed.otlp then
    for _, flag in ipairs {"otlpFormat", "otlpArguments", "request"} do
      if parsed[flag] and not none(parsed[flag]) then
        main.misuse("%s is of --otlp", flags[flag])
      end
    end
    return nil
  end
  local plan, message = otlp.plan {
    url = parsed.otlp, format = parsed.otlpFormat,
    request = parsed.request, arguments = parsed.otlpArguments,
    warn = function (text) main.note("%s", text) end
  }
  if not plan then
    main.misuse("--otlp: %s", message)
  end
  return plan
end

-- What the trace hangs below: an option, or the environment's word if that is
-- one.
function sending.parent (parsed)
  local said = os.getenv("TRACEPARENT")
  if not parsed.traceparent and parsed.otlp and said then
    return (require("tracegrip.options").value({kind = "traceparent"}, said))
  end
  return parsed.traceparent
end

---------------------------------------------------------------------------
-- A way
---------------------------------------------------------------------------

-- From takers to a collector.
local Way = {}
Way.__index = Way

-- Sends what a taker (core.receive) has; from now on what is left is sent in
-- time as well.
function Way:pump (taker)
  self.takers[taker] = true
  otlp.pump(taker, self.sender)
end

-- Nothing more will come of it.
function Way:leave (taker)
  otlp.pump(taker, self.sender, true)
  self.takers[taker] = nil
end

-- Whether more can be sent without dropping any; how much was sent so far.
function Way:has_room ()
  return self.sender:has_room()
end

function Way:sent ()
  return self.sender.sent
end

-- What is not sent by now is not sent any more.
function Way:abandon ()
  self.sender:abandon()
end

-- Waits for what is on its way and tells what became of it all. Not for long;
-- 'patient': as long as some of it is taken.
function Way:finish (patient)
  local over = false
  self.timer:close()
  self.sender:finish(FINISH_MS, function () over = true end, patient)
  while not over do
    self.uv.run("once")
  end
  self.uv.run("nowait")         -- what was closed last goes before the state
  main.note("%s", self.sender:told())
end

-- For a plan; fails as a command does.
function sending.open (plan)
  local uv = main.luv()
  local sender, message = otlp.sender(plan)
  if not sender then
    main.fail("%s", message)
  end
  local self = setmetatable({uv = uv, sender = sender, takers = {},
                             timer = uv.new_timer()}, Way)
  self.timer:start(FLUSH_MS, FLUSH_MS, function ()
    for taker in pairs(self.takers) do
      otlp.pump(taker, sender, true)
    end
  end)
  return self
end

sending.spans = otlp.spans

return sending
