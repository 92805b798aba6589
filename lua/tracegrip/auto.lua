-- auto.lua - lua5.4 -ltracegrip.auto script.lua: tracing by the environment.
--
--   TRACEGRIP_LOG      file for the live log; "-" is standard error
--   TRACEGRIP_RECORD   file for a recording; %p in it is the process's number
--   TRACEGRIP_LISTEN   where clients can attach: PORT, HOST:PORT, unix:PATH
--   TRACEGRIP_INSPECT  where debuggers can attach: PORT or HOST:PORT; the next
--                      port that is free if that is taken, as by the program
--                      that has started this one
--   TRACEGRIP_TOKEN    what they have to say first
--   TRACEGRIP_OPTIONS  fields of the options table of tracegrip.start, such
--                      as: maxDepth = 3, trace = {"name", "time"}; where
--                      clients attach, their traces start from these. For a
--                      recording there is maxSize as well: bytes that its file
--                      may have
--
-- For programs that are started by others and cannot be given to tracegrip
-- run; LUA_INIT_5_4="require 'tracegrip.auto'" does the same, and other
-- versions of Lua do not know that name. Without the variables it changes
-- nothing, and not even the C module is loaded.
--
-- A recording that is there is replaced, unless it is being made, or was made
-- by another program of the same run: then this one goes to FILE.PID, and
-- further Lua states of the process to FILE.PID-2, FILE.PID-3 ... A run is all
-- that a command started which was given TRACEGRIP_RECORD, such as a script.
--
-- What makes no sense ends the program; so does a FILE that is no recording.
-- Where a recording cannot be made for another reason the program runs without,
-- and one line tells why.

-- Another version of Lua may come by, if it is told to. So this file is written
-- in what all versions understand.

local function variable (name)
  local value = os.getenv(name)
  return value ~= "" and value or nil
end

local log, record = variable("TRACEGRIP_LOG"), variable("TRACEGRIP_RECORD")
local address = variable("TRACEGRIP_LISTEN")
local debugged = variable("TRACEGRIP_INSPECT")
if not log and not record and not address and not debugged then
  return {}
end

local function note (message, ...)
  io.stderr:write("tracegrip: " .. message:format(...) .. "\n")
end

local function give_up (...)
  note(...)
  os.exit(1, true)
end

if _VERSION ~= "Lua 5.4" and _VERSION ~= "Lua 5.5" then
  note("this process is not traced: it runs %s", _VERSION)
  return {}
end

local found, installed = pcall(require, "tracegrip.installed")
if not found then
  note("this process is not traced: %s", tostring(installed):match("^[^\n]*"))
  return {}
end
local core = installed.core
local target = require "tracegrip.target"
core.own(true)

local function options_of (text)
  local chunk, message = load("return {" .. text .. "}", "=TRACEGRIP_OPTIONS",
                              "t", {})
  if not chunk then
    error(message, 0)
  end
  return chunk()
end

local options = options_of(variable("TRACEGRIP_OPTIONS") or "")

local function start_log (path)
  local style = {times = true, summary = true}
  if path == "-" then
    style.fd = 2
  else
    style.path = path
  end
  local trace, message = core.log(options, style)
  if not trace then
    give_up("cannot write the log: %s", message)
  end
end

local function start_record (path)
  local ok, message, code
  path, message = target.absolute((path:gsub("%%p", tostring(core.pid()))))
  if not path then
    return note("this process is not recorded: %s", message)
  end
  ok, message, code = target.free(path)
  if not ok and code ~= "running" then
    give_up("cannot write the recording: %s", message)
  end
  local file = {
    path = path, exclusive = true, run = core.family("TRACEGRIP_RECORD")
  }
  local words = type(arg) == "table" and arg or core.commandline()
  file.program, file.arguments = words[0], {table.unpack(words)}
  ok, message = core.record(options, file)
  if not ok then
    note("this process is not recorded: %s", message)
  end
end

local function address_of (name, text)
  local listen = require "tracegrip.listen"
  local wanted, message = listen.parse(text)
  if not wanted then
    give_up("%s: %s", name, message)
  end
  wanted.options, wanted.token = options, variable("TRACEGRIP_TOKEN")
  return wanted
end

-- Whether it listens there; false and a message: somebody else does.
local function try_listening (name, wanted)
  local listen = require "tracegrip.listen"
  local ok, listening, message, code = pcall(listen.start, wanted)
  if not ok then
    give_up("%s: %s", name, listening)
  elseif not listening and code ~= "EADDRINUSE" then
    give_up("%s", message)
  end
  return listening ~= nil and listening ~= false, message
end

-- A program that this one runs finds its place taken: it goes on without.
local function start_listening (name, text)
  local done, message = try_listening(name, address_of(name, text))
  if not done then
    note("%s", message)
  end
end

local PORTS = 100

-- Debuggers find it by what it says, so it may be another port.
local function start_debugging (name, text)
  local wanted = address_of(name, text)
  if wanted.path then
    give_up("%s: '%s' is no address for debuggers: PORT or HOST:PORT", name,
            text)
  end
  local first = wanted.port
  wanted.port = nil
  for port = first, math.min(first + PORTS - 1, 65535) do
    wanted.inspect = port
    if try_listening(name, wanted) then
      return
    end
  end
  note("this process cannot be debugged: ports %d to %d are all taken", first,
       math.min(first + PORTS - 1, 65535))
end

if address then
  start_listening("TRACEGRIP_LISTEN", address)
end
if debugged then
  start_debugging("TRACEGRIP_INSPECT", debugged)
end
if record then
  start_record(record)
end
if log then
  start_log(log)
end

return {}
