-- A limit of depth was one of the session's: it counted the frames that another
-- trace saw, and those of a coroutine's first resume. So a trace lacked frames
-- of its own beside another one, or once a coroutine was resumed from a place
-- that was less deep.

local run = require "spec.support.run"

local prelude = [[
local tracegrip = require "tracegrip"
local marks = {enteredFrame = ">", exitedFrame = "<"}
function show (trace, filter)
  local parts = {}
  for p in trace:packets(filter) do
    parts[#parts + 1] = (p.resumed and "r" or "") .. marks[p.type]
                        .. (p.name or "")
  end
  print(table.concat(parts, " "))
end
function start (options)
  options.trace = {"name"}
  return tracegrip.start(options)
end
]]

local function shows (expected, code)
  local result = run.code(prelude .. code)
  assert.equal("", result.stderr)
  assert.equal(expected, result.stdout)
end

describe("a trace with maxDepth", function ()
  it("counts its own frames, beside one that sees others", function ()
    shows(">f >h < <\n>f >g < <\n", [[
      function h () end
      function g () h() end
      function f () g() end
      local one = start {maxDepth = 2, exclude = {"^g$", "^start$"}}
      local other = start {maxDepth = 2}
      f()
      one:stop()
      other:stop()
      show(one)
      show(other)
    ]])
  end)

  it("counts them after the other one has ended, too", function ()
    shows(">f >h < <\n", [[
      function h () end
      function g () other:stop() h() end
      function f () g() end
      local one = start {maxDepth = 2, exclude = {"^g$", "^start$"}, c = false}
      other = start {}
      f()
      one:stop()
      show(one)
    ]])
  end)

  -- What the reader makes of all calls is what there is with the option.
  it("has a coroutine's frames where they are less deep", function ()
    local code = [[
      local options = ...
      function inner (x) coroutine.yield(x) return x end
      function body () inner(1) inner(2) end
      function deep (co) coroutine.resume(co) end
      function deeper (co) deep(co) end
      local co = coroutine.create(body)
      local trace = start {c = false, maxDepth = options.during}
      deeper(co)
      coroutine.resume(co)
      coroutine.resume(co)
      trace:stop()
      show(trace, {maxDepth = options.after})
    ]]
    local expected = ">deeper >deep >body < < < r>body r>inner < >inner < < "
                     .. "r>body r>inner < <\n"
    local function with (options)
      return ("(load(%s))(%s)"):format(run.literal(code), options)
    end
    shows(expected, with "{after = 3}")
    shows(expected, with "{during = 3}")
    shows(expected, with "{during = 3, after = 3}")
  end)
end)
