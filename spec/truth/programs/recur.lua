-- Three recursions: queens on a board, a tree of tables, Euclid's by a tail
-- call.
local turns = tonumber(arg[1])
local function queens (n, row, columns, up, down)
  if row > n then
    return 1
  end
  local count = 0
  for c = 1, n do
    if not (columns[c] or up[row + c] or down[row - c + n]) then
      columns[c], up[row + c], down[row - c + n] = true, true, true
      count = count + queens(n, row + 1, columns, up, down)
      columns[c], up[row + c], down[row - c + n] = nil, nil, nil
    end
  end
  return count
end
local function grow (depth)
  if depth == 0 then
    return {1}
  end
  return {1, grow(depth - 1), grow(depth - 1)}
end
local function weigh (tree)
  return tree[1] + (tree[2] and weigh(tree[2]) or 0)
                 + (tree[3] and weigh(tree[3]) or 0)
end
local function gcd (a, b)
  if b == 0 then
    return a
  end
  return gcd(b, a % b)
end
for i = 1, turns do
  queens(5, 1, {}, {}, {})
  weigh(grow(6))
  for k = 1, 60 do
    gcd(610 + i % 7, 377 + k)
  end
end
