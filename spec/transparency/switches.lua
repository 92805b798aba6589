-- switches.lua - small random programs that start and stop traces as their
-- coroutines come and go.
--
--   local text = require("spec.transparency.switches")(seed)
--
-- What generate.lua makes is of everything something. Here coroutines outlive
-- the functions that made them, and trace(n) is called in them, around them and
-- between their resumes. The same seed gives the same program, which ends.

local Program = {}
Program.__index = Program

-- Lehmer's, as in generate.lua.
function Program:random (n)
  self.state = self.state * 48271 % 2147483647
  return self.state // 7 % n + 1
end

function Program:pick (list)
  return list[self:random(#list)]
end

local prelude = [==[
local fuel = 60
local F, C = {}, {}
local create, status = coroutine.create, coroutine.status
local function closer (v)
  return setmetatable({}, {__close = function (_, e) fuel = fuel - 1
    if v then F[v](1) end end})
end
local function go (i, v)
  if not C[i] or status(C[i]) == "dead" then C[i] = create(F[i]) end
  return coroutine.resume(C[i], v)
end
local function yield (v)
  if coroutine.isyieldable() then return coroutine.yield(v) end
end
local function finish (i)
  if C[i] and status(C[i]) ~= "running" and status(C[i]) ~= "normal" then
    return coroutine.close(C[i])
  end
end
]==]

-- %f: a function; %n: its number; %t: a trace; %c: a line that counts down.
local statements = {
  "trace(%t)", "trace(%t)", "trace(%t)", "trace(%t)",
  "%f(a)", "%f(a)", "pcall(%f, a)", "v = %f(a, v)",
  "xpcall(%f, function (m) return m end, a)",
  "xpcall(%f, %f, a)",
  "yield(a)", "yield(a)", "v = yield(v)", "pcall(yield, a)",
  "if coroutine.isyieldable() then coroutine.yield(a) end",
  "go(%n, a)", "go(%n, a)", "go(%n)", "v = go(%n, v)", "pcall(go, %n)",
  "finish(%n)", "finish(%n)",
  "do local g = coroutine.wrap(%f) pcall(g, a) trace(%t) pcall(g) end",
  "pcall(coroutine.wrap(%f), a)",
  "for x in coroutine.wrap(function () yield(1) %f(a) yield(2) end) do "
    .. "trace(%t) if fuel < 50 then break end end",
  "do local c <close> = closer() %f(a) end",
  "do local c <close> = closer(%n) yield(v) end",
  "if fuel %% 3 == 0 then return %f(a) end",
  "if fuel %% 4 == 0 then error('e' .. fuel) end",
  "if fuel %% 5 == 0 then error() end",
  "if fuel %% 6 == 0 then return coroutine.yield(a) end",
  "if fuel %% 3 == 1 then local x = a .. nil end",
  "table.sort({3, 1, 2}, function (x, y) fuel = fuel - 1 return x < y end)",
  "string.gsub('ab', '.', function () %f(a) end)",
  "C[%n] = nil"
}

function Program:fill (text)
  return (text:gsub("%%(.)", function (what)
    local n = tostring(self:random(what == "t" and 3 or self.functions))
    return what == "f" and "F[" .. n .. "]" or what == "%" and "%" or n
  end))
end

function Program:add (text)
  self.out[#self.out + 1] = text
end

function Program:func (i)
  self:add(("F[%d] = function (a, v)"):format(i))
  self:add("  fuel = fuel - 1")
  self:add("  if fuel < 0 then return end")
  for _ = 1, 2 + self:random(5) do
    self:add("  " .. self:fill(self:pick(statements)))
  end
  self:add("  return v\nend")
end

return function (seed)
  local P = setmetatable({
    state = (seed * 7919 + 12345) % 2147483646 + 1, out = {}
  }, Program)
  for _ = 1, 10 do
    P:random(2)
  end
  P.functions = 2 + P:random(4)
  P:add("-- seed " .. seed)
  P:add(prelude)
  for i = 1, P.functions do
    P:func(i)
  end
  for _ = 1, 8 do
    P:add(P:fill(P:pick {"trace(%t)", "pcall(%f, 1)", "go(%n, 1)", "go(%n)",
                         "trace(%t)", "finish(%n)"}))
  end
  return table.concat(P.out, "\n") .. "\n"
end
