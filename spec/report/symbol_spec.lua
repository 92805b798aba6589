-- C functions that have no name: where they are in their library, for people;
-- packets have the name that they have.

local cjson = require "cjson"

local run = require "spec.support.run"

local tracegrip = run.build .. "/bin/tracegrip"

-- 'process' is a library that nothing in package.loaded leads to, and pcall
-- gives no name to what it calls.
local code = [[
  local process = require "process"
  package.loaded.process = nil
  local sleep, count = process.sleep, process.descriptors
  local function work ()
    for i = 1, 3 do pcall(sleep, 0) end
    pcall(count, 0)
    pcall(string.gmatch("a", "a"))
  end
  work()
]]

local SYMBOL = "process%.so%+0x%x+"

local env = {T = tracegrip}
for name, value in pairs(run.modules) do
  env[name] = value
end

local function shell (script, flags, program)
  return run.command(
    {"sh", "-c", "$T record " .. (flags or "") .. " -o rec program.lua\n"
                 .. script},
    {files = {["program.lua"] = program or code}, env = env})
end

local function output (...)
  local result = shell(...)
  assert.equal(0, result.status, result.stderr)
  return result.stdout
end

describe("a C function without a name", function ()
  it("has its symbol in a report, and one row", function ()
    local report = cjson.decode((output "$T report --json rec"))
    local rows = {}
    for _, f in ipairs(report.functions) do
      if f.url == "[C]" and (f.name:find("process", 1, true)
                             or f.name:find("^%(")) then
        rows[#rows + 1] = ("%s %d"):format((f.name:gsub("0x%x+", "N")), f.calls)
      end
    end
    table.sort(rows)
    assert.same({"(anonymous function) 4", "process.so!luaopen_process 1",
                 "process.so+N 1", "process.so+N 3"}, rows)
    assert.matches("\n *3 [^\n]*  " .. SYMBOL .. " +%[C%]\n",
                   output "$T report rec")
  end)

  it("has it in a tree and in a log", function ()
    assert.matches("├ " .. SYMBOL .. " +%[C%]", output "$T tree rec")
    for _, command in ipairs {"$T log --no-times rec",
                              "$T run --no-times -o - program.lua"} do
      local log = output(command)
      assert.matches("│ function <" .. SYMBOL .. ">%(0%)\n", log)
      assert.matches("pcall%(function <" .. SYMBOL .. ">, 0%)", log)
      assert.matches("pcall%(function <%[C%]>%)", log)
    end
  end)

  it("has it in exports", function ()
    for format, pattern in pairs {
      folded = ";pcall;" .. SYMBOL .. " %d+\n",
      chrome = '"name":"' .. SYMBOL .. '"',
      firefox = '"' .. SYMBOL .. '"',
      speedscope = '"name":"' .. SYMBOL .. '"',
      cpuprofile = '"functionName":"' .. SYMBOL .. '"',
      otlp = '"code.function.name","value":{"stringValue":"' .. SYMBOL .. '"',
    } do
      local text = output("$T export " .. format .. " -o - rec")
      assert.is_truthy(text:find(pattern), format)
    end
  end)

  it("has none in packets", function ()
    local text = output "$T export packets -o - rec"
    assert.is_nil(text:find("process.so+", 1, true))
    assert.is_nil(text:find("symbol", 1, true))
    local n = 0
    for line in text:gmatch "[^\n]+" do
      local packet = cjson.decode(line)
      n = n + (packet.name == "(anonymous function)" and 1 or 0)
    end
    assert.equal(9, n)      -- as many as before there were symbols
  end)

  it("has it in samples", function ()
    local report = output("$T report rec", "--sample 5000", [[
      local process = require "process"
      package.loaded.process = nil
      local ask = process.descriptors
      local start = os.clock()
      while os.clock() - start < 0.1 do pcall(ask, 20000) end
    ]])
    assert.matches("  " .. SYMBOL .. " +%[C%]\n", report)
  end)

  it("keeps it where it is saved, and is none that has a name", function ()
    local result = run.code([[
      local tracegrip = require "tracegrip"
      local process = require "process"
      package.loaded.process = nil
      local now, pid = process.now, process.pid
      local trace = tracegrip.start()
      pcall(now)
      pid()
      trace:stop()
      trace:save "saved"
      local function names (report)
        local list = {}
        for _, f in ipairs(report.functions) do
          list[#list + 1] = f.name:gsub("0x%x+", "N")
        end
        table.sort(list)
        return table.concat(list, " ")
      end
      print(names(trace:report()))
      print(names(tracegrip.open "saved":report()))
    ]], {env = run.modules})
    assert.equal("", result.stderr)
    assert.equal(("pcall pid process.so+N\n"):rep(2), result.stdout)
  end)
end)
