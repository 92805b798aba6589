-- What report, tree and info make of what they are told; see
-- recordings_spec.lua for the commands themselves.

local diff = require "tracegrip.cli.diff"
local info = require "tracegrip.cli.info"
local recording = require "tracegrip.cli.recording"
local report = require "tracegrip.cli.report"
local tree = require "tracegrip.cli.tree"

local function row (name, line, calls, self_ms, total_ms, more)
  local one = {
    name = name, url = line and "a.lua", line = line, calls = calls,
    self_ms = self_ms, total_ms = total_ms, min_ms = total_ms / calls,
    mean_ms = total_ms / calls, max_ms = total_ms / calls, throws = 0,
    yields = 0
  }
  for key, value in pairs(more or {}) do
    one[key] = value
  end
  return one
end

local function shows (expected, lines)
  assert.equal(expected:gsub("\n *$", ""), table.concat(lines, "\n"))
end

local result = {
  duration_ms = 10, events = 26, lost = 0, functions = {
    row("slow", 5, 2, 1, 8), row("main", 0, 1, 2, 9.5),
    row("string.gsub", nil, 10, 6.5, 6.5)
  }
}

-- luacheck: no max line length

describe("a report", function ()
  it("has a row for every function, the most expensive first", function ()
    shows([[
calls     self      %    total      %      min     mean      max  function              where
   10  6.50 ms  65.0%  6.50 ms  65.0%   650 µs   650 µs   650 µs  string.gsub
    1  2.00 ms  20.0%  9.50 ms  95.0%  9.50 ms  9.50 ms  9.50 ms  main                  a.lua
    2  1.00 ms  10.0%  8.00 ms  80.0%  4.00 ms  4.00 ms  4.00 ms  slow                  a.lua:5
        500 µs   5.0%                                             (no traced function)]],
      report.format(result, "self", 30))
  end)

  it("is sorted by what is asked for", function ()
    local function first (by)
      return report.format(result, by, 30)[2]:match "s  (%a[%w.]+)"
    end
    assert.equal("string.gsub", first "self")
    assert.equal("main", first "total")
    assert.equal("string.gsub", first "calls")
  end)

  it("has the lines of functions below them, if it knows them", function ()
    local function line (number, self_ms, samples)
      return {line = number, self_ms = self_ms, self_error_ms = 0.1,
              samples = samples}
    end
    local f = row("slow", 5, 0, 8, 10)
    f.lines = {line(7, 5, 50), line(0, 2, 20), line(6, 1, 10), line(9, 0, 0)}
    local sampled = {duration_ms = 10, idle_ms = 2, events = 4, samples = 80,
                     functions = {f}}
    local text = table.concat(report.format(sampled, "self", 30), "\n")
    assert.matches("\n8.00 ms +100.0%% [^\n]+ slow [^\n]+ a.lua:5\n"
                   .. "5.00 ms +62.5%% +1.2%% +line 7 +a.lua:7\n"
                   .. "2.00 ms +25.0%% +1.2%% +line not known\n"
                   .. "1.00 ms +12.5%% +1.2%% +line 6 +a.lua:6\n"
                   .. "2.00 ms +[^\n]*%(not running%)", text)
    for i = 1, 12 do
      f.lines[i] = line(20 + i, 0.5, 5)
    end
    local lines = report.format(sampled, "self", 30)
    assert.matches("^1.00 ms +12.5%% +… 2 more lines %(%-%-limit%)$",
                   lines[#lines - 1])
    assert.equal(2, #report.format(sampled, "self", math.huge) - #lines + 1)
  end)

  it("tells how many functions are not shown", function ()
    local lines = report.format(result, "self", 1)
    assert.equal("… 2 more functions (--limit)", lines[#lines])
    lines = report.format(result, "self", 2)
    assert.equal("… 1 more function (--limit)", lines[#lines])
  end)

  it("leaves out averages and parts on a narrow terminal", function ()
    shows([[
calls     self      %    total      %  function              where
   10  6.50 ms  65.0%  6.50 ms  65.0%  string.gsub
    1  2.00 ms  20.0%  9.50 ms  95.0%  main                  a.lua
    2  1.00 ms  10.0%  8.00 ms  80.0%  slow                  a.lua:5
        500 µs   5.0%                  (no traced function)]],
      report.format(result, "self", 30, 70))
  end)

  it("counts errors and yields where there are any", function ()
    local lines = report.format({
      duration_ms = 1, functions = {row("f", 1, 3, 1, 1, {throws = 2})}
    }, "self", 30, 70)
    assert.matches(" throws  function", lines[1])
    assert.matches("      2  f ", lines[2])
  end)

  it("of nothing is a heading", function ()
    assert.equal(1, #report.format({duration_ms = 0, functions = {}}, "self",
                                  30))
  end)

  it("begins with what the recording is", function ()
    local about = {path = "x.tgr", program = "a.lua"}
    assert.equal("a.lua: 10.0 ms, 26 events",
                 recording.heading(about, nil, result, {}))
    assert.equal(
      "a.lua, trace load: 10.0 ms, 26 events, "
      .. "lost 3 events (the buffer was full), 1 event (no memory)",
      recording.heading(about, "load", {
        duration_ms = 10, events = 26
      }, {overflow = 3, memory = 1}))
  end)
end)

describe("a comparison", function ()
  local old = {duration_ms = 10, events = 9, lost = 0, functions = {
    row("same", 1, 1, 1, 1), row("slow", 5, 2, 1, 8),
    row("fast", 9, 1, 3, 3), row("gone", 20, 1, 0.5, 0.5),
  }}
  local new = {duration_ms = 12, events = 9, lost = 0, functions = {
    row("same", 2, 1, 1, 1), row("slow", 6, 4, 3.5, 9),
    row("fast", 9, 1, 1.5, 1.5), row("new", 30, 7, 0.25, 0.25),
  }}

  it("has the largest change of self time first", function ()
    local result_ = diff.compare(old, new, "self")
    shows([[
self change        %      old      new  calls  function  where
   +2.50 ms  +250.0%  1.00 ms  3.50 ms  2 → 4  slow      a.lua:6
   -1.50 ms   -50.0%  3.00 ms  1.50 ms      1  fast      a.lua:9
    -500 µs     gone   500 µs               1  gone      a.lua:20
    +250 µs      new            250 µs      7  new       a.lua:30
      +0 ns    +0.0%  1.00 ms  1.00 ms      1  same      a.lua:2]],
      diff.format(result_.functions, "self"))
    assert.same({"a.lua: 12.0 ms, was 10.0 ms (+2.00 ms, +20.0%)",
                 "1 slower, 1 faster, 1 same, 1 new, 1 gone"},
                diff.heading(result_, "a.lua"))
  end)

  it("is sorted by what is asked for", function ()
    local function order (by)
      local names = {}
      for i, one in ipairs(diff.compare(old, new, by).functions) do
        names[i] = one.name
      end
      return table.concat(names, " ")
    end
    assert.equal("fast slow gone new same", order "total")
    assert.equal("new slow gone fast same", order "calls")
    assert.matches("^total change",
                   diff.format(diff.compare(old, new, "total").functions,
                              "total")[1])
  end)

  it("tells functions of one name apart by their lines", function ()
    local function pairs_of (a, b)
      local lines = {}
      for i, one in ipairs(diff.compare(
        {duration_ms = 0, functions = a}, {duration_ms = 0, functions = b},
        "self").functions) do
        lines[i] = (one.old and one.old.line or "-") .. ":"
                   .. (one.new and one.new.line or "-")
      end
      table.sort(lines)
      return table.concat(lines, " ")
    end
    local function at (...)
      local list = {}
      for i, line in ipairs {...} do
        list[i] = row("f", line, 1, 1, 1)
      end
      return list
    end
    assert.equal("1:1 2:2", pairs_of(at(1, 2), at(2, 1)))
    assert.equal("1:2 3:3", pairs_of(at(1, 3), at(3, 2)))
    assert.equal("-:9 1:1", pairs_of(at(1), at(1, 9)))
    assert.equal("1:7 2:-", pairs_of(at(1, 2), at(7)))
  end)

  it("knows files of other directories by the ends of their paths", function ()
    local function pairs_of (olds, news)
      local function functions_of (files)
        local list = {}
        for i, file in ipairs(files) do
          list[i] = row("f", 1, 1, i, i)
          list[i].url = file
        end
        return {duration_ms = 0, functions = list}
      end
      local found = {}
      for _, one in ipairs(diff.compare(functions_of(olds), functions_of(news),
                                        "self").functions) do
        local a, b = one.old, one.new
        found[#found + 1] = (a and olds[a.self_ms] or "-") .. "="
                            .. (b and news[b.self_ms] or "-")
      end
      table.sort(found)
      return table.concat(found, " ")
    end
    assert.equal("/a/x.lua=/b/x.lua", pairs_of({"/a/x.lua"}, {"/b/x.lua"}))
    assert.equal("/a/x.lua=x.lua", pairs_of({"/a/x.lua"}, {"x.lua"}))
    assert.equal("-=/b/y.lua /a/x.lua=-",
                 pairs_of({"/a/x.lua"}, {"/b/y.lua"}))
    assert.equal("/a/m/init.lua=/b/m/init.lua /a/n/init.lua=/b/n/init.lua",
                 pairs_of({"/a/m/init.lua", "/a/n/init.lua"},
                          {"/b/n/init.lua", "/b/m/init.lua"}))
    assert.equal("-=/c/x.lua -=/d/x.lua /a/x.lua=-",
                 pairs_of({"/a/x.lua"}, {"/c/x.lua", "/d/x.lua"}))
    assert.equal("-=/b/x.lua /a/x.lua=/a/x.lua",
                 pairs_of({"/a/x.lua"}, {"/a/x.lua", "/b/x.lua"}))
    assert.equal("-=[string \"y/x\"] [string \"z/x\"]=-",
                 pairs_of({'[string "z/x"]'}, {'[string "y/x"]'}))
  end)

  it("says for programs what changed", function ()
    local entry = diff.compare(old, new, "self").functions[1]
    assert.same({
      name = "slow", url = "a.lua", line = 6, change = "slower",
      calls_change = 2, self_change_ms = 2.5, total_change_ms = 1.0,
      old = {line = 5, calls = 2, self_ms = 1, total_ms = 8},
      new = {line = 6, calls = 4, self_ms = 3.5, total_ms = 9}
    }, entry)
  end)
end)

describe("a tree", function ()
  local function node (name, line, calls, self_ms, total_ms, children)
    local one = row(name, line, calls, self_ms, total_ms)
    one.children = children or {}
    return one
  end

  local root = node("all", nil, 1, 0.5, 10, {
    node("b", 2, 1, 1, 1),
    node("a", 1, 2, 2, 8.5, {
      node("d", 4, 3, 0.25, 0.25), node("c", 3, 10, 6, 6),
      node("e", 5, 4, 0.25, 0.25),
    }),
  })

  it("has what took longest first", function ()
    shows([[
  total       %     self  calls  function  where
10.0 ms  100.0%   500 µs      1  all
8.50 ms   85.0%  2.00 ms      2  ├ a       a.lua:1
6.00 ms   60.0%  6.00 ms     10  │ ├ c     a.lua:3
 250 µs    2.5%   250 µs      4  │ ├ e     a.lua:5
 250 µs    2.5%   250 µs      3  │ └ d     a.lua:4
1.00 ms   10.0%  1.00 ms      1  └ b       a.lua:2]], tree.format(root))
  end)

  it("sums up what it does not show", function ()
    shows([[
  total       %     self  calls  function                                where
10.0 ms  100.0%   500 µs      1  all
8.50 ms   85.0%  2.00 ms      2  ├ a                                     a.lua:1
                                 │ └ … 17 calls in 3 functions, 6.50 ms
1.00 ms   10.0%  1.00 ms      1  └ b                                     a.lua:2]],
          tree.format(root, 1))
    shows([[
  total       %     self  calls  function                              where
10.0 ms  100.0%   500 µs      1  all
8.50 ms   85.0%  2.00 ms      2  ├ a                                   a.lua:1
6.00 ms   60.0%  6.00 ms     10  │ ├ c                                 a.lua:3
                                 │ └ … 7 calls in 2 functions, 500 µs
1.00 ms   10.0%  1.00 ms      1  └ b                                   a.lua:2]],
          tree.format(root, nil, 1))
  end)

  it("may be deeper than a terminal is wide", function ()
    local deep = node("f", 1, 1, 0, 1)
    for _ = 1, 30000 do
      deep = node("f", 1, 1, 0, 1, {deep})
    end
    local lines = tree.format(deep)
    assert.equal(30002, #lines)
    assert.matches("  └ f ", lines[3])
    assert.matches("  20┊ └ f ", lines[23])
    assert.matches("  20┊   └ f ", lines[24])
    assert.is_true(#lines[20000] < 150)
  end)
end)

describe("what is in a recording", function ()
  local about = {
    path = "x.tgr", program = "a.lua", arguments = {"-x", "two words", "it's"},
    date = 86400 * 365, pid = 12, state = "complete",
    versions = {tracegrip = "0.1.0", lua = "Lua 5.4", format = 1},
    directory = "/home/a",
    frames = "read from memory",
    duration_ms = 12, events = 2000, bytes = 40000, file_bytes = 49152,
    bytes_per_event = 20, threads = 2, functions = 12, lost = {},
    traces = {
      {name = "all", types = {"name", "time"}, start_ms = 0, stop_ms = 12,
       events = 2000, lost = {}},
      {name = "load", types = {"name"}, start_ms = 1, stop_ms = 3,
       events = 20, lost = {ring = 5}, ended = "duration"},
    }
  }

  it("is a line for each fact and a table of the traces", function ()
    local text = table.concat(info.format(about), "\n")
    assert.equal([[
program:   a.lua
arguments: -x 'two words' 'it'\''s'
directory: /home/a
date:      DATE
process:   12
versions:  tracegrip 0.1.0, Lua 5.4, format 1
frames:    read from memory
state:     complete
duration:  12.0 ms
events:    2,000, 20.0 bytes each
lost:      none
threads:   2
functions: 12
file:      48.0 KiB, 39.1 KiB of events

trace    start  duration  events  lost  ended by  types
all       0 ns   12.0 ms   2,000                  name time
load   1.00 ms   2.00 ms      20     5  duration  name]],
      (text:gsub("%d+%-%d+%-%d+ %d+:%d+:%d+ [+-]%d+", "DATE")))
  end)

  it("shows as many traces as it is told to", function ()
    local lines = info.format(about, nil, 1)
    assert.matches("^all ", lines[#lines - 1])
    assert.equal("… 1 more trace (--limit)", lines[#lines])
    assert.equal(#info.format(about), #info.format(about, nil, 2))
  end)

  it("tells of losses and of a bad end", function ()
    local bad = setmetatable({state = "cut off", reason = "no end",
                              arguments = {}, lost = {disk = 1}},
                             {__index = about})
    local text = table.concat(info.format(bad), "\n")
    assert.matches("state:     cut off: no end\n", text)
    assert.matches("arguments: none\n", text)
    assert.matches("lost:      1 event %(the file could not grow%)\n", text)
  end)

  it("is remarked upon where it is not whole", function ()
    assert.is_nil(recording.remark("x", about))
    assert.equal("x is cut off (no end); shown as far as it goes",
                 recording.remark("x", {state = "cut off",
                                        reason = "no end"}))
    assert.equal("x is still being recorded; shown as far as it goes",
                 recording.remark("x", {state = "running"}))
  end)
end)
