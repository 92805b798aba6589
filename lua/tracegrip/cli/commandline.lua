-- commandline.lua - the words of a process's command line, with spaces between
-- them; "" of one that has none, or has ended.
--
-- Where the first thread has ended before others the kernel tells of it by
-- these alone.

local core = require "tracegrip.core"
core.own()

local function read (path)
  local file <close> = io.open(path, "rb")
  local text = file and file:read "a" or ""
  return (text:gsub("%z+$", ""):gsub("%z", " "))
end

return function (pid)
  local text = read(("/proc/%d/cmdline"):format(pid))
  local folder = ("/proc/%d/task"):format(pid)
  local threads = text == "" and core.entries(folder) or {}
  for _, tid in ipairs(threads) do
    if text == "" and tid:find "^%d+$" then
      text = read(("%s/%s/cmdline"):format(folder, tid))
    end
  end
  return text
end
