-- rooms.lua COMMAND - what csrc/README.md says of the folders of csrc/, held
-- against the code.
--
--   includes          includes that go up, or lua.h where it has no business
--   names             structures of rooms above that a header only names
--   symbols DIR       the same for calls and data, told from object files
--   graph [FOLDER]    which folder uses which; inside of one, which file
--
-- The list under "## Rooms" gives the folders from the lowest up; a file may
-- use what is in its own folder and in those above it in the list. Files in
-- csrc/ itself stand over all. What is wrong is printed, a line each.

local LINE = "lua.h from here on"

-- The folders in order, and from which number on lua.h may be included.
local function read_rooms ()
  local order, first_lua, inside = {}, nil, false
  for line in io.lines "csrc/README.md" do
    if line:find "^## " then
      inside = line == "## Rooms"
    end
    local name = inside and line:match "^    ([%w/]+)/ "
    if name then
      order[#order + 1] = name
      order[name] = #order
    elseif inside and line:find(LINE, 1, true) then
      first_lua = #order + 1
    end
  end
  return order, first_lua
end

local order, first_lua = read_rooms()
local TOP = #order + 1

local function room_of (file)
  return file:match "^csrc/(.*)/[^/]*$" or ""
end

local function height (room)
  return room == "" and TOP or order[room]
end

local function files (pattern)
  local list = {}
  local pipe = assert(io.popen("find csrc -name '" .. pattern .. "' | sort"))
  for file in pipe:lines() do
    list[#list + 1] = file
  end
  pipe:close()
  return list
end

-- Calls f(file, included) for each of our includes, f(file, nil, name) for
-- those of Lua's headers.
local function each_include (f)
  for _, file in ipairs(files "*.[ch]") do
    for line in io.lines(file) do
      local ours = line:match '^#include "([%w_/]+)%.h"'
      local lua = line:match '^#include [<"](l%a+)%.h[>"]'
      if ours then
        f(file, "csrc/" .. ours .. ".h")
      elseif lua == "lua" or lua == "lauxlib" or lua == "lualib" then
        f(file, nil, lua .. ".h")
      end
    end
  end
end

local function check_rooms (complain)
  for _, file in ipairs(files "*.c") do
    if not height(room_of(file)) then
      complain(file .. ": its folder is not in the list of csrc/README.md")
    end
  end
  for _, room in ipairs(order) do
    if not os.rename("csrc/" .. room, "csrc/" .. room) then
      complain("csrc/README.md lists " .. room .. "/, which is not there")
    end
  end
end

local commands = {}

local function goes_up (file, included, lua)
  local here = height(room_of(file)) or TOP
  if included then
    return (height(room_of(included)) or 0) > here
  end
  return lua ~= nil and here < first_lua
end

function commands.includes (complain)
  check_rooms(complain)
  each_include(function (file, included, lua)
    if goes_up(file, included, lua) then
      complain(file:sub(6) .. " includes " .. (lua or included:sub(6)))
    end
  end)
end

-- ---- names ----

-- Calls f(file, number, line) for each line of C.
local function each_line (f)
  for _, file in ipairs(files "*.[ch]") do
    local number = 0
    for line in io.lines(file) do
      number = number + 1
      f(file, number, line)
    end
  end
end

-- A structure that is only named, "struct tg_X;", needs no include: so it is an
-- arrow up that includes do not show.
function commands.names (complain)
  local definer = {}
  each_line(function (file, _, line)
    local name = line:match "struct (tg_[%w_]+) {"
    if name then
      definer[name] = file
    end
  end)
  each_line(function (file, number, line)
    for name in line:gmatch "struct (tg_[%w_]+)" do
      local other = definer[name]
      if other and goes_up(file, other) then
        complain(("%s:%d names %s of %s"):format(file:sub(6), number, name,
                                                 other:sub(6)))
      end
    end
  end)
end

-- ---- symbols ----

local function object_files (directory)
  local list = {}
  for _, file in ipairs(files "*.c") do
    list[file] = directory .. "/" .. file:gsub("^csrc/", ""):gsub("c$", "o")
  end
  return list
end

-- definer[symbol] = file, and users[file][symbol] = true
local function read_symbols (directory)
  local definer, users = {}, {}
  for file, object in pairs(object_files(directory)) do
    users[file] = {}
    local pipe = assert(io.popen("nm " .. object))
    for line in pipe:lines() do
      local kind, symbol = line:match "(%a) ([%w_]+)$"
      if kind == "U" then
        users[file][symbol] = true
      elseif kind and kind:find "[TDBRC]" then
        definer[symbol] = file
      end
    end
    pipe:close()
  end
  return definer, users
end

-- uses[file][other] = a symbol of other's that file refers to
local function file_arrows (directory)
  local definer, users = read_symbols(directory)
  local uses = {}
  for file, symbols in pairs(users) do
    uses[file] = {}
    for symbol in pairs(symbols) do
      local other = definer[symbol]
      if other and other ~= file then
        uses[file][other] = symbol
      end
    end
  end
  return uses
end

-- Groups of files that need each other in a circle (Tarjan's components).
local function circles (uses)
  local index, low, stack, on, n, found = {}, {}, {}, {}, 0, {}
  local function visit (v)
    n = n + 1
    index[v], low[v] = n, n
    stack[#stack + 1], on[v] = v, true
    for w in pairs(uses[v]) do
      if not index[w] then
        visit(w)
        low[v] = math.min(low[v], low[w])
      elseif on[w] then
        low[v] = math.min(low[v], index[w])
      end
    end
    if low[v] == index[v] then
      local group = {}
      repeat
        local w = table.remove(stack)
        on[w] = nil
        group[#group + 1] = w:sub(6)
      until w == v
      if #group > 1 then
        table.sort(group)
        found[#found + 1] = table.concat(group, " ")
      end
    end
  end
  for v in pairs(uses) do
    if not index[v] then
      visit(v)
    end
  end
  table.sort(found)
  return found
end

function commands.symbols (complain, directory)
  local uses = file_arrows(directory)
  local up = {}
  for file, others in pairs(uses) do
    for other, symbol in pairs(others) do
      if height(room_of(other)) > height(room_of(file)) then
        up[#up + 1] = string.format("%s uses %s of %s", file, symbol, other)
      end
    end
  end
  table.sort(up)
  for _, line in ipairs(up) do
    complain(line)
  end
  for _, circle in ipairs(circles(uses)) do
    complain("in a circle: " .. circle)
  end
end

-- ---- graph ----

local function print_arrows (from, to)
  local list = {}
  for name in pairs(to) do
    list[#list + 1] = name
  end
  table.sort(list)
  print(from .. ": " .. table.concat(list, " "))
end

function commands.graph (_, folder)
  local arrows = {}
  local function name_of (file)
    if not folder then
      return room_of(file)
    end
    return room_of(file) == folder and file:match "([%w_]+)%.%a$" or nil
  end
  each_include(function (file, included)
    local from, to = name_of(file), included and name_of(included)
    if from then
      arrows[from] = arrows[from] or {}
      if to and to ~= from then
        arrows[from][to] = true
      end
    end
  end)
  local names = {}
  for name in pairs(arrows) do
    names[#names + 1] = name
  end
  table.sort(names, function (a, b)
    local x, y = height(a) or 0, height(b) or 0
    if x ~= y then
      return x > y
    end
    return a < b
  end)
  for _, name in ipairs(names) do
    print_arrows(name == "" and "csrc" or name, arrows[name])
  end
end

local command, argument = ...
local wrong = 0
commands[command](function (what)
  print(what)
  wrong = wrong + 1
end, argument)
os.exit(wrong == 0)
