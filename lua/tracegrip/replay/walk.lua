-- walk.lua - a walk through a recording: where somebody stands in it, and the
-- way to the moment that a step or a stop leads to.
--
--   walk.new(replay, breathe)    replay: core.replay; breathe(): lets others
--                                have their turn, on the coroutine of a search
--   self:moment()                as the replay has it
--   self:step(move, thread, meets)
--                                goes somewhere ("in", "over", "out", "on" and
--                                their ways back: csrc/replay/search.h). How
--                                that ended: "found", "edge" (there is no such
--                                moment), "paused"; what was met; what went
--                                wrong, if reading did. meets(why, forwards):
--                                of a moment that the stops name, what is met
--                                there, or nil; nil: there are no stops
--   self:go(number)              to a moment by its number; the same two
--   self:read(f)                 stays where it is, and counts as moving, while
--                                f(on) reads something else of the recording;
--                                on(): whether to go on, after the others had
--                                their turn. What f gives; nil, message if it
--                                fails
--   self:pause()                 a search ends where it is
--   self.moving                  one is under way
--   self.at_line                 the walk has stopped before a call on some
--                                line
--
-- A search is done piece by piece, and between the pieces others have their
-- turn, so pause ends it. Backwards, what was met last counts.

local core = require "tracegrip.core"
core.own()

local PIECE = 200000            -- packets between two looks at the others
local CANDIDATES = 1000         -- the same

local walk = {}

local Walk = {__name = "tracegrip.walk"}
Walk.__index = Walk

function walk.new (replay, breathe)
  return setmetatable({replay = replay, breathe = breathe, moving = false,
                       pausing = false, at_line = nil}, Walk)
end

function Walk:moment ()
  return self.replay:moment()
end

function Walk:pause ()
  self.pausing = true
end

-- A moment between two packets of one event shows nothing.
local function settle (self)
  while not self:moment().stands do
    self.replay:search("in", 1, false)
    self.replay:turn(PIECE)
  end
end

local function search (self, move, thread, meets)
  local replay, forwards = self.replay, not move:find "^back"
  local met, rejected = nil, 0
  replay:search(move, thread, meets ~= nil)
  while true do
    local state, why = replay:turn(PIECE)
    if state == "candidate" then
      rejected = rejected + 1
      local one = meets(why, forwards)
      if one then
        met, self.at_line = one, why.line
        replay:accept()
        if forwards then
          return "found", met
        end
      end
    elseif state ~= "going" then
      return state, met
    end
    if state == "going" or rejected % CANDIDATES == 0 then
      self.breathe()
    end
    if self.pausing then
      return "paused"
    end
  end
end

local function seek (self, number)
  while not self.replay:go(number, PIECE) do
    local moment = self:moment()
    if moment.number == moment.total then
      return "edge"
    end
    self.breathe()
    if self.pausing then
      return "paused"
    end
  end
  settle(self)
  return "found"
end

-- Whatever fails, the walk stands where it has come to.
local function led (self, way, ...)
  self.moving, self.pausing, self.at_line = true, false, nil
  local ok, found, met = pcall(way, self, ...)
  if not ok then
    self.moving = false
    return "edge", nil, found
  elseif found == "paused" then
    settle(self)
  end
  self.moving = false
  return found, met
end

function Walk:step (move, thread, meets)
  return led(self, search, move, thread, meets)
end

function Walk:read (f)
  self.moving, self.pausing = true, false
  local ok, result = pcall(f, function ()
    self.breathe()
    return not self.pausing
  end)
  self.moving = false
  if not ok then
    return nil, result
  end
  return result
end

function Walk:go (number)
  return led(self, seek, number)
end

return walk
