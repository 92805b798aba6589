--- randomstacks.lua - programs that call in random ways until they tell where
-- they are: of each coroutine the stack, as debug.traceback has it, and the
-- variables, as debug.getlocal does. For Lua 5.1 to 5.5, and LuaJIT.
--
-- What they say is lines: "C status", then "F what:line" for each frame from
-- the innermost on, each with "V name=value" for its variables.

local randomstacks = {}

--- Says where all of 'coroutines' are, and the one that runs, and then waits.
-- The calls of say and of read stand on one line.
randomstacks.ending = [==[
local function shown (v)
  local t = type(v)
  if t == "number" then
    return string.format("%.14g", v)
  elseif t == "string" or t == "boolean" or t == "nil" then
    return t .. ":" .. tostring(v)
  end
  return t == "cdata" and "userdata" or t
end

local function frame_of (out, info, getlocal)
  if info.what == "tail" then
    return
  end
  local place, line = info.short_src, info.currentline
  if info.what == "C" or string.find(place, "^%[builtin") then
    place, line = "C", -1
  end
  out[#out + 1] = "F " .. place .. ":" .. line
  for i = 1, 1000 do
    local name, value = getlocal(i)
    if not name then
      break
    end
    if place ~= "C" and not string.find(name, "temporary") then
      out[#out + 1] = "V " .. name .. "=" .. shown(value)
    end
  end
end

local function tell (coroutines)
  local out = {"C running"}
  for level = 2, 1000 do
    local info = debug.getinfo(level, "Sl")
    if not info then
      break
    end
    frame_of(out, info, function (i)    -- no tail call: it counts levels
      local name, value = debug.getlocal(level + 2, i)
      return name, value
    end)
  end
  for _, co in ipairs(coroutines) do
    out[#out + 1] = "C " .. coroutine.status(co)
    for level = 0, 1000 do
      local info = debug.getinfo(co, level, "Sl")
      if not info then
        break
      end
      frame_of(out, info, function (i)
        return debug.getlocal(co, level, i)
      end)
    end
  end
  return table.concat(out, "\n")
end

local coroutines = {}
local function stop ()
  say(tell(coroutines)) io.read()
end
]==]

local values = {
  "nil", "true", "false", "17", "-3.5", "'text'", "('long'):rep(50)", "{}",
  "{1, 2, x = 3}", "print", "coroutines", "2^40", "''",
}

-- How function i calls the next one, 'n' being its name.
local ways = {
  "local r = %s(a, 'x') return r, a",
  "local r = {%s(a, b, a)} return r[1]",
  "return %s(a)",
  "local ok, r = pcall(%s, a, b) return r",
  "local o = {m = %s} local r = o:m(a) return r",
  "local o = setmetatable({}, {__index = %s}) local r = o.x return r",
  "local o = setmetatable({}, {__add = %s}) local r = o + 1 return r",
  "local o = setmetatable({}, {__concat = %s}) local r = o .. 'x' return r",
  "local f = coroutine.wrap(%s) local r = f(a) return r",
  "for i = 1, 3 do local k = i * 2 if i == 2 then local r = %s(k) end end",
  "for _, v in ipairs {a, 1} do local s = v local r = %s(s, v) end",
  "do local hidden = 1 end local z = b while true do local q = z "
    .. "local r = %s(q) break end",
  "table.sort({2, 1}, function (x, y) %s(x) return x < y end)",
  "local r = (function (...) local n = select('#', ...) return "
    .. "(%s(..., n)) end)(a, b, 1)",
  "string.gsub('ab', 'a', function (c) local r = %s(c) return nil end)",
}

-- Suspended ones, each with a stack of its own.
local suspended = [[
do
  local function level%d (n, ...)
    local here = %s
    if n > 0 then
      local r = level%d(n - 1, here, ...)
      return r
    end
    coroutine.yield(here)
  end
  local co = coroutine.create(level%d)
  coroutines[#coroutines + 1] = co
  coroutine.resume(co, %d, %s)
end
]]

--- The program of a seed.
function randomstacks.program (seed)
  math.randomseed(seed)
  local function any (list)
    return list[math.random(#list)]
  end
  local out = {randomstacks.ending}
  for i = 1, math.random(0, 3) do
    out[#out + 1] = suspended:format(i, any(values), i, i, math.random(0, 4),
                                     any(values))
  end
  local last = "stop"
  for i = 1, math.random(1, 7) do
    local name = "f" .. i
    out[#out + 1] = ("local function %s (a, b%s)"):format(
      name, math.random(2) == 1 and ", ..." or "")
    for v = 1, math.random(0, 3) do
      out[#out + 1] = ("  local v%d = %s"):format(v, any(values))
    end
    out[#out + 1] = "  " .. any(ways):format(last)
    out[#out + 1] = "end"
    last = name
  end
  out[#out + 1] = last .. "('first', 2)"
  return table.concat(out, "\n")
end

local types = {["function"] = true, table = true, thread = true,
               userdata = true}

local function shown (grip, pool)
  if type(grip) == "table" then
    if grip.type == "undefined" then
      return "nil:nil"
    elseif grip.type == "object" then
      local class = pool[grip.objectId + 1].class
      return types[class] and class or "userdata"
    end
    return grip.text or grip.type
  elseif type(grip) == "number" then
    return ("%.14g"):format(grip)
  end
  return type(grip) .. ":" .. tostring(grip)
end

local function add_variables (out, frame, list)
  for _, v in ipairs(list) do
    if v.name ~= "..." then
      out[#out + 1] = "V " .. v.name .. "=" .. shown(v.value, frame.objectPool)
    end
  end
end

--- The same lines of a coroutine of a document.
function randomstacks.lines (coroutine)
  local out = {"C " .. coroutine.status}
  for i, frame in ipairs(coroutine.frames) do
    local is_c = frame.kind == "C"
    if not (i == 1 and is_c and coroutine.status == "running") then
      out[#out + 1] = is_c and "F C:-1"
                      or ("F %s:%d"):format(frame.url, frame.line)
      if not is_c then
        add_variables(out, frame, frame.arguments)
        add_variables(out, frame, frame.locals)
      end
    end
  end
  return table.concat(out, "\n")
end

return randomstacks
