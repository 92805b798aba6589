-- objects.lua - a program that hands few objects to functions, with what is
-- seen at once in them and what is not: arrays that the hash part goes on
-- with, that end early or are too long, strings of every length, objects that
-- come again and again, more of them than are numbered.
--
-- A table has one key at most whose place depends on addresses or on the
-- state's seed, so two runs see the same.

local function one (a) return a end
local function two (a, b) return b, a end
local function six (...) return ... end
local function fixed (a, b, c, d, e, f) return f, e, d, c, b, a end

-- The array part has exactly these slots.
local arrays = {
  {}, {1}, {1, 2, 3}, {nil, 2}, {1, nil, 3}, {1, 2, nil}, {nil, nil, nil},
  {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
  {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
  {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17},
  {1, 2, 3, nil, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18},
  {{}, {}, one, print, "x"}, table.pack(("x"):rep(70):byte(1, -1))
}
for _, t in ipairs(arrays) do
  one(t)
  two(t, t)
end

-- With one key in the hash part: a name, what the array goes on with, or not.
local function record (n, key, v)
  local t = table.move({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
                        17, 18, 19, 20}, 1, n, 1, {nil, nil, nil, nil, nil,
                        nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil})
  t[key] = v
  return t
end

for _, n in ipairs {0, 1, 2, 3, 4, 15, 16} do
  for _, key in ipairs {"name", n + 1, n + 2, 17, 18, 0, -1, 1.5, one, true} do
    one(record(n, key, n))
  end
end
for _, key in ipairs {1, 2, 17, "k", ("k"):rep(41), ("k"):rep(64), 2^53} do
  fixed({[key] = 1}, {[key] = {}}, {[key] = one}, {[key] = ("v"):rep(63)},
        {[key] = ("v"):rep(64)}, key)
end

-- Classes: the same one, others, with names of every length.
local names = {"", "A", ("B"):rep(40), ("C"):rep(63), ("D"):rep(64), 7, false}
for _, name in ipairs(names) do
  local class = setmetatable({__name = name}, {__name = "Meta"})
  local a, b = setmetatable({1, "x"}, class), setmetatable({}, class)
  two(a, b)
  two({a, b, class}, {a, a, {}})
  fixed(a, class, getmetatable(class), b, {class}, a)
end
local self = {}
self[1], self[2] = self, {self}
two(setmetatable(self, self), self[2])
two(coroutine.running(), {one, two, coroutine.running()})

-- More objects than have a number of one byte, and such as share a place.
local function crowd (n)
  local t = {}
  for i = 1, n do
    t[i] = i % 3 == 0 and setmetatable({i}, t) or {i}
  end
  return t
end
for n = 1, 20 do
  one(crowd(n))
  local a, b = crowd(n), crowd(n)
  fixed(a, b, a, crowd(n), b, crowd(20 - n))
  fixed(crowd(n), crowd(n), crowd(n), crowd(n), crowd(n), crowd(n))
end

-- Strings that are too long to be written again, in tables as well.
local document, other = ("text "):rep(30), ("TEXT "):rep(30)
local long = ("s"):rep(1000)    -- string.rep of more has a buffer with a class
long = long .. long .. long
for _ = 1, 3 do
  two(document, other)
  two({document}, document)
  six({document, other}, {other}, {[document] = 1}, 1, 2, 3)
  two(long, {long})
end
