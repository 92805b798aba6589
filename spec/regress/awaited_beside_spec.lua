-- A trace that waits for calls showed frames of coroutines that are older than
-- the call. And one that began beside it lacked frames of the functions that it
-- waits for, in coroutines that were suspended then. A call within one that is
-- waited for became one itself when its coroutine was resumed outside of it.

local run = require "spec.support.run"

local prelude = [[
local tracegrip = require "tracegrip"
local marks = {enteredFrame = ">", exitedFrame = "<"}
local function show (trace)
  local parts = {}
  for p in trace:packets() do
    parts[#parts + 1] = (p.resumed and "r" or "") .. marks[p.type]
                        .. (p.name or "")
  end
  print(table.concat(parts, " "))
end
local function start (options)
  options.trace, options.c = {"name"}, false
  options.calls = options.on and "all"
  return tracegrip.start(options)
end
function within () coroutine.yield() end
function body () within() end
function work (co) coroutine.resume(co) end
]]

local function shows (expected, code)
  local result = run.code(prelude .. code)
  assert.equal("", result.stderr)
  assert.equal(expected, result.stdout)
end

describe("a trace that waits for calls", function ()
  local waits = [[
    local co = coroutine.create(body)
    coroutine.resume(co)
    local all = %s
    local trace = start {on = "^work$"}
    work(co)
    trace:stop()
    show(trace)
  ]]

  it("has no frames that are older, alone", function ()
    shows(">work <\n", waits:format "nil")
  end)

  it("has none beside a trace that has them", function ()
    shows(">work <\n", waits:format "start {}")
  end)
end)

describe("a call within one that is waited for", function ()
  local nested = [[
    local co = coroutine.create(body)
    function outermost () coroutine.resume(co) end
    local all = %s
    local trace = start {on = {"^outermost$", "^within$"}}
    outermost()
    coroutine.resume(co)
    trace:stop()
    show(trace)
  ]]

  it("is nothing but a part of that", function ()
    shows(">outermost >body >within < < <\n", nested:format "nil")
  end)

  it("is so beside a trace that sees the rest of it", function ()
    shows(">outermost >body >within < < <\n", nested:format "start {}")
  end)
end)

describe("a trace that is begun beside one that waits for calls", function ()
  it("has the frames of what that waits for", function ()
    shows(">work r>body r>within < < <\n", [[
      local co = coroutine.create(body)
      coroutine.resume(co)
      local waiting = start {on = "^within$"}
      local trace = start {exclude = "^start$"}
      work(co)
      trace:stop()
      show(trace)
    ]])
  end)
end)
