-- topkeys.lua - what the keys of tracegrip top do.
--
--   topkeys.press(screen, key, acts)
--
-- 'acts' is what is beyond the screen: leave(), interrupt(), suspend(),
-- finish(signal), refresh(). After each key the screen is to be drawn.

local core = require "tracegrip.core"
core.own()

local topkeys = {}

---------------------------------------------------------------------------
-- Texts that are typed
---------------------------------------------------------------------------

-- The text after a key; nil: the key is none that changes it.
local function edited (text, key)
  if key == "backspace" then
    return text:sub(1, (utf8.offset(text, -1) or 1) - 1)
  elseif key == "\21" then          -- Ctrl-U
    return ""
  elseif #key > 0 and utf8.len(key) == 1 and key:byte() >= 32 then
    return text .. key
  end
end

local typed = {}

-- The cursor goes along; with Esc it is where it was.
function typed.search (screen, key)
  local text = edited(screen.search, key)
  if key == "enter" then
    screen.mode = nil
    screen.word = screen.search ~= "" and not screen:find(1, true)
                  and "nothing has '" .. screen.search .. "'" or nil
  elseif key == "escape" then
    screen.mode, screen.search = nil, ""
    screen.cursor = screen.came_from
  elseif text then
    screen.search, screen.cursor = text, screen.came_from
    screen:find(1, true)
  end
end

function typed.filter (screen, key)
  local view = screen.view
  local text = edited(view.filter, key)
  if key == "enter" or key == "escape" then
    screen.mode = nil
    view.filter = key == "escape" and "" or view.filter
  else
    view.filter = text or view.filter
  end
  view:arrange()
end

typed["end"] = function (screen, key, acts)
  screen.mode = nil
  if key == "y" or key == "9" then
    screen.word = "waiting for the program to end"
    acts.finish(key == "y" and "sigterm" or "sigkill")
  end
end

function typed.help (screen, key)
  local by = {up = -1, down = 1, pageup = -8, pagedown = 8}
  if by[key] then
    screen.page = (screen.page or 0) + by[key]
  else
    screen.mode, screen.page = nil, nil
  end
end

---------------------------------------------------------------------------
-- Keys of the table
---------------------------------------------------------------------------

local keys = {}

keys["up"] = function (screen) screen:move(-1) end
keys["down"] = function (screen) screen:move(1) end
keys["pageup"] = function (screen) screen:page_by(-1) end
keys["pagedown"] = function (screen) screen:page_by(1) end
keys["home"] = function (screen) screen:move(-#screen.view.rows) end
keys["end"] = function (screen) screen:move(#screen.view.rows) end

-- The cursor is on the same row after it, and on the first one if it was
-- there.
local function rearrange (screen)
  local view = screen.view
  local row = screen.cursor > 1 and view.rows[screen.cursor]
  view:arrange()
  for i, one in ipairs(row and view.rows or {}) do
    if one == row then
      screen.cursor = i
    end
  end
end

local function sort_by (order)
  return function (screen)
    for _, one in ipairs(screen.view:orders()) do
      if one == order then
        screen.view.sort, screen.view.reversed = order, false
        return rearrange(screen)
      end
    end
  end
end

keys["s"], keys["t"] = sort_by "self", sort_by "total"
keys["c"], keys["b"] = sort_by "calls", sort_by "bytes"

local function sort_beside (step)
  return function (screen)
    local orders = screen.view:orders()
    for i, one in ipairs(orders) do
      if one == screen.view.sort then
        return sort_by(orders[(i - 1 + step) % #orders + 1])(screen)
      end
    end
  end
end

keys["<"], keys[">"] = sort_beside(-1), sort_beside(1)
keys["left"], keys["right"] = keys["<"], keys[">"]
keys[","], keys["."] = keys["<"], keys[">"]

keys["r"] = function (screen)
  screen.view.reversed = not screen.view.reversed
  rearrange(screen)
end

keys["a"] = function (screen)
  screen.view.whole = not screen.view.whole
  screen.view:work_out()
end

keys["l"] = function (screen, acts)
  local view = screen.view
  if view.calls and not view.memory then
    screen.word = "lines are known of samples, or of memory, not of calls"
  else
    view:show_lines(not view.by_line)
    screen.cursor = 1
    acts.refresh()
  end
end

keys["p"] = function (screen)
  screen.view.paused = not screen.view.paused
end
keys[" "] = keys["p"]

keys["/"] = function (screen)
  screen.mode, screen.search, screen.came_from = "search", "", screen.cursor
end
keys["f3"] = keys["/"]

local function find (step)
  return function (screen)
    if screen.search == "" then
      keys["/"](screen)
    elseif not screen:find(step) then
      screen.word = "nothing has '" .. screen.search .. "'"
    end
  end
end

keys["n"], keys["N"] = find(1), find(-1)

keys["\\"] = function (screen) screen.mode = "filter" end
keys["f4"] = keys["\\"]

keys["escape"] = function (screen)
  screen.search, screen.view.filter = "", ""
  screen.view:arrange()
end

keys["?"] = function (screen) screen.mode = "help" end
keys["h"], keys["f1"] = keys["?"], keys["?"]

keys["k"] = function (screen)
  if screen.ends then
    screen.mode = "end"
  else
    screen.word = "top has not run it, and does not end it"
  end
end
keys["f9"] = keys["k"]

keys["q"] = function (_, acts) acts.leave() end
keys["f10"] = keys["q"]

---------------------------------------------------------------------------
-- All
---------------------------------------------------------------------------

-- No signal is made of these by the terminal (terminal.lua).
local signals = {["\3"] = "interrupt", ["\26"] = "suspend"}

function topkeys.press (screen, key, acts)
  if signals[key] then
    return acts[signals[key]]()
  end
  screen.word = nil
  if screen.mode then
    typed[screen.mode](screen, key, acts)
  elseif keys[key] then
    keys[key](screen, acts)
  end
end

return topkeys
