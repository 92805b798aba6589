-- textsearch.lua - Debugger.searchInContent: the lines of a script's text with
-- what somebody looks for.
--
--   textsearch.lines(text, params)   list of {lineNumber, lineContent}; params:
--                                    query, caseSensitive, isRegex

local core = require "tracegrip.core"
local fault = require "tracegrip.inspect.fault"
local regex = require "tracegrip.inspect.regex"
core.own()

local textsearch = {}

local function matcher (params)
  local query = fault.string(params, "query")
  local insensitive = params.caseSensitive ~= true
  if params.isRegex == true then
    local found = regex.compile(query, insensitive)
                  or fault.raise("Regular expression not known here: %s", query)
    return function (line)
      local is = found(line)
      if is == nil then
        fault.raise("Regular expression takes too long: %s", query)
      end
      return is
    end
  end
  query = insensitive and string.lower(query) or query
  return function (line)
    line = insensitive and string.lower(line) or line
    return string.find(line, query, 1, true) ~= nil
  end
end

function textsearch.lines (text, params)
  local matches, list, number = matcher(params), {}, 0
  for line in string.gmatch(text .. "\n", "([^\n]*)\n") do
    if matches(line) then
      list[#list + 1] = {lineNumber = number, lineContent = line}
    end
    number = number + 1
  end
  return list
end

return textsearch
