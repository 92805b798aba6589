-- A trace that begins anew, as the helper for busted has it do: what it had is
-- forgotten, in memory and in its file.

local run = require "spec.support.run"

local program = [[
local core = require "tracegrip.core"
local options = {overflow = "ring", buffer = 1 << 16, c = false, maxDepth = 2,
                 exclude = {"^lines$"}}
local trace, path
if arg[1] == "file" then
  path, trace = assert(core.record(options, {path = "rec", single = true}))
else
  trace = core.watch(options)
end

local function f (x) return x end
local function deep () return (f(1)) end
local function g () deep() f(2) end

local function lines (of)
  local list = {}
  for packet in of:packets() do
    list[#list + 1] = packet.why and "<" or packet.name
  end
  return table.concat(list, " ")
end

-- What came before fills the ring again and again, or a little of it.
for round = 1, 40 do
  for i = 1, round % 4 == 0 and 20000 or round do f(i) end
  assert(core.restart(trace))
  assert(lines(trace) == "")
  coroutine.wrap(g)()
  local seen = lines(trace)
  assert(seen == "g deep < f < <", seen)
  assert(next(trace.lost) == nil)
  if path then
    assert(lines(core.open(path)) == seen)
    assert(#core.open(path):traces() == 1)
  end
end

-- What was entered before is not seen to return.
local function inner () core.restart(trace) f(3) end
local function outer () inner() f(4) end
outer()
print(lines(trace))
trace:stop()
print(core.restart(trace), trace.active)
]]

describe("a trace that begins anew", function ()
  for _, where in ipairs {"memory", "file"} do
    it("has what came since then only, in " .. where, function ()
      local result = run.code(program, {args = {where}})
      assert.equal("", result.stderr)
      assert.equal("f < f <\nfalse\tfalse\n", result.stdout)
    end)
  end

  it("has room for as many events as it wants again", function ()
    local result = run.code [[
      local core = require "tracegrip.core"
      local trace = core.watch {maxEvents = 4, c = false}
      local function f () end
      for _ = 1, 3 do
        f()
        assert(core.restart(trace))
      end
      f() f() f()
      print(trace.events, core.restart(trace))
    ]]
    assert.equal("", result.stderr)
    assert.equal("4\tfalse\n", result.stdout)
  end)
end)
