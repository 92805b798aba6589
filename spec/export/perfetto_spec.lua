-- Trace events as Perfetto takes them in, by its own rules for JSON
-- (json_trace_tokenizer.cc, slice_tracker.cc): times are rounded to whole
-- nanoseconds, events are sorted by them, and each is put above what is still
-- open on its track. One that is not over before what it begins in is dropped,
-- and so is what would be deeper than 512. An arrow belongs to what is open
-- where it begins and ends (flow_tracker.cc, "bp": "e").

local exported = require "spec.export.exported"
local programs = require "spec.export.programs"
local seen = require "spec.export.seen"

local DEEPEST = 512

local function ns (microseconds)
  return math.floor(microseconds * 1000 + 0.5)    -- std::llround
end

-- What has ended leaves the stack; false if the event begins in one that ends
-- before it does.
local function fits (stack, from, to)
  for i = #stack, 1, -1 do
    local ends = stack[i].to
    if ends <= from then
      table.remove(stack, i)
    elseif from < ends and to > ends then
      return false
    end
  end
  return true
end

-- Which slice an arrow's end belongs to: its name and thread.
local function bind (arrows, event, stack)
  local arrow = arrows[event.id] or {}
  arrows[event.id] = arrow
  local slice = stack[#stack]
  arrow[event.arrow] = slice and ("%s on %d"):format(slice.name, event.tid)
                       or "nothing"
end

-- The slices of each track: lists of stacks of names, in order of beginning;
-- names and places of tracks; how many events were dropped; arrows, by id.
local function take_in (doc)
  local tracks, names, order, stacks, dropped = {}, {}, {}, {}, 0
  local arrows = {}
  local events = {}
  for i, event in ipairs(doc.traceEvents) do
    if event.ph == "X" then
      local from = ns(event.ts)
      events[#events + 1] = {tid = event.tid, from = from, place = i,
                             to = from + ns(event.dur), name = event.name,
                             call = event.cat ~= "Coroutine"}
    elseif event.ph == "s" or event.ph == "f" then
      assert(event.bp == "e")
      events[#events + 1] = {tid = event.tid, from = ns(event.ts), place = i,
                             to = ns(event.ts), arrow = event.ph,
                             id = event.id}
    elseif event.name == "thread_name" then
      names[event.tid] = event.args.name
    elseif event.name == "thread_sort_index" then
      order[event.tid] = event.args.sort_index
    end
  end
  table.sort(events, function (a, b)
    return a.from < b.from or a.from == b.from and a.place < b.place
  end)
  for _, event in ipairs(events) do
    local stack = stacks[event.tid] or {}
    stacks[event.tid] = stack
    local fit = fits(stack, event.from, event.to)
    if event.arrow then
      bind(arrows, event, stack)
    elseif not fit or #stack >= DEEPEST then
      dropped = dropped + 1
    else
      stack[#stack + 1] = event
      local path = {}
      for i, open in ipairs(stack) do
        path[i] = open.name:gsub("%(%)$", "")   -- chrome/names.c
      end
      tracks[event.tid] = tracks[event.tid] or {}
      table.insert(tracks[event.tid], event.call and table.concat(path, ";")
                                      or nil)
    end
  end
  return tracks, names, order, dropped, arrows
end

-- The same of packets: what is open of that thread, or of all.
local function stacks_of (steps, thread)
  local list, open = {}, {}
  for _, step in ipairs(steps) do
    if step.opens then
      open[#open + 1] = step
    else
      open[#open] = nil
    end
    if step.opens and (thread == 1 or step.thread == thread) then
      local path = {}
      for _, one in ipairs(open) do
        if thread == 1 or one.thread == thread then
          local name = one.name:gsub("\\xF[FE]", "\u{FFFD}")
          path[#path + 1] = name
        end
      end
      list[#list + 1] = table.concat(path, ";")
    end
  end
  return list
end

describe("what Perfetto makes of trace events", function ()
  for name, program in pairs(programs) do
    it("is every call above its caller, on tracks in their order: " .. name,
    function ()
      local traces = exported.of(program, {
        formats = {"chrome"}, export = {levels = DEEPEST}})
      for _, trace in ipairs(traces) do
        local steps = seen.packets(trace.packets, {depth = DEEPEST})
        local tracks, names, order, dropped
            = take_in(seen.json(trace.text.chrome))
        assert.equal(0, dropped)
        for thread in pairs(seen.by_track(steps)) do
          local wanted, got = stacks_of(steps, thread), tracks[thread] or {}
          assert.equal(#wanted, #got)
          for i, stack in ipairs(wanted) do
            if stack ~= got[i] then
              assert.equal(stack, got[i])
            end
          end
          assert.is_string(names[thread] or #wanted == 0 and "")
          assert.is_true(thread == 1 or order[thread] > order[1])
        end
      end
    end)
  end

  it("is an arrow from each resume to the coroutine's stretch", function ()
    local trace = exported.of([[
      local inner
      local function leaf () coroutine.yield() end
      local function worker ()
        leaf()
        inner = coroutine.wrap(leaf)
        inner()
      end
      start()
      local co = coroutine.wrap(worker)
      co()
      co()
    ]], {formats = {"chrome"}})[1]
    local _, _, _, _, arrows = take_in(seen.json(trace.text.chrome))
    local list = {}
    for _, arrow in pairs(arrows) do
      list[#list + 1] = arrow.s .. " -> " .. arrow.f
    end
    table.sort(list)
    assert.same({"co on 1 -> worker on 2", "co on 1 -> worker on 2",
                 "inner on 2 -> leaf on 3"}, list)
  end)
end)
