-- fileurl.lua - the address of a file: "file:///" and its path.
--
--   fileurl.of(path)       of an absolute path; without "." and ".." in it, as
--                          front ends have addresses
--   fileurl.plain(path)    an absolute path without "." and ".." in it
--   fileurl.escape(text)   what may stand behind a scheme
--   fileurl.unescape(text) the same back

local core = require "tracegrip.core"
core.own()

local fileurl = {}

function fileurl.escape (text)
  return (string.gsub(text, "[^%w/._~-]", function (c)
    return string.format("%%%02X", string.byte(c))
  end))
end

function fileurl.unescape (text)
  return (string.gsub(text, "%%(%x%x)", function (digits)
    return string.char(tonumber(digits, 16))
  end))
end

function fileurl.plain (path)
  local steps = {}
  for step in string.gmatch(path, "[^/]+") do
    if step == ".." then
      steps[#steps] = nil
    elseif step ~= "." then
      steps[#steps + 1] = step
    end
  end
  return "/" .. table.concat(steps, "/")
end

function fileurl.of (path)
  return "file://" .. fileurl.escape(fileurl.plain(path))
end

return fileurl
