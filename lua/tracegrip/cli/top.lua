-- top.lua - tracegrip top: where the time of a program goes, while it runs.
--
-- A client like attach: the trace comes as blocks of the program's own stream,
-- and is added up as it comes (receiver:profile), so that no memory grows with
-- the time. A program that is to be run first is a child that serves on a
-- socket of its own, and goes on when the command is left.

local attached = require "tracegrip.cli.attached"
local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local options = require "tracegrip.options"
local server = require "tracegrip.cli.server"
local spying = require "tracegrip.cli.spying"
local terminal = require "tracegrip.cli.terminal"
local topchild = require "tracegrip.cli.topchild"
local topgazer = require "tracegrip.cli.topgazer"
local topkeys = require "tracegrip.cli.topkeys"
local topscreen = require "tracegrip.cli.topscreen"
local topview = require "tracegrip.cli.topview"
core.own()

local top = {
  summary = "Shows where a program's time goes, while it runs.",
  description = "Shows the functions that take the most time, of a Lua "
    .. "program that listens (see serve) or of one that it runs, each second "
    .. "anew: by samples, which cost the program next to nothing, or by all "
    .. "calls. q leaves, and the program goes on; Ctrl-C ends a program that "
    .. "top has run, ? shows all keys. Where standard output is no terminal, "
    .. "a table each second. With --pid it looks at a process that knows "
    .. "nothing of it.",
  usage = "[options] PORT | HOST:PORT | unix:PATH\n"
    .. "       tracegrip top [options] script.lua [arguments]\n"
    .. "       tracegrip top [options] --pid PID",
  program = true
}

local own = {
  {name = "sample", kind = "rate", metavar = "HZ", group = "What is shown",
   default = "1000",
   help = "Look at the stack HZ times per second of processor time."},
  {name = "wall", flag = "--wall", value = true, group = "What is shown",
   help = "Per second of the clock: what the program waits for is seen, too."},
  {name = "calls", flag = "--calls", value = true, group = "What is shown",
   help = "Trace all calls instead: exact, at the price of tracing."},
  {name = "memory", flag = "--memory", value = true, group = "What is shown",
   help = "Bytes and allocations per second of each function, too, what is "
          .. "alive of them, and the size of the heap: at the price of "
          .. "counting them."},
  {name = "memoryEvery", kind = "bytes", metavar = "BYTES",
   group = "What is shown",
   help = "The same of about one block in so many bytes, for all that are "
          .. "like it."},
  {name = "lines", flag = "--lines", value = true, group = "What is shown",
   help = "By line, not by function; of --calls what lines allocate "
          .. "(--memory)."},
  {name = "sort", metavar = "COLUMN",
   choices = {"self", "total", "calls", "bytes", "allocations", "live",
              "name", "place"},
   group = "What is shown", default = "self", help = "What comes first."},
  {name = "every", kind = "seconds", metavar = "S", group = "What is shown",
   default = "1s", help = "How often it is shown anew."},
  {name = "number", flag = "-n", alias = "--number", kind = "number",
   metavar = "N", group = "What is shown",
   help = "Leave after it has been shown N times; a program that top runs is "
          .. "ended then."},
  {name = "limit", kind = "number", metavar = "N", group = "What is shown",
   default = "20",
   help = "Functions in a table, where standard output is no terminal."},
  {name = "output", flag = "-o", alias = "--output", metavar = "FILE",
   group = "The program",
   help = "What a program that top runs writes goes to FILE; without it, it "
          .. "is shown when the program has ended."},
  spying.pid, spying.stop, spying.native,
}

top.options = options.joined(own, server.options)

function top.declare (parser)
  parser:argument("address"):args("?"):description(
    "Where the program listens, or the program.")
  parser:argument("arguments"):args("*"):description("The program's own.")
end

---------------------------------------------------------------------------
-- The session
---------------------------------------------------------------------------

local Session = attached.class()

-- As Ctrl-C at a program that runs in front of us: its end is ours. One that
-- somebody else has started is left.
function Session:interrupt ()
  self:finish("sigint")
end

