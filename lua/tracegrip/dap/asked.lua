-- asked.lua - where to stop, as a client says it: the same for a program and
-- for a recording.
--
--   asked.breakpoints(arguments)  of setBreakpoints: a list of its breakpoints,
--                                 also of a client that gives lines alone
--   asked.functions(arguments)    of setFunctionBreakpoints: the same
--   asked.data(list)              of setDataBreakpoints: its breakpoints
--   asked.source(arguments)       its Source, and that of breakpointLocations
--   asked.range(arguments)        of breakpointLocations: its first line and
--                                 its last
--   asked.key(source)             what a Source is known by
--   asked.errors(arguments)       of setExceptionBreakpoints: filter -> true,
--                                 or the pattern that the text of an error has
--                                 to have
--   asked.meets(errors, text, uncaught)
--                                 whether an error with this text is one
--
-- Failure: what is not as the protocol has it is a problem.

local core = require "tracegrip.core"
local problem = require "tracegrip.dap.problem"
local wire = require "tracegrip.wire"
core.own()

local asked = {}

---------------------------------------------------------------------------
-- Kinds
---------------------------------------------------------------------------

local is = {}

function is.integer (value) return math.type(value) == "integer" end
function is.string (value) return type(value) == "string" end

local articles = {integer = "an integer", string = "a string"}

-- The fields of an object that are of these kinds; "?" follows a kind that may
-- be absent. null is as good as absent.
local function fields (object, kinds, where)
  if type(object) ~= "table" then
    problem.raise("%s has to be an object", where)
  end
  local taken = {}
  for name, kind in pairs(kinds) do
    local word, optional = string.match(kind, "^(%w+)(%??)$")
    local value = object[name]
    if value == wire.null then
      value = nil
    end
    if not (value == nil and optional == "?") and not is[word](value) then
      problem.raise("%s: '%s' has to be %s", where, name, articles[word])
    end
    taken[name] = value
  end
  return taken
end

local function all_fields (list, kinds, command, what)
  local all = {}
  for i, one in ipairs(list) do
    all[i] = fields(one, kinds, string.format("%s: number %d of '%s'", command,
                                              i, what))
  end
  return all
end

---------------------------------------------------------------------------
-- Breakpoints
---------------------------------------------------------------------------

local SOURCE = {path = "string?", sourceReference = "integer?"}
local LINE = {line = "integer", condition = "string?",
              hitCondition = "string?", logMessage = "string?"}
local DATA = {dataId = "string", accessType = "string?", condition = "string?",
              hitCondition = "string?"}
local FUNCTION = {name = "string", condition = "string?",
                  hitCondition = "string?"}

-- With all that it has: it is told to the client again.
function asked.source (arguments)
  local source = {}
  for name, value in pairs(arguments.source) do
    source[name] = value ~= wire.null and value or nil
  end
  fields(source, SOURCE, "'source'")
  return source
end

-- Columns say nothing: a line of Lua is one place.
function asked.range (arguments)
  return arguments.line, arguments.endLine or arguments.line
end

function asked.breakpoints (arguments)
  local list = arguments.breakpoints
  if not list then
    list = {}
    for i, line in ipairs(arguments.lines or {}) do
      list[i] = {line = line}
    end
  end
  return all_fields(list, LINE, "setBreakpoints", "breakpoints")
end

function asked.functions (arguments)
  return all_fields(arguments.breakpoints, FUNCTION, "setFunctionBreakpoints",
                    "breakpoints")
end

function asked.data (list)
  return all_fields(list, DATA, "setDataBreakpoints", "breakpoints")
end

function asked.key (source)
  local number = source.sourceReference
  return number and number > 0 and "#" .. number or source.path or ""
end

---------------------------------------------------------------------------
-- Errors
---------------------------------------------------------------------------

local FILTER = {filterId = "string", condition = "string?"}

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

function asked.errors (arguments)
  local chosen = {}
  for i, name in ipairs(arguments.filters) do
    if type(name) ~= "string" then
      problem.raise("setExceptionBreakpoints: number %d of 'filters' has to be "
                    .. "a string", i)
    end
    chosen[name] = true
  end
  for _, one in ipairs(all_fields(arguments.filterOptions or {}, FILTER,
                                  "setExceptionBreakpoints",
                                  "filterOptions")) do
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
