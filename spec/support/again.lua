-- again.lua - what a stopped trace says when it has been in a file.
--
--   local again = dofile ".../again.lua"
--   local message = again(trace, directory, tape, number)
--
-- saves the trace, opens that and compares every byte of its packets, its
-- losses and how it ended with what the trace itself says; the same with the
-- number-th trace of the recording "tape" (nil: there is none), which is still
-- being made. Returns nil, or a line of what is not the same.

local core = require "tracegrip.core"
core.own()

local function read (path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

-- Piece by piece: this runs inside the program, whose finalizers Lua 5.5 calls
-- when a long text is read, even if its collector is stopped.
local function alike (one, other)
  local a <close> = assert(io.open(one, "rb"))
  local b <close> = assert(io.open(other, "rb"))
  local piece
  repeat
    piece = a:read(512)
    if piece ~= b:read(512) then
      return false
    end
  until not piece
  return true
end

local function losses (trace)
  local list = {}
  for cause, n in pairs(trace.lost) do
    list[#list + 1] = cause .. "=" .. n
  end
  table.sort(list)
  return table.concat(list, " ")
end

-- The first line in which two texts differ, from both.
local function difference (a, b)
  local mine, other = a:gmatch "[^\n]*", b:gmatch "[^\n]*"
  while true do
    local x, y = mine(), other()
    if x ~= y then
      return string.format("\n  %s\n  %s", x, y)
    end
  end
end

return function (trace, directory, tape, number)
  local path, live = directory .. "/again", directory .. "/live"
  assert(trace:export("packets", live))

  local function compare (what, copy)
    assert(copy:export("packets", path))
    if not alike(live, path) then
      return what .. " says" .. difference(read(live), read(path))
    end
    local lost, ended = losses(copy), copy.ended
    if lost ~= losses(trace) or ended ~= trace.ended then
      return string.format("%s: lost %s, ended %s; not %s, %s", what, lost,
                           ended, losses(trace), trace.ended)
    end
    return copy.name ~= trace.name and what .. " has another name" or nil
  end

  local file = directory .. "/saved"
  assert(trace:save(file))
  local message = compare("the saved trace", assert(core.open(file)))
  if not message and tape then
    local recording = assert(core.open(tape))
    message = compare("the recorded trace", recording:traces()[number])
  end
  os.remove(path)
  os.remove(live)
  os.remove(file)
  return message
end
