-- tracegrip top: a table that is drawn again and again.

local run = require "spec.support.run"

local it = run.needs("luv", it, pending)

-- A known split: 60, 30 and 10 of a hundred, for so many seconds of processor
-- time, or until there is a file "enough".
local shares = [[
  local function spin (n) local x = 0 for i = 1, n do x = x + i % 3 end end
  local function sixty (n) spin(6 * n) end
  local function thirty (n) spin(3 * n) end
  local function ten (n) spin(n) end
  local stop = os.clock() + (tonumber(arg[1]) or 60)
  print("begins", ...)
  while os.clock() < stop and not io.open "enough" do
    sixty(2000) thirty(2000) ten(2000)
  end
  print "ends"
  os.exit(7)
]]

-- A program that was left would take the processor from the next tests. False
-- if there is none that can be ended.
local function end_left (text)
  local pid = text:match "goes on as process (%d+)"
  return pid and run.command({"sh", "-c", "kill " .. pid}).status == 0
end

-- A script in a directory with program.lua: the result, as of run.command, and
-- whether a program went on.
local function shell (script, code)
  return run.within(function (directory)
    run.write(directory .. "/program.lua", code or shares)
    local result = run.command({"sh", "-c", script}, {
      cwd = directory, timeout = 60,
      env = {T = run.build .. "/bin/tracegrip", LUA = run.lua,
             TMPDIR = directory}
    })
    result.went_on = end_left(result.stderr .. result.stdout)
    return result
  end)
end

local function top (words, code)
  return shell("$T top " .. words, code)
end

-- The share that a function has of all that its program did, in a table: how
-- much of the time that is, other programs decide.
local function share (text, name)
  local function total (of)
    return tonumber(text:match("\n *[%d.]+%% +([%d.]+)%%[^\n]- " .. of
                               .. " ") or "0")
  end
  local whole = total "%(main chunk%)"
  assert.is_true(whole > 0, text)
  return 100 * total(name) / whole
end

