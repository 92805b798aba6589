--- notation.lua - packets as text: one line a packet, indented by nesting, so
-- that the exact frames of a small program fit in a spec and read like a tree.
--
--   > f(1, "x")              entered, with arguments
--     > g resumed            entered again by a resume
--     < g yield 5            exited by a yield
--   < f return 3             exited by a return; "return" alone: no results
--   < f return ?             exited by a return that went unseen
--   < f tail                 exited by a tail call
--   < f throw "p.lua:1: no"  exited by an error; "throw ?": value unknown
--   < f terminated
--
-- Fields that were asked for are added: "f{a, b}(1, 2)" parameterNames, "@12"
-- callsite, "^3" location, "d0" depth, "t1" thread, "n2" hitCount. A line of
-- another file than the program's is "@file:12".
--
-- Values: nil true 1 2.5 "text", null NaN Infinity -Infinity -0 redacted,
-- BigInt 123, long("initial", 300), bytes("base64", 3); objects are numbered
-- in order of appearance: #1{1, 2, x = #1, ~} (~ for truncated), a metatable
-- follows as ^#2{...}, #1 Account{...} has a class, #1 function f, #1 thread;
-- table~ is one that the pool had no room for.
--
-- Whatever is not shown is checked: known fields only, each present exactly
-- when its type was asked for, sequence without holes, time never back, every
-- exit closing the innermost frame, pools without dangling or unused entries.

local M = {}

local defaults = {
  "name", "callsite", "time", "parameterNames", "arguments", "return",
  "throw", "yield"
}

local function set (list)
  local s = {}
  for _, k in ipairs(list) do
    s[k] = true
  end
  return s
end

local function check (condition, message, ...)
  if not condition then
    error("malformed packet: " .. message:format(...), 0)
  end
  return condition
end

local function fields (what, t, allowed)
  check(type(t) == "table", "%s is a %s", what, type(t))
  for k in pairs(t) do
    check(allowed[k], "%s has a field '%s'", what, tostring(k))
  end
end

-- Values ------------------------------------------------------------------

local simple = set {"NaN", "Infinity", "-Infinity", "-0", "null", "redacted"}

local named = {undefined = "nil"}

local descriptor_fields = set {
  "class", "extensible", "frozen", "sealed", "prototype", "ownProperties",
  "safeGetterValues", "truncated", "name", "parameterNames", "url", "line"
}

local property_fields = set {"enumerable", "configurable", "writable", "value"}

local function quoted (s)
  return (("%q"):format(s):gsub("\\\n", "\\n"):gsub("\\9", "\\t"))
end

local function keyorder (a, b)
  local i = math.tointeger(a:match "^%[(%d+)%]$")
  local j = math.tointeger(b:match "^%[(%d+)%]$")
  if i and j then
    return i < j
  end
  if i or j then
    return i ~= nil
  end
  return a < b
end

-- The 1..n keys at the front are written without their numbers.
local function keytext (key, position, V)
  if key == ("[%d]"):format(position) then
    return ""
  end
  local id = key:match "^%[%l+ (%d+)%]$"
  if id then
    return ("[%s] = "):format(V:object(tonumber(id)))
  end
  return (key:find "^[%a_][%w_]*$" and key or "[" .. key .. "]") .. " = "
end

local Values = {}
Values.__index = Values

