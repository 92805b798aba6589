-- rockspec.lua FILE - checks that a rockspec names exactly the tree's files.
--
-- A source that is missing there builds from the tree and not from the rock.

local path = ...
local rockspec = {}
assert(loadfile(path, "t", rockspec))()

local function listing (command)
  local set = {}
  local pipe = assert(io.popen(command))
  for line in pipe:lines() do
    set[line] = true
  end
  pipe:close()
  return set
end

local function modules (from, extension)
  local set = {}
  for _, source in pairs(from) do
    for _, file in ipairs(type(source) == "table" and source.sources
                          or {source}) do
      if file:sub(-#extension) == extension then
        set[file] = true
      end
    end
  end
  return set
end

local failed = false
local function compare (there, named, what)
  for file in pairs(there) do
    if not named[file] then
      print(file .. " is not among the rockspec's " .. what)
      failed = true
    end
  end
  for file in pairs(named) do
    if not there[file] then
      print(file .. " is among the rockspec's " .. what .. " and not there")
      failed = true
    end
  end
end

local build = rockspec.build
compare(listing "find csrc modules/preload.c -name '*.c'",
        modules(build.modules, ".c"),
        "sources")
compare(listing "find lua -name '*.lua'", modules(build.modules, ".lua"),
        "modules")
os.exit(not failed)
