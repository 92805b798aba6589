-- inspect.lua - tracegrip inspect: a recording in Chrome DevTools.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local recording = require "tracegrip.cli.recording"
local signals = require "tracegrip.cli.signals"
local token = require "tracegrip.cli.token"
core.own()

local PORT = 9229               -- that of Node.js, which chrome://inspect knows

local inspect = {
  summary = "Opens a recording in the debugger of Chrome DevTools.",
  description = "Offers a recording to Chrome DevTools, as serve --inspect "
    .. "does a program, and tells the address to open. It stands at its first "
    .. "error, and is walked through by the debugger's buttons, call by call, "
    .. "with arguments and results; back by functions in the console. Nothing "
    .. "runs, and nothing can be changed. Ends on Ctrl-C.",
  usage = "[options] FILE",
  options = {
    {name = "port", kind = "anyport", metavar = "N", group = "Where",
     default = "9229; 0: one that is free",
     help = "A port of this machine's loopback address."},
    {name = "tokenFile", metavar = "FILE", group = "Where",
     help = "Only who knows the token in FILE, or in TRACEGRIP_TOKEN, is told "
            .. "the address by /json/list."},
    {name = "trace", metavar = "NAME", group = "What",
     default = "the first, the whole program's",
     help = "The trace of that name."},
    {name = "stopOn", metavar = "WHERE", group = "What",
     choices = {"error", "entry", "end"}, default = "error",
     help = "Where to begin: at the first error, caught or not, at the first "
            .. "call, or at the end; breakpoints before that are met."},
  }
}

function inspect.declare (parser)
  parser:argument("file"):description("The recording.")
end

function inspect.run (parsed)
  local uv = main.luv()
  if not pcall(require, "tracegrip.wslay") then
    main.fail("this command needs libwslay when tracegrip is built")
  end
  local door = require "tracegrip.inspect.door"
  local recorded = require "tracegrip.inspect.recorded"
  local trace, info = recording.trace(parsed.file, parsed.trace)
  local tab = recorded.open(parsed.file, trace, info,
                            parsed.stopOn or "error")
  signals.ends(uv.stop)
  door.open(tab, {
    host = "127.0.0.1", port = parsed.port or PORT, token = token.of(parsed)
  }, function (opened, message)
    if not opened then
      main.fail("%s", message)
    end
    io.stderr:write("tracegrip: to debug, open ", opened.address, "\n")
  end)
  uv.run()
end

return inspect
