-- A trace of the console that ended by itself was kept, with its buffer, until
-- the Lua state closed: nobody could reach it any more, so nobody could let it
-- go.

local run = require "spec.support.run"

local function printed (program)
  local result = run.code([[
    require "tracegrip"
    local core = require "tracegrip.core"
    local function f () end
    local function end_by_itself (name)
      core.startTrace(name, {maxEvents = 10})
      for _ = 1, 20 do f() end
    end
    -- How many Traces there are, in whatever table the state keeps them.
    local function traces ()
      local seen, n = {}, 0
      collectgarbage()
      collectgarbage()
      for _, list in pairs(debug.getregistry()) do
        for _, v in pairs(type(list) == "table" and list or {}) do
          if tostring(v):find "^tracegrip.trace: " and not seen[v] then
            seen[v], n = true, n + 1
          end
        end
      end
      return n
    end
  ]] .. program)
  assert.equal(0, result.status, result.stderr)
  return result.stdout
end

describe("a trace of the console that has ended by itself", function ()
  it("is collected", function ()
    assert.equal("0\n", printed [[
      end_by_itself "one"
      end_by_itself "two"
      print(traces())
    ]])
  end)

  it("is collected when others run on", function ()
    assert.equal("1\n", printed [[
      core.startTrace "other"
      end_by_itself "one"
      print(traces())
    ]])
  end)

  it("is there until every actor has told its client", function ()
    assert.equal("1\n1 maxEvents\n1\n1 maxEvents\n0\n", printed [[
      local first = core.feed(function () end)
      local second = core.feed(function () end)
      first:open()
      second:open()
      end_by_itself "one"
      for _, feed in ipairs {first, second} do
        print(traces())
        local ended = feed:ended()
        print(#ended .. " " .. ended[1].why)
        ended = nil
      end
      print(traces())
    ]])
  end)

  it("is collected when the actor that had it is closed", function ()
    assert.equal("1\n0\n", printed [[
      local feed = core.feed(function () end)
      feed:open()
      end_by_itself "one"
      print(traces())
      feed:close()
      print(traces())
    ]])
  end)
end)

describe("a live log that has ended by itself", function ()
  it("is collected", function ()
    assert.equal("0\n", printed [[
      core.log({maxEvents = 10}, {path = "/dev/null"})
      for _ = 1, 20 do f() end
      print(traces())
    ]])
  end)
end)
