-- dap.lua - tracegrip dap: the debug adapter, for editors.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local signals = require "tracegrip.cli.signals"
core.own()

local adapter, sockets, uv      -- modules, when the command runs

local dap = {
  summary = "Debugs in an editor: the Debug Adapter Protocol.",
  description = "Speaks the Debug Adapter Protocol with an editor, on standard "
    .. "input and output, or at a port. An editor starts this by itself: what "
    .. "to write where is in docs/editors.md.",
  usage = "[options]",
  options = {
    {name = "port", kind = "anyport", metavar = "N", group = "Where",
     help = "Listen at a port of loopback instead, for one editor after the "
            .. "other and several at once; 0 is one that is free, which is "
            .. "told on standard error."},
  }
}

function dap.declare ()
end

-- Begins and runs the loop. Of who is told to end nothing is left behind:
-- neither the programs that it has started, unless they were left, nor their
-- books.
local function run (begin)
  local came
  signals.ends(function (name)
    came = name
    adapter.close()
    uv.stop()
  end)
  begin()
  uv.run()
  if came then
    core.die(uv.constants[string.upper(came)])
  end
end

-- A terminal or a file cannot be spoken with.
local function on_streams ()
  local input, output = uv.new_pipe(false), uv.new_pipe(false)
  if uv.guess_handle(0) ~= "pipe" or uv.guess_handle(1) ~= "pipe"
     or not input:open(0) or not output:open(1) then
    main.fail("standard input and output have to be pipes: an editor starts "
              .. "this by itself (docs/editors.md), or see --port")
  end
  run(function () adapter.attend(input, output, uv.stop) end)
end

local function listen (port)
  sockets.open({host = "127.0.0.1", port = port}, function (handle)
    adapter.attend(handle, handle, function () end)
  end, function (listener, message)
    if not listener then
      main.fail("%s", message)
    end
    io.stderr:write("tracegrip: listening on ", listener.address, "\n")
  end)
end

function dap.run (parsed)
  uv = main.luv()
  adapter = require "tracegrip.dap.adapter"
  sockets = require "tracegrip.server.sockets"
  if parsed.port then
    run(function () listen(parsed.port) end)
  else
    on_streams()
  end
end

return dap
