-- A program as they are: a tokenizer, tables, string functions, closures.
local turns = tonumber(arg[1])
local text = ("local x = 10 + foo(bar, 'baz') -- end\n"):rep(3)
local kinds = {
  {"space", "^%s+"}, {"name", "^[%a_][%w_]*"}, {"number", "^%d+"},
  {"string", "^'[^']*'"}, {"comment", "^%-%-[^\n]*"}, {"other", "^."}
}
local function match (at)
  for _, kind in ipairs(kinds) do
    local from, to = text:find(kind[2], at)
    if from then
      return kind[1], to
    end
  end
end
local function count (counts, kind)
  counts[kind] = (counts[kind] or 0) + 1
end
local function scan (counts)
  local at = 1
  while at <= #text do
    local kind, to = match(at)
    count(counts, kind)
    at = to + 1
  end
end
for _ = 1, turns * 2 do
  scan({})
end
