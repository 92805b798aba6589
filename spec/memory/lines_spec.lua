-- Lines of what was allocated: against what the program counts itself.

local cjson = require "cjson"
local lfs = require "lfs"

local run = require "spec.support.run"

local tracegrip = run.build .. "/bin/tracegrip"

-- lines(trace, name): what the function has, by line from its first one on; and
-- what of it has no line. counts() is the same as text, allocations alone.
local prelude = [[
local tracegrip = require "tracegrip"
local kept = {}
for i = 1, 1000 do kept[i] = 0 end
local function start (options)
  options = options or {}
  options.trace, options.memory = options.trace or {"name"}, true
  options.c = options.c or false
  return tracegrip.start(options)
end
local function lines (trace, name, filter)
  filter = filter or {}
  filter.lines = true
  local list, row = {}, nil
  for _, r in ipairs(trace:report(filter).functions) do
    if r.name == name then row = r end
  end
  local bytes, count = row.self_bytes, row.self_allocations
  for _, l in ipairs(row.lines or {}) do
    list[l.line - row.line] = {bytes = l.self_bytes, count = l.self_allocations}
    bytes, count = bytes - l.self_bytes, count - l.self_allocations
  end
  return list, bytes, count
end
local function counts (trace, name, filter)
  local list, bytes, count = lines(trace, name, filter)
  local out = {}
  for line = 1, 50 do
    if list[line] and list[line].count > 0 then
      out[#out + 1] = line .. ": " .. list[line].count
    end
  end
  out[#out + 1] = ("without: %d, %d bytes"):format(count, bytes)
  return table.concat(out, ", ")
end
local function size (make)
  make() collectgarbage() collectgarbage() collectgarbage "stop"
  local before = collectgarbage "count"
  make()
  local bytes = math.tointeger((collectgarbage "count" - before) * 1024)
  collectgarbage "restart"
  return bytes
end
]]

local function output (program)
  local result = run.code(prelude .. program, {env = run.modules})
  assert.equal("", result.stderr)
  assert.equal(0, result.status)
  return result.stdout
end

-- What two lines of a function make.
local kinds = {
  ["empty tables"] = {"{}", "{}"},
  arrays = {"{1, 2, 3}", "{1, 2}"},
  hashes = {"{x = 1, y = 2}", "{z = 3}"},
  ["tables with both"] = {"{1, 2, x = 1}", "{1, x = 2, y = 3, z = 4}"},
  ["tables in tables"] = {"{{}, {1}, x = {}}", "{{{}}}"},
  ["long arrays"] = {"{" .. ("1,"):rep(120) .. "}", "{}"},
  closures = {"function () return kept end", "function () return size end"},
  strings = {"('x' .. #kept) .. i", "'yyyyyyyyyyyyyyyyyyyyyyy' .. i .. #kept"},
  varargs = {"{...}", "{1, ...}"},
  ["what C functions make"] = {"long:rep(5)", "('%s,%d'):format(long, i)"},
  coroutines = {"coroutine.create(size)", "{coroutine.create(size)}"},
}

-- What lines of "work" have, by the line from its first one on: blocks that are
-- alive and were at the peak; and what of its memory is of no line, and of all.
local held = [[
local function held (trace, filter)
  filter = filter or {}
  filter.lines = true
  local row
  for _, r in ipairs(trace:report(filter).functions) do
    row = r.name == "work" and r or row
  end
  local live, peak, sum = {}, {}, {self_live_bytes = 0, self_live_blocks = 0,
                                   self_peak_live_bytes = 0,
                                   self_peak_live_blocks = 0}
  for _, l in ipairs(row.lines or {}) do
    live[l.line - row.line] = l.self_live_blocks
    peak[l.line - row.line] = l.self_peak_live_blocks
    for key, n in pairs(sum) do sum[key] = n + l[key] end
  end
  for key, n in pairs(sum) do sum[key] = row[key] - n end
  return live, peak, sum, row
end
]]

describe("lines of what is alive", function ()
  it("are those that made it, of one stretch between two events", function ()
    assert.equal("500 0 500\t500 3000 500\t0 0 0 0\n", output(held .. [[
      local dropped
      local function work ()
        for i = 1, 500 do
          kept[i] = {}
          dropped = {{}, {}, {}, {}}    -- five tables and an array
          kept[i].x = i
        end
      end
      collectgarbage() collectgarbage "stop"
      local trace = start()
      work()
      dropped = nil
      collectgarbage() collectgarbage()
      trace:stop()
      local live, peak, rest = held(trace)
      print(live[2] .. " " .. live[3] .. " " .. live[4],
            peak[2] .. " " .. peak[3] .. " " .. peak[4],
            ("%d %d %d %d"):format(rest.self_live_bytes, rest.self_live_blocks,
                                   rest.self_peak_live_bytes,
                                   rest.self_peak_live_blocks))
    ]]))
  end)

  it("change where blocks grow, shrink and go in other stretches", function ()
    assert.equal("ok\n", output(held .. [[
      local function work (round)
        for i = 1, 100 do
          kept[i] = {round}
          kept[100 + i] = {round, round, {round}}
          if i % 3 == 0 then kept[i] = false end
          if i % 7 == round % 7 then kept[99 + i] = nil end
          kept[300 + i] = kept[i] and #kept .. "x" .. i .. round
        end
      end
      local function grow ()
        for i = 1, 100 do
          local t = kept[100 + i] or {}
          for k = 1, 9 do t[#t + 1] = k end
        end
      end
      local trace = start()
      for round = 1, 60 do
        work(round)
        grow()
        if round % 5 == 0 then collectgarbage "step" end
        for i = round, 400, 60 do kept[i] = 0 end
      end
      collectgarbage() collectgarbage()
      trace:stop()
      local live, _, rest, row = held(trace)
      assert(row.self_live_blocks > 100 and (live[3] or 0) > 0)
      for key, n in pairs(rest) do assert(n == 0, key .. n) end
      print "ok"
    ]]))
  end)

  it("are told of so many lines at once, and the rest of none", function ()
    local code = {held, "local function work ()"}
    for i = 1, 30 do
      code[#code + 1] = ("kept[%d] = {}"):format(i)
    end
    code[#code + 1] = [[
      end
      local trace = start()
      work()
      trace:stop()
      local live, _, rest = held(trace)
      local known = 0
      for line = 1, 30 do known = known + (live[line] or 0) end
      print(known >= 14, known + rest.self_live_blocks)
    ]]
    assert.equal("true\t30\n", output(table.concat(code, "\n")))
  end)

  it("are none of a function that the report leaves out", function ()
    assert.equal("0\ttrue\n", output(held .. [[
      local function inner () kept[1] = {{}, {}} end
      local function work () inner() kept[2] = 1 end
      local trace = start()
      work()
      trace:stop()
      local live, _, rest = held(trace, {exclude = {"^inner$"}})
      local known = 0
      for _, n in pairs(live) do known = known + n end
      print(known, rest.self_live_blocks >= 3)
    ]]))
  end)

  it("leave no packets to who asks for allocations alone", function ()
    assert.equal("ok\n", output [[
      local function work ()
        for i = 1, 10 do
          kept[i] = {}
          kept[-i] = {i}
        end
      end
      local trace = start {trace = {"name", "allocations"}}
      work()
      trace:stop()
      for packet in trace:packets() do
        assert(packet.type ~= "allocations" or packet.allocations > 0
               or packet.freed > 0)
      end
      print "ok"
    ]])
  end)

  it("go with samples of blocks, on average", function ()
    local ratio = tonumber(output(held .. [[
      local function work ()
        for i = 1, 40000 do
          kept[i] = {i, i}
          local _ = {i, i, i, i}
        end
      end
      local trace = start {memoryEvery = 2000}
      work()
      collectgarbage() collectgarbage()
      trace:stop()
      local live, _, rest = held(trace)
      assert((live[3] or 0) == 0 and rest.self_live_blocks == 0)
      print(live[2] / 80000)
    ]]))
    assert.is_true(ratio > 0.8 and ratio < 1.2, ratio)
  end)
end)

describe("lines of allocations", function ()
  for kind, pair in pairs(kinds) do
    it("are known of " .. kind, function ()
      local out = output(([[
        local sink, i, long = nil, 1, ("x"):rep(50)
        local function one (...) sink = %s end
        local function two (...) sink = %s end
        local a, b = size(one), size(two)
        local function work (...)
          for i = 1, 20 do
            sink = %s
            sink = %s
          end
        end
        collectgarbage() collectgarbage "stop"
        local trace = start()
        work()
        trace:stop()
        local list, rest, count = lines(trace, "work")
        print(a > 0, b > 0, list[2].bytes >= a, list[3].bytes >= b, rest, count)
      ]]):format(pair[1], pair[2], pair[1], pair[2]))
      assert.equal("true\ttrue\ttrue\ttrue\t0\t0\n", out)
    end)
  end

  it("have what a program counts, to the byte", function ()
    assert.equal("true\ttrue\ttrue\n", output [[
      local sink
      local function one () sink = {1, 2, x = {}} end
      local function two () sink = function () return size end end
      local a, b = size(one), size(two)
      local function work (n)
        for i = 1, n do
          sink = {1, 2, x = {}}
          sink = function () return size end
        end
      end
      local trace = start()
      work(1000)
      trace:stop()
      local list, rest = lines(trace, "work")
      print(list[2].bytes == 1000 * a, list[3].bytes == 1000 * b, rest == 0)
    ]])
  end)

  it("are those at which a table grows, not those that made it", function ()
    assert.equal("2: 100, 3: 100, without: 0, 0 bytes\n", output [[
      local function work (n)
        for i = 1, n do
          local t = {}
          t.x = i
          kept[i] = t
        end
      end
      local trace = start()
      work(100)
      trace:stop()
      print(counts(trace, "work"))
    ]])
  end)

  it("are told apart in branches and loops that call nothing", function ()
    assert.equal("3: 30, 5: 70, 8: 200, without: 0, 0 bytes\n", output [[
      local function work (n)
        for i = 1, n do
          if i % 10 < 3 then
            kept[i] = {}
          else
            kept[i] = {}
          end
          local k = 0
          while k < 2 do k = k + 1
            kept[i] = {}
          end
        end
      end
      local trace = start()
      work(100)
      trace:stop()
      print((counts(trace, "work"):gsub("9: ", "8: ")))
    ]])
  end)

  it("are of the caller where what it calls is not recorded", function ()
    assert.equal("1: 5, 2: 7, without: 0, 0 bytes\n", output [[
      local function make (n) for i = 1, n do kept[i] = {} end end
      local function work ()
        make(5)
        make(7)
      end
      local trace = start {exclude = "^make$"}
      work()
      trace:stop()
      print(counts(trace, "work"))
    ]])
  end)

  it("are not made up for a caller by what a filter hides", function ()
    assert.equal("without: 12, true\n", output [[
      local function make (n) for i = 1, n do kept[i] = {} end end
      local function work ()
        make(5)
        make(7)
      end
      local trace = start()
      work()
      trace:stop()
      local text = counts(trace, "work", {exclude = "^make$"})
      print((text:gsub("%d+ bytes", "true")))
    ]])
  end)

  it("are those of the coroutine that runs", function ()
    assert.equal("1: 1, 2: 1, 3: 1, without: 0, 0 bytes\n", output [[
      local function work ()
        kept[1] = {}
        coroutine.yield()
        kept[2] = {}
      end
      local co = coroutine.create(work)
      coroutine.resume(co) coroutine.resume(co)
      co = coroutine.create(work)
      local trace = start()
      coroutine.resume(co)
      kept[3] = {}
      coroutine.resume(co)
      trace:stop()
      print(counts(trace, "work"))
    ]])
  end)

  it("survive errors and coroutines that are collected", function ()
    assert.equal("4: 200, without: true\n", output [[
      local function fail () kept[1] = {} error {} end
      local function work ()
        for i = 1, 200 do
          pcall(fail)
          pcall(coroutine.wrap(function () local t = {} error(t) end))
          kept[2] = {}
          if i % 20 == 0 then collectgarbage() end
        end
      end
      local trace = start {c = true}
      work()
      trace:stop()
      local list = lines(trace, "work")
      print(("4: %d, without: true"):format(list[4].count))
    ]])
  end)

  it("add up in estimates where blocks are sampled", function ()
    assert.equal("true\ttrue\n", output [[
      local function work (n)
        for i = 1, n do
          kept[1] = {1, 2, 3, 4}
          kept[2] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
        end
      end
      local trace = start {memoryEvery = 4096}
      work(200000)
      trace:stop()
      local list, rest = lines(trace, "work")
      local ratio = list[3].bytes / list[2].bytes
      print(rest == 0, ratio > 2.2 and ratio < 3)
    ]])
  end)

  it("may be more than there is room for between two events", function ()
    local program = {"local function work ()"}
    for i = 1, 300 do
      program[#program + 1] = ("kept[%d] = {}"):format(i)
    end
    program[#program + 1] = [[end
      local trace = start()
      work()
      trace:stop()
      local list, bytes, count = lines(trace, "work")
      local known = 0
      for _ in pairs(list) do known = known + 1 end
      print(known, count)]]
    assert.equal("256\t44\n", output(table.concat(program, "\n")))
  end)
end)

describe("the command line", function ()
  local dir, path, text

  setup(function ()
    dir = os.tmpname()
    os.remove(dir)
    lfs.mkdir(dir)
    path = dir .. "/prog.lua"
    text = [[
local kept = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
local function work (n)
  for i = 1, n do
    kept[i % 10 + 1] = {i, i}
    kept[11] = ("x"):rep(100) .. i
  end
end
work(1000)
collectgarbage() collectgarbage()
]]
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
    local made = run.command({tracegrip, "record", "--memory", "-o",
                              dir .. "/prog.tgr", path},
                             {env = {LUA = run.lua}})
    assert.equal(0, made.status)
  end)

  teardown(function ()
    for name in lfs.dir(dir) do os.remove(dir .. "/" .. name) end
    lfs.rmdir(dir)
  end)

  local function report (...)
    return run.command({tracegrip, "report", dir .. "/prog.tgr", ...},
                       {env = {LUA = run.lua}})
  end

  it("shows lines below functions", function ()
    local result = report("--lines", "--sort", "allocations")
    assert.equal("", result.stderr)
    local first = "work +" .. path:gsub("%p", "%%%0") .. ":2\n"
    assert.truthy(result.stdout:find(first .. ".-2,00%d +line 5 "
                                     .. ".-2,000 +line 4 "))
  end)

  it("shows the text with what each line allocates", function ()
    local result = report("--source", "work", "--sort", "bytes")
    assert.equal("", result.stderr)
    assert.truthy(result.stdout:find("2,000 +4 +kept%[i %% 10 %+ 1%] = "))
    assert.truthy(result.stdout:find("2,00%d +1,000 +5 +kept%[11%] = "))
  end)

  it("tells programs", function ()
    local told = cjson.decode(report("--source", "work", "--sort", "bytes",
                                     "--json").stdout)
    assert.equal(2000, told.functions[1].lines[3].self_allocations)
    assert.equal(0, told.functions[1].rest_bytes)
  end)

  it("shows the lines of what is alive", function ()
    local result = report("--lines", "--sort", "live")
    assert.equal("", result.stderr)
    local first = "work +" .. path:gsub("%p", "%%%0") .. ":2\n"
    assert.truthy(result.stdout:find(first .. ".- 20 .- line 4 "))
    result = report("--source", "work", "--sort", "live")
    assert.equal("", result.stderr)
    assert.truthy(result.stdout:find(" 20 +4 +kept%[i %% 10 %+ 1%] = "))
    local told = cjson.decode(report("--source", "work", "--sort", "live",
                                     "--json").stdout)
    assert.equal(20, told.functions[1].lines[3].self_live_blocks)
  end)

  it("shows trees and stacks whose frames are lines", function ()
    local function command (...)
      local result = run.command({tracegrip, ...}, {env = {LUA = run.lua}})
      assert.equal(0, result.status)
      return result.stdout, result.stderr
    end
    for sort, count in pairs {["total-bytes"] = "2,000", live = "20",
                              ["peak-live"] = "%d+"} do
      local rows, err = command("tree", "--lines", "--sort", sort,
                                dir .. "/prog.tgr")
      assert.equal("", err)
      assert.matches("\n +%d[%d.]* [^\n]+ " .. count .. " [^\n]*work:4 ", rows)
    end
    local stacks = command("export", "folded", "--lines", "--weight",
                           "allocations", "-o", "-", dir .. "/prog.tgr")
    assert.matches("\nmain;%(main chunk%):8;work:4 2000\n", stacks)
    assert.matches("\nmain;%(main chunk%):8;work:5;string.rep 1000\n", stacks)
  end)

  it("says where no lines of memory are known", function ()
    local file = dir .. "/none.tgr"
    local made = run.command({tracegrip, "record", "--exclude", "work",
                              "--memory", "-o", file, path},
                             {env = {LUA = run.lua}})
    assert.equal(0, made.status)
    local result = run.command({tracegrip, "report", "--lines", "--sort",
                                "bytes", "--include", "rep", file},
                               {env = {LUA = run.lua}})
    local note = "note: no line of what was allocated is known"
    assert.truthy(result.stdout:find(note, 1, true), result.stdout)
    result = run.command({tracegrip, "tree", "--lines", "--sort", "live",
                          "--include", "rep", file}, {env = {LUA = run.lua}})
    assert.truthy(result.stdout:find(note, 1, true), result.stdout)
  end)

  it("says which orders have no lines", function ()
    local result = report("--lines", "--sort", "total-live")
    assert.equal(2, result.status)
    assert.equal("tracegrip: --lines shows what lines have themselves, and "
                 .. "not total-live\n", result.stderr)
  end)
end)
