-- The front end that people use, Chromium's own: what its panels show of a
-- program, and what its buttons do.

local debugger = require "spec.support.debugger"
local run = require "spec.support.run"

local program = [[
local function add (a, b)
  local sum = a + b
  return sum
end
local t = {name = "x"}
local r = add(1, 2)
print(r, t.name)
]]

local busy = [[
local console = require "tracegrip.console"
local function busy (n)
  local x = 0
  for i = 1, n do
    x = x + math.sin(i)
  end
  return x
end
local function never ()
  return 1
end
console.log("begins", {n = 1})
console.warn "careful"
console.table {{a = 1}, {a = 2}}
while not stop do
  busy(1000)
  local x = busy(10)
end
]]

local waiting = [[
local function add (a, b)
  local sum = a + b
  return sum
end
local n = 0
while n < 3 do
  n = n + 1
  add(n, 2)
end
while n do
end
]]

local failing = [[
local function get (t)
  local key = "name"
  return t.person[key]
end
pcall(get, {})
]]

local message = "fail.lua:3: attempt to index a nil value (field 'person')"

-- A browser and a Node that knows WebSocket are not everywhere; and a browser
-- does not start under a sanitizer (make asan).
local function is_missing ()
  return os.getenv "LD_PRELOAD"
         or not os.execute "command -v chromium >/dev/null 2>&1"
         or not os.execute("node --experimental-websocket -e 'WebSocket' "
                           .. ">/dev/null 2>&1")
end

local it = not is_missing() and debugger.needed(it, pending) or function (name)
  pending(name .. ": no chromium or no Node.js with WebSocket here")
end

describe("Chrome DevTools", function ()
  it("show frames, scopes and errors, and step by their buttons", function ()
    run.within(function (where)
      run.write(where .. "/app.lua", program)
      run.write(where .. "/fail.lua", failing)
      local result = run.command({
        "timeout", "100", "node", "--experimental-websocket", "--no-warnings",
        run.root .. "/spec/inspect/frontend.mjs", run.build, where
      }, {cwd = where})
      assert.equal("", result.stderr)
      assert.equal([[
add (main chunk) (anonymous)
app.lua:2 app.lua:6 | a : 1, b : 2, this : undefined
app.lua:3 app.lua:6 | a : 1, b : 2, sum : 3, this : undefined
app.lua:7 | add : ƒ (a, b), r : 3, t : table {name: 'x'}, this : undefined
3	x
Paused on exception
fail.lua:3 fail.lua:5 | Exception : "]] .. message .. [[", key : "name", ]]
.. "t : table {}, this : undefined\n", result.stdout)
    end)
  end)

  it("set breakpoints, run code and pause by what people do", function ()
    run.within(function (where)
      run.write(where .. "/app.lua", waiting)
      local result = run.command({
        "timeout", "100", "node", "--experimental-websocket", "--no-warnings",
        run.root .. "/spec/inspect/acting.mjs", run.build, where
      }, {cwd = where})
      assert.equal("", result.stderr)
      assert.equal([[
app.lua:6 | add : ƒ (a, b), n : 0
app.lua:3 app.lua:8 | a : 1, b : 2, sum : 3
3 undefined 'changed'
app.lua:10 | add : ƒ (a, b), n : 3
]], result.stdout)
    end)
  end)

  it("show the console, coverage and a profile in their panels", function ()
    run.within(function (where)
      run.write(where .. "/app.lua", busy)
      local result = run.command({
        "timeout", "100", "node", "--experimental-websocket", "--no-warnings",
        run.root .. "/spec/inspect/panels.mjs", run.build, where
      }, {cwd = where})
      assert.equal("", result.stderr)
      assert.matches("^console: begins, careful\ncoverage: %S+ /app.lua "
                     .. "JS %(per block%) 327 18155%.4%%\n"
                     .. "functions: busy app.lua:2:1, math.sin %(unknown%)\n$",
                     result.stdout)
    end)
  end)
end)
