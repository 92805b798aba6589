-- heap.lua - tracegrip heap: snapshots of all objects of a Lua state, taken of
-- a process or a core; and what is in them: who keeps what alive, what grows.

local columns = require "tracegrip.cli.columns"
local core = require "tracegrip.core"
local heapfile = require "tracegrip.cli.heapfile"
local heaptext = require "tracegrip.cli.heaptext"
local json = require "tracegrip.cli.json"
local main = require "tracegrip.cli.main"
local meter = require "tracegrip.cli.meter"
local options = require "tracegrip.options"
local program = require "tracegrip.cli.program"
local recording = require "tracegrip.cli.recording"
local remoteheap = require "tracegrip.cli.remoteheap"
local server = require "tracegrip.cli.server"
local targets = require "tracegrip.target"
local units = require "tracegrip.cli.units"
core.own()

local LIMIT, WAYS, MOST = 20, 5, 2^31 | 0

local heap = {
  summary = "Takes a snapshot of a Lua heap, or tells what is in one.",
  description = "Writes all objects of a process that runs Lua, of a program "
    .. "that listens elsewhere (see serve), or of a core, "
    .. "to a .heapsnapshot, which Chrome's DevTools open; nothing has to be "
    .. "prepared or loaded in a process, and it stands still for the copy of "
    .. "its memory alone. Of a .heapsnapshot, V8's own too, it shows what "
    .. "there is by class and who keeps it alive.",
  usage = "[options] PID | HOST:PORT | unix:PATH | CORE | FILE...\n"
          .. "       tracegrip heap [options] -- script.lua [arguments]",
  dashes = true,
  options = options.joined({
    {name = "out", flag = "-o --out", metavar = "FILE",
     group = "Of a process or a core",
     help = "The snapshot (default: NAME.heapsnapshot); of a script, too, "
            .. "and with who made each object if it ends in .heaptimeline. "
            .. "A page of it if it ends in .html, also of a snapshot."},
    {name = "fork", flag = "--fork", value = true,
     group = "Of a process or a core",
     help = "A process stands still for a fork of it alone: one of its "
            .. "threads is made to call that (x86-64)."},
    {name = "exe", metavar = "FILE", group = "Of a process or a core",
     help = "Of a core: the program, where it is not where it was."},
    {name = "sysroot", metavar = "DIR", group = "Of a process or a core",
     help = "Of a core: where the files of the machine that it is from are."},
    {name = "growing", flag = "--growing", value = true,
     group = "Of snapshots",
     help = "What grows from each file to the next, and who keeps it."},
    {name = "diff", metavar = "OLD", group = "Of snapshots",
     help = "What has come and gone since OLD."},
    {name = "way", flag = "--path", metavar = "ID", kind = "count",
     group = "Of snapshots", help = "The shortest ways from the roots to an "
                                    .. "object."},
    {name = "find", metavar = "TEXT", group = "Of snapshots",
     help = "Objects whose class, name or text has TEXT in it."},
    {name = "duplicates", flag = "--duplicates", value = true,
     group = "Of snapshots",
     help = "Equal strings, and tables that refer to the same objects."},
    {name = "empty", flag = "--empty", value = true, group = "Of snapshots",
     help = "Objects that refer to nothing."},
    {name = "makers", flag = "--makers", value = true, group = "Of snapshots",
     help = "Who made what is alive, by the way of calls, of a snapshot that "
            .. "was taken while a trace with memory ran (docs/heap.md)."},
    {name = "limit", kind = "limit", metavar = "N", default = tostring(LIMIT),
     group = "What is shown", help = "Rows of each table."},
    {name = "json", flag = "--json", value = true, group = "What is shown",
     help = "For programs: one JSON object."},
  }, server.options)
}

function heap.declare (parser)
  parser:argument("targets"):args "+"
    :description("A process's number, where a program listens, a core, or "
                 .. "snapshots; after '--' a script that is run: the "
                 .. "snapshot is of its end.")
end

---------------------------------------------------------------------------
-- What is meant
---------------------------------------------------------------------------

