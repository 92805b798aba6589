-- resource.lua - what is said of the program that spans are of: attributes of
-- its resource, by the user and by the environment, where OpenTelemetry's own
-- libraries look too.
--
--   resource.said(given, warn)   {key, value, key2, value2 ...}, each key once:
--                                of "KEY=VALUE" as typed, of OTEL_SERVICE_NAME
--                                and of OTEL_RESOURCE_ATTRIBUTES, the first
--                                strongest. 'warn' (optional) is called with a
--                                sentence if the latter is no list of
--                                attributes and is passed over
--   resource.unescape(text)      what %XX stand for, in such lists

local core = require "tracegrip.core"
core.own()

local resource = {}

-- "key=value,key2=value2", with %XX for other characters (the specification of
-- resources: "Specifying resource information via an environment variable"); as
-- a whole, or nil.
local function read (text)
  local list = {}
  for part in text:gmatch "[^,]+" do
    local key, value = part:match "^%s*([^=]-)%s*=%s*(.-)%s*$"
    if key and key ~= "" and not part:gsub("%%%x%x", ""):find "%%" then
      list[#list + 1] = {key, value}
    elseif part:find "%S" then
      return nil
    end
  end
  return list
end

function resource.unescape (text)
  return (text:gsub("%%(%x%x)", function (hex)
    return string.char(tonumber(hex, 16))
  end))
end

-- Calls say(key, value) for each.
local function of_environment (say, warn)
  local text = os.getenv "OTEL_RESOURCE_ATTRIBUTES" or ""
  local list = read(text)
  if not list and warn then
    warn("OTEL_RESOURCE_ATTRIBUTES is passed over: KEY=VALUE,... expected, "
         .. "with %XX for other characters, got '" .. text .. "'")
  end
  for _, one in ipairs(list or {}) do
    say(resource.unescape(one[1]), resource.unescape(one[2]))
  end
  local name = os.getenv "OTEL_SERVICE_NAME"
  if name and name ~= "" then
    say("service.name", name)
  end
end

function resource.said (given, warn)
  local list, places = {}, {}
  local function say (key, value)
    places[key] = places[key] or #list + 1
    list[places[key]], list[places[key] + 1] = key, value
  end
  of_environment(say, warn)
  for _, one in ipairs(given) do
    say(one:match "^(.-)=(.*)$")
  end
  return list
end

return resource
