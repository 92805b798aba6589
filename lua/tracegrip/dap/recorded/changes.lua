-- changes.lua - data breakpoints of a recording: the moments at which a table,
-- or a field of one, was found to be another than it had been. Which table it
-- is, the recording has to tell (--trace ...,identity).
--
--   changes.new(replay, numbered, note)
--                            numbered(): a breakpoint's number; note(text) is
--                            for the client's console
--   changes.info(grip, pool, key)
--                            what dataBreakpointInfo answers: of a value in an
--                            object of 'pool', or of the field 'key' of it
--   self:set(list)           from now on these; as the protocol has them
--   self:read(on)            reads for those that have not been read for;
--                            on(): whether to go on. Whether all were
--   self:moments()           at which one of them may stop: a list in order;
--                            nil: there is none
--   self:meets(moment, candidate)
--                            what the event "stopped" has of it; nil
--
-- A recording is read once for each of them (csrc/replay/history.h), between
-- two looks at what the client wants.

local asked = require "tracegrip.dap.asked"
local code = require "tracegrip.replay.code"
local core = require "tracegrip.core"
local sightings = require "tracegrip.cli.sightings"
local tables = require "tracegrip.replay.tables"
local wire = require "tracegrip.wire"
core.own()

local SHOWN = 4                 -- fields of a change that are told

local changes = {}

local Changes = {__name = "tracegrip.dap.recorded.changes"}
Changes.__index = Changes

function changes.new (replay, numbered, note)
  return setmetatable({
    replay = replay, numbered = numbered, note = note,
    list = {},            -- breakpoints
    known = {},           -- data id -> {history, by_moment, moments}
    merged = nil,         -- the moments of all breakpoints, once asked for
  }, Changes)
end

---------------------------------------------------------------------------
-- What the client says
---------------------------------------------------------------------------

function changes.info (grip, pool, key)
  local id, message = tables.identity(grip, pool)
  if not id then
    return {dataId = wire.null, description = message}
  end
  return {
    dataId = key and id .. ":" .. key or tostring(id),
    description = key and ("changes of %s in table %d"):format(key, id)
                  or ("changes of table %d"):format(id),
    accessTypes = wire.array {"write"}, canPersist = false
  }
end

local function new (self, given)
  local id, key = string.match(given.dataId, "^(%d+):?(.*)$")
  local one = {number = self.numbered(), id = given.dataId,
               table = math.tointeger(tonumber(id)),
               field = key ~= "" and key or nil}
  if given.condition and given.condition ~= "" then
    one.condition = given.condition
    one.message = code.check(one.condition)
  end
  if not one.table or one.table < 1 or one.table >= 1 << 32 then
    one.message = "this is no data of the recording"
  elseif given.accessType and given.accessType ~= "write" then
    one.message = "a recording tells where data have changed, not who read them"
  elseif given.hitCondition and given.hitCondition ~= "" then
    one.message = "hits are not counted in a recording, which is walked in "
                  .. "both directions"
  end
  return one
end

function Changes:set (arguments)
  local told = {}
  self.list, self.merged = {}, nil
  for i, given in ipairs(asked.data(arguments)) do
    local one = new(self, given)
    self.list[i] = one
    told[i] = {id = one.number, verified = one.message == nil,
               message = one.message, reason = one.message and "failed" or nil}
  end
  return told
end

---------------------------------------------------------------------------
-- Reading
---------------------------------------------------------------------------

-- Which sighting is at a moment; of two the later one.
local function by_moment (history)
  local found = {}
  for i = 1, (history:counts()) do
    local seen = history:sighting(i)
    if seen.changed then
      found[seen.moment] = i
    end
  end
  return found
end

-- What is begun is kept: a search that was stopped goes on there.
local function read_for (self, one, on)
  local known = self.known[one.id]
  if not known then
    local key = one.field and sightings.key(one.field)
    known = {history = core.history(self.replay, one.table,
                                    {field = key, changes = true})}
    self.known[one.id] = known
  end
  if known.moments then
    return true
  elseif not tables.read(known.history, on) then
    return false
  end
  known.moments, known.by_moment = known.history:changes(),
                                   by_moment(known.history)
  local unkept = select(2, known.history:counts())
  if unkept > 0 then
    self.note(("%d changes of table %d are too many to keep"):format(unkept,
                                                                   one.table))
  end
  return true
end

function Changes:read (on)
  for _, one in ipairs(self.list) do
    if not one.message and not read_for(self, one, on) then
      return false
    end
  end
  return true
end

function Changes:moments ()
  if self.merged then
    return #self.merged > 0 and self.merged or nil
  end
  local all, met = {}, {}
  for _, one in ipairs(self.list) do
    for _, moment in ipairs(not one.message and self.known[one.id].moments
                            or {}) do
      if not met[moment] then
        met[moment], all[#all + 1] = true, moment
      end
    end
  end
  table.sort(all)
  self.merged = all
  return #all > 0 and all or nil
end

---------------------------------------------------------------------------
-- Meeting one
---------------------------------------------------------------------------

local function change_text (one, history, i)
  local seen = history:sighting(i)
  local before, now = history:list(seen.before), history:list(i)
  local parts = {}
  local list = before and now and sightings.differences(before, now, one.table,
                                                        one.field) or {}
  for k, change in ipairs(list) do
    if k > SHOWN then
      parts[k] = ("… and %d more"):format(#list - SHOWN)
      break
    end
    parts[k] = ("%s: %s -> %s"):format(change.field, change.old or "nil",
                                       change.new or "nil")
  end
  return ("table %d, %s (last seen at moment %d)"):format(
    one.table, table.concat(parts, ", "), history:sighting(seen.before).moment)
end

local function holds (one, candidate)
  if not one.condition then
    return true
  end
  local last = candidate.last
  local ends = last and last.type == "exitedFrame" and last or nil
  local ok, results = code.run(one.condition, code.names(candidate.call, ends))
  return ok and results[1]
end

function Changes:meets (moment, candidate)
  local numbers, texts = {}, {}
  for _, one in ipairs(self.list) do
    local known = not one.message and self.known[one.id]
    local i = known and known.moments and known.by_moment[moment]
    if i and holds(one, candidate) then
      numbers[#numbers + 1] = one.number
      texts[#texts + 1] = change_text(one, known.history, i)
    end
  end
  if #numbers > 0 then
    local text = table.concat(texts, "; ")
    return {reason = "data breakpoint", hitBreakpointIds = numbers,
            description = text, text = text}
  end
end

return changes
