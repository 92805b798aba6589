-- Programs that load many texts: rows that are read back by load, templates,
-- rules. What that costs, and what is kept of it.

local debugger = require "spec.support.debugger"
local recorded = require "spec.support.recorded"
local run = require "spec.support.run"

-- Texts of one length, with the same beginning and the same end; prints the
-- processor time of the last quarter as a multiple of the first one's.
local rows = [[
  local n, times, begun = 40000, {}, os.clock()
  for i = 1, n do
    local row = load(("return {id = %06d, name = 'item', on = true}")
                     :format(i))()
    assert(row.id == i)
    if i % (n // 4) == 0 then
      times[#times + 1] = os.clock() - begun
      begun = os.clock()
    end
  end
  print(times[4] / times[1])
]]

local function check (result)
  assert.equal(0, result.status, result.stderr)
  assert.is_true(tonumber(result.stdout) < 3, result.stdout)
end

local function command (words, code)
  return run.within(function (directory)
    run.write(directory .. "/program.lua", code)
    table.insert(words, 1, run.build .. "/bin/tracegrip")
    return run.command(words, {cwd = directory})
  end)
end

describe("forty thousand loaded texts", function ()
  for _, way in ipairs {"1", "0"} do
    it("are recorded in the time that each takes, memory read: " .. way,
       function ()
      recorded.with(rows, {}, {direct = way}, function (info, _, result)
        check(result)
        assert.is_true(info.functions > 40000)
      end)
    end)
  end

  it("are logged in the time that each takes", function ()
    check(command({"run", "-o", "/dev/null", "program.lua"},
                  (rows:gsub("40000", "10000"))))
  end)

  it("are no part of what coverage keeps", function ()
    local result = command({"coverage", "program.lua"}, rows)
    check(result)
    assert.matches("in 1 file", result.stderr)
  end)
end)

describe("a long text", function ()
  it("is not looked through for each of its functions", function ()
    local code = [[
      local lines = {}
      for i = 1, 4000 do
        lines[i] = ("function f%d (a) return a + %d %s end f%d(1)")
                   :format(i, i, ("--[=[x]=]"):rep(22), i)
      end
      local text = table.concat(lines, "\n")
      local begun = os.clock()
      local chunk = load(text)
      local loaded = os.clock() - begun
      begun = os.clock()
      chunk()
      print((os.clock() - begun) / loaded)
    ]]
    for _, way in ipairs {"1", "0"} do
      recorded.with(code, {}, {direct = way}, function (info, _, result)
        assert.is_true(tonumber(result.stdout) < 250, result.stdout)
        assert.is_true(info.functions > 4000)
      end)
    end
  end)
end)

describe("a debugger with a breakpoint", function ()
  local it = run.needs("luv", it, pending)

  it("meets many texts in the time that each takes", function ()
    local code = [[
      local function stop () return 1 end
      io.stderr:write "begun\n"
      while not go do end
    ]] .. rows:gsub("40000", "8000")
    debugger.attach(code, function (front, client)
      front:stop_at(1)
      front:ask("Runtime.evaluate", {expression = "go = true"})
      client:ended()
      assert.is_true(tonumber(client.out:match "([%d.]+)%s*$") < 3, client.out)
    end)
  end)
end)

describe("a ring of a program that loads a text for each request", function ()
  local code = [[
    local function kilobytes ()
      local pages = io.open "/proc/self/statm":read "a":match "%%d+ (%%d+)"
      return pages * 4
    end
    local before
    for i = 1, 60000 do
      load("return 1", %s)()
      if i == 30000 then before = kilobytes() end
    end
    print(kilobytes() - before)
  ]]

  for _, way in ipairs {"1", "0"} do
    it("is bounded, and says what it lacks, memory read: " .. way, function ()
      local options = {overflow = "ring", buffer = 1 << 20}
      recorded.with(code:format "'=row ' .. i", options, {direct = way},
                    function (_, recording, result, directory)
        if not os.getenv "LD_PRELOAD" then    -- sanitizers keep what is freed
          assert.is_true(tonumber(result.stdout) < 2000, result.stdout)
        end
        local file = io.open(directory .. "/rec")
        assert.is_true(file:seek "end" < 3 << 20)
        file:close()
        local trace = recording:traces()[1]
        assert.is_true(trace.lost.functions > 0)
        local calls = {}
        for _, row in ipairs(trace:report().functions) do
          calls[row.name .. " " .. row.url] = row.calls
        end
        assert.is_true(calls["(main chunk) (texts beyond the buffer)"] > 1000)
      end)
    end)
  end

  it("keeps all functions of files, and of names that come again", function ()
    local options = {overflow = "ring", buffer = 1 << 20}
    recorded.with(code:format "'=row'", options, {}, function (_, recording)
      assert.equal(0, recording:traces()[1].lost.functions)
    end)
  end)
end)