describe("tracegrip top", function ()
  it("shows the share of each function", function ()
    local result = top "-n 2 --every 1s program.lua 30"
    local last = result.stdout:match ".*(\ntracegrip top: .*)"
    assert.matches("tracegrip top: program.lua, 0:00:%d%d\nprocessor %[", last)
    assert.matches("[%d,]+ samples/s", last)
    for name, expected in pairs {sixty = 60, thirty = 30, ten = 10} do
      local got = share(last, name)
      assert.is_true(math.abs(got - expected) < 25, name .. " " .. last)
    end
    assert.matches("\n *[%d.]+%% .* spin +program.lua:1\n", last)
  end)

  it("shows what the program waits for, by the clock", function ()
    local result = top("-n 2 --every 1s --wall program.lua", [[
      local function nap ()
        local pipe = io.popen "sleep 0.3"
        pipe:read "a"
        pipe:close()
      end
      for _ = 1, 100 do nap() end
    ]])
    local last = result.stdout:match ".*(\ntracegrip top: .*)"
    assert.is_true(share(last, "nap") > 90, last)
    assert.is_true(share(last, "read") > 50, last)
  end)

  -- As the system counts it, whatever else the machine does.
  it("shows how much of a processor the program has", function ()
    local result = top("-n 2 --every 2s program.lua", [[
      local function nap (n) io.popen("sleep " .. n):close() end
      while true do
        local stop = os.clock() + 0.02
        while os.clock() < stop do end
        nap(0.2)
      end
    ]])
    local last = result.stdout:match ".*(\ntracegrip top: .*)"
    local part = tonumber(last:match "\nprocessor %[[| ]*%] ([%d.]+)%%")
    assert.is_true(part > 0.5 and part < 40, last)
    assert.matches("\n%d+ threads?, %d+ coroutines?\n", last)
  end)

  it("counts calls", function ()
    local result = top "-n 1 --every 1s --calls --sort calls program.lua 30"
    local number, unit, spin, main = result.stdout:match(
      "the last ([%d.]+) (m?s)\n[^\n]*\n[^\n]*calls/s[^\n]*\n"
      .. "[^\n]-([%d,]+)  spin .*  (%d+)  %(main chunk%)")
    assert.is_truthy(spin, result.stdout)
    assert.is_true(tonumber((spin:gsub(",", ""))) > 3, spin)
    local once = (unit == "ms" and 1000 or 1) / tonumber(number)
    assert.is_true(math.abs(tonumber(main) - once) < 0.51, result.stdout)
  end)

  it("ends what it has run after so many tables, and leaves nothing",
     function ()
    local result = shell [[
      $T top -n 1 --every 1s program.lua
      echo "status $?"
      ls -d tracegrip-* 2>/dev/null
      true]]
    assert.matches("\nbegins\nstatus 0\n$", result.stdout)
    assert.not_matches("goes on", result.stderr)
  end)

  it("ends it too if it is ended itself, and has its status", function ()
    local result = shell [[
      $T top --every 100ms program.lua >shown &
      until grep -q sixty shown; do sleep 0.05; done
      kill $!
      wait $!
      echo "status $?"
      ls -d tracegrip-* 2>/dev/null
      true]]
    assert.equal("status 143\n", result.stdout)
  end)

  it("kills what does not heed that", function ()
    local result = shell(([[
      %s="%s" $T top -n 1 --every 200ms --sort name program.lua
      echo "status $?"
      ls -d tracegrip-* 2>/dev/null
      true]]):format(run.variable "LUA_CPATH",
                     run.modules[run.variable "LUA_CPATH"]),
      'require "refused".block() '
      .. 'while true do require "process".sleep(0.01) end')
    assert.matches("\nstatus 0\n$", result.stdout)
  end)

  it("counts what is allocated, by function", function ()
    local result = top("-n 2 --every 1s --memory --sort bytes program.lua", [[
      local function many () for i = 1, 1000 do local t = {i, i, i} end end
      local function few () for i = 1, 100 do local t = {i, i, i} end end
      while true do many() few() end
    ]])
    local last = result.stdout:match ".*(\ntracegrip top: .*)"
    local function allocations (name)
      local row = last:match("\n([^\n]+)  " .. name .. " ")
      return tonumber((row:match("iB +([%d,]+)"):gsub(",", "")))
    end
    local n, m = allocations "many", allocations "few"
    assert.is_true(n > 3 * m and n < 40 * m, last)
    assert.matches("heap [^\n]+, at most [^\n]+/s in [%d,]+ allocations/s, "
                   .. "[%d,]+ collections?\n", last)
    assert.matches(", collector [%d.]+%%, heap", last)
  end)

  it("counts what is allocated, by line", function ()
    local result = shell([[
      $T top -n 1 --every 1s --memory --lines --sort bytes program.lua
      $T top -n 1 --every 1s --calls --memory --lines program.lua
      $T serve --listen unix:there program.lua >served 2>&1 &
      until grep -q listening served; do sleep 0.05; done
      $T top -n 1 --every 1s --memory --lines --sort bytes unix:there
      kill $!
    ]], [[
      local kept
      local function make () return {1, 2} end
      while true do
        for i = 1, 300 do kept = make() end
        for i = 1, 100 do
          local t = {}
        end
      end
    ]])
    local tables = 0
    for text in result.stdout:gmatch "tracegrip top: .-\n\n" do
      local function rate (line)
        local count = text:match("iB +([%d,]+)[^\n]+program.lua:" .. line
                                 .. "\n")
        return tonumber((count:gsub(",", "")))
      end
      local ratio = rate(2) / rate(6)
      assert.is_true(ratio > 5.5 and ratio < 6.5, text)     -- two blocks each
      tables = tables + 1
    end
    assert.equal(3, tables, result.stdout .. result.stderr)
  end)

  it("knows of lines of calls what they allocate only", function ()
    local result = top "-n 1 --calls --lines program.lua"
    assert.equal(2, result.status)
    assert.matches("%-%-lines of %-%-calls want %-%-memory", result.stderr)
    result = top "-n 1 --calls --memory --lines --sort self program.lua"
    assert.equal(2, result.status)
    assert.matches("%-%-sort self is not known", result.stderr)
  end)

  it("shows lines", function ()
    local result = top("-n 2 --every 1s --lines program.lua", [[
      local x = 0
      while true do
        for i = 1, 30000 do x = x + i % 3 end
        for i = 1, 10000 do x = x + i % 3 end
      end
    ]])
    local last = result.stdout:match ".*(\ntracegrip top: .*)"
    local function part (line)
      return tonumber(last:match("([%d.]+)%% [^\n]*program.lua:" .. line
                                 .. "\n"))
    end
    assert.is_true(part(3) > 1.5 * part(4), last)
    assert.matches("self  function +line\n", last)
  end)

  it("shows a C function that does not return", function ()
    local result = top("-n 3 --every 1s program.lua", [[
      local function guilty ()
        local s = ("a"):rep(40)
        local found = s:find(("a*"):rep(20) .. "b")
        return found
      end
      local stop = os.clock() + 0.1
      while os.clock() < stop do end
      guilty()
    ]])
    local last = result.stdout:match ".*(\ntracegrip top: .*)"
    assert.matches("\n *(%d+%.%d)%% [^\n]*string.find +%[C%]\n", last)
  end)

  -- Once the program has run for long enough, which takes as long as it takes.
  it("tells of ticks that do not come", function ()
    local result = shell(([[
      %s="%s" $T top --every 200ms program.lua >shown &
      until grep -q note: shown; do sleep 0.05; done
      kill $!
      wait $!
      cat shown
    ]]):format(run.variable "LUA_CPATH",
               run.modules[run.variable "LUA_CPATH"]),
      'require "refused".block() while os.clock() < 60 do end')
    -- all of them, unless one came before they were
    assert.matches("\nnote: [%a%d, ]+ ticks came while signals were blocked",
                   result.stdout)
  end)

  it("ends with its program, shows its output, has its status", function ()
    local result = top "--every 100ms program.lua 0.3 more"
    assert.equal(7, result.status)
    assert.equal("", result.stderr)
    assert.matches("\nbegins\t0.3\tmore\nends\n$", result.stdout)
  end)

  it("attaches to a program that listens, and leaves it as it was",
     function ()
    local result = shell [[
      : >out
      $T serve --listen unix:there program.lua >>out 2>&1 &
      until grep -q listening out; do sleep 0.05; done
      $T top -n 2 --every 1s unix:there
      $T top -n 1 --every 200ms unix:there
      kill -0 $! && echo works
      touch enough
      wait $!
      echo "status $?"]]
    assert.equal("", result.stderr)
    local _, tables = result.stdout:gsub("samples/s, the last", "")
    assert.equal(3, tables)
    assert.is_true(share(result.stdout, "sixty") > 20)
    assert.matches("\nworks\nstatus 7\n$", result.stdout)
  end)

  it("says what it cannot do", function ()
    local function fails (status, message, words, code)
      local result = top(words, code)
      assert.equal(status, result.status, words)
      assert.equal("", result.stdout)
      assert.matches(message, result.stderr)
    end
    fails(1, "^tracegrip: cannot connect to [^\n]*\n$", "127.0.0.1:1")
    fails(2, "wants %-%-calls", "--sort calls program.lua")
    fails(2, "%-o is of a program that top runs", "-o out 127.0.0.1:1")
    fails(1, "nosuch.lua", "nosuch.lua")
    fails(1, "program.lua:1:", "program.lua", "local = 1")
  end)
end)

