-- schema.lua - the Chrome DevTools Protocol as it is published (npm's
-- devtools-protocol, pinned in spec/importers), and whether a message is one.

local dkjson = require "dkjson"

local run = require "spec.support.run"

local path = run.build .. "/importers/node_modules/devtools-protocol/json/"
             .. "js_protocol.json"

local schema = {}

local domains             -- nil: not read yet; false: it is not here

local function load_schema ()
  local text = run.read(path)
  domains = text and {} or false
  for _, domain in ipairs(text and dkjson.decode(text).domains or {}) do
    local one = {types = {}, commands = {}, events = {}}
    for _, kind in ipairs(domain.types or {}) do
      one.types[kind.id] = kind
    end
    for _, command in ipairs(domain.commands or {}) do
      one.commands[command.name] = command
    end
    for _, event in ipairs(domain.events or {}) do
      one.events[event.name] = event
    end
    domains[domain.domain] = one
  end
end

local function is_list (value)
  local meta = type(value) == "table" and getmetatable(value)
  return meta and meta.__jsontype == "array"
end

local check

local function check_object (properties, value, domain, at)
  assert(type(value) == "table" and not is_list(value), at .. ": no object")
  local known = {}
  for _, property in ipairs(properties or {}) do
    known[property.name] = true
    local here = at .. "." .. property.name
    if value[property.name] == nil then
      assert(property.optional, here .. " is missing")
    else
      check(property, value[property.name], domain, here)
    end
  end
  for name in pairs(value) do
    assert(known[name] or not properties, at .. "." .. name .. " is unknown")
  end
end

local scalars = {
  string = function (v) return type(v) == "string" end,
  boolean = function (v) return type(v) == "boolean" end,
  number = function (v) return type(v) == "number" end,
  integer = function (v) return math.type(v) == "integer" end,
  any = function () return true end
}

local function check_enum (kind, value, at)
  for _, one in ipairs(kind.enum) do
    if one == value then
      return
    end
  end
  error(at .. ": not one of its values: " .. tostring(value))
end

function check (kind, value, domain, at)
  if kind["$ref"] then
    local other, name = kind["$ref"]:match "^(.-)%.?([^.]+)$"
    other = other ~= "" and other or domain
    return check(domains[other].types[name], value, other, at)
  elseif kind.type == "object" then
    return check_object(kind.properties, value, domain, at)
  elseif kind.type == "array" then
    assert(is_list(value), at .. ": no list")
    for i, item in ipairs(value) do
      check(kind.items, item, domain, ("%s[%d]"):format(at, i))
    end
    return
  end
  assert(scalars[kind.type](value), ("%s: no %s"):format(at, kind.type))
  if kind.enum then
    check_enum(kind, value, at)
  end
end

--- Whether the schema is here (make importers).
function schema.known ()
  if domains == nil then
    load_schema()
  end
  return domains ~= false
end

local function parts (method)
  local domain, name = method:match "^(.*)%.(.*)$"
  return domain, assert(domains[domain], method .. ": no such domain"), name
end

local function check_event (message)
  local domain, known, name = parts(message.method)
  local event = assert(known.events[name], message.method .. ": no event")
  check_object(event.parameters or {}, message.params, domain, message.method)
end

local function check_reply (message, method)
  local domain, known, name = parts(method)
  local command = assert(known.commands[name], method .. ": no command")
  check_object(command.returns or {}, message.result, domain, method)
end

--- Compares an event, or the reply to a method: whether it was one of these;
-- raises what is wrong with it. Without the schema nothing is known; the domain
-- Lua is in none.
function schema.check (message, method)
  local name = message.method or method
  if not schema.known() or name and name:find "^Lua%." then
    return false
  elseif message.method then
    check_event(message)
  elseif message.result and method then
    check_reply(message, method)
  end
  return message.method ~= nil or message.result ~= nil and method ~= nil
end

--- The field of that name of a command, an event or a type; raises.
function schema.field (domain, name, field)
  local known = assert(domains[domain], domain)
  local one = assert(known.commands[name] or known.events[name]
                     or known.types[name], name .. " is not published")
  for _, list in ipairs {one.parameters or {}, one.returns or {},
                         one.properties or {}} do
    for _, found in ipairs(list) do
      if found.name == field then
        return found
      end
    end
  end
  error(("%s.%s is not published"):format(name, field))
end

return schema
