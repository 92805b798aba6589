-- The program's markers as the viewers' own importers read them.

local cjson = require "cjson"

local installed = require "spec.importers.installed"
local run = require "spec.support.run"
local tracegrip = require "tracegrip"

local program = [[
local console = require "tracegrip.console"
local function work (n)
  console.log("in work", n)
  console.time "inner"
  for i = 1, 2000 * n do end
  console.timeEnd "inner"
end
console.time "outer"
work(1)
coroutine.wrap(function () work(2) console.warn "late" end)()
console.timeEnd "outer"
console.timeStamp "done"
]]

local function import (script, file)
  local threads = {}
  local one = cjson.decode(installed.run(script, {file}))[1]
  assert.is_nil(one.error)
  for _, thread in ipairs(one.threads) do
    threads[thread.name] = threads[thread.name] or thread
  end
  return threads, one.threads
end

-- All calls and instants of a thread, by name: how often.
local function names_of (nodes, names)
  names = names or {}
  for _, node in ipairs(nodes) do
    names[node.name] = (names[node.name] or 0) + node.calls
    names_of(node.roots, names)
  end
  return names
end

describe("markers", function ()
  local missing = installed.missing()
  if missing then
    it("are read by the viewers' importers", function ()
      pending(missing)
    end)
    return
  end

  -- Calls use (threads, list, markers) with what a script makes of a format;
  -- the markers are those of the packets.
  local function exported (format, script, use)
    run.within(function (directory)
      run.write(directory .. "/p.lua", program)
      local result = run.command({run.build .. "/bin/tracegrip", "record",
                                  "-o", directory .. "/rec", "p.lua"},
                                 {cwd = directory})
      assert.equal("", result.stderr)
      local trace = assert(tracegrip.open(directory .. "/rec")):traces()[1]
      local markers = {}
      for packet in trace:packets {raw = false} do
        if packet.type == "marker" then
          markers[#markers + 1] = packet
        end
      end
      local file = directory .. "/exported"
      assert(trace:export(format, file))
      local threads, list = import(script, file)
      use(threads, list, markers)
    end)
  end

  it("of chrome are in DevTools' tracks, timers on tracks of their own",
     function ()
    exported("chrome", "engine", function (threads, list, markers)
      local whole = threads["whole program"]
      assert.equal(whole.entries, whole.shown)
      local names = names_of(whole.roots)
      assert.equal(2, names["log: in work"])
      assert.equal(1, names["warn: late"])
      assert.equal(1, names.done)
      local timers, lanes = {}, 0
      for _, thread in ipairs(list) do
        if thread.name == "timers" then
          lanes = lanes + 1
          for _, node in ipairs(thread.roots) do
            timers[node.name] = (timers[node.name] or 0) + node.total
          end
        end
      end
      assert.equal(2, lanes)
      local wanted = {}
      for _, packet in ipairs(markers) do
        if packet.duration then
          local label = packet.arguments.values[1]
          wanted[label] = (wanted[label] or 0) + packet.duration
        end
      end
      assert.near(wanted.inner, timers.inner, 1e-5)
      assert.near(wanted.outer, timers.outer, 1e-5)
    end)
  end)

  for _, format in ipairs {"firefox", "gecko"} do
    it("of " .. format .. " are in the Firefox Profiler's table", function ()
      exported(format, "profiler", function (threads, _, markers)
        local whole = threads["whole program"] or threads.GeckoMain
        local said = {}
        for _, one in ipairs(whole.markers.said) do
          said[#said + 1] = one.name .. " " .. one.label
          assert.equal(one.name == "Timer", type(one.duration) == "number")
        end
        table.sort(said)
        assert.same({
          "Console log \"in work\", 1", "Console log \"in work\", 2",
          "Console time \"inner\"", "Console time \"inner\"",
          "Console time \"outer\"", "Console timeStamp \"done\"",
          "Console warn \"late\"", "Timer inner", "Timer inner", "Timer outer"
        }, said)
        assert.equal(#markers, #said)
      end)
    end)
  end
end)