-- Ends a program that top has run, by this signal; the second time by one that
-- cannot be handled.
function Session:finish (signal)
  if self.child then
    self.child:finish(signal)
  else
    self:leave()
  end
end

-- Where no table can be written any more there is nothing to be shown.
function Session:print ()
  local ok, message = main.write(
    table.concat(self.view:head(), "\n"), "\n",
    table.concat(self.view:table(nil, self.limit), "\n"), "\n\n")
  if not ok and not self.unwritten then
    self.unwritten = message
    self:finish("sigterm")
  end
end

function Session:show ()
  local screen = self.screen
  if not self.view.now then
    return
  elseif screen then
    self.terminal:draw(screen:lines(self.terminal:size()))
  else
    self:print()
  end
end

function Session:milliseconds ()
  return (self.uv.hrtime() - self.begun) / 1e6
end

-- The sums as they are now.
function Session:take ()
  local taker, view = self.taker, self.view
  view:take(taker:profile(view.by_line), self:milliseconds(), taker:lost(),
            taker:process())
end

-- And the screen. A program that top has run for so many tables ends with the
-- last.
function Session:refresh ()
  self:take()
  self:show()
  self.left = self.left and self.left - 1
  if self.left == 0 then
    self.counted = true
    self:finish("sigterm")
  end
end

function Session:acts ()
  return {
    leave = function () self:leave() end,
    interrupt = function () self:interrupt() end,
    suspend = function () self.terminal:suspend() end,
    finish = function (signal) self:finish(signal) end,
    refresh = function () self:take() end
  }
end

function Session:open_terminal ()
  local acts = self:acts()
  local function show () self:show() end
  self.screen = topscreen.new(self.view, terminal.colors(), self.child ~= nil)
  self.terminal = self:keep(terminal.open(self.uv, {
    size = show,
    key = function (key)
      topkeys.press(self.screen, key, acts)
      if not self.terminal.closed then
        self:show()
      end
    end
  }))
end

function Session:tick (every)
  local timer = self:keep(self.uv.new_timer())
  timer:start(every, every, function ()
    if not self.view.paused and not self.leaving and not self.counted then
      self:refresh()
    end
  end)
end

-- What comes is taken at once, and added up before the loop waits for more.
function Session:follow (trace)
  local fresh = false
  self:keep(self.uv.new_prepare()):start(function ()
    if fresh then
      fresh = false
      self:check(self.taker:pump())
      self.view:meet(self.taker:process())
    end
  end)
  trace.onblocks = function (bytes)
    fresh = true
    self:check(self.taker:feed(bytes))
  end
  trace:wait()
end

---------------------------------------------------------------------------
-- The command
---------------------------------------------------------------------------

-- What the server is asked for.
local function fields_of (parsed)
  local fields = {name = "top", blocks = true, overflow = "ring",
                  memory = parsed.memory, memoryEvery = parsed.memoryEvery}
  if parsed.calls then
    fields.trace = {"name", "time"}
  else
    fields.sample, fields.wall = parsed.sample or 1000, parsed.wall
  end
  return fields
end

local function begin (session, parsed, title)
  session.view = topview.new {
    title = title, calls = parsed.calls,
    memory = parsed.memory or parsed.memoryEvery, sort = parsed.sort
  }
  session.view:show_lines(parsed.lines or false)
  session.begun = session.uv.hrtime()
  if terminal.there() then
    session:open_terminal()
  end
  local function ends (signal)
    return function (self) self:finish(signal) end
  end
  session:on_signals {sigint = session.interrupt, sigterm = ends "sigterm",
                      sighup = ends "sighup"}
  session:tick(math.ceil(parsed.every or 1000))
  if parsed.lines then
    session.taker:profile(true)         -- they are counted from now on
  end
end

-- The last word on the terminal that was there before.
local function conclude (session, trace)
  if session.unwritten then
    main.fail("cannot write: %s", session.unwritten)
  elseif session.trouble then
    main.fail("the trace cannot be read: %s", session.trouble.message)
  elseif trace.why == "closed" and not session.leaving
         and not session.child then
    main.fail("%s", trace.message)
  end
  local shown = session.terminal and session.view.now
  for _, line in ipairs(shown and session.view:head() or {}) do
    print(line)
  end
