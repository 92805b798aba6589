-- lcov.lua - coverage as lcov, genhtml and many others read it: geninfo(1),
-- FILES. No branches: Lua's hook tells of lines.

local core = require "tracegrip.core"
core.own()

local lua = core.lua          -- the program may have changed its own libraries
local math, string, table = lua.math, lua.string, lua.table
local ipairs = lua.ipairs

-- A line is a record, and there is no way to say that one goes on.
local function one_line (text)
  return (string.gsub(text, "[\r\n]", "?"))
end

local function write_file (out, file)
  out("TN:\nSF:%s\n", one_line(file.path))
  for _, one in ipairs(file.functions) do
    out("FN:%d,%s\n", math.max(one.first, 1), one.name)
  end
  for _, one in ipairs(file.functions) do
    out("FNDA:%d,%s\n", one.calls, one.name)
  end
  out("FNF:%d\nFNH:%d\n", file.totals.functions, file.totals.called)
  for _, pair in ipairs(file.lines) do
    out("DA:%d,%d\n", pair[1], pair[2])
  end
  out("LF:%d\nLH:%d\nend_of_record\n", file.totals.lines, file.totals.reached)
end

-- The text of the document.
return function (files)
  local parts = {}
  for _, file in ipairs(files) do
    write_file(function (...)
      parts[#parts + 1] = string.format(...)
    end, file)
  end
  return table.concat(parts)
end
