-- info, report, tree and log of recordings; see tables_spec.lua for how their
-- tables look.

local cjson = require "cjson"

local run = require "spec.support.run"

-- A script for the shell, with T for the command, after a recording of the
-- program has been made as "rec".
local function shell (code, script, flags)
  local result = run.command(
    {"sh", "-c", "$T record " .. (flags or "") .. " -o rec program.lua "
                 .. ">program.out 2>&1\n" .. script},
    {files = {["program.lua"] = code},
     env = {T = run.build .. "/bin/tracegrip", LUA = run.lua}})
  return result
end

local function output (...)
  local result = shell(...)
  assert.equal("", result.stderr)
  assert.equal(0, result.status)
  return result.stdout
end

local fib = [[
local function fib (n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end
local function busy (ms)
  local stop = os.clock() + ms / 1000
  while os.clock() < stop do end
end
local co = coroutine.wrap(function () coroutine.yield(math.abs(-1)) end)
co() co()
fib(10)
busy(3)
pcall(error, {})
]]

-- Times and numbers out of tables.
local function plain (text)
  return (text:gsub(" *%-?[%d.]+ [mµn]*s *", " TIME "):gsub("%d+%.%d%%", "%%")
              :gsub(" +", " "))
end

describe("tracegrip info", function ()
  it("tells what there is, for a person", function ()
    local text = output(fib, "$T info rec")
    for _, key in ipairs {"program", "arguments", "date", "process",
                          "versions", "frames", "state", "duration", "events",
                          "lost", "threads", "functions", "file"} do
      assert.matches("\n" .. key .. ":  *[^ \n]", "\n" .. text)
    end
    assert.matches("\nstate: +complete\n", text)
    assert.matches("\nlost: +none\n", text)
    assert.matches("\nthreads: +2\n", text)
    assert.matches("\n\ntrace +start +duration +events", text)
  end)

  it("tells the same to a program", function ()
    local info = cjson.decode(output(fib, "$T info --json rec"))
    assert.equal("rec", info.path)
    assert.equal(2, info.threads)
    assert.equal(1, #info.traces)
    assert.equal(info.events, info.traces[1].events)
    assert.is_true(info.file_bytes >= info.bytes)
  end)

  it("knows a recording that was cut off by its program's end", function ()
    local result = shell([[
      for i = 1, 1000 do math.abs(i) end
      io.popen("kill -9 $PPID"):read "a"
      while true do math.abs(1) end
    ]], "$T info rec; $T report rec | grep math.abs")
    assert.matches("\nstate: +cut off[^\n]*\n", result.stdout)
    assert.matches("\n *[%d,]+ .* math.abs", result.stdout)
    assert.matches("^tracegrip: rec is cut off[^\n]*\n$", result.stderr)
  end)

  it("knows one that goes on", function ()
    local text = output([[
      print(io.popen("$T info rec"):read "a")
    ]], "cat program.out")
    assert.matches("\nstate: +running", text)
  end)
end)

describe("tracegrip report", function ()
  it("adds up", function ()
    local report = cjson.decode(output(fib, "$T report --raw --json rec"))
    local rows, sum = {}, 0
    for _, row in ipairs(report.functions) do
      rows[row.name] = row
      sum = sum + row.self_ms
    end
    assert.is_true(sum <= report.duration_ms)
    assert.equal(177, rows.fib.calls)
    assert.equal(1, rows.fib.line)
    assert.equal("program.lua", rows.fib.url)
    -- os.clock, by which it ends, is another clock than the recording's
    assert.is_true(rows.busy.total_ms >= 2.9)
    assert.equal(1, rows.error.throws)
    assert.equal(1, rows["coroutine.yield"].yields)
    local keys = {}
    for key in pairs(rows.fib) do
      keys[#keys + 1] = key
    end
    table.sort(keys)
    assert.equal("calls line max_ms mean_ms min_ms name self_error_ms self_ms "
                 .. "throws total_ms url yields", table.concat(keys, " "))
  end)

  it("is a table with a heading and a note about the rest", function ()
    local text = output(fib, "$T report --no-c --sort calls --limit 2 rec")
    assert.matches("^program.lua: [%d.]+ ms, %d+ events\n\ncalls +self +%% ",
                   text)
    assert.matches("\n +177 .* fib +program.lua:1\n", text)
    assert.matches("\n… %d more functions? %(%-%-limit%)\n$", text)
    assert.not_matches("math.abs", text)
  end)

  it("is complete without a terminal, and fits one", function ()
    local long = ("x"):rep(60)
    local code = "local function " .. long .. " () end " .. long .. "()"
    assert.matches(long, output(code, "$T report rec"))
    local text = output(code, [[
      for n in 60 80 100; do
        script -qec "stty cols $n && $T report rec" /dev/null </dev/null |
          tr -d '\r' | tee wide | wc -L
        cat wide
      done]])
    local widths = {}
    for n in text:gmatch "\n?(%d+)\n" do
      widths[#widths + 1] = tonumber(n)
    end
    assert.is_true(widths[1] <= 60 and widths[2] <= 80 and widths[3] <= 100)
    assert.matches("xxx…", text)
  end)

  it("takes filters", function ()
    local function names (flags)
      local list = {}
      local report = cjson.decode(output(fib, "$T report --json " .. flags
                                              .. " rec"))
      for i, row in ipairs(report.functions) do
        list[i] = row.name
      end
      table.sort(list)
      return table.concat(list, " ")
    end
    assert.equal("fib", names "--include '^fib$'")
    assert.equal("(main chunk)", names "--max-depth 1")
    assert.equal("(main chunk) busy fib",
                 names "--no-c --exclude wrap --thread 1")
    assert.not_matches("fib", names "--thread 2")
    assert.matches("busy", names "--min-duration 1")
    assert.equal("", names "--min-duration 1000000")
    assert.equal("", names "--to 0")
    assert.equal("", names "--from 10m")
  end)

  it("selects a named trace", function ()
    local code = [[
      local console = require "tracegrip.console"
      console.startTrace("load")
      math.floor(1)
      console.stopTrace("load")
      math.abs(1)
    ]]
    local text = output(code, [[
      $T report rec --trace load
      $T info rec]])
    assert.matches("^program.lua, trace load: ", text)
    assert.matches("math.floor", text)
    assert.not_matches("math.abs", text)
    assert.matches("\nload ", text)
    local result = shell(code, "$T report rec --trace no; echo $?")
    assert.equal("1\n", result.stdout)
    assert.matches("^tracegrip: rec: [^\n]*'no'[^\n]*\n$", result.stderr)
  end)

  it("compares", function ()
    local script = [[
      mv rec old
      sed -i 's/busy(3)/busy(300) string.rep("x", 1)/; s/^co().*//' program.lua
      $T record -o new program.lua >/dev/null
    ]]
    local text = output(fib, script .. "$T report --raw --diff old new")
    assert.matches("^program.lua: [^\n]*, was [^\n]*\n%d+ slower, ", text)
    assert.matches("\n +%+[%d.]+ [mµ]*s +%+[%d.]+%% .* busy ", text)
    assert.matches(" new .* string.rep ", text)
    assert.matches(" gone .* coroutine.yield ", text)
    local json = cjson.decode(output(fib, script
                                     .. "$T report --raw new --diff old "
                                     .. "--json"))
    assert.is_true(json.new.duration_ms > json.old.duration_ms)
    for _, row in ipairs(json.functions) do
      if row.name == "busy" then
        assert.equal("slower", row.change)
        assert.is_true(row.new.self_ms > 0 and row.old.calls == 1)
      end
    end
  end)
end)

-- How far off a time may be is what the report has, whatever the machine.
describe("a report of times that may be far off", function ()
  local function worst_of (report)
    local worst = 0
    for _, row in ipairs(report.functions) do
      worst = math.max(worst, row.self_error_ms)
    end
    return worst / report.duration_ms
  end

  local function notes (text)
    return select(2, text:gsub(
      "\nnote: tracing took so much that a self time may be off by [%d.]+%%: "
      .. "record %-%-sample 4000 %-%-trace name,callsite,time measures them\n",
      ""))
  end

  it("says so, and what tells them better", function ()
    local text = output([[
      local function leaf (x) return x + 1 end
      for i = 1, 400000 do leaf(i) end
    ]], "$T report --json rec; echo; echo cut; $T report rec; echo cut; "
        .. "$T report --raw rec; echo cut; $T report --sort calls rec")
    local json, shown, raw, sorted = text:match(("(.*)cut\n"):rep(3) .. "(.*)$")
    local report = cjson.decode(json)
    local worst = worst_of(report)
    local expected = worst > 0.05 and report.duration_ms >= 100 and 1 or 0
    assert.is_true(worst > 0)
    assert.equal(expected, notes(shown))
    assert.equal(expected, notes(sorted))
    assert.equal(0, notes(raw))
  end)

  it("says nothing where ticks were told apart", function ()
    local text = shell([[
      local function leaf (x) return x + 1 end
      for i = 1, 400000 do leaf(i) end
    ]], "$T report rec", "--sample 4000 --trace name,time").stdout
    assert.equal(0, notes(text))
    assert.matches("leaf", text)
  end)
end)

describe("tracegrip tree", function ()
  it("shows who called whom", function ()
    local text = plain(output([[
      local function h () end
      local function g () h() h() end
      local function f () g() end
      f() g()
    ]], "$T tree rec"))
    assert.equal([[
 total % self calls function where
 TIME % TIME program
 TIME % TIME 1 └ (main chunk) program.lua:1
 TIME % TIME 1 ├ f program.lua:3
 TIME % TIME 1 │ └ g program.lua:2
 TIME % TIME 2 │ └ h program.lua:1
 TIME % TIME 1 └ g program.lua:2
 TIME % TIME 2 └ h program.lua:1
]], text)
  end)

  it("shows as many levels as it is told to", function ()
    local text = output(fib, "$T tree --depth 2 --no-c rec")
    assert.matches("└ … %d+ calls in 1 function, ", text)
    local waits = fib:gsub("busy%(3%)", "busy(1000)")
    text = output(waits, "$T tree --min-ms 800 rec")
    assert.matches(" busy ", text)
    assert.not_matches(" fib ", text)
    assert.matches("… %d+ calls in %d+ functions, ", text)
  end)
end)

describe("tracegrip log", function ()
  it("is what run would have shown", function ()
    local text = output(fib:gsub("busy%(3%)", ""), [[
      $T run --no-times -o live program.lua
      $T log --no-times rec >recorded
      $T log --no-times -o there rec
      cmp live recorded && cmp live there && grep -c fib live]])
    assert.equal("265\n", text)
  end)

  it("shows the first events, and says how many there are more", function ()
    local how = "$T log --no-times --no-c --include fib "
    local whole = output(fib, how .. "rec")
    local lines = {}
    for line in whole:gmatch "[^\n]*\n" do
      lines[#lines + 1] = line
    end
    local summary = table.remove(lines)
    assert.matches("^── %d+ calls", summary)
    for _, n in ipairs {1, 7, #lines - 1} do
      assert.equal(table.concat(lines, "", 1, n)
                   .. ("… %d more event%s (--limit)\n")
                      :format(#lines - n, #lines - n == 1 and "" or "s")
                   .. summary, output(fib, how .. "--limit " .. n .. " rec"))
    end
    for _, limit in ipairs {#lines, 1000000, "all"} do
      assert.equal(whole, output(fib, how .. "--limit " .. limit .. " rec"))
    end
  end)

  it("says which times --from means, unless that was said", function ()
    local note = "^tracegrip: %-%-from and %-%-to are times as recorded, with "
                 .. "what tracing has cost %(%-%-raw%); those of reports and "
                 .. "viewers with %-%-true\n$"
    for flags, expected in pairs {
      ["--from 0"] = note, ["--to +1m"] = note, [""] = "^$",
      ["--from 0 --raw"] = "^$", ["--from 0 --true"] = "^$"
    } do
      local result = shell(fib, "$T log -o - " .. flags .. " rec")
      assert.matches(expected, result.stderr)
      assert.matches("fib", result.stdout)
    end
    assert.equal(2, shell(fib, "$T log --true --raw rec").status)
  end)

  it("takes filters and limits of values", function ()
    local text = output([[
      local function f (t) return #t end
      f {1, 2, 3}
      f "abcdef"
    ]], "$T log --no-times --no-summary --max-depth 2 --value-string 3 "
        .. "--value-properties 1 rec")
    assert.equal([[
(main chunk)()  program.lua
│ f({1, ...})  program.lua:2
│ └→ 3
│ f("abc"...)  program.lua:3
│ └→ 6
└ (main chunk)
]], (text:gsub("   +", "  ")))
  end)

  it("has colours when told to", function ()
    assert.not_matches("\27", output(fib, "$T log rec"))
    assert.matches("\27%[", output(fib, "$T log --color always rec"))
  end)
end)

describe("a file that cannot be shown", function ()
  local function fails (path, prepare)
    local script = (prepare or "") .. "\nfor c in info report tree log; do "
                   .. "$T $c " .. path .. " && echo shown; echo $?; done"
    local result = shell("", script)
    assert.equal("1\n1\n1\n1\n", result.stdout)
    local _, lines = result.stderr:gsub("tracegrip: " .. path .. ": [^\n]+\n",
                                        "")
    assert.equal(4, lines, result.stderr)
    return result.stderr
  end

  it("is told of in a line", function ()
    assert.matches("No such file", fails "missing")
    fails("program.lua")
    fails(".")
    fails("empty", ": >empty")
    fails("short", "head -c 50 rec >short")
  end)

  it("is shown as far as it goes when there is something", function ()
    local result = shell(fib, [[
      head -c $(($(wc -c <rec) - 5000)) rec >cut
      for c in info report tree log; do $T $c cut >out || echo $?
        grep -q . out && echo shown; done]])
    assert.equal(("shown\n"):rep(4), result.stdout)
    assert.equal(3, select(2, result.stderr:gsub("tracegrip: cut [^\n]+\n",
                                                 "")))
  end)

  it("is wrong usage without a name", function ()
    for _, command in ipairs {"info", "report", "tree", "log"} do
      local result = shell("", "$T " .. command .. "; echo $?")
      assert.equal("2\n", result.stdout)
      assert.matches("^tracegrip: [^\n]*'file'[^\n]*\n$", result.stderr)
    end
    local result = shell("", "$T report --sort speed rec; echo $?")
    assert.equal("2\n", result.stdout)
    result = shell("", "$T tree --thread 0 rec; echo $?")
    assert.matches("%-%-thread wants a number from 1 on", result.stderr)
  end)
end)

describe("a log on a file", function ()
  it("is not written over what it is of", function ()
    local result = shell(fib, [[
      cp rec kept; ln rec link
      for to in rec link ./rec; do $T log -o $to rec; echo $?; done
      $T run -o program.lua program.lua; echo $?
      cmp rec kept && test -s program.lua && echo same]])
    assert.equal("1\n1\n1\n1\nsame\n", result.stdout)
    assert.equal(4, select(2, result.stderr:gsub(
      "tracegrip: [^\n]+ is what is read itself [^\n]+\n", "")))
  end)
end)

describe("a reader that goes away", function ()
  it("is no failure", function ()
    for _, command in ipairs {"report", "tree", "log"} do
      local script = "(trap '' PIPE; $T " .. command
                     .. " rec; echo $? >&2) | true"
      assert.equal("0\n", shell(fib, script).stderr)
      script = "$T " .. command .. " rec | head -n 1 | wc -l"
      assert.equal("1\n", output(fib, script))
    end
  end)

  it("is one if it is a full disk", function ()
    for _, command in ipairs {"info", "report", "tree", "log"} do
      local result = shell(fib, "$T " .. command .. " rec >/dev/full; echo $?")
      assert.equal("1\n", result.stdout)
      assert.matches("^tracegrip: [^\n]*No space left on device\n$",
                     result.stderr)
    end
  end)
end)
