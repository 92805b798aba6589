-- embed.lua DIRECTORY ARGPARSE - writes to standard output the C file that has
-- all Lua modules below DIRECTORY, and argparse, as bytes (modules/static.h).

local directory, argparse = ...

local function read (path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

-- {name, path}, by name: what is built twice is the same.
local function modules ()
  local list = {{name = "argparse.lua", path = argparse}}
  local pipe = assert(io.popen("find '" .. directory .. "' -name '*.lua'"))
  for path in pipe:lines() do
    list[#list + 1] = {name = path:sub(#directory + 2), path = path}
  end
  pipe:close()
  table.sort(list, function (a, b) return a.name < b.name end)
  return list
end

-- Rows of numbers: compilers need not take longer strings than 4,095 bytes.
local function bytes (text)
  local rows = {}
  for from = 1, #text, 24 do
    rows[#rows + 1] = table.concat({text:byte(from, from + 23)}, ",")
  end
  return table.concat(rows, ",\n")
end

local list = modules()
print '#include "static.h"\n'
for i, module in ipairs(list) do
  module.text = read(module.path)
  print(("static const unsigned char text%d[] = {\n%s};\n"):format(
    i, bytes(module.text)))
end
print "const tg_StaticText tg_static_texts[] = {"
for i, module in ipairs(list) do
  print(('  {"lua/%s", text%d, %d},'):format(module.name, i, #module.text))
end
print "  {NULL, NULL, 0}\n};"
