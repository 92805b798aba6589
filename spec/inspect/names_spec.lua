-- Names are what the source says they are: a local variable that a function
-- does not capture is found where it is, and never taken for a global.

local debugger = require "spec.support.debugger"

local it = debugger.needed(it, pending)

-- Stops at the line that ends with "-- here".
local function here (text, use)
  local number = 0
  for line in text:gmatch "([^\n]*)\n" do
    number = number + 1
    if line:find "%-%- here$" then
      break
    end
  end
  debugger.debug(text, function (front, _, command)
    front:stop_at(number)
    use(front, front:go "resume", command)
  end)
end

local function value (front, at, name)
  local object, details = front:value(at, 1, name)
  return details and details.exception.description or object.value
end

local WITHOUT = "%(evaluated%):1: config is a local of line (%d+) that this "
                .. "function does not have"

describe("a name", function ()
  it("is a local variable of the function around, which runs", function ()
    here([[
local LIMIT <const> = 10
local config = {size = 3}
local used = 1
local function f (n)
  used = used + n
  return n < LIMIT -- here
end
print(f(2), config.size, _G.config)
]], function (front, at, command)
      assert.equal(3, value(front, at, "config.size"))
      assert.equal(10, value(front, at, "LIMIT"))
      front:value(at, 1, "config = {size = 7}")
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("true\t7\tnil\n", command.out)
    end)
  end)

  it("is an error where the function around has returned", function ()
    here([[
local function make ()
  local config = 1
  config = config + 1
  return function (n)
    return n -- here
  end
end
config = "global"
make()(1)
print(config)
]], function (front, at, command)
      assert.equal("2", value(front, at, "config"):match(WITHOUT))
      local _, details = front:value(at, 1, "config = 7")
      assert.matches(WITHOUT, details.exception.description)
      local object = front:value(at, 1, "config", {throwOnSideEffect = true})
      assert.equal("EvalError", object.className)
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("global\n", command.out)
    end)
  end)

  it("is that of the activation that has made the function", function ()
    here([[
local function deep (n, outer)
  local config, shared = "config " .. n, n
  local function inner ()
    return shared -- here
  end
  if n > 1 then return deep(n - 1, outer or inner) end
  outer()
  return config
end
deep(3)
]], function (front, at)
      assert.equal(3, value(front, at, "shared"))
      assert.equal("2", value(front, at, "config"):match(WITHOUT))
    end)
    here([[
local function deep (n, outer)
  local config, shared = "config " .. n, n
  local function inner ()
    return shared -- here
  end
  if n > 1 then deep(n - 1, outer or inner) else outer() end
  return config
end
deep(3)
]], function (front, at)
      assert.equal("config 3", value(front, at, "config"))
    end)
  end)

  it("is found from a function that has captured nothing", function ()
    here([[
local function each (list, f)
  for _, one in ipairs(list) do f(one) end
end
local function all ()
  local config = "of all"
  each({1}, function (n)
    return n -- here
  end)
  return config
end
all()
]], function (front, at)
      assert.equal("of all", value(front, at, "config"))
    end)
  end)

  it("is not taken from another activation than its own", function ()
    here([[
local kept
local function all (n)
  local config = n
  kept = kept or function (m)
    return m -- here
  end
  if n == 2 then
    kept(n)
  end
  return config
end
all(1)
all(2)
]], function (front, at)
      assert.equal("3", value(front, at, "config"):match(WITHOUT))
    end)
  end)

  it("is the variable that is seen, where several have the name", function ()
    here([[
local config = "first"
local function f ()
  local _ = 1 -- here
end
local config = "second"
do
  local config = "third"
  f(config)
end
print(config)
]], function (front, at)
      assert.equal("first", value(front, at, "config"))
    end)
  end)

  it("is found by way of what a function between has captured", function ()
    here([[
local config = "main"
local function outer ()
  local _ = config
  local function inner ()
    local _ = 1 -- here
  end
  inner()
end
coroutine.wrap(outer)()
]], function (front, at)
      assert.equal("main", value(front, at, "config"))
    end)
  end)

  it("is found in what has resumed the coroutine", function ()
    here([[
local config = "main"
local co = coroutine.create(function ()
  local _ = 1 -- here
end)
coroutine.resume(co, config)
]], function (front, at)
      assert.equal("main", value(front, at, "config"))
    end)
  end)

  it("is a constant, wherever that is declared", function ()
    here([[
local SIZE <const>, TEXT <const> = 1 << 4, "te\120t"
local TWICE <const> = (SIZE + 2) * -2
local NONE <const> = nil
local function f ()
  local OWN <const> = 1.5
  do local OWN <const> = 2 local _ = OWN end
  return SIZE, TEXT, TWICE, NONE, OWN -- here
end
print(f())
]], function (front, at)
      assert.equal("text", value(front, at, "TEXT"))
      assert.equal(-36, value(front, at, "TWICE"))
      assert.equal(1.5, value(front, at, "OWN"))
      local none, details = front:value(at, 1, "NONE")
      assert.equal("undefined", none.type)
      assert.is_nil(details)
      assert.matches("attempt to assign to const variable 'OWN'",
                     value(front, at, "OWN = 2"))
    end)
  end)

  it("is a global where the source has no variable that is seen", function ()
    here([[
do local config = 1 print(config) end
config = "global"
local function f ()
  local _ = 1 -- here
end
f()
local config = 2
print(config)
]], function (front, at)
      assert.equal("global", value(front, at, "config"))
      assert.equal("undefined", front:value(at, 1, "unheard").type)
    end)
  end)
end)
