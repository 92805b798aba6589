-- Samples of LuaJIT from outside: of the interpreter, of compiled code, of what
-- these call, held against work that the programs have counted.

local jits = require "spec.support.jits"
local lookedat = require "spec.support.lookedat"
local nginxes = require "spec.support.nginxes"
local run = require "spec.support.run"
local spied = require "spec.support.spied"

local here = jits.here()
local path = here[1] and here[1].path
local always = it
local it = path and it or function (sentence)
  pending(sentence .. ": there is no luajit here")
end

local POINTS = 4                -- that a share may be off

-- Six, three and one parts of the same work, as in record_spec.lua. Compiled,
-- the same work may take longer in one function than in another, so programs
-- say for how long each has had the processor.
local function parts (body, unit)
  local code = {}
  for i, name in ipairs {"A", "B", "C"} do
    code[i] = ("local function %s () local x = 0 for i = 1, %d do %s end "
               .. "return x end\n"):format(name, ({6, 3, 1})[i] * unit, body)
  end
  return table.concat(code)
end

local timed = [[
local clock, times = os.clock, {A = 0, B = 0, C = 0}
local function timer (name, f)
  return function ()
    local begun = clock()
    f()
    times[name] = times[name] + clock() - begun
  end
end
local first, second, third = timer("A", A), timer("B", B), timer("C", C)
local function tell ()
  local file = io.open("times", "w")
  for name, time in pairs(times) do file:write(name, " ", time, "\n") end
  file:close()
end
]]

local loops = parts("x = x + i %% 7", 16600)

-- In no order: rounds that take as long as some ticks, or a thread that waits
-- for a processor after each look, are looked at in step with what is in order.
local in_turns = [[
say 'x' io.read()
for i = 1, %d do
  for k = 3, 2, -1 do
    local j = math.random(k)
    list[k], list[j] = list[j], list[k]
  end
  for k = 1, 3 do list[k]() end
end
tell()]]

local flat = loops .. timed .. "local list = {first, second, third} "
             .. in_turns

local coroutines = loops .. timed .. [[
local function loop (f)
  while true do f() coroutine.yield() end
end
local c = coroutine.create(function () loop(third) end)
local list = {
  coroutine.wrap(function () loop(first) end),
  coroutine.wrap(function () loop(second) end),
  function () coroutine.resume(c) end
}
]] .. in_turns

-- What they call is in C, and long; or fast functions, and short.
local library = [[
local find, byte, floor = string.find, string.byte, math.floor
local s = ("x"):rep(2000)
]] .. parts("find(s, '[yz]') x = x + byte(s, i) + floor(i / 3)", 100)
  .. timed .. [[
say 'x' io.read()
for i = 1, %d do first() second() third() end
tell()]]

-- All in one trace: functions with stores, in functions, called by a method and
-- with extra arguments, and one whose code is of closures made anew.
local inlined = [[
local t = {}
for i = 1, 64 do t[i] = i end
local function store (i) local k = i %% 61 + 1 t[k] = t[64 - k] * 0.5 + 1 end
local function twice (i) store(i) store(i + 1) store(i + 2) end
local Account = {}
function Account:add (i) twice(i) twice(i + 9) twice(i + 20) end
local function pass (...) local r = Account.add(...) return r end
local function make (n) return function (i) pass(Account, i + n) end end
local calls = {make(1), make(2), make(3)}
say 'x' io.read()
for i = 1, %d do calls[i %% 3 + 1](i) end]]

-- Who may call whom; [C] is pmain of luajit.c, which has no name.
local callers = {
  leaf = {P = true, Q = true}, twig = {P = true, Q = true},
  P = {["(main chunk)"] = true}, Q = {["(main chunk)"] = true},
  store = {twice = true}, twice = {["Account:add"] = true},
  ["Account:add"] = {pass = true}
}

local function check_callers (recording)
  local sum, wrong = 0, 0
  for _, stack in ipairs(spied.stacks(recording)) do
    sum = sum + stack.weight
    for i, name in ipairs(stack) do
      if callers[name] and not callers[name][stack[i - 1]] then
        wrong = wrong + stack.weight
      end
    end
  end
  assert(wrong <= sum / 1000, ("%d of %d ns"):format(wrong, sum))
