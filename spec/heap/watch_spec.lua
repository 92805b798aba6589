-- listen {heap = ...}: snapshots of a heap that has become large.

local heaps = require "spec.support.heaps"
local peers = require "spec.server.peer"
local run = require "spec.support.run"
local serving = require "spec.server.serving"
local it = run.needs("luv", it, pending)

-- Grows to about as many bytes as it is told, a line each.
local growing = [[
  local tracegrip = require "tracegrip"
  assert(tracegrip.listen {heap = OPTIONS})
  local list = {}
  for line in io.lines() do
    while collectgarbage "count" * 1024 < tonumber(line) do
      list[#list + 1] = {#list}
    end
    io.write("done\n")
    io.flush()
  end
]]

local function refusal (options)
  local result = run.code(([[
    print(pcall(require "tracegrip".listen, {heap = %s}))
  ]]):format(options))
  return result.stdout
end

describe("heap of listen", function ()
  it("takes one beyond its size, and the next when that has grown", function ()
    run.within(function (directory)
      local path = directory .. "/grown"
      local program = serving.start((growing:gsub(
        "OPTIONS", ("{over = '3M', growth = 2, path = %q}"):format(path))))
      local function file (n)
        return ("%s-%d-%d.heapsnapshot"):format(path, program.pid, n)
      end
      local function grow (mebibytes)
        program:tell(("%d"):format(mebibytes << 20))
        program:says "done\n"
      end
      -- The program's word is that it is told.
      local function told (n)
        return peers.wait(function ()
          return program.err:find("bytes: " .. file(n), 1, true) ~= nil
        end)
      end
      grow(4)
      assert.is_true(told(1))
      grow(12)
      assert.is_true(told(2))
      local first, second = heaps.read(file(1)), heaps.read(file(2))
      first:check()
      assert.is_true(first:sum() > 3 << 20)
      assert.is_true(second:sum() > 2 * (3 << 20))
      grow(16)                          -- not yet twice as much
      second:check()
      grow(32)
      assert.is_true(told(3))
      assert.is_true(heaps.read(file(3)):sum() > 4 * (3 << 20))
      program:close()
    end)
  end)

  it("says what is allowed", function ()
    local words = "option 'heap' must be a table {over = bytes, such as "
                  .. "\"500M\"} with, if need be, growth (a number from 1) and "
                  .. "path (what the files' names begin with)"
    for _, wrong in ipairs {"true", "{}", "{over = 'x'}", "{over = -1}",
                            "{over = 10, growth = 0.5}", "{over = 1, to = 2}",
                            "{over = 1.5}", "{over = 1, path = ''}"} do
      assert.equal("false\t" .. words .. "\n", refusal(wrong), wrong)
    end
  end)
end)
