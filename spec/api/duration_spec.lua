-- minDuration: calls shorter than that are left out of packets() too.

local run = require "spec.support.run"

-- What a program with these traces prints, a line each. Durations are by the
-- clock: what has to be long sleeps, and by so much that nothing short is as
-- long while others have the processor.
local prelude = [[
  local tracegrip = require "tracegrip"
  local sleep = require "process".sleep
  local function short (x) return x end
  local function wait (s)
    for _ = 1, 100 do short(s) end
    sleep(s)
    return "waited"
  end
  local function tell (trace)
    local depth, sequence = 0, 0
    for p in trace:packets() do
      assert(p.sequence == sequence)
      sequence = sequence + 1
      local entered = p.type == "enteredFrame"
      depth = entered and depth or depth - 1
      local values = p.arguments and p.arguments.values
                     or { p["return"] and p["return"].value }
      local first = values[1]
      print(depth .. (entered and " > " .. p.name or " < " .. p.why)
            .. " " .. (type(first) == "table" and first.type
                       or tostring(first)))
      depth = entered and depth + 1 or depth
    end
    print("open", depth)
  end
  local types = {"name", "arguments", "return"}
]]

local function output (program)
  local result = run.code(prelude .. program, {env = run.modules})
  assert.equal(0, result.status, result.stderr)
  return result.stdout
end

describe("minDuration", function ()
  it("leaves short calls out, with all that is inside", function ()
    local text = output [[
      local function outer (x) short(1) wait(1.2) short(2) return x end
      local trace = tracegrip.start {
        trace = types, minDuration = 1000, c = false
      }
      short(0)
      outer("value")
      trace:stop()
      tell(trace)
    ]]
    assert.equal(table.concat({
      "0 > outer value",
      "1 > wait 1.2",
      "1 < return waited",
      "0 < return value",
      "open\t0\n"
    }, "\n"), text)
  end)

  it("judges a call by all that it ran between its yields", function ()
    local text = output [[
      local function step () coroutine.yield(wait(0.012)) end
      local function handler (x) for _ = 1, 100 do step() end return x end
      local function turn (co) co("argument") end
      local trace = tracegrip.start {
        trace = types, minDuration = 1000, c = false
      }
      local co = coroutine.wrap(handler)
      for _ = 1, 101 do turn(co) end
      trace:stop()
      tell(trace)
    ]]
    assert.equal("0 > handler argument\n0 < yield nil\n"
                 .. ("0 > handler nil\n0 < yield nil\n"):rep(99)
                 .. "0 > handler nil\n0 < return argument\nopen\t0\n", text)
  end)

  it("shows what is open when the trace stops", function ()
    local text = output [[
      local trace
      local function last () trace:stop() end
      local function first (x) short(x) last() end
      trace = tracegrip.start {trace = types, minDuration = 1000, c = false}
      first("x")
      tell(trace)
    ]]
    assert.equal("0 > first x\n1 > last nil\nopen\t2\n", text)
  end)
end)
