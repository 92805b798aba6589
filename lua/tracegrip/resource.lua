-- resource.lua - what is said of the program that spans are of: its attributes,
-- as the option 'resource' has them, a text like OTEL_RESOURCE_ATTRIBUTES
-- (csrc/text/attributes.h). OpenTelemetry's own libraries read the same
-- variables.
--
--   resource.text(list, warn)   of "KEY=VALUE" as typed, of OTEL_SERVICE_NAME
--                               and OTEL_RESOURCE_ATTRIBUTES, the first
--                               strongest; nil if nothing is said. A variable
--                               that is no list of attributes is passed over:
--                               'warn' is called with a sentence

local core = require "tracegrip.core"
core.own()

local resource = {}

-- A character that would be read as a part of the list, as it is written.
local function escape (c)
  return ("%%%02X"):format(c:byte())
end

local function pair (key, value)
  return key:gsub("[%%,=%s]", escape) .. "="
         .. value:gsub("[%%,%s]", escape)
end

local function valid (text)
  for one in text:gmatch "[^,]+" do
    local plain = one:gsub("%%%x%x", "")
    if plain:find "%%" or one:find "%%00"
       or one:find "%S" and not one:find "^%s*[^=%s][^=]*=" then
      return false
    end
  end
  return true
end

local function of_environment (warn)
  local text = os.getenv "OTEL_RESOURCE_ATTRIBUTES"
  if text and not valid(text) then
    warn("OTEL_RESOURCE_ATTRIBUTES is passed over: KEY=VALUE,... expected, "
         .. "with %XX for other characters, got '" .. text .. "'")
    return nil
  end
  return text
end

function resource.text (list, warn)
  local parts = {of_environment(warn)}
  local name = os.getenv "OTEL_SERVICE_NAME"
  if name and name ~= "" then
    parts[#parts + 1] = pair("service.name", name)
  end
  for _, one in ipairs(list) do
    parts[#parts + 1] = pair(one:match "^(.-)=(.*)$")
  end
  return #parts > 0 and table.concat(parts, ",") or nil
end

return resource
