-- flame.lua FILE [COLUMNS] - folded stacks as a picture for a terminal: a box
-- for each function, as wide as its share of the time, below whoever called it.

local path, columns = arg[1], tonumber(arg[2]) or 100
local LEVELS = 12           -- that are drawn
local NARROWEST = 3         -- columns that a name needs

local function child_of (node, name)
  local child = node.by_name[name]
  if not child then
    child = {name = name, time = 0, by_name = {}, list = {}}
    node.by_name[name] = child
    table.insert(node.list, child)
  end
  return child
end

local function read (file)
  local root = {time = 0, by_name = {}, list = {}}
  for line in io.lines(file) do
    local stack, time = line:match "^(.*) (%d+)$"
    local node = root
    node.time = node.time + tonumber(time)
    for name in stack:gmatch "[^;]+" do
      node = child_of(node, name)
      node.time = node.time + tonumber(time)
    end
  end
  return root
end

-- The first characters of a text, and spaces up to that width.
local function fitted (text, width)
  local length = utf8.len(text) or #text
  if length > width then
    return text:sub(1, (utf8.offset(text, width) or width) - 1) .. "…"
  end
  return text .. (" "):rep(width - length)
end

-- Boxes of each level, from left to right, with what is free between them.
local function draw (node, from, to, level, rows)
  table.sort(node.list, function (a, b) return a.time > b.time end)
  local sum, left = 0, from
  for _, child in ipairs(node.list) do
    sum = sum + child.time
    local right = from + (to - from) * sum // node.time | 0
    if right - left >= NARROWEST and level <= LEVELS then
      local row = rows[level] or {text = {}, at = 0}
      rows[level] = row
      table.insert(row.text, (" "):rep(left - row.at))
      table.insert(row.text, "▕" .. fitted(child.name, right - left - 1))
      row.at = right
      draw(child, left, right, level + 1, rows)
    end
    left = right
  end
end

local root = read(path)
local rows = {}
if root.time > 0 then
  draw(root, 0, columns, 1, rows)
end
for _, row in ipairs(rows) do
  print(table.concat(row.text) .. "▏")
end
print(("%s: %.0f ms, %d columns"):format("all", root.time / 1000, columns))
