--- jitstops.lua - programs of LuaJIT that stop where frames are of other kinds
-- than in calls: where C has called Lua, where a metamethod runs, in an error's
-- handler, a finalizer, a hook, a callback of the FFI. They use what
-- randomstacks.ending and lookedat's prelude declare.

local randomstacks = require "spec.support.randomstacks"

local jitstops = {}

local metamethod = [[
  local t = setmetatable({}, {%s = function (a, b) stop() return true end})
  local u = setmetatable({}, getmetatable(t))
  local r = %s]]

--- By what they are, the body of a function that calls stop.
jitstops.places = {
  ["an error's handler"] = [[
    xpcall(function (x) local y = x + 1 error("no") end, function (m)
      local said = m stop() return said end)]],
  ["the handler of an error of the interpreter's"] = [[
    local function f () local n = nil return n.field .. "" end
    xpcall(f, function (m) stop() return 1 end)]],
  ["a finalizer"] = [[
    local p = newproxy(true)
    getmetatable(p).__gc = function (o) local here = 1 stop() end
    p = nil
    collectgarbage()]],
  ["a hook"] = [[
    local done
    debug.sethook(function (event)
      if not done then done = true debug.sethook() stop() end
    end, "c")
    local s = math.floor(1.5)
    debug.sethook()]],
  ["a callback of the FFI"] = [[
    local module = "ffi"
    local ffi = require(module)
    ffi.cdef "void qsort (void *, size_t, size_t, int (*) (void *, void *));"
    local n, once = ffi.new("int[2]", 2, 1)
    local function compare (a, b) if not once then once = 1 stop() end return 0
    end
    ffi.C.qsort(n, 2, 4, compare)]],
  ["a chunk in a protected call by C"] = [[
    local f = assert(loadstring("local stop = ... stop() return 1"))
    local r = {pcall(f, stop)}]],
  ["a function that reads"] = [[
    local once
    local f = load(function () if not once then once = 1 stop() end end)]],
  ["tostring"] = [[
    local t = setmetatable({}, {__tostring = function () stop() return "" end})
    local s = tostring(t)]],
  ["a function of the library that is made of instructions"] = [[
    table.foreach({1}, function (k, v) local n = v stop() end)]],
  ["an object that is called"] = [[
    local function answer (self, a) stop() return a end
    local t = setmetatable({}, {__call = answer})
    local r = t(1)]],
  ["a chain of metatables"] = [[
    local function answer (t, k) stop() return k end
    local base = setmetatable({}, {__index = answer})
    local t = setmetatable({}, {__index = base})
    local r = t.field]],
  ["a coroutine in a protected call in a coroutine"] = [[
    local f = coroutine.wrap(function (a, ...)
      local ok, r = pcall(coroutine.wrap(function (...)
        local n = select("#", ...) stop() return n end), a, ...)
      return r
    end)
    local r = f(1, 2, 3)]],
  ["a loop by a function"] = [[
    local function each (t, i) i = i + 1 if i == 2 then stop() end
      if t[i] then return i, t[i] end end
    for i, v in each, {4, 5}, 0 do local w = v end]],
}

for name, expression in pairs {
  __lt = "t < u", __le = "t <= u", __eq = "t == u", __unm = "-t",
  __concat = "t .. u", __mod = "t % u", __pow = "t ^ u", __div = "2 / t",
  __index = "t[1]"
} do
  jitstops.places["the metamethod " .. name] = metamethod:format(name,
                                                                 expression)
end

--- The program that stops there.
function jitstops.program (place)
  return randomstacks.ending .. ([[
local function first (a, b, ...)
  local before = a
  %s
end
local function begin (...) local r = first("x", 2, ...) return r end
begin(true, nil, "extra")]]):format(jitstops.places[place])
end

return jitstops
