-- spying.lua - samples of a process that runs, with nothing prepared in it:
-- what record and top do with --pid.
--
-- The process is looked at from here (core.spy), in turns with the loop, which
-- has signals and keys.

local commandline = require "tracegrip.cli.commandline"
local core = require "tracegrip.core"
local descendants = require "tracegrip.cli.descendants"
local export = require "tracegrip.cli.export"
local main = require "tracegrip.cli.main"
local recording = require "tracegrip.cli.recording"
local signals = require "tracegrip.cli.signals"
local target = require "tracegrip.target"
local units = require "tracegrip.cli.units"
core.own()

local spying = {}

spying.RATE = 1000          -- samples a second, if nothing is said
local TURN_MS = 50          -- of looking at a time

spying.pid = {name = "pid", kind = "process", metavar = "PID",
              group = "The program",
              help = "Take samples of a process that runs any Lua that dump "
                     .. "knows, with nothing prepared in it. --sample, --wall "
                     .. "and --duration are for that, too."}

spying.stop = {name = "stop", flag = "--stop", value = true,
               group = "The program",
               help = "With --pid: the thread that runs Lua stands still for "
                      .. "a moment at each sample, so that none is torn."}

spying.native = {name = "native", flag = "--native", value = true,
                 group = "The program",
                 help = "With --pid: C frames between Lua frames, too: what C "
                        .. "functions call, and who has called Lua. Needs "
                        .. "libdw (package libdw1, or elfutils)."}

spying.outside = {name = "outside", flag = "--outside", value = true,
                  group = "The program",
                  help = "Take samples of the program from outside, as with "
                         .. "--pid: nothing is loaded into it, and after '--' "
                         .. "it may be of any Lua that dump knows."}

---------------------------------------------------------------------------
-- The process
---------------------------------------------------------------------------

-- The words of its command line; of none its number.
function spying.title (pid)
  local text = commandline(pid)
  return text ~= "" and text or ("process %d"):format(pid)
end

-- What is looked at, or nil, message, code. 'plan' is that of a recording, or
-- nil; 'profiled': it is added up as well.
local function try (parsed, plan, profiled)
  return core.spy(parsed.pid, {
    sample = parsed.sample or spying.RATE, wall = parsed.wall,
    stop = parsed.stop, native = parsed.native
  }, plan, profiled)
end

-- The same, or the command's failure.
function spying.open (parsed, plan, profiled)
  local spy, message = try(parsed, plan, profiled)
  if not spy then
    main.fail("%s", message)
  end
  return spy
end

local endings = {
  ended = "process %d has ended",
  changed = "process %d runs another program now",
  full = "there is no room for further samples of process %d"
}

-- Takes samples until the process ends, or 'over' says so, which is asked now
-- and then, as the loop turns. What ended it, in words; nil: 'over' did.
function spying.follow (spy, pid, over)
  local uv = main.luv()
  while true do
    local state, message = spy:run(TURN_MS)
    if not state then
      main.fail("cannot write: %s", message)
    elseif endings[state] then
      return endings[state]:format(pid)
    end
    uv.run "nowait"
    if over() then
      return nil
    end
  end
end

-- Reasons that are no sample's.
local beside = {threads = true, ticks = true, states = true, native = true}

