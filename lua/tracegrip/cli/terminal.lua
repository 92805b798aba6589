-- terminal.lua - a screen that a command draws on again and again, and the keys
-- that are pressed meanwhile.
--
-- What stood on the terminal is there again when it is closed, however the
-- command ends. Nothing is known here of what is drawn.

local core = require "tracegrip.core"
core.own()

local terminal = {}

-- Control sequences of xterm, which all terminals of today know: the other
-- screen and back, the cursor, the end of a line and of the screen; what is
-- between the last two is shown at once.
local ENTER, LEAVE = "\27[?1049h\27[?25l", "\27[?25h\27[?1049l"
local HOME, LINE_END, REST = "\27[H", "\27[K", "\27[J"
local HOLD, SHOW = "\27[?2026h", "\27[?2026l"

local RAW = 1           -- of uv.tty_set_mode: keys come as they are pressed

local Terminal = {}
Terminal.__index = Terminal

-- Whether there is a screen: standard output is a terminal.
function terminal.there ()
  return core.isatty(1)
end

-- 'on_key' is called with each key, 'on_size' when the size has changed. There
-- is no key ever without a keyboard (standard input is something else).
function terminal.open (uv, on_key, on_size)
  local self = setmetatable({uv = uv, handles = {}}, Terminal)
  self.screen = uv.new_tty(1, false)
  table.insert(self.handles, self.screen)
  if core.isatty(0) then
    local keyboard = uv.new_tty(0, true)
    table.insert(self.handles, keyboard)
    uv.tty_set_mode(keyboard, RAW)
    keyboard:read_start(function (_, bytes)
      for key in (bytes or ""):gmatch "[%g%c ]" do
        on_key(key)
      end
    end)
  end
  local resized = uv.new_signal()
  table.insert(self.handles, resized)
  resized:start("sigwinch", on_size)
  io.stdout:write(ENTER):flush()
  return self
end

-- Columns, lines.
function Terminal:size ()
  local width, height = self.screen:get_winsize()
  return math.max(width or 80, 20), math.max(height or 24, 5)
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
  io.stdout:write(LEAVE):flush()
  self.uv.tty_reset_mode()
  for _, handle in ipairs(self.handles) do
    handle:close()
  end
end

Terminal.__close = Terminal.close

return terminal