end

local function check_parts (recording, expected, field, alike)
  return spied.check_shares(recording, expected, field, alike, POINTS)
end

-- The same against what the program has said.
local function check_shares (recording, field, alike)
  local times, sum = {}, 0
  local said = run.read(recording:gsub("[^/]*$", "times"))
  for name, time in said:gmatch "(%u) (%S+)" do
    times[name] = tonumber(time)
    sum = sum + times[name]
  end
  for name in pairs(times) do
    times[name] = times[name] / sum
  end
  return check_parts(recording, times, field, alike)
end

local off = "jit.off() "

for _, interpreter in ipairs(here) do
  describe("record --pid of LuaJIT " .. interpreter.release, function ()
    local function whole (code, words, use)
      spied.whole(interpreter.path, code, words, use)
    end

    local fast = {"--sample", "10000"}

    it("tells shares of time as they are, in the interpreter", function ()
      whole(off .. flat:format(300), fast, function (file)
        check_shares(file, "self_ms")
      end)
    end)

    it("tells those of compiled code as they are", function ()
      whole(flat:format(600), fast, function (file)
        check_shares(file, "self_ms")
        assert.equal("LuaJIT " .. interpreter.release,
                     spied.info(file).versions.lua)
      end)
    end)

    it("tells those of coroutines, interpreted and compiled", function ()
      whole(off .. coroutines:format(250), fast, function (file)
        check_shares(file, "self_ms")
      end)
      whole(coroutines:format(500), fast, function (file)
        check_shares(file, "self_ms")
      end)
    end)

    it("tells who calls the library's functions for how long", function ()
      for _, begin in ipairs {off, ""} do
        whole(begin .. library:format(20), fast, function (file)
          local rows = check_shares(file, "total_ms")
          assert.equal("[C]", rows["string.find"].url)
          assert.is_true(rows["string.find"].self_ms > rows.A.self_ms)
        end)
      end
    end)

    it("has stacks that can be where calls are dense", function ()
      whole(off .. spied.dense:format(400), fast, function (file)
        check_parts(file, {P = 2 / 3, Q = 1 / 3}, "total_ms")
        check_callers(file)
        assert.is_true(spied.report(file).leaf.self_ms > 0)
      end)
    end)

    it("has those of the functions that a trace has inlined", function ()
      whole(inlined:format(3000000), fast, function (file)
        local rows = spied.report(file)
        check_callers(file)
        assert.is_true(rows.store.self_ms > rows["(main chunk)"].total_ms / 5)
      end)
    end)

    it("gives up nothing with --stop but what C hides", function ()
      for _, begin in ipairs {off, ""} do
        whole(begin .. flat:format(300), {"--stop"}, function (file)
          check_shares(file, "self_ms", 4)
          local samples = spied.info(file).samples
          local late = samples.dropped.late or 0
          assert(late <= samples.taken / 100 + 1, ("%d of %d")
                 :format(late, samples.taken))
        end)
      end
    end)
  end)
end