-- What a recording tells as samples.dropped, in words: "3 samples torn and
-- given up (code 1, slot 2)", "1 thread not looked at ...". A list, empty if
-- nothing was lost.
function spying.losses (dropped)
  local reasons, sum, notes = {}, 0, {}
  for reason, n in pairs(dropped) do
    if not beside[reason] then
      reasons[#reasons + 1] = ("%s %s"):format(reason, units.count(n))
      sum = sum + n
    end
  end
  table.sort(reasons)
  if sum > 0 then
    notes[1] = ("%s torn and given up (%s)"):format(
      units.several(sum, "sample"), table.concat(reasons, ", "))
  end
  if dropped.threads then
    notes[#notes + 1] = units.several(dropped.threads, "thread")
                        .. " not looked at (there are too many)"
  end
  if dropped.states then
    notes[#notes + 1] = units.several(dropped.states, "state")
                        .. " not looked at (there are too many)"
  end
  if dropped.ticks then
    notes[#notes + 1] = units.several(dropped.ticks, "tick")
                        .. " lost (they came too fast)"
  end
  if dropped.native then
    notes[#notes + 1] = units.several(dropped.native, "sample")
                        .. " without C frames"
  end
  return notes
end

---------------------------------------------------------------------------
-- A recording
---------------------------------------------------------------------------

-- The format whose files are named so, the longest ending first; nil: none.
function spying.format (path)
  local found, length = nil, 0
  for _, format in ipairs(core.exportFormats()) do
    for _, ending in ipairs {format.ending, (format.ending:gsub("%.gz$", ""))}
    do
      if #ending > length and path:sub(-#ending) == ending then
        found, length = format.name, #ending
      end
    end
  end
  return found
end

-- Calls act(left), where left() says whether somebody has asked us to leave.
local function with_signals (act)
  local uv <const> = main.luv()
  local left = false
  local handles = signals.ends(function () left = true end)
  local done, failure = pcall(act, function () return left end)
  for _, handle in ipairs(handles) do
    handle:close()
  end
  uv.run "nowait"
  if not done then
    error(failure, 0)
  end
end

-- When 'parsed' says that it is enough; nil: never.
local function deadline (parsed)
  return parsed.duration and main.luv().hrtime() + parsed.duration * 1e6
end

-- What it has started, if that was asked for.
local function family_of (parsed)
  return descendants.new(parsed, spying.format(parsed.output) ~= nil)
end

-- Until somebody says so, or for as long as was asked for.
local function wait (parsed, spy, family, left)
  local uv <const> = main.luv()
  local stop = deadline(parsed)
  return spying.follow(spy, parsed.pid, function ()
    if family then
      family:look()
    end
    return left() or stop and uv.hrtime() >= stop or descendants.orphaned()
  end)
end

-- What was recorded, in a line of its own.
local function conclude (parsed, counts, ending)
  local parts = {units.several(counts.taken, "sample")}
  local losses = spying.losses(counts.dropped)
  table.move(losses, 1, #losses, #parts + 1, parts)
  if counts.taken == 0 and not parsed.wall then
    parts[#parts + 1] = "it has not run (--wall shows what it waits in)"
  end
  main.note("%s%s: %s", ending and ending .. "; " or "", parsed.output,
            table.concat(parts, ", "))
end

-- The plan of a recording at 'path'.
local function plan_of (parsed, path)
  return {path = path, name = "samples", program = spying.title(parsed.pid),
          force = parsed.force}
end

local function finish (spy, path)
  local ok, message = spy:finish()
  if not ok then
    main.fail("cannot write %s: %s", path, message)
  end
end

-- Whether somebody's descendant was a fork that had yet to become what it was
-- made for: so long it is a copy of the program that has made it.
local function was_passing (parsed, spy, ending)
  return descendants.is_one() and spy:counts().taken == 0
         and ending == endings.changed:format(parsed.pid)
end

-- Samples of a process that runs, into the recording at 'path'.
local function take (parsed, path)
  local spy <close> = spying.open(parsed, plan_of(parsed, path))
  local family = family_of(parsed)
  if family then
    family.spy = spy
  end
  with_signals(function (left)
    main.note("looking at process %d; Ctrl-C ends that, the process goes on",
              parsed.pid)
    local ending = wait(parsed, spy, family, left)
    finish(spy, path)
    if was_passing(parsed, spy, ending) then
      os.remove(path)
      main.fail("%s, and had not run", ending)
    end
    conclude(parsed, spy:counts(), ending)
    if family then
      family:finish()
    end
  end)
end

---------------------------------------------------------------------------
-- A program of our own
---------------------------------------------------------------------------

local STARTING_NS = 3e9     -- for a Lua that is known to be there
local NAP_MS = 20           -- between looks for one, at most

-- Of a Lua that has just been mapped: a file of it may still be missing, and it
-- has no state yet.
local passing = {unknown = true, unfit = true}

-- Its Lua is not there at once, and not whole when it is there first: what is
-- refused is asked again, each time a little later. nil: the program has ended
-- before; then how.
local function meet (parsed, path, family)
  local uv <const> = main.luv()
  local nap, since = 1, nil
  while true do
    if family then
      family:look()
    end
    local spy, message, code = try(parsed, plan_of(parsed, path))
    if spy then
      return spy
    end
    local how, status = core.ended()
    since = passing[code] and (since or uv.hrtime()) or nil
    if how then
      return nil, how, status
    elseif code == "forbidden" or math.type(code)
           or since and uv.hrtime() - since > STARTING_NS then
      return nil, nil, message
    end
    uv.sleep(nap // 1)
    nap = math.min(nap * 1.1, NAP_MS)
  end
end

-- Waits for its end, however often it is looked at meanwhile. 'spy', if there
-- is one, takes no samples any more.
local function await (family, spy)
  local uv <const> = main.luv()
  local how, status = core.ended()
  while not how do
    uv.sleep(20)
    if spy then
      spy:release()
    end
    if family then
      family:look()
    end
    how, status = core.ended()
  end
  return how, status
end

-- Takes samples of it until it ends, or for as long as was asked for.
local function look (parsed, spy, path, family)
  local uv <const> = main.luv()
  local stop, how, status = deadline(parsed), nil, nil
  local ending = spying.follow(spy, parsed.pid, function ()
    if family then
      family:look()
    end
    how, status = core.ended()
    return how or stop and uv.hrtime() >= stop
  end)
  finish(spy, path)
  if not how then
    how, status = await(family, spy)
  end
  conclude(parsed, spy:counts(), not how and ending)
  return how, status
end

-- How the program has ended, and whether samples of it were taken.
local function attend (parsed, path, family)
  local spy, how, status = meet(parsed, path, family)
  if spy then
    local keeper <close> = spy
    if family then
      family.spy = spy
    end
    how, status = look(parsed, keeper, path, family)
    return how, status, true
  elseif not how then
    main.note("no samples are taken: %s", status)
    return await(family)
  end
  main.note("no samples were taken: the program ended before its Lua was found")
  return how, status
end

-- The same of the program that 'launch' starts, and of those that it starts.
local function take_own (parsed, path, launch)
  local pid, message = launch()
  if not pid then
    main.fail("cannot run the program: %s", message)
  end
  parsed.pid = pid
  local family = family_of(parsed)
  local how, status, taken = attend(parsed, path, family)
  local others = family and family:finish() or 0
  return how, status, taken or others > 0
end

---------------------------------------------------------------------------
-- The command
---------------------------------------------------------------------------

-- A file of another format is made of a recording that nobody keeps. What
-- 'act' gives, which makes it at the path that it is given.
local function exported (parsed, format, act)
  local ok, message = target.spares(parsed.output)
  if not ok then
    main.fail("cannot write: %s", message)
  end
  local folder, trouble = core.scratch "tracegrip-spy"
  if not folder then
    main.fail("cannot write: %s", trouble)
  end
  local path = folder .. "/samples.tgr"
  local results = table.pack(pcall(function ()
    local results = table.pack(act(path))
    if core.filetype(path) then
      local trace = recording.trace(path)
      local result, words = export.write({format = format, file = path},
                                         trace, parsed.output)
      if not result then
        main.fail("%s", words)
      end
      main.note("%s: %s", parsed.output, export.told(result, trace, format))
    end
    return table.unpack(results, 1, results.n)
  end))
  os.remove(path)
  os.remove(folder)
  if not results[1] then
    error(results[2], 0)
  end
  return table.unpack(results, 2, results.n)
end

-- 'prepare' makes sure that a recording can be written (record.prepare).
local function into_file (parsed, prepare, act)
  local format = spying.format(parsed.output)
  if format then
    return exported(parsed, format, act)
  end
  prepare(parsed.output, parsed.force)
  local path, message = target.absolute(parsed.output)
  if not path then
    main.fail("cannot write the recording: %s", message)
  end
  return act(path)
end

-- Of a process that runs.
function spying.record (parsed, prepare)
  into_file(parsed, prepare, function (path) take(parsed, path) end)
  return 0
end

-- Of a program that launch() starts, which gives its number, or nil, message.
-- How it has ended: "exit" or "signal", and a number; whether samples were
-- taken.
function spying.record_own (parsed, prepare, launch)
  return into_file(parsed, prepare, function (path)
    return take_own(parsed, path, launch)
  end)
end

return spying
