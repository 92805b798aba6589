-- Folded stacks by other weights than microseconds, and by one that a recording
-- does not have.

local run = require "spec.support.run"
local tracegrip = require "tracegrip"

describe("folded stacks by nanoseconds", function ()
  it("have each stack's time exactly", function ()
    run.within(function (directory)
      run.write(directory .. "/p.lua", [[
        local tracegrip = require "tracegrip"
        local function leaf (i) return i end
        local function branch (n) for i = 1, n do leaf(i) end end
        local trace = tracegrip.start {c = false}
        branch(3) leaf(1) branch(1)
        trace:stop()
        assert(trace:export("folded", "out", {weight = "nanoseconds"}))
        for _, f in ipairs(trace:report().functions) do
          print(f.name, f.self_ms * 1e6)
        end
      ]])
      local result = run.file("p.lua", {cwd = directory})
      assert.equal("", result.stderr)
      local sums = {}
      local text = run.read(directory .. "/out")
      for stack, ns in text:gmatch "([^\n]*) (%d+)\n" do
        local name = stack:match "[^;]*$"
        sums[name] = (sums[name] or 0) + ns
      end
      for name, ns in result.stdout:gmatch "(%S+)\t(%S+)" do
        assert.near(tonumber(ns), sums[name], 1)
      end
    end)
  end)
end)

describe("folded stacks by what was not recorded", function ()
  local function record (directory)
    run.write(directory .. "/p.lua", "local function f () end f()")
    run.command({run.build .. "/bin/tracegrip", "record", "-o", "rec", "p.lua"},
                {cwd = directory})
  end

  it("are a line that says so, and no document", function ()
    run.within(function (directory)
      record(directory)
      local result = run.command({run.build .. "/bin/tracegrip", "export",
        "folded", "--weight", "bytes", "rec"}, {cwd = directory})
      assert.equal(1, result.status)
      assert.equal("tracegrip: weight 'bytes': the recording does not tell "
                   .. "what was allocated (record --memory)\n", result.stderr)
      assert.is_nil(run.read(directory .. "/rec.folded"))
    end)
  end)

  it("are nil, a message and a code in a program", function ()
    run.within(function (directory)
      record(directory)
      local trace = tracegrip.open(directory .. "/rec"):traces()[1]
      local result, message, code =
        trace:export("folded", directory .. "/out", {weight = "allocations"})
      assert.is_nil(result)
      assert.matches("^weight 'allocations': the recording does not tell",
                     message)
      assert.is_true(math.type(code) == "integer")
      assert.has_error(function ()
        trace:export("folded", directory .. "/out", {weight = "weight"})
      end)
    end)
  end)
end)