describe("record --pid of LuaJIT", function ()
  it("knows the lines of what runs, interpreted and compiled", function ()
    for begin, rounds in pairs {[off] = 8000, [""] = 20000} do
      spied.whole(path, begin .. ([[
        local t = {1}
        local function work (n)
          local x = 0
          for i = 1, n do
            x = x + i %% 7
            t[1] = x
          end
          return x
        end
        say 'x' io.read()
        for i = 1, %d do
          work(10000)
        end]]):format(rounds), {"--sample", "4000"}, function (recording)
        local rows = spied.report(recording, true)
        local first = rows.work.line
        local known, all = 0, rows.work.self_ms
        for _, at in ipairs(rows.work.lines) do
          if at.line >= first + 2 and at.line <= first + 4 then
            known = known + at.self_ms
          end
        end
        assert(known > 0.9 * all, ("%f of %f ms"):format(known, all))
      end)
    end
  end)

  it("refuses what it cannot tell, in one line", function ()
    lookedat.with(path, "say 'x' io.read()", function (process)
      process:waiting()
      for option, words in pairs {
        ["--wall"] = "LuaJIT keeps what it runs in the registers of a thread: "
                     .. "%-%-stop, or [^\n]+",
        ["--native"] = "C frames between those of LuaJIT cannot be told: "
                       .. "leave out %-%-native"} do
        local result = run.command(
          {run.build .. "/bin/tracegrip", "record", "-o", "x.tgr", option,
           "--pid", tostring(process.pid)},
          {env = {LUA = run.host}, cwd = process.directory})
        assert.equal(1, result.status)
        assert.matches("^tracegrip: " .. words .. "\n$", result.stderr)
        assert.is_nil(run.read(process.directory .. "/x.tgr"))
      end
    end)
  end)

  it("shows by the clock what it waits in, with --stop", function ()
    lookedat.with(path, [[
      local function ask () return io.read() end
      say 'x'
      ask()]], function (process)
      process:waiting()
      local recording = process.directory .. "/x.tgr"
      local command = spied.ended(spied.start {
        "record", "--pid", tostring(process.pid), "-o", recording, "--wall",
        "--stop", "--duration", "500ms"})
      assert.equal(0, command.status, command.stderr)
      assert.is_true(spied.report(recording)["io.read"].self_ms > 100)
    end)
  end)

  it("is shown by top as well, and a command's by --outside", function ()
    lookedat.with(path, [[
      local function busy () local x = 0 for i = 1, 1000 do x = x + i end end
      say 'x'
      while true do busy() end]], function (process)
      process:word()
      local command = spied.ended(spied.start {
        "top", "--pid", tostring(process.pid), "-n", "2", "--every", "1s"})
      assert.equal(0, command.status, command.stderr)
      assert.truthy(command.stdout:find "\n[^\n]* busy +[^\n]*program.lua:")
    end)
    run.within(function (directory)
      run.write(directory .. "/p.lua", [[
        local function work () local x = 0 for i = 1, 1e5 do x = x + i end end
        repeat work() until os.clock() > 3]])
      local command = spied.ended(spied.start {
        "record", "--outside", "-o", directory .. "/x.folded", "--", path,
        directory .. "/p.lua"})
      assert.equal(0, command.status, command.stderr)
      assert.truthy(run.read(directory .. "/x.folded"):find "chunk%);work")
    end)
  end)
end)

-- A host that runs Lua code, if there is one of that name.
local function hosted (host)
  local has = os.execute("command -v " .. host .. " >/dev/null 2>&1")
  return has and always or function (sentence)
    pending(sentence .. ": there is no " .. host .. " here")
  end
end

describe("record --pid of a host of LuaJIT", function ()
  hosted "nvim" ("tells where the time of neovim's Lua goes", function ()
    local code = flat:format(300) .. '\nvim.cmd "qa!"'
    spied.whole("nvim", code, {"--sample", "10000"}, function (recording)
      check_shares(recording, "self_ms")
    end, {"--headless", "-u", "NONE", "-c", "luafile program.lua"})
  end)

  local test = nginxes.test(always, pending)

  -- Each request has a coroutine that C resumes.
  test("tells what requests to nginx run, and in which coroutine", function ()
    nginxes.with((loops:gsub("%%%%", "%%")) .. [[
      local function handle () A() B() C() end
      local co = coroutine.wrap(function ()
        while true do handle() coroutine.yield() end
      end)
      for _ = 1, 5 do co() handle() end
      ngx.say "done"]], function (server)
      local recording = server.directory .. "/x.tgr"
      local command = spied.start {"record", "--pid", tostring(server.pid),
                                   "-o", recording, "--sample", "10000"}
      spied.looking(command)
      for _ = 1, 50 do
        assert.matches("done", server:ask(nginxes.get "/"))
      end
      command.handle:kill "sigint"
      spied.ended(command)
      assert.equal(0, command.status, command.stderr)
      check_parts(recording, {A = 0.6, B = 0.3, C = 0.1}, "self_ms")
      local rows = spied.report(recording)
      local handled = rows.handle.total_ms
      for _, name in ipairs {"(main chunk)", "(anonymous function)"} do
        local share = rows[name].total_ms / handled
        assert(share > 0.25, ("%s has %.3f"):format(name, share))
      end
    end)
  end)
end)
