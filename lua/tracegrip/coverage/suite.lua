-- suite.lua - coverage of the process that asks for it, by busted's helper
-- (busted.lua): of a suite.
--
--   suite.begin(settings)    counts from now on; raises a text. Of the settings
--                            are those looked at that begin with "coverage"
--   suite.finish()           writes, once: true | nil, message. A forked child
--                            has counted, and writes nothing
--   suite.exiting(text)      the same at the process's end, if that was not
--                            called: in a Lua state of its own, by covering.c
--
-- Without patterns it is of the files below the working directory: others are
-- busted's.

local installed = require "tracegrip.installed"
local core = installed.core
local counts = require "tracegrip.coverage.counts"
local literal = require "tracegrip.literal"
local outputs = require "tracegrip.coverage.outputs"
local paths = require "tracegrip.coverage.paths"
local report = require "tracegrip.coverage.report"
local target = require "tracegrip.target"
core.own()

local lua = core.lua          -- the program may have changed its own libraries
local string = lua.string
local assert, error, ipairs, load = lua.assert, lua.error, lua.ipairs, lua.load
local pcall = lua.pcall

local suite = {}

local plan              -- while the process is counted

local function absolute (path)
  return (string.gsub(path, "[^;]+", target.absolute))
end

-- Raises a text.
local function untested_of (settings, directory)
  local list = {}
  for i, path in ipairs(settings.coverageUntested or {}) do
    if not core.filetype(path) then
      error("coverageUntested=" .. path .. ": no such file or folder", 0)
    end
    list[i] = paths.absolute(path, directory)
  end
  return list
end

local function plan_of (settings)
  local directory = core.directory() or "/"
  local include = settings.coverageInclude or {}
  local list, message = outputs.of(settings.coverage)
  if not list then
    error(message, 0)
  end
  return {
    outputs = list, directory = directory, include = include,
    exclude = settings.coverageExclude or {}, inside = #include == 0,
    untested = untested_of(settings, directory), beside = #include > 0,
    failUnder = settings.coverageFailUnder, files = true,
    width = core.columns(2), nothing = "no test has run code of a file here"
  }
end

function suite.begin (settings)
  local wanted = plan_of(settings)
  local path, cpath = installed.paths()
  local folder, message = counts.folder()
  if not folder then
    error("cannot keep counts: " .. message, 0)
  end
  wanted.folder = folder
  local ok, done, problem = pcall(core.cover, {
    directory = folder, path = absolute(path), cpath = absolute(cpath),
    text = literal(wanted)
  })
  if not ok or not done then
    counts.remove(folder)
    error(ok and problem or done, 0)
  end
  plan = wanted
end

local function write (wanted)
  local counted = counts.take(wanted.folder)
  counts.remove(wanted.folder)
  return report.make(counted, wanted)
end

function suite.finish ()
  if plan and core.uncover() then
    local wanted = plan
    plan = nil
    return write(wanted)
  end
  return true
end

function suite.exiting (text)
  local ok, message = write(assert(load("return " .. text, "=plan", "t", {}))())
  if not ok then
    core.tell("tracegrip: " .. core.escaped(message) .. "\n")
  end
end

return suite
