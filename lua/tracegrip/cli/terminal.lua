-- terminal.lua - a screen that a command draws on again and again, and the keys
-- that are pressed meanwhile.
--
-- What stood on the terminal is there again when it is closed, however the
-- command ends, and while the command is stopped (Ctrl-Z). Nothing is known
-- here of what is drawn.

local core = require "tracegrip.core"
local keyboard = require "tracegrip.cli.keyboard"
core.own()

local terminal = {}

-- Control sequences of xterm, which all terminals of today know: the other
-- screen and back, the cursor, the end of a line and of the screen; what is
-- between the last two is shown at once.
local ENTER, LEAVE = "\27[?1049h\27[?25l", "\27[?25h\27[?1049l"
local HOME, LINE_END, REST = "\27[H", "\27[K", "\27[J"
local HOLD, SHOW = "\27[?2026h", "\27[?2026l"

local NORMAL, RAW = 0, 1    -- of uv.tty_set_mode; raw: keys as they are pressed
local ESCAPE_MS = 50        -- a lone escape is no beginning of a sequence then

local Terminal = {}
Terminal.__index = Terminal

-- Whether there is a screen: standard output is a terminal that knows the
-- sequences above.
function terminal.there ()
  return core.isatty(1) and os.getenv "TERM" ~= "dumb"
end

-- Whether colours are wanted (no-color.org).
function terminal.colors ()
  local no = os.getenv "NO_COLOR"
  return no == nil or no == ""
end

---------------------------------------------------------------------------
-- Keys
---------------------------------------------------------------------------

local function give_keys (self, all)
  local keys
  keys, self.rest = keyboard.read(self.rest, all)
  for _, key in ipairs(keys) do
    if not self.closed then
      self.on.key(key)
    end
  end
end

local function read_keys (self, bytes)
  self.rest = self.rest .. (bytes or "")
  self.patience:stop()
  give_keys(self, false)
  if self.rest ~= "" and not self.closed then
    self.patience:start(ESCAPE_MS, 0, function () give_keys(self, true) end)
  end
end

local function open_keyboard (self)
  self.rest = ""
  self.patience = self:keep(self.uv.new_timer())
  self.keyboard = self:keep(self.uv.new_tty(0, true))
  self.uv.tty_set_mode(self.keyboard, RAW)
  self.keyboard:read_start(function (_, bytes) read_keys(self, bytes) end)
end

---------------------------------------------------------------------------
-- Stopped, and continued
---------------------------------------------------------------------------

local function leave (self)
  io.stdout:write(LEAVE):flush()
  if self.keyboard then
    self.uv.tty_set_mode(self.keyboard, NORMAL)
  end
end

local function enter (self)
  if self.keyboard then
    self.uv.tty_set_mode(self.keyboard, RAW)
  end
  io.stdout:write(ENTER):flush()
end

-- The terminal as it was before, until the process goes on. The whole job stops
-- as it would if the terminal had made the signal: a script that runs us, too.
-- The signal is not ours meanwhile; where no shell would continue us the system
-- drops it.
function Terminal:suspend ()
  self.stops:stop()
  leave(self)
  self.uv.kill(0, "sigtstp")
  enter(self)
  self:heed_stops()
  self.on.size()
end

function Terminal:heed_stops ()
  self.stops:start("sigtstp", function () self:suspend() end)
end

---------------------------------------------------------------------------
-- Life
---------------------------------------------------------------------------

function Terminal:keep (handle)
  table.insert(self.handles, handle)
  return handle
end

function Terminal:on_signal (name, act)
  local handle = self:keep(self.uv.new_signal())
  handle:start(name, act)
end

-- 'on.key' is called with each key (keyboard.lua), 'on.size' when all has to be
-- drawn anew. There is no key ever without a keyboard (standard input is
-- something else).
function terminal.open (uv, on)
  local self = setmetatable({uv = uv, on = on, handles = {}}, Terminal)
  self.screen = self:keep(uv.new_tty(1, false))
  if core.isatty(0) then
    open_keyboard(self)
  end
  self:on_signal("sigwinch", on.size)
  self:on_signal("sigcont", on.size)
  self.stops = self:keep(uv.new_signal())
  self:heed_stops()
  io.stdout:write(ENTER):flush()
  return self
end

-- Columns, lines.
function Terminal:size ()
  local width, height = self.screen:get_winsize()
  width, height = width or 80, height or 24
  return math.max(width > 0 and width or 80, 20),
         math.max(height > 0 and height or 24, 5)
end

-- These are the lines; more than there is room for are not shown.
function Terminal:draw (lines)
  local _, height = self:size()
  local shown = {}
  for i = 1, math.min(#lines, height) do
    shown[i] = lines[i] .. LINE_END
  end
  io.stdout:write(HOLD, HOME, table.concat(shown, "\r\n"), REST, SHOW):flush()
end

-- More than once does no harm.
function Terminal:close ()
  if self.closed then
    return
  end
  self.closed = true
  leave(self)
  self.uv.tty_reset_mode()
  for _, handle in ipairs(self.handles) do
    handle:close()
  end
end

Terminal.__close = Terminal.close

return terminal