-- On a terminal of script(1). 'keys' is shell: key K presses one, shown TEXT
-- waits until that has been drawn, anew TEXT until it is drawn from now on.
local function on_terminal (keys, words, how)
  how = how or {}
  return shell(([[: >out.txt
    key () { printf "$1"; }
    shown () {
      for i in $(seq 1200); do
        tail -c +${2:-1} out.txt | grep -aq "$1" && break
        sleep 0.05
      done
    }
    anew () { shown "$1" $(($(wc -c <out.txt) + 1)); }
    { %s; } | %s script -qfec "stty cols %d rows %d; $T top %s" out.txt \
      >/dev/null
    echo "status $?"
    cat out.txt]]):format(keys, how.env or "TERM=xterm", how.columns or 80,
                          how.lines or 12, words), how.code)
end

-- What was drawn last that has this text, as lines without colours.
local function screen_with (text, pattern)
  local found
  for screen in text:gmatch "\27%[%?2026h\27%[H(.-)\27%[J" do
    if screen:find(pattern) then
      found = screen
    end
  end
  assert(found, text)
  local lines = {}
  for line in (found .. "\n"):gmatch "(.-)\27%[K\r*\n" do
    lines[#lines + 1] = line:gsub("\27%[[%d;]*m", "")
  end
  return lines, found
end

describe("the screen of tracegrip top", function ()
  it("is as large as the terminal, and gives that back", function ()
    local result = on_terminal("shown sixty; key q",
                               "--every 300ms program.lua")
    local text = result.stdout
    assert.matches("\27%[%?1049h\27%[%?25l", text)
    assert.matches("\27%[%?25h\27%[%?1049l", text)
    local lines = screen_with(text, "sixty")
    assert.equal(12, #lines)
    assert.matches("^tracegrip top: program.lua, 0:00:%d%d$", lines[1])
    assert.matches("^%l+ %[", lines[2])   -- "running" in the first screen
    assert.matches("^↓self %% +total %% ", lines[4])
    assert.matches("sixty +program.lua:2 *\n", table.concat(lines, "\n"))
    assert.matches("^q quit %? help / search", lines[12])
    assert.is_true(result.went_on)
  end)

  it("has colours, unless they are not wanted", function ()
    local result = on_terminal("shown sixty; key q",
                               "--every 300ms program.lua")
    assert.matches("\27%[30;42m", result.stdout)
    result = on_terminal("shown sixty; key q", "--every 300ms program.lua",
                         {env = "TERM=xterm NO_COLOR=1"})
    assert.not_matches("\27%[[%d;]*3%dm", result.stdout)
    assert.matches("\27%[7m", result.stdout)
  end)

  it("is a table where the terminal has no screen", function ()
    local result = on_terminal("shown sixty", "-n 2 --every 300ms program.lua",
                               {env = "TERM=dumb"})
    assert.not_matches("\27", result.stdout)
    assert.matches("sixty +program.lua:2", result.stdout)
  end)

  it("sorts, adds up and pauses", function ()
    local result = on_terminal("shown sixty; key t; key a; "
                               .. "shown 'since the'; key p; shown 'go on'; "
                               .. "key q",
                               "--calls --every 200ms program.lua",
                               {columns = 120})
    assert.matches("%d calls/s, since the", result.stdout)
    local lines = screen_with(result.stdout, "go on")
    assert.matches("PAUSED", lines[1])
    assert.matches("↓total %%", lines[4])
    assert.matches("%(main chunk%)", lines[5])
  end)

  it("searches, filters and shows help", function ()
    local keys = [[shown sixty; key '/thir'; shown 'search: thir';
      key '\r'; key '\\'; key ten; shown 'only rows with: ten_';
      anew 'program.lua:4'; key '\r'; shown 'filter: ten';
      key '\033OP'; shown 'any other key'; key x; key '\033[21~'; sleep 0.2]]
    local result = on_terminal(keys, "--every 300ms program.lua",
                               {lines = 24})
    local lines = screen_with(result.stdout,
                              "program.lua:4.*only rows with: ten_")
    local text = table.concat(lines, "\n")
    assert.matches("ten +program.lua:4", text)
    assert.not_matches("sixty", text)
    lines = screen_with(result.stdout, "any other key")
    assert.matches("F10 +quit", table.concat(lines, "\n"))
    assert.is_true(result.went_on)
  end)

  it("ends the program with Ctrl-C", function ()
    local result = on_terminal("shown sixty; key '\\003'; shown interrupted",
                               "--every 300ms program.lua")
    assert.matches("interrupted!", result.stdout)
    assert.not_matches("goes on", result.stdout)
  end)

  it("ends the program with k, once that is confirmed", function ()
    local result = on_terminal("shown sixty; key k; shown 'y: SIGTERM'; key n; "
                               .. "key k; key y; shown 1049l; sleep 0.1",
                               "--every 300ms program.lua")
    assert.matches("status 143\n", result.stdout)
    assert.not_matches("goes on", result.stdout)
  end)
end)
