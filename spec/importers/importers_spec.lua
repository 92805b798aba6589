-- Exports as the viewers' own importers read them: the same trees, the same
-- times, the same number of calls as tracegrip's report and tree have.
--
-- The importers are npm packages; `make importers` puts them into
-- build/importers. Where there is no Node, nothing can be said here.

local cjson = require "cjson".new()

local expected = require "spec.importers.expected"
local installed = require "spec.importers.installed"
local programs = require "spec.importers.programs"
local run = require "spec.support.run"
local tracegrip = require "tracegrip"

cjson.decode_max_depth(100000)

---------------------------------------------------------------------------
-- What is imported
---------------------------------------------------------------------------

local types = table.concat(tracegrip.traceTypes, ",")

local formats = {"chrome", "cpuprofile", "firefox", "folded", "gecko",
                 "speedscope"}

local function record (directory, name, code)
  local path = directory .. "/" .. name
  run.write(path .. "_program.lua", code)
  local result = run.command({
    run.build .. "/bin/tracegrip", "record", "--trace", types, "-o",
    path .. ".tgr", name .. "_program.lua"}, {cwd = directory})
  assert.equal("", result.stderr)
  return assert(tracegrip.open(path .. ".tgr"))
end

-- Exports all programs; name -> {trace, files = {format -> path}}.
local function prepare (directory)
  local all = {}
  for name, code in pairs(programs) do
    local trace = record(directory, name, code):traces()[1]
    local files = {}
    for _, format in ipairs(formats) do
      files[format] = ("%s/%s.%s"):format(directory, name, format)
      assert(trace:export(format, files[format]))
    end
    all[name] = {trace = trace, files = files, directory = directory}
  end
  return all
end

-- What a script has printed: file -> what it says of it.
local function by_file (printed)
  local list = {}
  for _, one in ipairs(cjson.decode(printed)) do
    list[one.file] = one
  end
  return list
end

-- script -> file -> what it made of it.
local function import_all (all, scripts)
  local files, made = {}, {}
  for script, wanted in pairs(scripts) do
    files[script] = {}
    for _, format in ipairs(wanted) do
      for name in pairs(programs) do
        table.insert(files[script], all[name].files[format])
      end
    end
  end
  for script, printed in pairs(installed.run_all(files)) do
    made[script] = by_file(printed)
  end
  return made
end

local scripts = {
  engine = {"chrome", "cpuprofile"},
  profiler = {"firefox", "gecko", "chrome"},
  speedscope = {"speedscope", "cpuprofile", "folded"}
}

---------------------------------------------------------------------------
-- How names read
---------------------------------------------------------------------------

