-- Where the program's markers are among its calls. (What they are:
-- spec/api/markers_spec.lua.)

local conform = require "spec.support.conform"

local types = {"name", "callsite", "time", "depth", "thread", "markers"}

local function said (value)
  return type(value) == "table" and "table" or tostring(value)
end

local function shown (p)
  local head = p.type == "enteredFrame" and "> " .. p.name
               or p.type == "exitedFrame" and "< " .. p.why
               or p.method .. " " .. said(p.arguments.values[1])
                  .. (p.count and " " .. p.count or "")
                  .. (p.duration and " ran" or "")
                  .. (p.groups and " in " .. p.groups or "")
                  .. (p.callsite and " @" .. p.callsite.line or "")
  return ("  "):rep(p.depth) .. head .. " t" .. p.thread
end

local function packets (program, how)
  how = how or {options = {include = {"^f$", "^g$", "yield", "p.lua"},
                           exclude = "main", c = true}}
  how.trace = types
  local result = conform.run('local console = require "tracegrip.console"\n'
                             .. program, how)
  assert.is_true(result.ok, result.message)
  local lines = {}
  for i, p in ipairs(result[1].packets) do
    lines[i] = shown(p)
  end
  return table.concat(lines, "\n")
end

describe("markers", function ()
  it("are where they were called, on the coroutine that did", function ()
    assert.equal([[
log start @4 t1
> f t1
  log f @2 t1
  count default 1 @2 t1
< return t1
> g t1
  > (anonymous function) t2
    time x @6 t2
    > coroutine.yield t2
    < yield t2
  < yield t2
< return t1
log between @9 t1
> g t1
  > (anonymous function) t2
    > coroutine.yield t2
    < return t2
    timeEnd x ran @7 t2
  < return t2
< return t1]], packets [[
local function f (x) console.log("f", x) console.count() end

start() console.log "start"
f(1)
local g = coroutine.wrap(function () console.time "x"
  coroutine.yield() console.timeEnd "x"
end)
g() console.log "between"
g()
]])
  end)

  it("keep their groups, and whatever their values are", function ()
    assert.equal([[
group a @3 t1
log 1 in 1 @4 t1
group table in 1 @5 t1
warn Timer 'y' does not exist in 2 @6 t1
groupEnd nil in 1 @7 t1
log  in 1 @8 t1]], packets([[
start()
console.group("a", {1, {2}})
console.log(1, "\0\xff", 0/0, 2^63, print, coroutine.running(), nil)
console.group({})
console.timeEnd "y"
console.groupEnd()
console.log(("x"):rep(1000):sub(1, 0), ("y"):rep(1000))
]], {options = {c = false}}))
  end)
end)
