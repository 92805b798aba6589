-- sender.lua - requests on their way to a collector: a bounded queue, several
-- at a time, retried as the OTLP specification has it.
--
--   local sender = sender.new(target, client)
--     target   {url =, headers = list, ca =, timeout = ms, check = function,
--              title = what it is told of as, thing = what is sent, a noun}
--     client   http.lua's
--   sender:push(body, count)     takes a request of so many things, or drops it
--   sender:miss(count, problem)  counts what cannot be sent as dropped
--   sender:finish(ms, done, patient)   no more will come: done() when all is
--                                answered or so many ms have passed; patient:
--                                since the last thing was taken
--   sender:part(ms, done)        the same, but at once if it waits to try again
--   sender:told()                what became of it all, in a line
--   sender.sent, sender.dropped  how many things so far
--   sender.problem               the first thing that went wrong, in words
--
-- 'check' looks at the body of an answer that says yes: how many things of the
-- request it refuses all the same, and why; of none, what it warns of.
-- 'explain' (optional) says what the body of any other answer says, or nil.
-- 'halve' (optional) gives a request's body as two, each with the number of
-- things in it; nothing if it cannot.
--
-- The queue has so many bytes; what does not go in is dropped and counted, so a
-- collector that is slow or gone costs no more memory than that, and nobody
-- waits for it. An answer of 429, 502, 503 or 504, and none at all, is a reason
-- to try again, later and later, with a part of the time left to chance, so
-- that a fleet does not come back at once; with Retry-After, not before that.
-- What is too large (413) is sent in halves, down to one thing, and then
-- dropped; for a while what is as large is not tried again. Any other answer
-- would be the same again, so its request is dropped.

local core = require "tracegrip.core"
local units = require "tracegrip.cli.units"
local uv = require "luv"
core.own()

local QUEUE = 32 << 20          -- bytes that wait or are on their way
local FLIGHT = 4                -- requests at a time
local FIRST_MS = 1000           -- before the first retry
local MOST_MS = 30000           -- between two
local AGE_MS = 300000           -- a request that is older is dropped
local TOO_LARGE = 413

local sender = {}

local Sender = {__name = "tracegrip.sender"}
Sender.__index = Sender

local again = {[429] = true, [502] = true, [503] = true, [504] = true}

local send

local function clean (text)
  return (text:gsub("%c", " "):sub(1, 200))
end

local function note (self, problem)
  self.problem = self.problem or clean(problem)
end

-- Its bytes are free again.
local function leave (self, request)
  self.bytes = self.bytes - #request.body
  self.pending = self.pending - request.count
end

local function drop (self, request, problem)
  note(self, problem)
  self.dropped = self.dropped + request.count
  leave(self, request)
end

local function accept (self, request, answer)
  local refused, why = 0, nil
  if self.target.check then
    refused, why = self.target.check(answer.body)
    refused = math.max(0, math.min(refused, request.count))
  end
  self.sent = self.sent + request.count - refused
  self.dropped = self.dropped + refused
  if why and refused > 0 then
    note(self, why)
  elseif why then
    self.warning = self.warning or clean(why)
  end
  self.pause = nil
  leave(self, request)
  if self.patient and self.done then
    self.deadline:again()
  end
end

-- How long nothing is sent. Half of it is left to chance.
local function rest (self, answer)
  self.pause = math.min(self.pause and self.pause * 2 or FIRST_MS, MOST_MS)
  local ms = self.pause * (0.5 + math.random() / 2)
  ms = math.ceil(math.max(ms, math.min(answer.seconds * 1000, AGE_MS)))
  self.resting = true
  uv.update_time()      -- else it counts from when the loop last looked
  self.timer:start(ms, 0, function ()
    self.resting = false
    send(self)
  end)
end

local function reason (self, answer)
  if answer.status == 0 then
    return ("%s: %s"):format(self.name, answer.message)
  end
  local said = self.target.explain and self.target.explain(answer.body)
  return ("%s: HTTP status %d"):format(self.name, answer.status)
         .. (said and ": " .. said or "")
end

---------------------------------------------------------------------------
-- What is too large
---------------------------------------------------------------------------

-- That a body of this size was. A collector may be told to take more some day.
local function learn (self, size)
  local old = self.large and uv.now() - self.learned > AGE_MS
  if old or not self.large or size < self.large then
    self.large, self.learned = size, uv.now()
  end
end

local function is_large (self, request)
  if self.large and uv.now() - self.learned > AGE_MS then
    self.large = nil
  end
  return self.large and #request.body >= self.large
end

local function enqueue (self, place, body, count, since)
  self.bytes = self.bytes + #body
  self.pending = self.pending + count
  table.insert(self.queue, place, {body = body, count = count, since = since})
end

