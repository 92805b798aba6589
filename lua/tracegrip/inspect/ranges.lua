-- ranges.lua - what was counted of a script as the protocol has it: ranges of
-- its text with a count, FunctionCoverage.
--
--   ranges.of(script, functions, wanted)   a list for each function, of
--                                          coverage.functions
--     wanted.counts      how often; else 1 of what has run
--     wanted.detailed    ranges inside of functions too
--
-- Lua tells of lines, so a range begins and ends with one; but for a function
-- that is the only one of its first line, which begins with its keyword.
-- Offsets are UTF-16's, of the text as the front end has it: there a byte that
-- is no UTF-8 is one character.

local core = require "tracegrip.core"
local scripts = require "tracegrip.inspect.scripts"
local wire = require "tracegrip.wire"
core.own()

local ranges = {}

---------------------------------------------------------------------------
-- Offsets
---------------------------------------------------------------------------

-- Four bytes of UTF-8 are a pair of UTF-16.
local function units (text)
  if not string.find(text, "[\x80-\xff]") then
    return #text
  end
  local n, at = 0, 1
  while at <= #text do
    local length, bad = utf8.len(text, at)
    local stop = length and #text or bad - 1
    local part = string.sub(text, at, stop)
    local _, pairs = string.gsub(part, "[\xf0-\xf7]", "")
    n = n + utf8.len(text, at, stop) + pairs + (length and 0 or 1)
    at = stop + (length and 1 or 2)
  end
  return n
end

-- Of each line: its text, where it begins, where it ends; 'size' of all.
local function layout (text)
  local lines, at = {}, 0
  for line in string.gmatch(text .. "\n", "([^\n]*)\n") do
    local size = units(line)
    lines[#lines + 1] = {text = line, first = at, last = at + size}
    at = at + size + 1
  end
  lines.size = at - 1
  return lines
end

---------------------------------------------------------------------------
-- Ranges
---------------------------------------------------------------------------

local KEYWORD = "%f[%w_]function%f[^%w_]"

local function beginning (lines, number)
  local line = lines[number]
  local at = string.find(line.text, KEYWORD)
  local _, count = string.gsub(line.text, KEYWORD, "")
  local before = count == 1 and string.sub(line.text, 1, at - 1) or ""
  return line.first + units(before)
end

local function whole (lines, one)
  if one.first == 0 then
    return 0, lines.size
  end
  return beginning(lines, one.first), lines[one.last].last
end

-- Last line -> first line of the largest function that ends there. A closure is
-- made where its function ends, which is one block with its text.
local function nested (functions)
  local first = {}
  for _, one in ipairs(functions) do
    first[one.last] = math.min(first[one.last] or one.first, one.first)
  end
  return first
end

-- Every function ends with a return of its own, at its last line, which is not
-- got to where there is another before it.
local function is_spare (lines, one, pair)
  return pair[1] == one.last and pair[2] == 0
         and string.find(lines[one.last].text, "^%s*end%f[^%w_]") ~= nil
end

-- Runs of lines with one count, which is not that of the function.
local function blocks (lines, one, from, to, firsts, number)
  local list, current = {}, nil
  for _, pair in ipairs(one.lines) do
    local line, count = pair[1], number(pair[2])
    local inner = firsts[line]
    if inner and inner > one.first and inner < line then
      line = inner
    end
    local at = math.max(lines[line].first, from)
    if not is_spare(lines, one, pair)
       and (not current or current.count ~= count) then
      if current then
        current.endOffset = math.max(at, current.startOffset)
      end
      current = {startOffset = at, endOffset = to, count = count}
      list[#list + 1] = current
    end
  end
  return list
end

local function plain (n)
  return n > 0 and 1 or 0
end

local function as_it_is (n)
  return n
end

function ranges.of (script, functions, wanted)
  local lines, firsts = layout(script.text), nested(functions)
  local number, list = wanted.counts and as_it_is or plain, {}
  for i, one in ipairs(functions) do
    local from, to = whole(lines, one)
    local own = {{startOffset = from, endOffset = to,
                  count = number(one.calls)}}
    for _, block in ipairs(wanted.detailed and one.calls > 0
                           and blocks(lines, one, from, to, firsts, number)
                           or {}) do
      if block.count ~= own[1].count
         and block.startOffset < block.endOffset then
        own[#own + 1] = block
      end
    end
    list[i] = {
      functionName = one.first > 0 and scripts.declared(script, one.first)
                     or "", isBlockCoverage = wanted.detailed,
      ranges = wire.array(own)
    }
  end
  return wire.array(list)
end

return ranges
