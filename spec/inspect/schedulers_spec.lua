-- Breakpoints and steps in random programs with coroutines against what a line
-- hook sees in the same programs without a debugger. Breakpoints are set and
-- removed at random pauses, many of them in coroutines that are suspended then,
-- some with a condition; each next pause has to be at the first line event that
-- one belongs to, and the program has to end where none is left.
--
-- TG_SCHEDULERS=1000: so many programs, and what was compared is printed.

local debugger = require "spec.support.debugger"
local schedulers = require "spec.support.schedulers"

local it = debugger.needed(it, pending)

local LONG = tonumber(os.getenv "TG_SCHEDULERS" or "")
local PROGRAMS = LONG or 8
local PAUSES = LONG and 300 or 60       -- of a program at most
local SOON = 300                        -- events until a new one is reached
local MIDDLE = 20                       -- stops in mid-line, one after another

local compared = {pauses = 0, steps = 0, ends = 0}

-- A debugger at a random program: where it is in the log, and what is set.
local Visit = {}
Visit.__index = Visit

local function fits (set, event)
  return set ~= nil and not event.taken and (not set.even or event.n % 2 == 0)
end

-- The next event at which the program has to stop; nil: at none.
function Visit:expected (stepping)
  for at = self.at + 1, #self.log do
    local event = self.log[at]
    if stepping and not event.taken or fits(self.set[event.line], event) then
      return at
    end
  end
end

function Visit:add ()
  local at = math.random(self.at + 1, math.min(#self.log, self.at + SOON))
  local line = self.log[at].line
  if self.set[line] then
    return
  end
  local even = math.random(4) == 1
  local reply = self.front:stop_at(line, even and "n % 2 == 0" or nil)
  assert(reply.locations[1].lineNumber + 1 == line, "it was moved")
  self.set[line] = {id = reply.breakpointId, even = even}
  self.lines[#self.lines + 1] = line
end

function Visit:remove ()
  local line = table.remove(self.lines, math.random(#self.lines))
  self.front:ask("Debugger.removeBreakpoint",
                 {breakpointId = self.set[line].id})
  self.set[line] = nil
end

function Visit:change ()
  while math.random(4) == 1 and #self.lines > 0 do
    self:remove()
  end
  while (math.random(3) == 1 or #self.lines == 0)
        and self.at < #self.log do
    self:add()
  end
end

function Visit:is_at (paused, event)
  return paused.callFrames[1].location.lineNumber + 1 == event.line
         and self.front:value(paused, 1, "n").value == event.n
end

-- A step also ends where a function has returned to, in the middle of a line.
function Visit:go (stepping, expected)
  local paused = self.front:go(stepping and "stepInto" or "resume")
  for _ = 1, stepping and MIDDLE or 0 do
    if not paused or self:is_at(paused, self.log[expected]) then
      break
    end
    paused = self.front:go "stepInto"
  end
  return paused
end

function Visit:where (paused)
  return ("seed %d: %s at event %d, n = %s"):format(
    self.seed, paused and debugger.place(paused) or "its end", self.at,
    paused and self.front:value(paused, 1, "n").description or "-")
end

-- Whether the program goes on.
function Visit:round ()
  self:change()
  local stepping = math.random(4) == 1
  local expected = self:expected(stepping)
  if not expected then
    self.front:ask "Debugger.resume"
    local paused = self.front:event "Debugger.paused"
    assert(not paused, self:where(paused))
    compared.ends = compared.ends + 1
    return false
  end
  local paused = self:go(stepping, expected)
  if not paused or not self:is_at(paused, self.log[expected]) then
    error(("%s instead of line %d, n = %d"):format(self:where(paused),
          self.log[expected].line, self.log[expected].n), 0)
  end
  local kind = stepping and "steps" or "pauses"
  compared[kind] = compared[kind] + 1
  self.at = expected
  return true
end

local function visit (seed)
  local text = schedulers.generate(seed)
  local log = schedulers.log(text)
  debugger.debug(text, function (front)
    local self = setmetatable({front = front, log = log, seed = seed, at = 1,
                               set = {}, lines = {}}, Visit)
    self:add()
    for _ = 1, PAUSES do
      if not self:round() then
        return
      end
    end
  end, debugger.keeping)
end

describe("breakpoints in random programs with coroutines", function ()
  it("stop where a line hook says", function ()
    for seed = 1, PROGRAMS do
      visit(seed)
    end
    if LONG then
      io.stderr:write(("%d programs: %d breakpoints reached, %d steps, %d "
        .. "ends\n"):format(PROGRAMS, compared.pauses, compared.steps,
                            compared.ends))
    end
    assert.is_true(compared.pauses > 0 and compared.steps > 0)
  end)
end)
