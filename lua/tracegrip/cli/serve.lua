-- serve.lua - tracegrip serve: a program that clients can attach to.

local core = require "tracegrip.core"
local listen = require "tracegrip.listen"
local main = require "tracegrip.cli.main"
local options = require "tracegrip.options"
local preload = require "tracegrip.cli.preload"
local program = require "tracegrip.cli.program"
local sending = require "tracegrip.cli.sending"
local target = require "tracegrip.target"
local token = require "tracegrip.cli.token"
core.own()

local serve = {
  summary = "Runs a program that clients can attach to.",
  description = "Runs a Lua program at full speed and listens for clients, "
    .. "which collect traces as it runs: tracegrip attach, or any other that "
    .. "speaks the protocol. The address is told on standard error, the exit "
    .. "status is the program's own. The options of tracing are what every "
    .. "client's trace starts from; --redact holds for all of them, and "
    .. "--buffer, --max-events and --duration are the most that one can have.",
  usage = "[options] script.lua [arguments]\n"
    .. "       tracegrip serve [options] --preload -- command [arguments]",
  program = true
}

local own = {
  {name = "port", kind = "anyport", metavar = "N", group = "Where",
   default = "0, one that is free",
   help = "A port of this machine's loopback address."},
  {name = "listen", metavar = "ADDRESS", group = "Where",
   help = "unix:PATH or HOST:PORT. What others than this machine can reach "
          .. "needs a token."},
  {name = "inspect", kind = "anyport", metavar = "PORT", implied = "9229",
   group = "Where",
   help = "Open the program to Chrome DevTools at a port of loopback, 9229 if "
          .. "none is named; without --port or --listen to nobody else."},
  {name = "inspectBrk", kind = "anyport", metavar = "PORT", implied = "9229",
   group = "Where",
   help = "The same, and stop before the program's first line."},
  {name = "tokenFile", metavar = "FILE", group = "Where",
   help = "Clients must know the token in FILE, or in TRACEGRIP_TOKEN."},
  {name = "wait", flag = "--wait", value = true, group = "Where",
   help = "Start the program when a client has started a trace."},
  {name = "stallTimeout", kind = "seconds", metavar = "S", group = "Where",
   default = "5s",
   help = "How long the program waits for a client that does not read, which "
          .. "is dropped then; 0: it does not wait."},
  {name = "signal", kind = "number", metavar = "N", group = "Where",
   default = "that of SIGURG",
   help = "The signal by which the server reaches the program."},
  preload.option,
}

local traced = options.vary {
  buffer = {help = "What may wait in memory for a client.", default = "4M"},
  overflow = {choices = {"stop", "wait"}, default = "wait",
              help = "When that is full: end the trace (stop), or wait for "
                     .. "the client (wait)."}
}

serve.options = options.joined(own, sending.options, traced)

function serve.declare (parser)
  parser:argument("script"):description(
    "The program, or the command; '-' is standard input.")
  parser:argument("arguments"):args("*"):description("The program's own.")
end

---------------------------------------------------------------------------
-- The command
---------------------------------------------------------------------------

-- A pattern, or a list of them.
local function patterns_of (value)
  return type(value) == "table" and value or {value}
end

-- What TRACEGRIP_OPTIONS says, with what the command line says over it; what is
-- to be hidden adds up, as for clients.
local function traced_options (parsed)
  local text = os.getenv "TRACEGRIP_OPTIONS"
  local chosen = options.collect(traced, parsed)
  local chunk, message = load("return {" .. (text or "") .. "}",
                              "=TRACEGRIP_OPTIONS", "t", {})
  local ok, result = pcall(chunk or error, message)
  if not ok then
    main.misuse("%s", result)
  end
  for key, value in pairs(chosen) do
    local before = key == "redact" and patterns_of(result.redact) or {}
    if key == "redact" then
      value = table.move(before, 1, #before, #value + 1,
                         table.move(value, 1, #value, 1, {}))
    end
    result[key] = value
  end
  return result
end

-- Where, and how: as tracegrip.listen takes it.
local function wanted (parsed)
  local result, message = {port = parsed.port}, nil
  if parsed.inspect and parsed.inspectBrk then
    main.misuse("--inspect and --inspect-brk are the same door")
  end
  if parsed.listen and parsed.port then
    main.misuse("--port is for loopback, --listen has a port of its own")
  elseif parsed.listen then
    result, message = listen.parse(parsed.listen)
  end
  if not result then
    main.misuse("%s", message)
  end
  result.inspect = parsed.inspect or parsed.inspectBrk
  result.token, result.signal = token.of(parsed), parsed.signal
  result.stallTimeout = parsed.stallTimeout and parsed.stallTimeout / 1000
  result.options = traced_options(parsed)
  if sending.plan(parsed) then
    result.otlp = {url = parsed.otlp, format = parsed.otlpFormat,
                   request = parsed.request, arguments = parsed.otlpArguments,
                   traceparent = sending.parent(parsed)}
  end
  local problem = listen.problem(result)
  if problem then
    main.misuse("%s", problem)
  end
  return result
end

-- The program may change its directory, and Lua's path knows ours.
local function absolute (path)
  return (path:gsub("[^;]+", target.absolute))
end

-- What both sockets need to know beside the address.
local function complete (plan, parsed)
  plan.token = nil
  plan.title = parsed.script
  plan.packagePath = absolute(package.path)
  plan.packageCPath = absolute(package.cpath)
  return plan
end

-- What core.listen is to be called with, and what for: see boot.lua. The token
-- goes by the environment, which is the user's alone.
local function plans (parsed)
  local asked = wanted(parsed)
  local style = {wait = parsed.wait, breaks = parsed.inspectBrk ~= nil}
  if asked.token then
    core.setenv("TRACEGRIP_TOKEN", asked.token)
  end
  local debugger = asked.inspect
                   and complete(listen.debugger_plan(asked), parsed)
  if listen.is_for_debuggers(asked) then
    return debugger, style
  end
  style.debugger = debugger
  return complete(listen.plan(asked), parsed), style
end

function serve.run (parsed)
  local socket, style = plans(parsed)
  local become = program.become
  if parsed.preload and not parsed.dashes then
    preload.misused()
  elseif parsed.preload then
    program.check(parsed.script, true)
    become = program.become_host
  end
  local _, message = become(parsed.script, parsed.arguments, "listen", socket,
                            style)
  main.fail("cannot run the program: %s", message)
end

return serve
