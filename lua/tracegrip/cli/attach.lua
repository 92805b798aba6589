-- attach.lua - tracegrip attach: the calls of a program that listens, as a log
-- or a recording.
--
-- From a server of ours the trace comes as blocks of the program's own stream,
-- which are taken as they are (core.receive). Another TraceActor sends packets,
-- which are made events again (core.replay). Either way the calls can be shown
-- and recorded as a local trace's are.

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

local client, uv            -- modules, when the command runs

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
    if option.name ~= "output" then
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

local BATCH = 1000

-- Without these a packet cannot be made an event again.
local needed = {"name", "time", "location", "thread"}

local function with_needed (types)
  local list, there = {}, {}
  for _, name in ipairs(types) do
    there[name] = true
    list[#list + 1] = name
  end
  for _, name in ipairs(needed) do
    if not there[name] then
      list[#list + 1] = name
    end
  end
  return list
end

-- What is traced: if nothing else is said markers too, of a server that has
-- them.
local function types_of (chosen, connection)
  local types = {table.unpack(chosen.trace or client.defaultTypes)}
  if not chosen.trace and server.has_trait(connection, "markers") then
    types[#types + 1] = "markers"
  end
  if chosen.memory then
    types[#types + 1], types[#types + 2] = "memory", "allocations"
  end
  return types
end

-- What the server is asked for. Short calls are left out here, as on any
-- reading. Blocks have everything that a packet needs.
local function fields_of (parsed, chosen, connection, blocks)
  local fields = {name = parsed.name}
  for key, value in pairs(chosen) do
    fields[key] = value
  end
  fields.minDuration = nil
  if blocks then
    fields.blocks = true
  else
    fields.batch = BATCH
    fields.trace = with_needed(types_of(chosen, connection))
  end
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

-- What takes blocks, or packets.
local function open_taker (blocks, chosen, connection, spans, ...)
  if blocks then
    local style, file = ...
    return core.receive(shown_of(chosen), style, file, false, spans)
  elseif spans then
    return nil, "spans can be made of what a server of tracegrip's sends"
  end
  return core.replay({trace = types_of(chosen, connection),
                      minDuration = chosen.minDuration}, ...)
end

---------------------------------------------------------------------------
-- While it runs
---------------------------------------------------------------------------

-- What there is to be closed in the end.
local Session = {}
Session.__index = Session

function Session:__close ()
  for _, handle in ipairs(self.handles) do
    handle:close()
  end
  self.connection:close()
end

-- The end is wished for; when it is wished for again, without a word more.
function Session:leave ()
  if self.leaving then
    return self.connection:close()
  end
  self.leaving = true
  self.tracer:detach(function () end)
end

-- The first failure ends the trace.
function Session:check (ok, message, code)
  if not ok and not self.trouble then
    self.trouble = {message = message, code = code}
    self:leave()
  end
end

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

function Session:watch_signals ()
  for _, name in ipairs {"sigint", "sigterm", "sighup"} do
    local handle = uv.new_signal()
    handle:start(name, function () self:leave() end)
    table.insert(self.handles, handle)
  end
end

local FRAME_MS = 50

-- On a terminal a burst is more than can be shown: that it was is told when
-- there is room again, though nothing comes any more.
function Session:refresh ()
  if core.isatty(1) then
    local timer = uv.new_timer()
    table.insert(self.handles, timer)
    timer:start(FRAME_MS, FRAME_MS, function () self.fresh = true end)
  end
end

-- Packets or blocks are taken as they come, and written before the loop waits
-- for more.
function Session:follow (trace)
  local taker = self.taker
  local prepare = uv.new_prepare()
  table.insert(self.handles, prepare)
  prepare:start(function () self:pump() end)
  trace.onframe = function (packet)
    self.fresh = true
    taker:put(packet)
  end
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

local function conclude (session, trace, parsed)
  local trouble = session.trouble
  if session.way then
    session.way:finish()
  end
  if trouble and trouble.code ~= recording.EPIPE then
    main.fail("cannot write: %s", trouble.message)
  elseif trace.why == "closed" and not session.leaving then
    main.fail("%s", trace.message)
  elseif endings[trace.why] then
    main.note("the trace has ended: %s", endings[trace.why])
  end
  if parsed.output and not trouble then
    main.note("%s: %s", parsed.output, session.taken)
  end
  if session.lost > 0 then
    main.note("%s lost: they came faster than they could be sent",
              units.several(session.lost, "event"))
  end
end

function attach.run (parsed)
  uv = main.luv()
  client = require "tracegrip.client"
  local chosen, plan = options.collect(traced, parsed), sending.plan(parsed)
  local connection = server.connect(parsed)
  local session <close> = setmetatable({connection = connection, handles = {},
                                        bytes = 0}, Session)
  session.way = plan and sending.open(plan)
  local tab = server.choose_tab(connection, parsed.tab)
  session.tracer = server.must(connection, connection:attach(tab))
  session:watch_signals()
  local blocks = server.has_trait(connection, "blocks")
  local fields = fields_of(parsed, chosen, connection, blocks)
  local trace = server.must(connection, session.tracer:startTrace(fields))
  chosen.traceparent = sending.parent(parsed)
  local taker <close> = server.must(connection,
      open_taker(blocks, chosen, connection,
                 plan and sending.spans(plan, trace.name,
                                        server.title_of(tab)),
                 destination(parsed, trace.name, tab)))
  session.taker = taker
  if not parsed.output and not plan then
    session:refresh()
  end
  main.note("attached to %s; Ctrl-C ends the trace", server.title_of(tab))
  session:follow(trace)
  session.taken = blocks and units.bytes(session.bytes)
                  or units.several(trace.sequence, "event")
  session.lost = blocks and taker:lost() or 0
  conclude(session, trace, parsed)
end

return attach
