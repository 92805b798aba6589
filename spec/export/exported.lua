-- exported.lua - programs run in a child, and what their traces were exported
-- as.

local run = require "spec.support.run"

local exported = {}

exported.formats = {
  "chrome", "cpuprofile", "folded", "packets", "speedscope"
}

-- What is needed to know a packet's function, time and place.
local types = {"name", "callsite", "time", "arguments", "return", "throw",
               "yield", "location", "thread"}

local function described (how)
  local trace = {trace = types, valueDepth = 1}
  for key, value in pairs(how.trace or {}) do
    trace[key] = value
  end
  return "return " .. run.literal {
    trace = trace, export = how.export or {},
    formats = how.formats or exported.formats, packets = how.packets ~= false,
    lines = how.lines
  }
end

-- Some formats have whole paths: they are told without the directory, which is
-- another each time. The bytes of pprof, which have lengths in them, stay.
local function read_files (directory, formats, list)
  local before = directory:gsub("%p", "%%%0") .. "/"
  for i, one in ipairs(list) do
    one.text, one.sizes = {}, {}
    for _, format in ipairs(formats) do
      local text = run.read(("%s/%d.%s"):format(directory, i, format))
      one.text[format] = format == "pprof" and text
                         or text and text:gsub(before, "")
      one.sizes[format] = text and #text
    end
  end
end

--- Runs a program that calls start(). Gives a list of its traces: {name, lost,
--- packets, report, exported = {format = result}, text = {format = text}}.
--- 'how', optional: trace, export (options), formats, packets (false: they are
--- many, and not asked for), lines (of the report).
function exported.of (program, how)
  how = how or {}
  return run.within(function (directory)
    local child = run.root .. "/spec/export/child.lua"
    run.write(directory .. "/p.lua", program)
    run.write(directory .. "/how.lua", described(how))
    local result = run.file(child, {args = {run.root, "p.lua"},
                                    cwd = directory, timeout = 300})
    if result.status ~= 0 or result.stderr ~= "" then
      error(("status %s\n%s"):format(result.status, result.stderr), 0)
    end
    local list = assert(loadfile(directory .. "/result.lua"))()
    read_files(directory, how.formats or exported.formats, list)
    return list
  end)
end

return exported
