-- expression.lua - Lua in what front ends send: they take the program for
-- JavaScript, and put some of that around what a person has typed.
--
--   expression.lua(text)         the code, without the comment that names it
--   expression.condition(text)   a breakpoint's condition; of a logpoint, in
--                                whatever form it came,
--                                  /** DEVTOOLS_LOGPOINT */ console.log(...)
--                                with Lua's arguments; nil: there is none
--   expression.logged(text)      of such a condition these arguments; nil: it
--                                is of no logpoint
--
-- Known are Chrome DevTools, and the debugger for JavaScript of VS Code, which
-- other editors use, too. That one parses conditions as JavaScript itself and
-- writes them anew: so they arrive if they are both.

local core = require "tracegrip.core"
core.own()

local find, gsub, match = string.find, string.gsub, string.match
local char, format, sub = string.char, string.format, string.sub

local expression = {}

local LOGPOINT = "/** DEVTOOLS_LOGPOINT */ console.log(%s)"
local LOGGED = "^/%*%* DEVTOOLS_LOGPOINT %*/ console%.log%((.*)%)$"

-- A line of its own in most, which has another one behind it. "$0" is no name
-- of Lua's; where it is meant it comes first (heap.lua, names.special).
function expression.lua (text)
  text = gsub(text, "%s*//# sourceURL=[^\n]*%s*$", "")
  return (gsub(text, "^%s*%$([0-4])%f[^%w_]", "__inspected_%1"))
end

---------------------------------------------------------------------------
-- VS Code
---------------------------------------------------------------------------

local CONDITION = "^%(%(%)=>{try{return (.*);}catch%(e%){console%.error%(.*$"
local LOG = "^console%.log%((.*)%), false$"

-- Around each expression of a logpoint's text.
local BEGIN = "^%(%(%) => {%s*try {%s*return (.*)$"
local END = ";?%s*} catch %(e%) {%s*return e%.stack || e%.message "
            .. "|| String%(e%);%s*}%s*}%)%(%)"

-- JSON's text of a string as Lua's.
local function lua_string (text)
  return (gsub(text, "\\(.)(%x?%x?%x?%x?)", function (kind, digits)
    if kind == "u" then
      return format("\\u{%s}", digits)
    elseif kind == "/" then
      return "/" .. digits
    end
    return "\\" .. kind .. digits
  end))
end

-- The string at the beginning, and what is behind it; nil: there is none.
local function first_string (text)
  local at = 2
  while find(text, "^\"") do
    local stop = find(text, "[\"\\]", at)
    if not stop then
      return nil
    elseif sub(text, stop, stop) == char(34) then
      return lua_string(sub(text, 1, stop)), sub(text, stop + 1)
    end
    at = stop + 2
  end
end

-- The arguments of console.log; nil: not of that form.
local function log_arguments (text)
  local list, rest = first_string(text)
  while list and rest ~= "" do
    local wrapped = match(rest, "^, (.*)$")
    local inner = wrapped and match(wrapped, BEGIN)
    local from, to = find(inner or "", END)
    if not from then
      return nil
    end
    list = list .. ", " .. sub(inner, 1, from - 1)
    rest = sub(inner, to + 1)
  end
  return list
end

---------------------------------------------------------------------------
-- Both
---------------------------------------------------------------------------

function expression.condition (text)
  text = expression.lua(text)
  local arguments = match(text, LOG)
  arguments = arguments and log_arguments(arguments)
  if arguments then
    return format(LOGPOINT, arguments)
  end
  text = match(text, CONDITION) or text
  return text ~= "" and text or nil
end

function expression.logged (text)
  return match(text, LOGGED)
end

return expression
