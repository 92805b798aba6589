-- picture.lua - a heap snapshot of a tab's program, taken by a child of the
-- process while the program goes on (csrc/peek/programheap.h).
--
--   local picture = picture.take(tab, {
--     path = "a.heapsnapshot",         nil: the bytes come here
--     result = function (result) end,  once: objects, bytes, state_bytes,
--                                      garbage, distant, made, stopped_ms,
--                                      tries
--     bytes = function (bytes) end,    the snapshot, in pieces, after that
--     done = function (ok, message, code) end    once, at the end
--   })
--   picture:pause(), picture:go_on()   no more bytes are read; they are again
--   picture:close()                    it is not wanted any more; nothing is
--                                      called
--
-- The child is made at any moment, since nothing is asked of the program. If
-- the program was in the middle of an allocation, the sum of all objects is not
-- what the state says: then it is taken again a little later, and if it never
-- agrees, the last one counts, whose two sums tell.
--
-- Failure: done(nil, message, code); of what is raised, also a line on standard
-- error.

local core = require "tracegrip.core"
local uv = require "luv"
core.own()

local TRIES = 12
local PAUSE_MS = 2              -- between two

local picture = {}

local Picture = {__name = "tracegrip.server.picture"}
Picture.__index = Picture

local begin                     -- function, defined below

local function let_go (self)
  if self.pipe then
    self.pipe:close()
    self.pipe = nil
  end
  if self.child then
    self.child:drop()
    self.child = nil
  end
end

local function finish (self, ...)
  local done = self.done
  self.done = function () end
  self:close()
  done(...)
end

-- For the loop, which does not survive errors: one is the snapshot's end.
local function safely (self, f)
  return function (...)
    local ok, err = pcall(f, self, ...)
    if not ok then
      io.stderr:write("tracegrip: server: ", tostring(err), "\n")
      ok, err = pcall(finish, self, nil, tostring(err), "failed")
    end
    if not ok then
      io.stderr:write("tracegrip: server: ", tostring(err), "\n")
    end
  end
end

-- Its child was in the middle of something, or has met memory that went away.
local function try_again (self)
  let_go(self)
  if self.tries > TRIES then
    return finish(self, nil, "the process that wrote the snapshot has ended",
                  "failed")
  end
  self.timer:start(PAUSE_MS, 0, safely(self, begin))
end

-- What the child says comes first, in one write.
local function hear (self, bytes)
  self.head = self.head .. bytes
  local result, size, code = self.child:said(self.head)
  if result then
    result.tries = self.tries
    self.told, bytes = true, self.head:sub(size + 1)
    self.on.result(result)
    return bytes
  elseif code == "again" then
    try_again(self)
  elseif code then
    finish(self, nil, self.path and self.path .. ": " .. size or size, code)
  end
end

local function take_bytes (self, bytes)
  bytes = self.told and bytes or hear(self, bytes)
  if bytes and bytes ~= "" and self.pipe then
    self.on.bytes(bytes)
  end
end

local function on_end (self)
  if not self.told then
    return try_again(self)
  end
  local ok = self.child:await()
  finish(self, ok or nil, not ok and "the snapshot could not be written to its "
                          .. "end" or nil, not ok and "failed" or nil)
end

local function on_read (self, err, bytes)
  if bytes and not err then
    take_bytes(self, bytes)
  else
    on_end(self)
  end
end

function begin (self)
  self.tries, self.head = self.tries + 1, ""
  local child, message, code
  if self.tab.gone then
    message, code = "the program's state is closed", "gone"
  else
    child, message, code = core.picture(self.tab.channel, self.path,
                                        self.tries < TRIES)
  end
  if not child then
    return finish(self, nil, message, code)
  end
  self.child, self.pipe = child, uv.new_pipe(false)
  self.pipe:open(child:release())
  self:go_on()
end

function Picture:pause ()
  if self.pipe then
    self.pipe:read_stop()
  end
end

function Picture:go_on ()
  if self.pipe then
    self.pipe:read_start(safely(self, on_read))
  end
end

function Picture:close ()
  let_go(self)
  if not self.timer:is_closing() then
    self.timer:close()
  end
end

function picture.take (tab, on)
  local self = setmetatable({
    tab = tab,
    on = on,
    done = on.done,             -- until it has been called
    path = on.path,
    timer = uv.new_timer(),
    child = nil,                -- that writes it
    pipe = nil,                 -- what it says
    head = "",                  -- of that, until all of it is there
    told = false,               -- and then what it says is told
    tries = 0,
  }, Picture)
  self.timer:start(0, 0, safely(self, begin))
  return self
end

return picture
