-- The hook reads the interpreter's memory, and says the same as by the public
-- API. `make crosscheck` compares both at each event; here packets are.

local run = require "spec.support.run"

local here = run.root .. "/spec/direct/"
local launcher = run.build .. "/bin/tracegrip"

local all = {
  "name", "callsite", "time", "parameterNames", "arguments", "return",
  "throw", "yield", "location", "depth", "hitCount", "thread"
}

local function with (limits)
  local options = {trace = all}
  for key, value in pairs(limits) do
    options[key] = value
  end
  return options
end

-- A line without what differs from run to run. Lines are long, and where a word
-- is in one is known many times faster than where a pattern is.
local function lasting (line)
  local from, to = line:find('"time":', 1, true)
  if from then
    line = line:sub(1, from - 1) .. line:sub(to + 1):gsub("^[%d.e-]+", "")
  end
  return line:find("0x", 1, true) and line:gsub("0x%x+", "0x0") or line
end

-- The packets of a program as JSON, a line each, read from memory or not.
local function packets (code, options, direct)
  local result = run.traced(code, options,
                            {env = {TRACEGRIP_DIRECT = direct}})
  assert.equal("", result.stderr)
  for cause, n in pairs(result.lost) do
    assert.equal(0, n, cause)
  end
  local list = {}
  for line in result.text:gmatch "[^\n]+" do
    list[#list + 1] = lasting(line)
  end
  return list
end

local function same_both_ways (code, options)
  local read, asked = packets(code, options, "1"), packets(code, options, "0")
  assert.is_true(#read > 100)
  assert.equal(#asked, #read)
  for i = 1, #read do
    if read[i] ~= asked[i] then         -- they are long
      assert.equal(asked[i], read[i])
    end
  end
end

local function program (name)
  return run.read(here .. name .. ".lua")
end

describe("the interpreter's memory", function ()
  for seed, limits in ipairs {
    {}, {valueDepth = 0}, {valueDepth = 2}, {valueDepth = 3, valueObjects = 9},
    {valueProperties = 3}, {valueDepth = 4, valueProperties = 1000},
    {valueString = 5}, {redact = {"a", "c"}}
  } do
    it(("says the same of values (%d)"):format(seed), function ()
      local code = program "values":gsub("%.%.%.", seed, 1)
      same_both_ways(code, with(limits))
    end)
  end

  for seed, limits in ipairs {
    {}, {valueDepth = 0}, {valueDepth = 2}, {valueObjects = 3},
    {valueObjects = 20}, {valueProperties = 0}, {valueProperties = 1},
    {valueProperties = 2}, {valueProperties = 64}, {valueProperties = 65},
    {valueString = 0}, {valueString = 5}, {valueString = 100},
    {valueString = 10000}, {redact = {"name", "k"}}
  } do
    it(("says the same of few objects (%d)"):format(seed), function ()
      same_both_ways(program "objects", with(limits))
    end)
  end

  it("says the same of what is made where something else was", function ()
    same_both_ways(program "reuse", with {})
  end)
end)

describe("which way is taken", function ()
  local function said (direct)
    return run.command({launcher, "--version"},
                       {env = {TRACEGRIP_DIRECT = direct}}).stdout
  end

  it("is told by --version", function ()
    assert.matches("frames read from memory", said "1", 1, true)
  end)

  it("is told with the reason, if it is the public API", function ()
    assert.matches("frames asked of the public API: TRACEGRIP_DIRECT=0",
                   said "0", 1, true)
  end)

  it("is told of a recording, whoever looks at it", function ()
    run.within(function (directory)
      run.write(directory .. "/program.lua", "print(1)")
      for direct, frames in pairs {
        ["1"] = "read from memory",
        ["0"] = "asked of the public API: TRACEGRIP_DIRECT=0"
      } do
        local how = {cwd = directory, env = {TRACEGRIP_DIRECT = direct}}
        run.command({launcher, "record", "--force", "-o", "tape",
                     "program.lua"}, how)
        local told = run.command({launcher, "info", "tape"},
                                 {cwd = directory}).stdout
        assert.matches("frames:    " .. frames, told, 1, true)
      end
    end)
  end)
end)
