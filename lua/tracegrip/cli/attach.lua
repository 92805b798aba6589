-- attach.lua - tracegrip attach: the calls of a program that listens, as a log
-- or a recording.
--
-- The trace comes as blocks of the program's own stream, which are taken as
-- they are (core.receive): the calls can be shown and recorded as a local
-- trace's are. A TraceActor that sends packets only is not read: packets lack
-- what a recording has. A program that wants them has tracegrip.client.

local attached = require "tracegrip.cli.attached"
local core = require "tracegrip.core"
local logstyle = require "tracegrip.cli.logstyle"
local main = require "tracegrip.cli.main"
local options = require "tracegrip.options"
local record = require "tracegrip.cli.record"
local recording = require "tracegrip.cli.recording"
local sending = require "tracegrip.cli.sending"
local server = require "tracegrip.cli.server"
local units = require "tracegrip.cli.units"
core.own()

local uv                    -- the module, when the command runs

local attach = {
  summary = "Traces a running program that listens (see serve).",
  description = "Attaches to a Lua program that listens, traces it, and logs "
    .. "its calls on standard output as they happen, or records them with -o, "
    .. "or sends them to a collector with --otlp. "
    .. "A terminal gets no more lines than it can show, and how many calls "
    .. "were left out. "
    .. "Ctrl-C ends the trace; the program goes on. The exit status is 1 if "
    .. "the connection is lost.",
  usage = "[options] PORT | HOST:PORT | unix:PATH"
}

local own = {
  {name = "output", flag = "-o", alias = "--output", metavar = "FILE",
   group = "The recording",
   help = "Record in FILE instead of the log; a recording that is there is "
          .. "replaced."},
  {name = "force", flag = "--force", value = true, group = "The recording",
   help = "Replace FILE whatever it is."},
  {name = "name", metavar = "NAME", group = "The program",
   help = "What the trace is called there."},
  {name = "makers", flag = "--makers", value = true, group = "The program",
   help = "With --memory: the program keeps what it sends, up to 256 MiB, so "
          .. "that a heap snapshot tells who made each object."},
}

local traced = options.vary {
  minDuration = {help = "Leave out calls that take less than MS milliseconds. "
                        .. "The program records and sends them all the same: "
                        .. "they are left out here."},
  buffer = {help = "What the program may keep of events that are on their way.",
            default = false},
  overflow = {choices = {"ring", "stop", "wait"}, default = "ring",
              help = "When that is full: lose what is oldest (ring), end the "
                     .. "trace (stop), or have the program wait for a while "
                     .. "(wait)."}
}

