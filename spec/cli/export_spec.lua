-- tracegrip export: where it writes, what it says. What the formats look like
-- is told in spec/export and, by the tools that read them, spec/importers.

local cjson = require "cjson"

local run = require "spec.support.run"

-- A script for the shell, with T for the command, after a recording of the
-- program has been made as "rec.tgr".
local function shell (code, script)
  return run.command(
    {"sh", "-c", "$T record -o rec.tgr program.lua >program.out 2>&1\n"
                 .. script},
    {files = {["program.lua"] = code},
     env = {T = run.build .. "/bin/tracegrip", LUA = run.lua}})
end

-- What the script writes; on standard error it has said only that it is done.
local function output (...)
  local result = shell(...)
  assert.matches("^tracegrip: [^\n]*: [%d,]+ %a+, [^\n]*\n$", result.stderr)
  assert.equal(0, result.status)
  return result.stdout, result.stderr
end

local function refused (status, code, script, ...)
  local result = shell(code, script)
  assert.matches("^tracegrip: [^\n]+\n$", result.stderr)
  for _, pattern in ipairs {...} do
    assert.matches(pattern, result.stderr)
  end
  assert.equal(status, result.status)
  return result
end

-- The formats that there are, by their names.
local formats = {}
do
  local result = run.command {run.lua, "-e", [[
    for _, format in ipairs(require "tracegrip.core".exportFormats()) do
      print(format.name, format.ending, format.limit, format.depth)
    end]]}
  for name, ending, limit, depth in
      result.stdout:gmatch "(%S+)\t(%S+)\t(%d+)\t(%d+)\n" do
    formats[name] = {ending = ending, limit = tonumber(limit),
                     depth = tonumber(depth)}
  end
end

local calls = "for i = 1, 10 do math.abs(i) end"

