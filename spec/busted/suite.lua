--- suite.lua - runs busted on a suite made for the purpose, with the helper.

local lfs = require "lfs"

local run = require "spec.support.run"
local tracegrip = require "tracegrip"

local suite = {}

local function frame_lines (path)
  local lines, names = {}, {}
  local recording = tracegrip.open(path)
  if not recording then
    return nil
  end
  for packet in recording:packets() do
    if packet.type == "enteredFrame" then
      names[#names + 1] = packet.name
      lines[#lines + 1] = "> " .. packet.name
    else
      lines[#lines + 1] = ("< %s %s"):format(table.remove(names), packet.why)
    end
  end
  return lines
end

local function recordings (directory)
  local found, names = {}, {}
  if lfs.attributes(directory, "mode") ~= "directory" then
    return found, nil
  end
  for name in lfs.dir(directory) do
    if name:sub(1, 1) ~= "." then
      found[name] = frame_lines(directory .. "/" .. name)
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return found, names
end

-- A command without busted's configuration of this tree.
local function words (how)
  local list = {"busted", "--lua=" .. run.lua, "-o", how.output or "TAP"}
  if how.helper then
    list[#list + 1] = "--helper=tracegrip.busted"
    list[#list + 1] = "-Xhelper"
    list[#list + 1] = how.helper
  end
  table.move(how.args or {}, 1, #(how.args or {}), #list + 1, list)
  list[#list + 1] = how.root or "."
  return list
end

--- Runs the suite 'files' (name -> content). `how`, optional: `helper` (its
-- options; "" for none of it), `output` (handler), `args`, `root`, `before`
-- (called with the directory). Returns {stdout, stderr, status} and, of the
-- directory "traces", `recordings` (name -> lines of frames) and `names`
-- (sorted; nil without a directory).
function suite.run (files, how)
  how = how or {}
  how.helper = how.helper or "traces=traces"
  if how.helper == "" then
    how.helper = nil
  end
  return run.within(function (directory)
    for name, content in pairs(files) do
      run.write(directory .. "/" .. name, content)
    end
    if how.before then
      how.before(directory)
    end
    local result = run.command(words(how), {cwd = directory, env = how.env})
    result.recordings, result.names = recordings(directory .. "/traces")
    return result
  end)
end

-- A tag of XML with its attributes in order, those of time left out.
local function tag (name, attributes, slash)
  local list = {}
  for attribute in attributes:gmatch "%l+='[^']*'" do
    if not attribute:find "^time" then
      list[#list + 1] = attribute
    end
  end
  table.sort(list)
  return ("<%s %s%s>"):format(name, table.concat(list, " "), slash)
end

--- Standard output without what differs from run to run, and without what the
-- helper adds.
function suite.plain (text)
  text = text:gsub("\nRecording: [^\n]*", ""):gsub("\n# Recording: [^\n]*", "")
  text = text:gsub("0x%x+", "0x0")
  text = text:gsub("%d+%.%d+ seconds", "N seconds"):gsub("%d+%.%d+ ms", "N ms")
  return (text:gsub("<(test%l+)(.-)(/?)>", tag))
end

return suite
