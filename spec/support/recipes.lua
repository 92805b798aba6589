--- recipes.lua - the blocks of a document that tell what is to be added to
-- which file, and a copy of the tree that has them.
--
-- The text above a block with fences tells its place: "A new file, `PATH`", or
-- "In `PATH`, after `LINE`", "before `LINE`" or "instead of `LINE`". The line,
-- or its beginning, is in the file once.

local lfs = require "lfs"

local run = require "spec.support.run"

local recipes = {}

local function place_of (prose)
  local path, how, line =
    prose:match ".*[Ii]n `([^`]+)`, (%l[%l ]*) `([^`]+)`"
  if path then
    return path, how, line
  end
  return prose:match "A new file, `([^`]+)`", "new"
end

local function unindented (lines, indent)
  for i, line in ipairs(lines) do
    lines[i] = line:sub(1, #indent):find "%S" and line or line:sub(#indent + 1)
  end
  return lines
end

--- The blocks of a document, in order: {number (of the line), prose (above it),
-- path, how, line, lines}; without a path where no place is told.
function recipes.blocks (document)
  local list, open, prose, number = {}, nil, {}, 0
  for line in document:gmatch "([^\n]*)\n" do
    number = number + 1
    local indent = line:match "^( *)```"
    if indent and open then
      unindented(open.lines, indent)
      list[#list + 1] = open
      open, prose = nil, {}
    elseif indent then
      open = {number = number, prose = table.concat(prose, " "), lines = {}}
      open.path, open.how, open.line = place_of(open.prose)
    elseif open then
      open.lines[#open.lines + 1] = line
    elseif line:find "%S" then
      prose = prose.ended and {} or prose
      prose[#prose + 1] = line:match "^%s*(.-)%s*$"
    else
      prose.ended = true
    end
  end
  return list
end

local function split (text)
  local lines = {}
  for line in text:gmatch "([^\n]*)\n" do
    lines[#lines + 1] = line
  end
  return lines
end

-- The number of the only line that begins so, whatever its indentation.
local function find (lines, wanted)
  local found, times = nil, 0
  for i, line in ipairs(lines) do
    if line:match "^%s*(.*)":sub(1, #wanted) == wanted then
      found, times = i, times + 1
    end
  end
  return times == 1 and found or nil, times
end

local function insert (lines, at, more)
  for i, line in ipairs(more) do
    table.insert(lines, at + i - 1, line)
  end
end

local ways = {
  after = function (lines, at, more) insert(lines, at + 1, more) end,
  before = insert,
  ["instead of"] = function (lines, at, more)
    table.remove(lines, at)
    insert(lines, at, more)
  end
}

--- Puts a block where it belongs, below a directory.
function recipes.apply (block, directory)
  local path = directory .. "/" .. block.path
  local text = run.read(path)
  local where = ("line %d: %s"):format(block.number, block.path)
  if block.how == "new" then
    assert(not text, where .. " is there")
    return run.write(path, table.concat(block.lines, "\n") .. "\n")
  end
  local way = assert(ways[block.how], where .. ": '" .. block.how .. "'?")
  local lines = split(assert(text, where .. " is not there"))
  local at, times = find(lines, block.line)
  assert(at, ("%s: %d lines begin with %q"):format(where, times, block.line))
  way(lines, at, block.lines)
  run.write(path, table.concat(lines, "\n") .. "\n")
end

-- What is copied is as old as it was: make compiles nothing of it again. Of the
-- build, what make goes by.
local script = [[
  set -e
  cd "$1"
  for name in * .[!.]*; do
    case $name in
      build|.git) ;;
      *) cp -pR "$name" "$2" ;;
    esac
  done
  mkdir "$2/build"
  cp -pR build/obj build/lib build/bin build/spec "$2/build"
]]

--- Copies the tree and its build into a directory.
function recipes.copy (directory)
  local result = run.command {"sh", "-c", script, "sh", run.root, directory}
  assert(result.status == 0, result.stderr)
end

local function includes (path)
  local list = {}
  for name in (run.read(path) or ""):gmatch '#include "([^"]+)"' do
    list[#list + 1] = name
  end
  return list
end

-- Whether a file of csrc is one of these, or includes one.
local function reaches (root, name, changed, known)
  if known[name] == nil then
    known[name] = changed["csrc/" .. name] or false
    for _, other in ipairs(includes(root .. "/csrc/" .. name)) do
      known[name] = reaches(root, other, changed, known) or known[name]
    end
  end
  return known[name]
end

--- The files csrc/**.c that are among the changed, path -> true, or include one
-- of them, by whatever way: what has to be compiled.
function recipes.touched (root, changed)
  local list, known = {}, {}
  local function walk (folder)
    for name in lfs.dir(root .. "/csrc/" .. folder) do
      local path = folder .. name
      if lfs.attributes(root .. "/csrc/" .. path, "mode") == "directory" then
        if name:sub(1, 1) ~= "." then
          walk(path .. "/")
        end
      elseif name:find "%.c$" and reaches(root, path, changed, known) then
        list[#list + 1] = "csrc/" .. path
      end
    end
  end
  walk ""
  table.sort(list)
  return list
end

return recipes