describe("tracegrip export", function ()
  it("has the formats that are promised", function ()
    for _, name in ipairs {"packets", "firefox", "gecko", "chrome",
                           "cpuprofile", "speedscope", "folded", "pprof",
                           "html", "otlp"} do
      assert.is_table(formats[name], name)
    end
  end)

  -- Calls use(command) where a program was recorded as rec.tgr: command(words)
  -- gives what tracegrip writes.
  local function of_program (code, words, use)
    run.within(function (directory)
      local function command (line)
        local result = run.command({"sh", "-c", "$T " .. line}, {
          cwd = directory, env = {T = run.build .. "/bin/tracegrip"}})
        assert.equal(0, result.status, result.stderr)
        return result.stdout
      end
      run.write(directory .. "/program.lua", code)
      command("record " .. words .. " -o rec.tgr program.lua")
      use(command)
    end)
  end

  -- A time that --to names has no cost of tracing in it: 200,000 calls before
  -- it have taken some milliseconds of that.
  it("ends a call where --to does, as reports do", function ()
    local code = [[
      local function f () end
      local function many () for _ = 1, 2e5 do f() end end
      local function spin () local t = os.clock() + 0.03
        repeat until os.clock() > t end
      many() spin()
    ]]
    of_program(code, "--no-c", function (command)
      local whole = cjson.decode(command "report --json rec.tgr")
      local to = (" --to +%.3f rec.tgr"):format(whole.duration_ms - 10)
      local spins
      local rows = cjson.decode(command("report --json" .. to)).functions
      for _, row in ipairs(rows) do
        spins = row.name == "spin" and row.self_ms or spins
      end
      local folded = command("export folded -o -" .. to)
                     :match "spin (%d+)\n" / 1000
      assert.is_true(spins > 0)
      assert(math.abs(folded - spins) < 0.01, folded .. " " .. spins)
    end)
  end)

  -- What a viewer shows: when the calls of a function begin, in ms.
  local function shown (text, name, track)
    local list = {}
    for _, event in ipairs(cjson.decode(text).traceEvents) do
      if event.ph == "X" and event.name == name and event.tid == track then
        list[#list + 1] = event.ts / 1000
      end
    end
    table.sort(list)
    return list
  end

  -- Both with the same kind of times: as recorded, or without what tracing has
  -- cost.
  -- Time 0 of a document is the first call that its filters leave.
  for _, filter in ipairs {"", "--exclude '^.main chunk.$'", "--thread 2"} do
    it("shows times that --from and --to take with a plus: " .. filter,
    function ()
      local code = [[
        local function mark () end
        local function wait () local t = os.clock() + 0.002
          repeat until os.clock() > t end
        mark() wait() mark() wait() mark()
        coroutine.wrap(function () mark() wait() mark() wait() mark() end)()
      ]]
      of_program(code, "", function (command)
        local first = filter == "--thread 2" and 2 or 1
        for viewed, logged in pairs {["--raw"] = "", [""] = "--true"} do
          local times = shown(command(("export chrome %s -o - rec.tgr %s")
                                      :format(viewed, filter)), "mark", first)
          local log = command(
            ("log %s --from=+%.6f --to=+%.6f rec.tgr %s"):format(
            logged, times[2] - 0.001, times[2] + 0.001, filter))
          assert.equal(1, select(2, log:gsub("mark%(%)", "")), log)
        end
      end)
    end)
  end

  -- From the first call to the last, in nanoseconds.
  local function span_of (text, key, scale)
    local from, to = math.huge, 0
    for at in text:gmatch('"' .. key .. '":"?([%d.]+)') do
      from, to = math.min(from, tonumber(at)), math.max(to, tonumber(at))
    end
    return math.floor((to - from) * scale + 0.5)
  end

  it("writes spans by the clock, as other processes have them", function ()
    local code = [[
      local function f () end
      local function last () end
      for i = 1, 20000 do f() end
      last()
    ]]
    local texts = {}
    for text in output(code, [[
      for what in packets otlp "otlp --true"; do
        $T export $what rec.tgr --exclude '^f$' --no-c -o - 2>/dev/null
        echo ==
      done
      $T export otlp rec.tgr]]):gmatch "(.-)==\n" do
      texts[#texts + 1] = text
    end
    local recorded = span_of(texts[1]:gsub('{"type":"exited[^\n]*', ""),
                             "time", 1e6)
    assert.equal(recorded, span_of(texts[2], "startTimeUnixNano", 1))
    assert.is_true(span_of(texts[3], "startTimeUnixNano", 1) < recorded)
  end)

  for name, format in pairs(formats) do
    it("writes " .. name .. " beside the recording", function ()
      local text, said = output(calls, "$T export " .. name .. " rec.tgr\nls")
      assert.matches("\nrec" .. format.ending:gsub("%p", "%%%0") .. "\n",
                     "\n" .. text)
      assert.matches("^tracegrip: rec%.[%w.]+: %d+ calls, ", said)
    end)

    it("writes " .. name .. " of a trace with nothing in it", function ()
      output("", "$T export " .. name .. " --raw --to 0 rec.tgr -o - | wc -c")
    end)
  end

  it("takes the number of a process for part of the name", function ()
    local text = output(calls, "cp rec.tgr rec.123; "
                               .. "$T export packets rec.123; ls")
    assert.matches("\nrec%.123%.jsonl\n", text)
  end)

  it("writes where it is told to", function ()
    local text = output(calls, "$T export packets rec.tgr -o out; tail -1 out")
    assert.matches('^{"type":"exitedFrame"', text)
    assert.equal(text, (output(calls, "$T export packets -o - rec.tgr "
                                      .. "| tail -1"))
                       :gsub('"time":[%d.]+', text:match '"time":[%d.]+'))
  end)

  it("compresses what ends in .gz", function ()
    local text = output(calls, "$T export packets rec.tgr -o out.gz; "
                               .. "zcat out.gz | tail -1")
    assert.matches('^{"type":"exitedFrame"', text)
  end)

  it("never writes over the recording", function ()
    for _, way in ipairs {"-o rec.tgr rec.tgr", "-o ./rec.tgr rec.tgr",
                          "-o link rec.tgr", "rec"} do
      local script = "ln -s rec.tgr link; ln rec.tgr rec.jsonl; "
                     .. "ln rec.tgr rec\n$T export packets " .. way
                     .. "\nstatus=$?; $T info rec.tgr | grep state; "
                     .. "exit $status"
      local result = refused(1, calls, script, "the recording itself")
      assert.matches("complete", result.stdout)
    end
  end)

  it("takes the filters", function ()
    local function count (flags)
      local text = output(calls, "$T export packets -o - " .. flags
                          .. " rec.tgr | grep -c '\"enteredFrame\"' || :")
      return tonumber(text)
    end
    assert.equal(count "" - 10, count "--exclude '^math.abs$'")
    assert.equal(10, count "--include '^math.abs$'")
    assert.equal(1, count "--no-c")
    assert.equal(0, count "--min-duration 10s")
    assert.equal(0, count "--min-ms 10s")
  end)

  it("exports the trace of a name", function ()
    local text = output([[
      local console = require "tracegrip.console"
      console.startTrace "inner"
      math.floor(1)
      console.stopTrace "inner"]],
      "$T export packets --trace inner -o - rec.tgr | grep -c entered")
    assert.is_true(tonumber(text) < 5)
    refused(1, calls, "$T export packets --trace nix rec.tgr", "nix")
  end)

  it("tells of markers where there are no calls", function ()
    local marks = [[
      local console = require "tracegrip.console"
      console.log "one" console.warn "two"]]
    local _, said = output(marks,
      "$T export firefox --include nothing rec.tgr")
    assert.matches(": 2 markers, ", said)
    assert.not_matches("nothing to be seen", said)
    _, said = output(marks, "$T export speedscope --include nothing rec.tgr")
    assert.matches("there is nothing to be seen", said)
  end)

  it("tells what is left out and how to change that", function ()
    local _, said = output(calls, "$T export speedscope --limit 4 rec.tgr")
    assert.matches(": 4 calls, ", said)
    assert.matches("; %d+ calls shorter than [%d.]+ [nµm]+s left out, "
                   .. "[%d.]+ [nµm]+s in all %(%-%-limit N%)", said)
    _, said = output(calls, "$T export speedscope --limit all rec.tgr")
    assert.not_matches("left out", said)
  end)

  it("tells what is too deep for the viewer", function ()
    local deep = "local function f (n) if n > 0 then f(n - 1) end end f(9000)"
    local _, said = output(deep, "$T export chrome rec.tgr")
    assert.matches("; [%d,]+ calls deeper than %d,%d+ part of those around",
                   said)
  end)

  it("tells that values were too much, and has all calls", function ()
    local wide = [[
      local function f (a, b, c, d) end
      local s = {}
      for i = 1, 4 do s[i] = (i .. "x"):rep(125) end
      for i = 1, 250000 do f(s[1], s[2], s[3], s[4]) end
    ]]
    local _, said = output(wide, "$T export chrome -o /dev/null rec.tgr")
    assert.matches("; [%d,]+ calls without their values, ", said)
    assert.not_matches("left out", said)
    _, said = output(wide, "$T export chrome --limit all -o /dev/null rec.tgr")
    assert.not_matches("without", said)
  end)

  it("tells what the recording has lost", function ()
    local result = run.command({"sh", "-c", [[
      $T record --ring --buffer 256K -o rec program.lua
      $T export folded rec]]}, {
      files = {["program.lua"] = "for i = 1, 60000 do math.abs(i) end"},
      env = {T = run.build .. "/bin/tracegrip"}})
    assert.matches("; lost [%d,]+ events %(", result.stderr)
  end)

  it("names the formats that it knows", function ()
    refused(2, calls, "$T export svg rec.tgr", "'packets'", "'firefox'")
    refused(2, calls, "$T export", "format")
    refused(2, calls, "$T export packets", "file")
  end)

  it("refuses options that the format does not have", function ()
    refused(2, calls, "$T export packets --samples rec.tgr", "%-%-samples",
            "chrome")
    refused(2, calls, "$T export chrome --gecko-version 5 rec.tgr", "gecko")
    refused(2, calls, "$T export gecko --gecko-version 6 rec.tgr", "'36'")
    refused(2, calls, "$T export chrome --limit 0 rec.tgr", "%-%-limit")
  end)

  it("fails in one line when it cannot read or write", function ()
    refused(1, calls, "$T export packets nix", "nix: No such file")
    refused(1, calls, "$T export packets program.lua", "program.lua: ")
    refused(1, calls, "$T export packets rec.tgr -o no/out",
            "no/out: No such file")
    refused(1, calls, "$T export packets rec.tgr -o /dev/full",
            "No space left")
    refused(1, calls, "$T export packets rec.tgr -o - >/dev/full",
            "No space left")
  end)

  it("tells where it cannot put aside what comes later", function ()
    local many = [[
      local s = ("x"):rep(250)
      local function f (a) return a end
      for _ = 1, 1000000 do f(s) end]]
    for _, format in ipairs {"firefox", "gecko", "speedscope"} do
      refused(1, many, "TMPDIR=no/where $T export " .. format
              .. " --limit 9999999 rec.tgr",
              "tracegrip: no/where: No such file")
    end
  end)

  it("is silent when nobody reads on", function ()
    local result = shell("for i = 1, 20000 do math.abs(i) end",
                         "$T export packets rec.tgr -o - | head -1")
    assert.equal("", result.stderr)
  end)

  it("exports what there is of a recording that was cut off", function ()
    local result = shell([[
      for i = 1, 1000 do math.abs(i) end
      io.popen("kill -9 $PPID"):read "a"
      while true do math.abs(1) end]],
      "$T export packets rec.tgr -o - | grep -c math.abs")
    assert.is_true(tonumber(result.stdout) >= 1000)
    assert.matches("rec.tgr is cut off", result.stderr)
  end)
end)

describe("the progress of an export", function ()
  local program = [[
    local tracegrip = require "tracegrip"
    local trace = tracegrip.start()
    for i = 1, 100000 do math.abs(i) end
    trace:stop()
    local path = os.tmpname()
    local parts = {}
    ]]

  it("is told in parts that grow to 1", function ()
    local result = run.code(program .. [[
      trace:export("packets", path, {progress = function (part)
        parts[#parts + 1] = part
      end})
      os.remove(path)
      for i = 2, #parts do assert(parts[i - 1] <= parts[i]) end
      print(#parts > 3 and parts[1] > 0 and parts[#parts] <= 1)]])
    assert.equal("true\n", result.stdout)
    assert.equal("", result.stderr)
  end)

  it("moves also while calls are counted, where there are too many", function ()
    local result = run.code(program .. [[
      trace:export("cpuprofile", path, {limit = 10, progress = function (part)
        parts[#parts + 1] = part
      end})
      os.remove(path)
      local counting = 0
      for i = 2, #parts do
        assert(parts[i - 1] <= parts[i])
        counting = counting + (parts[i - 1] < parts[i] and parts[i] < 1 / 3
                               and 1 or 0)
      end
      print(counting > 3)]])
    assert.equal("true\n", result.stdout)
    assert.equal("", result.stderr)
  end)

  it("can end it with an error", function ()
    local result = run.code(program .. [[
      local thing = {}
      for _, format in ipairs(require "tracegrip.core".exportFormats()) do
        local ok, message = pcall(trace.export, trace, format.name, path, {
          progress = function () error(thing) end})
        if ok or message ~= thing then print(format.name, ok, message) end
      end
      os.remove(path)
      print(pcall(trace.export, trace, "packets", path, {progress = 1}))]])
    assert.matches("^false\t[^\n]*'progress': a function expected[^\n]*\n$",
                   result.stdout)
  end)
end)

describe("tracegrip export otlp", function ()
  -- The resource's attributes that are not always there.
  local function resource (env, options)
    local text = output(calls, env .. " $T export otlp -o - " .. options
                        .. " rec.tgr")
    local list = cjson.decode(text:match "[^\n]+")
    local found = {}
    for _, one in ipairs(list.resourceSpans[1].resource.attributes) do
      if not one.key:find "^telemetry%." and not one.key:find "^process%." then
        found[one.key] = one.value.stringValue
      end
    end
    return found
  end

  it("says of the program what --resource has", function ()
    assert.same({["service.name"] = "program"}, resource("", ""))
    assert.same({["service.name"] = "shop", ["host.name"] = "a = 100%, b"},
                resource("", "--resource service.name=shop "
                             .. "--resource 'host.name=a = 100%, b'"))
  end)

  it("says what the environment has, if --resource is not stronger",
  function ()
    local env = "OTEL_SERVICE_NAME=one OTEL_RESOURCE_ATTRIBUTES="
                .. "service.name=two,host.name=h%20,service.version=1"
    assert.same({["service.name"] = "one", ["host.name"] = "h ",
                 ["service.version"] = "2"},
                resource(env, "--resource service.version=2"))
  end)

  it("passes over an environment that it cannot read, and says so",
  function ()
    local result = shell(calls, "OTEL_RESOURCE_ATTRIBUTES=a=100% "
                                .. "$T export otlp -o - rec.tgr >/dev/null")
    assert.equal(0, result.status)
    assert.matches("^tracegrip: OTEL_RESOURCE_ATTRIBUTES is passed over: "
                   .. "[^\n]*'a=100%%'\n[^\n]+\n$", result.stderr)
  end)

  it("refuses what is no attribute", function ()
    for _, wrong in ipairs {"a", "=1", "' =1'"} do
      refused(2, calls, "$T export otlp --resource " .. wrong .. " rec.tgr",
              "%-%-resource wants KEY=VALUE")
    end
    local many = {}
    for i = 1, 33 do
      many[i] = "--resource " .. i .. "=1"
    end
    refused(2, calls, "$T export otlp rec.tgr " .. table.concat(many, " "),
            "more than 32 attributes")
    refused(2, calls, "$T export folded --resource a=1 rec.tgr",
            "%-%-resource is for otlp")
  end)
end)
