-- Values are grips: simple ones are themselves, objects an index into the
-- packet's pool, where the same object is one entry. Limits cut, and say so;
-- secrets are not recorded at all.

local tracegrip = require "tracegrip"

local function login (user, password, options)
  return #password > 8 and user.name, options
end

local trace = tracegrip.start {
  trace = {"name", "parameterNames", "arguments"},
  c = false,
  valueDepth = 2,
  valueProperties = 3,
  valueString = 8,
  redact = {"password"},
}
local user = {name = "grace", id = 7}
user.self = user
login(user, "correct horse battery staple",
      {1, 2, 3, 4, 5, motto = "a rather long string"})
login({name = "a name of more than eight bytes"}, "", nil)
trace:stop()

local function show (grip)
  if type(grip) ~= "table" then
    return tostring(grip)
  elseif grip.type == "object" then
    return "object " .. grip.objectId
  elseif grip.type == "longString" then
    return grip.initial .. "... (" .. grip.length .. " bytes)"
  end
  return grip.type
end

local function print_object (i, object)
  print("    object " .. i, object.class,
        object.truncated and "truncated" or "")
  local keys = {}
  for key in pairs(object.ownProperties) do
    keys[#keys + 1] = key
  end
  table.sort(keys)
  for _, key in ipairs(keys) do
    print("      " .. key, show(object.ownProperties[key].value))
  end
end

for packet in trace:packets() do
  if packet.type == "enteredFrame" then
    print(packet.name)
    for i, grip in ipairs(packet.arguments.values) do
      print("  " .. packet.parameterNames[i], show(grip))
    end
    for i, object in ipairs(packet.arguments.objectPool) do
      print_object(i - 1, object)
    end
  end
end

--[[ prints
login
  user	object 0
  password	redacted
  options	object 1
    object 0	table
      id	7
      name	grace
      self	object 0
    object 1	table	truncated
      [1]	1
      [2]	2
      [3]	3
login
  user	object 0
  password	redacted
  options	undefined
    object 0	table
      name	a name o... (31 bytes)
--]]
