-- The fuzzer's seeds, which are recordings of earlier days and packed (a header
-- of 64 bytes): whoever refuses them fuzzes nothing.

local recorded = require "spec.support.recorded"
local run = require "spec.support.run"

describe("a seed of the fuzzer", function ()
  local list = run.command({"sh", "-c", "ls"},
                           {cwd = run.root .. "/spec/fuzz/corpus"}).stdout
  for name in list:gmatch "[^\n]+" do
    it("opens, and has packets: " .. name, function ()
      local recording =
        assert(recorded.open(run.root .. "/spec/fuzz/corpus/" .. name))
      assert.is_true(#recording:traces() > 0)
      local packets = 0
      for _, trace in ipairs(recording:traces()) do
        for _ in trace:packets {} do
          packets = packets + 1
        end
      end
      assert.is_true(packets > 0)
    end)
  end
end)
