-- An export with a limit takes few calls out of many: a batch of them goes over
-- many chunks of the recording, whose blocks are unloaded once they are read.
-- The values of those in between were read after that.

local run = require "spec.support.run"

local program = [[
  local tracegrip = require "tracegrip"
  local same = ("the same in each call "):rep(5)
  local function short (i, text, third) return text end
  local function long (i, text, third)
    local n = 0
    for j = 1, 30000 do n = n + j end
    return text
  end
  local path = os.tmpname()
  os.remove(path)
  local core = require "tracegrip.core"
  local _, trace = assert(core.record({valueString = 200}, {path = path}))
  for i = 1, 60000 do
    local f = (i % 40 == 0) and long or short
    f(i, ("value %d "):format(i):rep(4), same)
  end
  trace:stop()
  local recording = assert(core.open(path))
  assert(recording:export("packets", path .. ".out", {limit = 1500}))
  local wrong, lines = 0, 0
  for line in io.lines(path .. ".out") do
    local number, text, third =
      line:match '"name":"long".-"values":%[(%d+),"(.-)","(.-)"%]'
    if line:find('"name":"long"', 1, true) then
      lines = lines + 1
      local expected = ("value %s "):format(number):rep(4)
      wrong = wrong + (text == expected and third == same and 0 or 1)
    end
  end
  os.remove(path)
  os.remove(path .. ".out")
  print(lines > 1000, wrong)
]]

describe("an export with a limit", function ()
  it("has the values of calls that are far apart in a recording", function ()
    local result = run.code(program)
    assert.equal("", result.stderr)
    assert.equal("true\t0\n", result.stdout)
  end)
end)