local function log_options ()
  local list = {}
  for _, option in ipairs(logstyle.options()) do
    if option.name ~= "output" and option.name ~= "force" then
      list[#list + 1] = option
    end
  end
  return list
end

attach.options = options.joined(own, sending.options, server.options,
                                log_options(), traced)

function attach.declare (parser)
  parser:argument("address"):description("Where the program listens.")
end

---------------------------------------------------------------------------
-- The trace
---------------------------------------------------------------------------

-- What the server is asked for. Short calls are left out here, as on any
-- reading.
local function fields_of (parsed, chosen, connection)
  local fields = {name = parsed.name, blocks = true,
                  compress = server.compression(connection)}
  for key, value in pairs(chosen) do
    fields[key] = value
  end
  fields.minDuration = nil
  fields.makers = parsed.makers and server.must_keep_makers(connection)
  return fields
end

-- Where it goes: a log, or a recording; what is sent alone is not logged. FILE
-- is not touched before there is anything.
local function destination (parsed, name, tab)
  if parsed.otlp and not parsed.output then
    return nil, nil
  elseif not parsed.output then
    local style = logstyle.of(parsed, 1)
    style.live = true
    return style
  end
  record.prepare(parsed.output, parsed.force)
  return nil, {path = parsed.output, name = name, program = tab.title,
               pid = tab.pid}
end

local limits = {"valueDepth", "valueProperties", "valueString", "valueObjects"}

-- Other traces of the program may be in blocks: the options tell what is this
-- one's. Of values, all that comes, unless less was asked for: how much that is
-- may be the host's word.
local function shown_of (chosen)
  local shown = {}
  for _, name in ipairs(limits) do
    shown[name] = "all"
  end
  for key, value in pairs(chosen) do
    shown[key] = value
  end
  return shown
end

---------------------------------------------------------------------------
-- While it runs
---------------------------------------------------------------------------

local Session = attached.class()

-- Has what came since the last time written.
function Session:pump ()
  if self.fresh and not self.trouble then
    self.fresh = false
    self:check(self.taker:pump())
    if self.way then
      self.way:pump(self.taker)
    end
  end
end

-- Over a slow connection what was recorded comes long after the trace has
-- ended: whoever waits is told what for.
local LATE_MS = 2000

function Session:note_late (ms)
  local timer = self:keep(uv.new_timer())
  timer:start(math.ceil(ms) + LATE_MS, 0, function ()
    if not self.late then
      self.late = true
      main.note("the trace is over, and what it has recorded is still coming; "
                .. "Ctrl-C%s leaves without it",
                self.leaving and "" or ", twice,")
    end
  end)
end

local end_trace = Session.leave

function Session:leave ()
  end_trace(self)
  self:note_late(0)
end

local FRAME_MS = 50

-- On a terminal a burst is more than can be shown: that it was is told when
-- there is room again, though nothing comes any more.
function Session:refresh ()
  if core.isatty(1) then
    local timer = self:keep(uv.new_timer())
    timer:start(FRAME_MS, FRAME_MS, function () self.fresh = true end)
  end
end

-- Blocks are taken as they come, and written before the loop waits for more.
function Session:follow (trace)
  local taker = self.taker
  self:keep(uv.new_prepare()):start(function () self:pump() end)
  trace.onblocks = function (bytes)
    self.fresh, self.bytes = true, self.bytes + #bytes
    self:check(taker:feed(bytes))
  end
  trace:wait()
  local ok, message, code = taker:finish(trace.why)
  if not ok then
    self.trouble = self.trouble or {message = message, code = code}
  end
  if self.way then
    self.way:leave(taker)
  end
end

---------------------------------------------------------------------------
-- The end
---------------------------------------------------------------------------

local endings = {
  overflow = "the buffer of the trace was full",
  memory = "the program had no memory left for the trace",
  stall = "the program waited too long for this client",
  replaced = "the program has started another one of that name"
}

local function note_losses (taker)
  local lost = taker:lost()
  if lost > 0 then
    main.note("%s lost: they came faster than they could be sent",
              units.several(lost, "event"))
  end
  local others = recording.losses {
    dropped = taker:lost "dropped", functions = taker:lost "functions"
  }
  if others ~= "none" then
    main.note("the trace lacks %s", others)
  end
  recording.note_undecided(taker:undecided())
end

local EBADMSG = 74         -- Linux

local function conclude (session, trace, parsed)
  local trouble = session.trouble
  if session.way then
    session.way:finish()
  end
  if trouble and trouble.code == EBADMSG then
    main.fail("%s", trouble.message)
  elseif trouble and trouble.code ~= recording.EPIPE then
    main.fail("cannot write: %s", trouble.message)
  elseif trace.why == "closed" and not session.leaving then
    main.fail("%s", trace.message)
  elseif endings[trace.why] then
    main.note("the trace has ended: %s", endings[trace.why])
  end
  if parsed.output and not trouble then
    main.note("%s: %s%s", parsed.output, session.taken,
              trace.why == "closed" and ", cut off: what was still to come is "
              .. "not in it" or "")
  end
  note_losses(session.taker)
end

function attach.run (parsed)
  uv = main.luv()
  local chosen, plan = options.collect(traced, parsed), sending.plan(parsed)
  if parsed.makers and not chosen.memory then
    main.misuse("--makers is for a trace with --memory")
  end
  local connection = server.connect(parsed)
  local session <close> = attached.new(Session, connection, {bytes = 0})
  session.way = plan and sending.open(plan)
  local tab = server.choose_tab(connection, parsed.tab)
  server.must_send_blocks(connection)
  session.tracer = server.must(connection, connection:attach(tab))
  session:on_signals {sigint = session.leave, sigterm = session.leave,
                      sighup = session.leave}
  local trace = server.must(connection,
      session.tracer:startTrace(fields_of(parsed, chosen, connection)))
  chosen.traceparent = sending.parent(parsed)
  local style, file = destination(parsed, trace.name, tab)
  local spans = plan and sending.spans(plan, trace.name, server.title_of(tab))
  local taker <close> = server.must(connection,
      core.receive(shown_of(chosen), style, file, false, spans))
  session.taker = taker
  if not parsed.output and not plan then
    session:refresh()
  end
  main.note("attached to %s; Ctrl-C ends the trace", server.title_of(tab))
  if chosen.duration then
    session:note_late(chosen.duration)
  end
  session:follow(trace)
  session.taken = units.bytes(session.bytes)
  conclude(session, trace, parsed)
end

return attach