-- Digits are a process, what is no file may be an address.
local function kind_of (text)
  local pid = text:find "^%d+$" and math.tointeger(tonumber(text))
  if pid and pid > 0 and pid < 2^31 then
    return "process", pid
  elseif not pid and not core.filetype(text) and server.address(text) then
    return "address", text
  elseif pid or core.filetype(text) ~= "file" then
    main.misuse("%s is neither the number of a process nor an address nor a "
                .. "file", text)
  end
  local found, message = heapfile.is_snapshot(text)
  if found == nil then
    main.fail("%s", message)
  end
  return found and "snapshot" or "core", text
end

local questions = {"growing", "diff", "way", "find", "duplicates", "empty",
                   "makers"}

-- Which of the questions is asked; nil: none.
local function question_of (parsed)
  local found
  for _, name in ipairs(questions) do
    if parsed[name] then
      if found then
        main.misuse("--%s and --%s are two questions",
                    found == "way" and "path" or found,
                    name == "way" and "path" or name)
      end
      found = name
    end
  end
  return found
end

---------------------------------------------------------------------------
-- A snapshot is taken
---------------------------------------------------------------------------

local function name_of (kind, target)
  if kind == "process" then
    return ("%d.heapsnapshot"):format(target)
  end
  return target:match "[^/]*$":gsub("%.%w+$", "") .. ".heapsnapshot"
end

