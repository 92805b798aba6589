-- formats.lua - the formats in which coverage is written.
--
--   formats.names               list
--   formats.of(path)            the one that a file's name asks for
--   formats.default(format)     the file's name where none is given
--   formats.write(format, files, totals, plan)   the document's text
--
-- To add one: coverage/NAME.lua, which returns a function, and a line here.

local core = require "tracegrip.core"
core.own()

local lua = core.lua          -- the program may have changed its own libraries
local string, ipairs = lua.string, lua.ipairs

local formats = {names = {"lcov", "cobertura", "html"}}

local endings = {lcov = "info", cobertura = "xml", html = "html"}

local writers = {}
for _, name in ipairs(formats.names) do
  writers[name] = require("tracegrip.coverage." .. name)
end

function formats.of (path)
  local ending = string.lower(string.match(path, "%.(%w+)$") or "")
  if ending == "xml" then
    return "cobertura"
  elseif ending == "html" or ending == "htm" then
    return "html"
  end
  return "lcov"
end

function formats.default (format)
  return "coverage." .. endings[format]
end

function formats.write (format, files, totals, plan)
  return writers[format](files, totals, plan)
end

return formats
