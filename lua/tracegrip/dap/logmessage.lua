-- logmessage.lua - the text of a logpoint: "x is {x}" as expressions of Lua.
--
--   logmessage.expressions(text)   '"…", "x is ", x' for a breakpoint's
--                                  logExpressions
--   logmessage.parts(args)         arguments of the program's console: those of
--                                  such a message, without its mark; nil: they
--                                  are of another
--
-- Braces in an expression are balanced: "{ {1, 2} }" is a table. A brace that
-- closes nothing, or is never closed, is text.

local core = require "tracegrip.core"
core.own()

local MARK = "tracegrip logpoint"

local logmessage = {}

function logmessage.expressions (text)
  local list, at = {string.format("%q", MARK)}, 1
  local function add_text (piece)
    if piece ~= "" then
      list[#list + 1] = string.gsub(string.format("%q", piece), "\n", "n")
    end
  end
  while true do
    local from, to = string.find(text, "%b{}", at)
    local inner = from and string.match(string.sub(text, from + 1, to - 1),
                                        "^%s*(.-)%s*$")
    if not from then
      add_text(string.sub(text, at))
      return table.concat(list, ", ")
    elseif inner == "" then
      add_text(string.sub(text, at, to))
    else
      add_text(string.sub(text, at, from - 1))
      list[#list + 1] = "(" .. inner .. ")"
    end
    at = to + 1
  end
end

function logmessage.parts (args)
  if args[1] and args[1].value == MARK then
    return table.move(args, 2, #args, 1, {})
  end
end

return logmessage
