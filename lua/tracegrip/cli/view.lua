-- view.lua - tracegrip view: a recording in a viewer that runs in the browser.

local core = require "tracegrip.core"
local export = require "tracegrip.cli.export"
local main = require "tracegrip.cli.main"
local options = require "tracegrip.options"
local recording = require "tracegrip.cli.recording"
local signals = require "tracegrip.cli.signals"
core.own()

local onefile, uv           -- modules, when the command runs

local view = {
  summary = "Shows a recording in a viewer in the browser.",
  description = "Exports a recording, offers it to a viewer's page on this "
    .. "machine's loopback address and opens the page, or prints its address. "
    .. "Ends when the viewer has fetched it, when nobody has for --wait, or on "
    .. "Ctrl-C. Nothing leaves the machine: the viewers work in the browser. "
    .. "Their pages come from the network; --with html, tracegrip's own page, "
    .. "needs none, nor does --with speedscope where the npm package "
    .. "speedscope is installed.",
  usage = "[options] FILE"
}

view.options = options.joined({
  {name = "viewer", flag = "--with", metavar = "VIEWER",
   choices = {"firefox", "perfetto", "speedscope", "devtools", "html"},
   default = "firefox", group = "The viewer",
   help = "The Firefox Profiler (any browser), Perfetto, speedscope, Chrome's "
          .. "DevTools, or tracegrip's own page, which needs no network."},
  {name = "port", kind = "port", metavar = "N", group = "The viewer",
   default = "a free one; 9001 for perfetto, which takes no other",
   help = "Where the file is offered."},
  {name = "open", flag = "--no-open", value = false, group = "The viewer",
   help = "Only print the address."},
  {name = "wait", kind = "seconds", metavar = "S", group = "The viewer",
   default = "10m", help = "How long to wait for the browser (30s, 2m)."},
}, export.viewable)

function view.declare (parser)
  parser:argument("file"):description("The recording.")
end

---------------------------------------------------------------------------
-- Viewers
---------------------------------------------------------------------------

local function encoded (text)
  return (text:gsub("[^%w._~-]", function (c)
    return ("%%%02X"):format(c:byte())
  end))
end

-- format: what it opens; origin: where its page is, none if the file is the
-- page; address: of the page that fetches a url; type: the file's media type;
-- levels: how deep it draws, if it is less than the format has; port: the only
-- one that the page may fetch from; by_hand: what to do without that; command:
-- what opens a file without a network, if it is installed.
local viewers = {
  firefox = {
    format = "firefox", origin = "https://profiler.firefox.com",
    address = function (url) return "/from-url/" .. encoded(url) end
  },
  perfetto = {
    format = "chrome", origin = "https://ui.perfetto.dev", port = 9001,
    levels = 512,             -- deeper ones it drops without a word
    address = function (url) return "/#!/?url=" .. url end,
    by_hand = "port 9001, from which alone Perfetto fetches, is taken: open "
              .. "https://ui.perfetto.dev and drop the file there"
  },
  speedscope = {
    format = "speedscope", origin = "https://www.speedscope.app",
    command = "speedscope",
    address = function (url) return "/#profileURL=" .. encoded(url) end
  },
  html = {
    format = "html", type = "text/html; charset=utf-8",
    address = function (url) return url end
  },
  devtools = {
    format = "chrome",
    by_hand = "in Chrome press F12, choose Performance, then Load profile; "
              .. "its tracks are closed: a click on the triangle of the "
              .. "program opens the list, one on that of a track the calls"
  }
}

---------------------------------------------------------------------------
-- The end
---------------------------------------------------------------------------

local Interrupted = {}

-- How it ends: by Ctrl-C and the like, at any time, or when all is done.
local Ending = {}
Ending.__index = Ending

function Ending:come ()
  self.here = true
  if self.server then
    self.server:stop()
  end
  uv.stop()
end

-- Gives the signals back.
function Ending:__close ()
  for _, handle in ipairs(self.signals) do
    handle:close()
  end
  uv.run("nowait")
end

local function new_ending ()
  local ending = setmetatable({}, Ending)
  ending.signals = signals.ends(function () ending:come() end)
  return ending
end

-- Raises Interrupted if it has come.
function Ending:look ()
  uv.run("nowait")
  if self.here then
    error(Interrupted)
  end
end

---------------------------------------------------------------------------
-- The file
---------------------------------------------------------------------------

local function must (value, message)
  if not value then
    main.fail("%s", message)
  end
  return value
end

-- A name for people and for the page: the program's, as far as an address can
-- have it. Between processes of one machine nothing is compressed.
local function name_of (info, format)
  local base = (info.program or info.path):match "[^/]*$"
  local ending = export.format(format).ending:gsub("%.json%.gz$", ".json")
  return base:gsub("[^%w._-]", "_") .. ending
end

-- A directory of our own with a place for the file, both gone when it is
-- closed, unless the file is to be kept.
local function new_place (name)
  local base = os.getenv "TMPDIR" or "/tmp"
  local directory = must(uv.fs_mkdtemp(base .. "/tracegrip-XXXXXX"))
  local place = {path = directory .. "/" .. name}
  function place.remove ()
    if not place.kept then
      uv.fs_unlink(place.path)
      uv.fs_rmdir(directory)
    end
  end
  return setmetatable(place, {__close = place.remove})
end