end

-- The same of a process that knows nothing of it.
local function gaze (uv, parsed)
  local gazer <close> = topgazer.new(uv, parsed)
  local session <close> = attached.new(Session, gazer, {
    uv = uv, left = parsed.number, limit = parsed.limit or 20, taker = gazer,
    tracer = gazer
  })
  begin(session, parsed, spying.title(parsed.pid))
  session.view:meet(gazer:process())
  local ending = gazer:follow()
  if session.terminal then
    session.terminal:close()
  end
  conclude(session, {why = "requested"})
  if ending then
    main.note("%s", ending)
  end
end

-- Whether it was left, and did not end by itself; whether all tables were shown
-- that were asked for.
local function attach (uv, parsed, child)
  local connection = server.connect(parsed)
  local session <close> = attached.new(Session, connection, {
    uv = uv, child = child, left = parsed.number, limit = parsed.limit or 20
  })
  local tab = server.choose_tab(connection, parsed.tab)
  server.must_send_blocks(connection)
  session.tracer = server.must(connection, connection:attach(tab))
  local fields = fields_of(parsed)
  local taker <close> = core.receive({
    trace = fields.trace, sample = fields.sample, wall = fields.wall,
    memory = fields.memory, memoryEvery = fields.memoryEvery
  }, nil, nil, true)
  session.taker = taker
  local trace = server.must(connection, session.tracer:startTrace(fields))
  begin(session, parsed, server.title_of(tab))
  session:follow(trace)
  if session.terminal then
    session.terminal:close()
  end
  conclude(session, trace)
  return session.leaving, session.counted
end

-- A file of that name is a program, whatever else it could be.
local function is_address (text)
  return server.address(text) ~= nil and core.filetype(text) ~= "file"
end

-- Options that are of programs which trace themselves.
local function check_pid (parsed)
  if parsed.address then
    main.misuse("--pid looks at a process that runs: %s is one too many",
                parsed.address)
  end
  for _, option in ipairs(top.options) do
    local name = option.name
    if parsed[name] and (name == "calls" or name == "memory"
                         or name == "memoryEvery" or name == "output"
                         or name == "tab" or name == "tokenFile") then
      main.misuse("%s is not for a process that is looked at from outside",
                  options.flags {option})
    end
  end
end

-- Of lines calls tell what they allocate, and no times.
local function check_lines_of_calls (parsed)
  if not (parsed.memory or parsed.memoryEvery) then
    main.misuse("--lines of --calls want --memory: of times they are known "
                .. "of samples only")
  elseif parsed.sort == "self" or parsed.sort == "total"
         or parsed.sort == "calls" then
    main.misuse("--sort %s is not known of --lines of --calls", parsed.sort)
  end
end

local function check (parsed)
  if parsed.pid then
    check_pid(parsed)
  elseif not parsed.address then
    main.misuse("missing argument 'address' (see tracegrip top --help)")
  elseif parsed.stop then
    main.misuse("--stop is for samples that are taken from outside: --pid")
  end
  if parsed.sort == "calls" and not parsed.calls then
    main.misuse("--sort calls wants --calls: samples count none")
  elseif (parsed.sort == "bytes" or parsed.sort == "allocations"
          or parsed.sort == "live")
         and not (parsed.memory or parsed.memoryEvery) then
    main.misuse("--sort %s wants --memory", parsed.sort)
  elseif parsed.lines and parsed.calls then
    check_lines_of_calls(parsed)
  end
end

function top.run (parsed)
  local uv = main.luv()
  check(parsed)
  if parsed.pid then
    gaze(uv, parsed)
    return 0
  end
  if is_address(parsed.address) then
    if parsed.output or #parsed.arguments > 0 then
      main.misuse("%s is of a program that top runs",
                  parsed.output and "-o" or "an argument")
    end
    attach(uv, parsed)
    return 0
  end
  local child <close> = topchild.start(uv, parsed.address, parsed.arguments,
                                       parsed.output)
  parsed.address, parsed.tokenFile = child:address(), nil
  return child:conclude(attach(uv, parsed, child))
end

return top