function Values:properties (d)
  local keys, out = {}, {}
  for k in pairs(d.ownProperties) do
    check(type(k) == "string", "property key is a %s", type(k))
    keys[#keys + 1] = k
  end
  table.sort(keys, keyorder)
  for i, k in ipairs(keys) do
    local p = d.ownProperties[k]
    fields("property " .. k, p, property_fields)
    check(p.enumerable == true and p.configurable == true
          and p.writable == true, "property %s lacks an attribute", k)
    out[i] = keytext(k, i, self) .. self:grip(p.value)
  end
  if d.truncated ~= nil then
    check(d.truncated == true, "truncated is %s", tostring(d.truncated))
    out[#out + 1] = "~"
  end
  return table.concat(out, ", ")
end

-- One that the depth cut is "null", and says so.
function Values:prototype (d)
  local proto = d.prototype
  if proto.type == "null" and proto.truncated then
    check(d.truncated, "a prototype was cut, and the object was not")
    fields("grip", proto, set {"type", "truncated"})
    return "null"
  end
  return self:grip(proto)
end

function Values:descriptor (d)
  fields("descriptor", d, descriptor_fields)
  check(d.extensible == true and d.frozen == false and d.sealed == false,
        "descriptor flags of a %s", tostring(d.class))
  check(type(d.class) == "string", "class is a %s", type(d.class))
  check(type(d.safeGetterValues) == "table"
        and next(d.safeGetterValues) == nil, "safeGetterValues not empty")
  local props = self:properties(d)
  local proto = self:prototype(d)
  local text
  if d.class == "table" then
    text = ("{%s}"):format(props)
  elseif d.name then
    text = (" %s %s"):format(d.class, d.name)
           .. (props ~= "" and ("{%s}"):format(props) or "")
  elseif d.class == "thread" or d.class == "userdata" then
    text = " " .. d.class .. (props ~= "" and ("{%s}"):format(props) or "")
  else
    text = (" %s{%s}"):format(d.class, props)
  end
  return proto == "null" and text or text .. "^" .. proto
end

function Values:object (id)
  local d = check(self.pool[id + 1], "objectId %s is not in the pool", id)
  if self.number[id] then
    return "#" .. self.number[id]
  end
  self.count = self.count + 1
  self.number[id] = self.count
  return "#" .. self.count .. self:descriptor(d)
end

local special = {}

-- An object for which the pool had no room is its class only; all of them have
-- one entry, of which nothing is known.
function special:object (g)
  if g.truncated then
    fields("object grip", g, set {"type", "objectId", "class", "truncated"})
    local shared = check(self.pool[g.objectId + 1], "no entry for %s", g.class)
    check(g.truncated == true and shared.class == "object"
          and shared.truncated == true and next(shared.ownProperties) == nil,
          "truncated object grip")
    if not self.number[g.objectId] then
      self.number[g.objectId] = "shared"
      self.shared = 1
    end
    return g.class .. "~"
  end
  fields("object grip", g, set {"type", "objectId"})
  check(math.type(g.objectId) == "integer", "objectId is no integer")
  return self:object(g.objectId)
end

function special:longString (g)
  fields("longString", g, set {"type", "initial", "length"})
  return ("long(%s, %d)"):format(quoted(g.initial), g.length)
end

function special:bytes (g)
  fields("bytes", g, set {"type", "initial", "length"})
  return ("bytes(%s, %d)"):format(quoted(g.initial), g.length)
end

function special:BigInt (g)
  fields("BigInt", g, set {"type", "text"})
  return "BigInt " .. g.text
end

function Values:grip (g)
  if type(g) == "string" then
    return quoted(g)
  elseif type(g) ~= "table" then
    check(type(g) == "number" or type(g) == "boolean", "grip is a %s", type(g))
    return tostring(g)
  elseif simple[g.type] or named[g.type] then
    fields("grip", g, set {"type"})
    return named[g.type] or g.type
  end
  local f = check(special[g.type], "grip type '%s'", tostring(g.type))
  return f(self, g)
end

local function values_of (pool)
  check(type(pool) == "table", "objectPool is a %s", type(pool))
  return setmetatable({pool = pool, number = {}, count = 0,
                       shared = 0}, Values)
end

local function finish (V)
  local reachable = V.count + V.shared
  check(reachable == #V.pool, "%d pool entries, %d reachable", #V.pool,
        reachable)
end

local function list (V, values)
  local out = {}
  for i, g in ipairs(values) do
    out[i] = V:grip(g)
  end
  return table.concat(out, ", ")
end

--- A list of grips with its pool as text.
function M.values (values, pool)
  local V = values_of(pool)
  local text = list(V, values)
  finish(V)
  return text
end

-- Packets -----------------------------------------------------------------

local Renderer = {}
Renderer.__index = Renderer

local function place (site, file)
  fields("place", site, set {"url", "line"})
  check(type(site.url) == "string", "url is a %s", type(site.url))
  if site.line == nil then
    return site.url
  end
  check(math.type(site.line) == "integer" and site.line > 0,
        "line is %s", tostring(site.line))
  return site.url == file and tostring(site.line)
         or site.url .. ":" .. site.line
end

function Renderer:common (p)
  check(p.sequence == self.sequence, "sequence %s instead of %d",
        tostring(p.sequence), self.sequence)
  self.sequence = self.sequence + 1
  check((p.time ~= nil) == (self.types.time or false), "time of %d", p.sequence)
  if p.time then
    check(p.time >= self.time, "time goes back: %s to %s", self.time, p.time)
    self.time = p.time
  end
end

function Renderer:wants (p, field, type, always)
  local has = p[field] ~= nil
  if has then
    check(self.types[type or field], "'%s' was not asked for", field)
  else
    check(not (always and self.types[type or field]), "'%s' is missing", field)
  end
  return has
end

local entered_fields = set {
  "type", "sequence", "name", "callsite", "time", "parameterNames",
  "arguments", "resumed", "location", "depth", "hitCount", "thread"
}

function Renderer:arguments (p)
  if p.resumed then
    check(p.resumed == true, "resumed is %s", tostring(p.resumed))
    check(p.arguments == nil, "arguments of a resumed frame")
    return " resumed"
  elseif not self:wants(p, "arguments", nil, true) then
    return ""
  end
  local a = p.arguments
  fields("arguments", a, set {"values", "objectPool", "truncated"})
  return ("(%s%s)"):format(M.values(a.values, a.objectPool),
                           a.truncated and ", ~" or "")
end

function Renderer:enter (p)
  fields("enteredFrame", p, entered_fields)
  self:common(p)
  self:wants(p, "name", nil, true)
  local frame = {name = p.name or "?", depth = p.depth, thread = p.thread}
  local text = "> " .. frame.name
  if self:wants(p, "parameterNames", nil, true) then
    text = text .. ("{%s}"):format(table.concat(p.parameterNames, ", "))
  end
  text = text .. self:arguments(p)
  if self:wants(p, "callsite") then
    text = text .. " @" .. place(p.callsite, self.file)
  end
  if self:wants(p, "location") then
    text = text .. " ^" .. place(p.location, self.file)
  end
  if self:wants(p, "depth", nil, true) then
    check(p.depth == #self.stack, "depth %d with %d open", p.depth, #self.stack)
    text = text .. " d" .. p.depth
  end
  if self:wants(p, "thread", nil, true) then
    text = text .. " t" .. p.thread
  end
  if self:wants(p, "hitCount", nil, true) then
    text = text .. " n" .. p.hitCount
  end
  self:line(text)
  table.insert(self.stack, frame)
end

local exited_fields = set {
  "type", "sequence", "why", "time", "return", "throw", "yield", "tailCall",
  "depth", "thread", "name"
}

local why_field = {
  ["return"] = "return", exception = "throw", yield = "yield",
  terminated = "terminated"
}

local completion_fields = {
  ["return"] = set {"value", "values", "objectPool", "truncated"},
  yield = set {"value", "values", "objectPool", "truncated"},
  throw = set {"value", "objectPool", "unknown"},
}

-- What the completion of an exitedFrame holds: "value", or all of "values".
local function completion (c, field)
  fields(field, c, completion_fields[field])
  check(c.value ~= nil, "completion without value")
  if c.unknown ~= nil then
    check(c.unknown == true and #c.objectPool == 0
          and M.values({c.value}, c.objectPool) == "nil", "unknown value")
    return "?"
  end
  if c.values == nil then
    return M.values({c.value}, c.objectPool)
  end
  check(#c.values ~= 1, "values of a single value")
  local text = M.values(c.values, c.objectPool)
  local V = values_of(c.objectPool)
  local first = #c.values == 0 and "nil" or V:grip(c.values[1])
  V = values_of(c.objectPool)
  check(V:grip(c.value) == first, "value is not the first of values")
  return text .. (c.truncated and ", ~" or "")
end

function Renderer:completion (p, field)
  for _, f in pairs(why_field) do
    check(f == field or p[f] == nil, "'%s' in a packet with '%s'", f, p.why)
  end
  if p.tailCall ~= nil then
    check(p.tailCall == true and p.why == "return" and p["return"] == nil,
          "tailCall with a value")
    return "tail"
  elseif field == "terminated" then
    return field
  elseif not self:wants(p, field, nil, field ~= "return") then
    return self.types[field] and field .. " ?" or field
  end
  local text = completion(p[field], field)
  return text == "" and field or field .. " " .. text
end

function Renderer:exit (p)
  fields("exitedFrame", p, exited_fields)
  self:common(p)
  local field = check(why_field[p.why], "why '%s'", tostring(p.why))
  local frame = check(table.remove(self.stack), "exit without a frame")
  check(p.depth == nil or p.depth == frame.depth, "depth differs at exit")
  check(p.thread == nil or p.thread == frame.thread, "thread differs at exit")
  check(p.name == nil or p.name == frame.name, "name differs at exit")
  self:line(("< %s %s"):format(frame.name, self:completion(p, field)))
end

function Renderer:line (text)
  table.insert(self.lines, ("  "):rep(#self.stack) .. text)
end

--- All packets as text. 'options.trace': the types asked for;
--- 'options.file': the url of the program.
function M.render (packets, options)
  options = options or {}
  local R = setmetatable({
    types = set(options.trace or defaults), file = options.file,
    sequence = 0, time = 0, stack = {}, lines = {}
  }, Renderer)
  for _, p in ipairs(packets) do
    if p.type == "enteredFrame" then
      R:enter(p)
    else
      check(p.type == "exitedFrame", "type '%s'", tostring(p.type))
      R:exit(p)
    end
  end
  return table.concat(R.lines, "\n"), #R.stack
end

--- Expected text without the indentation it has in the spec.
function M.expected (text)
  local lines, margin = {}, math.huge
  for line in text:gmatch "[^\n]+" do
    if line:find "%S" then
      lines[#lines + 1] = line
      margin = math.min(margin, #line:match "^ *")
    end
  end
  for i, line in ipairs(lines) do
    lines[i] = line:sub(margin + 1):gsub("%s+$", "")
  end
  return table.concat(lines, "\n")
end

return M