-- Two in its place, which are next; or none, if it has one thing only. Without
-- an answer it is as large as another that was too large.
local function split (self, request, answer)
  local first, n, second, m
  if request.count > 1 and self.target.halve then
    first, n, second, m = self.target.halve(request.body)
  end
  if not first then
    local why = reason(self, answer or {status = TOO_LARGE, body = ""})
    return drop(self, request, ("%s (%s in %s)"):format(
                  why, units.several(request.count,
                                     self.target.thing or "request"),
                  units.bytes(#request.body)))
  end
  leave(self, request)
  enqueue(self, 1, second, m, request.since)
  enqueue(self, 1, first, n, request.since)
end

---------------------------------------------------------------------------
-- Requests and answers
---------------------------------------------------------------------------

-- An answer that says so means all that is sent there: one timer for all.
local function retry (self, request, answer)
  if uv.now() - request.since > AGE_MS then
    return drop(self, request, reason(self, answer))
  end
  note(self, reason(self, answer))
  table.insert(self.queue, 1, request)
  if not self.resting then
    rest(self, answer)
  end
end

local function answered (self, request, answer)
  self.flying = self.flying - 1
  if answer.status >= 200 and answer.status < 300 then
    accept(self, request, answer)
  elseif answer.status == 0 or again[answer.status] then
    retry(self, request, answer)
  elseif answer.status == TOO_LARGE then
    learn(self, #request.body)
    split(self, request, answer)
  else
    drop(self, request, reason(self, answer))
  end
  send(self)
end

-- Whoever waits for the end is told once.
local function conclude (self)
  local done = self.done
  if done then
    self.done = nil
    self.timer:close()
    self.deadline:close()
    self.client:close()
    done()
  end
end

local function post (self, request)
  self.flying = self.flying + 1
  self.client:post({
    url = self.target.url, headers = self.target.headers,
    body = request.body, ca = self.target.ca, timeout = self.target.timeout
  }, function (answer)
    if not self.over then
      answered(self, request, answer)
    end
  end)
end

function send (self)
  while not self.resting and self.flying < FLIGHT and self.queue[1] do
    local request = table.remove(self.queue, 1)
    if is_large(self, request) then
      split(self, request)
    else
      post(self, request)
    end
  end
  if self.over or self.flying == 0 and not self.queue[1] then
    conclude(self)
  end
end

function Sender:push (body, count)
  if self.over then
    self.dropped = self.dropped + count
    return
  end
  local request = {body = body, count = count, since = uv.now()}
  self.bytes = self.bytes + #body
  self.pending = self.pending + count
  if self.bytes > QUEUE then
    return drop(self, request, self.name .. ": too slow")
  end
  table.insert(self.queue, request)
  send(self)
end

-- What could not even be made a request of.
function Sender:miss (count, problem)
  note(self, problem)
  self.dropped = self.dropped + count
end

-- Whether it takes more without dropping any: for those who can wait.
function Sender:has_room ()
  return self.bytes < QUEUE // 2
end

-- From now on all is dropped that is not sent yet.
function Sender:abandon ()
  self.over = true
  self.dropped = self.dropped + self.pending
  self.pending, self.queue = 0, {}
  note(self, self.name .. ": no answer in time")
end

-- What has no answer by then was not sent, as far as anybody knows.
local function give_up (self)
  self:abandon()
  conclude(self)
end

function Sender:finish (ms, done, patient)
  self.done, self.patient = done, patient
  self.deadline = uv.new_timer()
  self.deadline:start(ms, ms, function () give_up(self) end)
  send(self)
end

-- A collector that has just not answered, or asked for patience, gets no more
-- of it.
function Sender:part (ms, done)
  if self.resting then
    self:abandon()
  end
  self:finish(ms, done)
end

function Sender:told ()
  local thing = self.target.thing
  local text = ("%s: %s sent, %s dropped"):format(
    self.target.title, thing and units.several(self.sent, thing)
                       or units.count(self.sent), units.count(self.dropped))
  if self.dropped > 0 and self.problem then
    text = text .. " (" .. self.problem .. ")"
  elseif self.warning then
    text = text .. " (" .. self.warning .. ")"
  end
  return text
end

function sender.new (target, client)
  return setmetatable({
    target = target,
    name = (target.url:gsub("^(%a+://)[^/@]*@", "%1")),   -- no password
    client = client,
    timer = uv.new_timer(),   -- while nothing is sent
    resting = false,
    pause = nil,              -- ms of the last one, before chance
    large = nil,              -- bytes that were too many, and when
    queue = {},
    bytes = 0,                -- of requests that wait or are on their way...
    pending = 0,              -- ...and how many things are in them
    flying = 0,               -- on their way
    sent = 0,
    dropped = 0,
  }, Sender)
end

return sender