local function write_export (parsed, place, trace, ending)
  local function turn ()
    ending:look()
  end
  local result = must(export.write(parsed, trace, place.path, turn))
  turn()
  main.note("%s", export.told(result, trace, parsed.format))
end

---------------------------------------------------------------------------
-- The page
---------------------------------------------------------------------------

local function has_display ()
  return os.getenv "DISPLAY" or os.getenv "WAYLAND_DISPLAY"
end

-- Starts the browser; otherwise() if that cannot be done.
local function browse (address, otherwise)
  local process = uv.spawn("xdg-open", {args = {address}, detached = true},
                           function (status)
    if status ~= 0 then otherwise() end
  end)
  if process then
    process:unref()
  else
    otherwise()
  end
end

-- What to know beside the address. A page from elsewhere fetches the file, and
-- cannot be had without a network.
local function advice (viewer)
  if not viewer.origin then
    return " (Ctrl-C ends)"
  end
  return "; if it asks whether the page may reach this machine or local "
         .. "network, allow that; without a network: --with html (Ctrl-C ends)"
end

local function show (viewer, address, parsed)
  local function tell ()
    recording.write(address .. "\n")
    main.note("waiting for a browser to fetch it%s", advice(viewer))
  end
  if parsed.open ~= false and has_display() then
    main.note("opening %s in the browser%s", address, advice(viewer))
    browse(address, tell)
  else
    tell()
  end
end

-- 128 bits that nobody can guess.
local function secret ()
  return (uv.random(16):gsub(".", function (c)
    return ("%02x"):format(c:byte())
  end))
end

-- Offers the file; nil if the only port that would do is taken.
local function offer (parsed, viewer, place, ending)
  local port = parsed.port or viewer.port or 0
  local fd = must(uv.fs_open(place.path, "r", 0))
  local server, message, code = onefile.start {
    fd = fd, size = must(uv.fs_fstat(fd)).size, origin = viewer.origin,
    path = "/" .. secret() .. "/" .. place.path:match "[^/]*$",
    type = viewer.type or "application/json", port = port,
    finished = function () ending:come() end
  }
  if not server and not (viewer.by_hand and code == "EADDRINUSE") then
    main.fail("cannot listen on port %d: %s", port, message)
  end
  return server
end

local WAIT_MS = 600000

-- A browser may never come, or ask its user something that nobody answers. The
-- ending is told so, unless the file is on its way.
local function new_patience (server, parsed, viewer, ending)
  local ms = parsed.wait or WAIT_MS
  local timer = uv.new_timer()
  timer:start(math.ceil(ms), 0, function ()
    if not server.served then
      local other = viewer.origin and "; --with html needs no network" or ""
      ending.nobody = ("nobody has fetched it within %g s (--wait)%s"):format(
        ms / 1000, other)
      ending:come()
    end
  end)
  return setmetatable({}, {__close = function () timer:close() end})
end

-- Until it has been fetched. The file is open and needs no name any more.
local function serve (server, parsed, viewer, place, ending)
  place.remove()
  local _ <close> = new_patience(server, parsed, viewer, ending)
  local url = ("http://127.0.0.1:%d%s"):format(server.port, server.path)
  show(viewer, (viewer.origin or "") .. viewer.address(url), parsed)
  uv.run()
end

-- Whether a shell would find a command.
local function installed (command)
  for directory in ((os.getenv "PATH" or "") .. ":"):gmatch "([^:]*):" do
    local path = (directory == "" and "." or directory) .. "/" .. command
    if uv.fs_access(path, "X") and core.filetype(path) == "file" then
      return true
    end
  end
end

-- A viewer's own command has its page with it, and reads the file before it
-- ends.
local function run_command (command, place)
  main.note("opening %s with the command %s", place.path, command)
  local status
  local process, message = uv.spawn(command, {
    args = {place.path}, stdio = {nil, 1, 2}
  }, function (code)
    status = code
    uv.stop()
  end)
  must(process, message)
  uv.run()
  process:close()
  if status and status ~= 0 then
    main.fail("%s ended with status %d", command, status)
  end
end

-- For a viewer that cannot fetch it.
local function leave (viewer, place)
  place.kept = true
  recording.write(place.path .. "\n")
  main.note("%s", viewer.by_hand)
end

---------------------------------------------------------------------------
-- The command
---------------------------------------------------------------------------

local function run (parsed, viewer, ending)
  local trace, info = recording.trace(parsed.file, parsed.trace)
  local place <close> = new_place(name_of(info, viewer.format))
  write_export(parsed, place, trace, ending)
  if viewer.command and parsed.open ~= false and has_display()
     and installed(viewer.command) then
    return run_command(viewer.command, place)
  end
  ending.server = viewer.address and offer(parsed, viewer, place, ending)
  if ending.server then
    serve(ending.server, parsed, viewer, place, ending)
  else
    leave(viewer, place)
  end
end

function view.run (parsed)
  uv = main.luv()
  onefile = require "tracegrip.cli.onefile"
  local viewer = viewers[parsed.viewer or "firefox"]
  local ending <close> = new_ending()
  parsed.format, parsed.levels = viewer.format, viewer.levels
  parsed.sources = viewer.format == "firefox"   -- if the recording has them
  export.check(parsed)
  local ok, message = pcall(run, parsed, viewer, ending)
  if not ok and message ~= Interrupted then
    error(message, 0)
  elseif ending.nobody then
    main.fail("%s", ending.nobody)
  end
end

return view