-- Bytes that are no UTF-8, or their escapes, read as U+FFFD.
local function clean (text)
  local parts, at = {}, 1
  while at <= #text do
    local ok, bad = utf8.len(text, at)
    local last = ok and #text or bad - 1
    parts[#parts + 1] = text:sub(at, last)
    if not ok then
      parts[#parts + 1] = "\u{FFFD}"
      last = bad
    end
    at = last + 1
  end
  return (table.concat(parts):gsub("\\x%x%x", "\u{FFFD}"))
end

local function by_name (node)
  return clean(node.label or node.name)
end

-- Firefox's own locations are one line.
local function in_line (node)
  return (by_name(node):gsub("\n", "\\n"))
end

local function by_place (node)
  return by_name(node) .. "\n" .. clean(node.source or "")
end

-- What DevTools could take for its own has "()" behind it.
local function in_chrome (node)
  return (by_name(node):gsub("%(%)$", ""))
end

local function by_chrome_place (node)
  local source = node.source == "" and "[C]" or node.source
  return in_chrome(node) .. "\n" .. clean(source)
end

-- Line by line and part by part: some characters have a meaning.
local function folded (text)
  return (clean(text):gsub("[\n\t]", {["\n"] = "\\n", ["\t"] = "\\t"})
                     :gsub(";", ":"))
end

-- Names have their place beside them where there are several.
local function by_folded (trace)
  local count = {}
  for _, f in ipairs(trace:report().functions) do
    count[f.name] = (count[f.name] or 0) + 1
  end
  return function (node)
    local source = node.source == "" and "[C]" or node.source
    return folded(count[node.name] == 1 and node.name
                  or ("%s (%s)"):format(node.name, source))
  end
end

local NAMELESS = "(anonymous function)"

-- What reports and viewers call C functions that have no name in packets: by
-- their symbol, or the class whose metamethod they are.
local function symbols_of (trace)
  local named, symbols = {}, {}
  for packet in trace:packets {trace = {"name"}} do
    named[packet.name or ""] = true
  end
  for _, f in ipairs(trace:report().functions) do
    symbols[f.name] = not named[f.name] or nil
  end
  return symbols
end

-- The outermost nodes of all coroutines that begin with the same function, by
-- what stands for them.
local function by_body (trace)
  local own, bodies = expected.own(trace), {}
  for _, thread in ipairs(expected.threads(trace)) do
    local name = thread.number == 1 and "main" or thread.body .. ", coroutine"
    bodies[name] = bodies[name] or {}
    table.move(own[thread.number], 1, #own[thread.number], #bodies[name] + 1,
               bodies[name])
  end
  return bodies
end

---------------------------------------------------------------------------
-- How times may be off
---------------------------------------------------------------------------

local ns, us = 1e-6, 1e-3

-- Numbers that are exact, but added in another order.
local function sums (node)
  return 1e-9 * node.total + 0.01 * ns
end

-- So much at each end of a call and of the calls in it.
local function at_ends (off_ns)
  return function (node)
    local ends = 2 * node.calls
    for _, child in ipairs(node.roots) do
      ends = ends + 2 * child.calls
    end
    return sums(node) + ends * off_ns * ns
  end
end

-- Each sample a nanosecond after the one before, at the least.
local function of_samples (worst)
  return at_ends(worst + 1)
end

-- Rounded up or down in each node; what takes less than a microsecond, to one.
local function microseconds (node)
  local off = sums(node) + us
  for _, child in ipairs(node.roots) do
    off = off + microseconds(child)
  end
  return off
end

---------------------------------------------------------------------------
-- The importers
---------------------------------------------------------------------------

describe("exports", function ()
  local all, made

  local missing = installed.missing()
  if missing then
    it("are read by the viewers' importers", function ()
      pending(missing)
    end)
    return
  end

  lazy_setup(function ()
    all, made = run.within(function (directory)
      local prepared = prepare(directory)
      return prepared, import_all(prepared, scripts)
    end)
  end)

  -- What 'script' made of 'format' of a program, if there is anything.
  local function imported (script, format, name)
    local one = made[script][all[name].files[format]]
    assert.is_nil(one.error)
    return one.threads
  end

  local function check (sentence, use)
    for name in pairs(programs) do
      it(sentence .. ": " .. name, function ()
        use(name, all[name].trace)
      end)
    end
  end

  local function same (wanted, got, how)
    assert.is_nil(expected.difference(wanted, got, how))
  end

  -- The trees of a format's threads: what 'roots_of' says of each. The first
  -- one has all as one stack.
  local function same_threads (name, threads, how, roots_of)
    local trace = all[name].trace
    local wanted = expected.threads(trace)
    local named = {}
    for _, thread in ipairs(threads) do
      named[clean(thread.name)] = thread
    end
    assert.equal(#wanted, #threads)
    for _, thread in ipairs(wanted) do
      local title = thread.number == 1 and #wanted > 1 and "whole program"
                    or thread.name
      local shown = how.name and how.name(thread) or clean(title)
      assert.is_table(named[shown], shown)
      same(thread.number == 1 and expected.roots(trace) or thread.roots,
           roots_of(named[shown]), how)
    end
  end

  local function roots (thread)
    return thread.roots
  end

  local function samples (thread)
    return thread.samples.roots
  end

  local function markers (thread)
    return thread.markers.roots
  end

  -- Without the frames that stand for time in another coroutine, and without
  -- that time: nodes, and how long they waited.
  local function without_waits (nodes)
    local list, waited = {}, 0
    for _, node in ipairs(nodes) do
      if node.name:find "^%(in .*coroutine %d+%)$" then
        waited = waited + node.total
      else
        local inside, waits = without_waits(node.roots)
        local copy = {}
        for key, value in pairs(node) do copy[key] = value end
        copy.roots, copy.total = inside, node.total - waits
        list[#list + 1] = copy
        waited = waited + waits
      end
    end
    return list, waited
  end

  local function by_name_of (threads)
    local named = {}
    for _, thread in ipairs(threads) do
      named[clean(thread.name)] = thread
    end
    return named
  end

  -- The first track has all as one stack, the others have their own time only.
  local function same_tracks (name, threads, how, roots_of)
    local trace = all[name].trace
    local named = by_name_of(threads)
    assert.equal(#expected.threads(trace), #threads)
    local whole = named["whole program"] or named.main
    same(expected.roots(trace), whole and roots_of(whole) or {}, how)
    local own = expected.own(trace)
    for _, thread in ipairs(expected.threads(trace)) do
      if thread.number ~= 1 then
        local shown = named[clean(thread.name)]
        assert.is_table(shown, thread.name)
        same(own[thread.number], (without_waits(roots_of(shown))), how)
      end
    end
  end

  check("chrome, in the engine of DevTools", function (name, trace)
    local threads = imported("engine", "chrome", name)
    for _, thread in ipairs(threads) do
      assert.equal(thread.entries, thread.shown)
    end
    same_tracks(name, threads, {
      reads = by_chrome_place, read = by_chrome_place,
      off = at_ends(expected.worst(trace) + 1)
    }, roots)
  end)

  check("chrome, in the Firefox Profiler", function (name, trace)
    same_tracks(name, imported("profiler", "chrome", name), {
      reads = in_chrome, read = in_chrome,
      off = at_ends(expected.worst(trace) + 1)
    }, markers)
  end)

  -- Self times by what 'read' makes of a function, and how far they may be off.
  -- With a directory files are as paths.
  local function selves (trace, read, directory)
    local wanted, calls = {}, 0
    for _, f in ipairs(trace:report().functions) do
      local source = expected.source(f)
      local key = read {
        name = expected.label(f),
        source = directory and expected.path(source, directory) or source
      }
      wanted[key] = (wanted[key] or 0) + f.self_ms
      calls = calls + f.calls + f.yields
    end
    return wanted, 4 * calls * (expected.worst(trace) + 1) * ns + 1e-6
  end

  local function same_selves (trace, thread, read, directory)
    local got = {}
    for _, node in ipairs(thread.bottomUp) do
      got[read(node)] = node.self
    end
    local wanted, off = selves(trace, read, directory)
    for key, self in pairs(wanted) do
      assert.near(self, got[key] or 0, off, key)
    end
  end

  check("chrome, in the bottom-up table of DevTools", function (name, trace)
    local named = by_name_of(imported("engine", "chrome", name))
    same_selves(trace, named["whole program"] or named.main
                       or {bottomUp = {}}, in_chrome)
  end)

  check("cpuprofile, in the engine of DevTools", function (name, trace)
    local threads = imported("engine", "cpuprofile", name)
    assert.equal(1, #threads)
    same(expected.placed(expected.roots(trace), all[name].directory),
         threads[1].roots, {reads = by_place, read = by_place,
                            off = of_samples(expected.worst(trace))})
  end)

  -- C functions of one name are one there, whatever they are.
  check("cpuprofile, in the bottom-up table of DevTools",
  function (name, trace)
    same_selves(trace, imported("engine", "cpuprofile", name)[1], by_place,
                all[name].directory)
  end)

  check("chrome, in the call tree of DevTools", function (name, trace)
    local named = by_name_of(imported("engine", "chrome", name))
    local whole = named["whole program"] or named.main or {callTree = {}}
    same(expected.roots(trace), whole.callTree, {
      reads = in_chrome, read = in_chrome, calls = false, missing = true,
      off = at_ends(expected.worst(trace) + 1)
    })
  end)

  check("cpuprofile, in the call tree of DevTools", function (name, trace)
    local thread = imported("engine", "cpuprofile", name)[1]
    same(expected.placed(expected.roots(trace), all[name].directory),
         thread.callTree, {
           reads = by_place, read = by_place, calls = false, missing = true,
           off = of_samples(expected.worst(trace))
         })
  end)

  check("cpuprofile, in speedscope", function (name, trace)
    local threads = imported("speedscope", "cpuprofile", name)
    assert.equal(1, #threads)
    same(expected.roots(trace), threads[1].roots,
         {reads = by_name, read = by_name,
          off = of_samples(expected.worst(trace))})
  end)

  check("speedscope, in speedscope", function (name)
    same_tracks(name, imported("speedscope", "speedscope", name),
                {reads = by_place, read = by_place, off = sums}, roots)
  end)

  check("folded, in speedscope", function (name, trace)
    local got = {}
    for _, thread in ipairs(imported("speedscope", "folded", name)[1].roots) do
      got[thread.name] = thread.roots
    end
    local reads, symbols = by_folded(trace), symbols_of(trace)
    local function read (node)
      local shown = clean(node.name)
      return symbols[shown] and reads {name = NAMELESS, source = ""} or shown
    end
    local how = {reads = reads, read = read, calls = false, missing = true,
                 off = microseconds}
    for name_of_body, own in pairs(by_body(trace)) do
      local key = folded(name_of_body)
      same(own, got[key] or {}, how)
      got[key] = nil
    end
    assert.is_nil(next(got))
  end)

  check("firefox, in the Firefox Profiler", function (name)
    local threads = imported("profiler", "firefox", name)
    same_threads(name, threads, {
      reads = by_name, read = by_name, off = at_ends(1)
    }, markers)
    same_threads(name, threads, {
      reads = by_name, read = by_name, off = sums, calls = false,
      missing = true
    }, samples)
    assert.equal("tracing-ms", threads[1].samples.weightType)
  end)

  -- What a log has before the arguments of a call, and behind those of one that
  -- an error left.
  local function is_line (packet, line, symbols)
    local place = packet.location
    if packet.name == NAMELESS and symbols[line:match "^[^(]*"] then
      return place.url == "[C]"
    end
    local label = expected.label {name = packet.name, url = place.url,
                                  line = place.line}
    local head = clean(label) .. (packet.resumed and " resumed" or "(")
    return line:sub(1, #head) == head
  end

  check("firefox, in the marker table", function (name, trace)
    local lines = imported("profiler", "firefox", name)[1].markers.lines
    local entries, thrown, symbols = {}, 0, symbols_of(trace)
    for packet in trace:packets {trace = {"name", "location", "thread",
                                        "time"}} do
      if not packet.why then
        entries[#entries + 1] = packet
      elseif packet.why == "exception" then
        thrown = thrown + 1
      end
    end
    assert.equal(#entries, #lines)
    for i, packet in ipairs(entries) do
      assert.is_true(is_line(packet, lines[i], symbols), lines[i])
      thrown = thrown - (lines[i]:find(" !! error", 1, true) and 1 or 0)
    end
    assert.equal(0, thrown)
  end)

  check("gecko, in the Firefox Profiler", function (name)
    local threads = imported("profiler", "gecko", name)
    local interval = threads[1].samples.interval
    local function shown (thread)
      return thread.number == 1 and "GeckoMain" or clean(thread.name)
    end
    same_threads(name, threads, {
      reads = in_line, read = by_name, name = shown,
      off = at_ends(1)
    }, markers)
    same_threads(name, threads, {
      reads = in_line, read = by_name, name = shown, calls = false,
      missing = true, off = at_ends(interval / ns)
    }, samples)
  end)
end)
