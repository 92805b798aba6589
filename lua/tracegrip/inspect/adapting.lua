-- adapting.lua - the domain Lua: what a debug adapter asks for that Chrome's
-- protocol has no words for, since JavaScript has no such thing or shows it in
-- another way: coroutines, and values as Lua writes them.
--
--   adapting.methods           name -> function (session, params, co): a result
--
-- A variable is {name, text, type, field, objectId, indexed, named}: what it is
-- in words (literals.lua); what is written behind its table to get there; and,
-- of what can be opened, by which id, and how many fields it has, if a list is
-- to be read in parts.

local box = require "tracegrip.inspect.box"
local coroutines = require "tracegrip.inspect.coroutines"
local core = require "tracegrip.core"
local debugger = require "tracegrip.inspect.debugger"
local fault = require "tracegrip.inspect.fault"
local fields = require "tracegrip.inspect.fields"
local literals = require "tracegrip.inspect.literals"
local objects = require "tracegrip.inspect.objects"
local pausing = require "tracegrip.inspect.pausing"
local scripts = require "tracegrip.inspect.scripts"
local sourcemaps = require "tracegrip.inspect.sourcemaps"
local values = require "tracegrip.inspect.values"
local watching = require "tracegrip.inspect.watching"
local wire = require "tracegrip.wire"
local words = require "tracegrip.inspect.words"
core.own()

local getinfo, getmetatable = debug.getinfo, debug.getmetatable
local getupvalue = debug.getupvalue

local LIST = 100                -- values of a list from which on it has parts
local COUNTED = 10000           -- other fields that are counted

local methods = {}
local adapting = {methods = methods}

---------------------------------------------------------------------------
-- Coroutines
---------------------------------------------------------------------------

function methods.coroutines (_, params)
  local list, total = coroutines.list(pausing.where(),
                                      fault.integer(params, "most"))
  for i, one in ipairs(list) do
    list[i] = {id = one.id, status = one.status,
               name = words.text(coroutines.name(one.co))}
  end
  return {coroutines = wire.array(list), total = total}
end

function methods.stack (_, params)
  local co = coroutines.of(fault.integer(params, "coroutine"))
  local list, total = pausing.stack(co, fault.integer(params, "first"),
                                    fault.integer(params, "count"))
  return {callFrames = wire.array(list), total = total}
end

function methods.setBreakpointByName (session, params)
  return debugger.add_named(session, params)
end

-- Which place of the program a variable or an expression is, and the breakpoint
-- of one that is to be watched.
function methods.dataPlace (_, params)
  return watching.find(params)
end

function methods.setDataBreakpoint (session, params)
  local id, kind = watching.set(session, params)
  return {breakpointId = id, kind = kind}
end

-- The lines of a script that have code, once for each function that has: lines
-- count from 1; 'within' is a number of the function, of an outer one before
-- those in it; again: its code comes back to the line behind others.
function methods.lines (_, params)
  local script, list = scripts.of(fault.string(params, "scriptId")), {}
  for number, one in ipairs(script.functions) do
    for _, line in ipairs(one.active) do
      list[#list + 1] = {line = line, within = number,
                         again = one.again[line] == true}
    end
  end
  return {lines = wire.array(list)}
end

-- The text of a script's map, where that is a file.
function methods.sourceMap (_, params)
  local script = scripts.of(fault.string(params, "scriptId"))
  local text = script.map and sourcemaps.text(script.map)
  return {text = text or fault.raise("There is no source map at %s",
                                     script.map or "all")}
end

function methods.passError ()
  debugger.pass()
  return {}
end

---------------------------------------------------------------------------
-- Variables
---------------------------------------------------------------------------

-- How many fields there are behind the list; in the usual case "next" has them
-- behind it. No more are counted than it takes to see that there are many.
local function others (t, n)
  local count, looked = getmetatable(t) and 1 or 0, 0
  local key = next(t, n)
  while key ~= nil and looked < COUNTED do
    local index = math.type(key) == "integer" and key >= 1 and key <= n
    count, looked = count + (index and 0 or 1), looked + 1
    key = next(t, key)
  end
  return count
end

local function can_open (value)
  local kind = type(value)
  if kind == "table" then
    return box.is(value) or next(value) ~= nil or getmetatable(value) ~= nil
  elseif kind == "function" then
    return getinfo(value, "S").what ~= "C" or getupvalue(value, 1) ~= nil
  end
  return kind == "thread" or kind == "userdata" and getmetatable(value) ~= nil
end

local function variable (name, value, field, group, text)
  local one = {name = name, type = literals.kind(value), field = field,
               text = words.text(text or literals.value(value))}
  if can_open(value) then
    one.objectId = objects.keep(value, group)
    local n = type(value) == "table" and not box.is(value) and rawlen(value)
              or 0
    if n > LIST then
      one.indexed, one.named = n, others(value, n)
    end
  end
  return one
end

-- What a value has beside its fields: its metatable, its upvalues.
local function add_internals (list, value, group)
  for _, one in ipairs(values.internals(value, group)) do
    local object = one.value
    if object.objectId then
      list[#list + 1] = variable(one.name, (objects.get(object.objectId)), nil,
                                 group)
      objects.release(object.objectId)
    else
      list[#list + 1] = {name = one.name, type = object.type,
                         text = words.text(tostring(object.description
                                                    or object.value))}
    end
  end
end

local function add_field (list, one, group)
  local field = one.key ~= nil and literals.field(one.key) or nil
  list[#list + 1] = variable(one.name, one.value, field, group)
end

local function listed (value, group, first, count)
  local list = {}
  for i = first + 1, math.min(first + count, rawlen(value)) do
    add_field(list, {name = words.key(i), key = i, value = rawget(value, i)},
              group)
  end
  return list
end

-- Those of the value that fields_of tells, and what is not a field of it.
local function all (fields_of, value, group)
  local list = {}
  for _, one in ipairs(fields_of(value)) do
    add_field(list, one, group)
  end
  add_internals(list, value, group)
  return list
end

local function part (list, first, count)
  return first == 0 and count >= #list and list
         or table.move(list, first + 1, math.min(first + count, #list), 1, {})
end

function methods.variables (_, params)
  local value, group = objects.get(fault.string(params, "objectId"))
  local first = fault.integer(params, "first", true) or 0
  local count = fault.integer(params, "count", true) or 0
  count = count == 0 and math.maxinteger - first or count
  local is_list = type(value) == "table" and not box.is(value)
                  and rawlen(value) > LIST
  local filter, list = params.filter
  if filter == "indexed" then
    list = is_list and listed(value, group, first, count) or {}
  elseif filter == "named" and is_list then
    list = part(all(fields.others, value, group), first, count)
  else
    list = part(all(values.properties, value, group), first, count)
  end
  return {variables = wire.array(list)}
end

function methods.describe (_, params)
  local value, group = objects.get(fault.string(params, "objectId"))
  return {variable = variable("", value, nil, group,
                              params.full == true and literals.full(value)
                              or nil)}
end

return adapting
