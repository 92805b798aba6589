-- asked.lua - where to stop, as a client says it: the same for a program and
-- for a recording.
--
--   asked.breakpoints(arguments)  of setBreakpoints: a list of its breakpoints,
--                                 also of a client that gives lines alone
--   asked.key(source)             what a Source is known by
--   asked.errors(filters, options)
--                                 filter -> true, or the pattern that the text
--                                 of an error has to have; raises a problem
--   asked.meets(errors, text, uncaught)
--                                 whether an error with this text is one

local core = require "tracegrip.core"
local problem = require "tracegrip.dap.problem"
core.own()

local asked = {}

function asked.breakpoints (arguments)
  local list = arguments.breakpoints
  if not list then
    list = {}
    for i, line in ipairs(arguments.lines or {}) do
      list[i] = {line = line}
    end
  end
  return list
end

function asked.key (source)
  local number = source.sourceReference
  return number and number > 0 and "#" .. number or source.path or ""
end

-- The pattern of a condition; true: none.
local function pattern (text)
  if text == nil or text == "" then
    return true
  end
  local ok, message = pcall(string.find, "", text)
  if not ok then
    problem.raise("'%s' is no Lua pattern: %s", text, message)
  end
  return text
end

function asked.errors (filters, options)
  local chosen = {}
  for _, name in ipairs(filters) do
    chosen[name] = true
  end
  for _, one in ipairs(options or {}) do
    chosen[one.filterId] = pattern(one.condition)
  end
  return chosen
end

function asked.meets (errors, text, uncaught)
  local filter = errors[uncaught and "uncaught" or "caught"]
  return filter == true
         or type(filter) == "string" and string.find(text, filter) ~= nil
end

return asked