local function rows_of (result, path)
  local rows = {("%s: %s, %s"):format(
    columns.clean(path), units.several(result.objects, "object"),
    units.bytes(result.bytes))}
  rows[#rows + 1] = ("%s to be collected; %s"):format(
    units.bytes(result.garbage),
    result.stopped_ms > 0 and "stopped for " .. units.span(result.stopped_ms)
    or "not stopped")
  if (result.states or 1) > 1 then
    rows[#rows + 1] = ("the largest of %d states"):format(result.states)
  end
  return rows
end

-- The page that was asked for, of the snapshot; what stands in its place.
local function write_page (parsed, path)
  local title = heapfile.name_of(parsed.page):gsub("%.html?%f[.\0].*", "")
  heapfile.write_page(path, title, parsed.page)
  os.remove(path)
  return parsed.page
end

local function tell (parsed, path, result)
  if result.bytes ~= result.state_bytes then
    main.note("the objects are %.0f bytes, the state says %.0f: it was in the "
              .. "middle of something", result.bytes, result.state_bytes)
  end
  if (result.distant or 0) > 0 then
    main.note("%s further away than 6 GiB from the heap and from the maps: "
              .. "such an object's id may be another's, too",
              result.distant == 1 and "one object is"
              or units.count(result.distant) .. " objects are")
  end
  if result.ended then
    main.note("nobody knows who made the objects: the trace that tells has "
              .. "ended before (%s)", result.ended)
  end
  if result.unmade then
    main.note("nobody knows who made the objects: no trace with memory runs "
              .. "there whose events are all to be had")
  end
  result.unmade = nil
  if parsed.page then
    path = write_page(parsed, path)
  end
  if result.left then
    main.note("what is left of the fork, process %d, stays in the table of "
              .. "processes until the program ends", result.left)
  end
  if parsed.json then
    recording.write(json.text(result))
  else
    recording.write_rows(rows_of(result, path))
  end
end

local function take (parsed, kind, target)
  local makers = parsed.out and heapfile.is_timeline(parsed.out)
  if kind == "address" then
    parsed.address = target
    local result, path = remoteheap.take(parsed)
    result.unmade = makers and (result.made or 0) == 0
    return tell(parsed, path, result)
  elseif makers then
    main.misuse("%s would have who made the objects, which is known of a "
                .. "script (-- script.lua) and of a program that listens "
                .. "(HOST:PORT) alone", parsed.out)
  end
  local path = parsed.out or name_of(kind, target)
  local result, message = core.heap(target, path, {exe = parsed.exe,
                                                   sysroot = parsed.sysroot,
                                                   fork = parsed.fork})
  if not result then
    main.fail("%s", message)
  end
  tell(parsed, path, result)
end

-- Of a script at its end. What was taken it leaves in a file, as a table; the
-- script's own output comes before what we say, and its status is ours.
local function take_at_end (parsed)
  local words = parsed.targets
  local script = table.remove(words, 1)
  local path = parsed.out or name_of("script", script)
  local told = os.tmpname()
  os.remove(told)
  local absolute, message = targets.absolute(path)
  if not absolute then
    main.fail("%s", message)
  end
  program.must_load(script, words)
  local how, status = program.follow(script, words, "snapshotAtEnd", {
    path = absolute, told = told, watch = heapfile.is_timeline(path) and {
      trace = {"name", "allocations"}
    } or nil
  })
  local text = core.filetype(told) and core.contents(told)
  os.remove(told)
  local chunk = text and load("return " .. text, "=told", "t", {})
  local result = chunk and chunk()
  local taken = result and not result.failed
  if not how then
    main.fail("cannot run the program: %s", status)
  elseif taken then
    tell(parsed, path, result)
  elseif result then
    main.note("there is no snapshot: %s", result.failed)
  else
    main.note "there is no snapshot: the program ended without a word"
  end
  if how == "signal" then
    core.die(status)
  end
  return not taken and status == 0 and 1 or status
end

---------------------------------------------------------------------------
-- Snapshots are read
---------------------------------------------------------------------------

-- "all" is no number, and nothing said what is usual.
local function limit_of (parsed, usual)
  return parsed.limit == nil and usual or tonumber(parsed.limit) or MOST
end

local function request_of (parsed, question, files)
  local request = {what = question or "summary", files = files,
                   limit = limit_of(parsed, LIMIT), json = parsed.json}
  if question == "way" then
    request.what, request.id = "paths", parsed.way
    request.limit = limit_of(parsed, WAYS)
  elseif question == "find" then
    request.word = parsed.find
  elseif question == "diff" then
    request.files = {files[1], parsed.diff}
  end
  return request
end

local function check (question, files)
  if question == "growing" then
    if #files < 2 then
      main.misuse("--growing takes two snapshots or more, three are better")
    end
  elseif #files > 1 then
    main.misuse("more than one snapshot is for --growing")
  end
end

local function read (parsed, question, files)
  check(question, files)
  local request = request_of(parsed, question, files)
  local document, message = meter.during("reading", function ()
    return core.heapview(request)
  end)
  if not document then
    main.fail("%s", message)
  elseif parsed.json then
    recording.write(document .. "\n")
  else
    recording.write_rows(heaptext[request.what](document, recording.width()))
  end
end

---------------------------------------------------------------------------
-- The command
---------------------------------------------------------------------------

local function export (parsed, question, files)
  if question or #files > 1 then
    main.misuse("a page is of one snapshot, without another question")
  end
  local text = heapfile.write_page(files[1], heapfile.name_of(files[1]),
                                   parsed.page)
  main.note("%s: %s", parsed.page, text)
end

local function run (parsed)
  main.needs_file(parsed.out, "a snapshot")
  local question = question_of(parsed)
  if parsed.dashes then
    if question or parsed.exe or parsed.sysroot or parsed.fork then
      main.misuse("with a script goes -o alone")
    end
    return take_at_end(parsed)
  end
  local kind, target = kind_of(parsed.targets[1])
  if kind ~= "snapshot" then
    if #parsed.targets > 1 then
      main.misuse("one process or core at a time")
    elseif question then
      main.misuse("%s is no snapshot: first tracegrip heap %s -o FILE",
                  parsed.targets[1], parsed.targets[1])
    end
    if parsed.fork and kind ~= "process" then
      main.misuse("--fork is for a process: %s is none", parsed.targets[1])
    end
    return take(parsed, kind, target)
  end
  if parsed.out and not parsed.page or parsed.exe or parsed.sysroot
     or parsed.fork then
    main.misuse("-o, --exe, --sysroot and --fork are for a process or a "
                .. "core; -o X.html is for snapshots, too")
  elseif parsed.page then
    return export(parsed, question, parsed.targets)
  end
  read(parsed, question, parsed.targets)
end

-- Of a page the snapshot itself is not kept.
function heap.run (parsed)
  if not (parsed.out and heapfile.is_page(parsed.out)) then
    return run(parsed)
  end
  local path, _ <close> = heapfile.passing()
  parsed.page, parsed.out = parsed.out, path
  return run(parsed)
end

return heap
