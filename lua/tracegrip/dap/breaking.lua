-- breaking.lua - where the program is to stop, as the client has said it: kept
-- here, so that it can be said again to a program that is started anew.
--
--   breaking.new(places, main, changed, active)
--                                      main: the path of the file that is run,
--                                      if that is known; changed(breakpoint):
--                                      one is at another place now; active(id):
--                                      the lines of a script that have code
--                                      (mapping.lua)
--   self:lines(program, source, list)  a file's breakpoints from now on; a list
--                                      of Breakpoints as the protocol has them
--   self:functions(program, list)      the same of those of functions
--   self:data(program, list)           the same of those of data: places of
--                                      this program, which no other has
--   self:exceptions(program, errors)   at which errors, as asked.lua has them
--   self:resolved(id, line, script)    the program tells where one is
--   self:over(id, message)             it tells that one of data is no more
--   self:hits(ids)                     numbers of those that the program has
--                                      come to, and the word of the protocol
--                                      for these
--   self:stops(text, uncaught)         whether it is to stand still at an error
--                                      with this text
--   self:met(program, id)              a script has a source map: what was
--                                      asked for in its sources is set there
--   self:again(program)                all of it to another program
--
-- A breakpoint that the program refuses is not verified, and says why. What
-- takes several requests to say is said by one after the other: of two lists
-- for one file the last one is in force.

local asked = require "tracegrip.dap.asked"
local core = require "tracegrip.core"
local lines = require "tracegrip.inspect.lines"
local logmessage = require "tracegrip.dap.logmessage"
local places = require "tracegrip.dap.places"
local possible = require "tracegrip.dap.possible"
local task = require "tracegrip.dap.task"
core.own()

local breaking = {}

-- How many times as long a program of nothing but short lines runs, by what is
-- watched (docs/editors.md).
local prices = {field = 10, upvalue = 25, ["local"] = 25}

local Breaking = {__name = "tracegrip.dap.breaking"}
Breaking.__index = Breaking

local PENDING = "not loaded yet"
local SLOWER = "while this is watched, the program runs up to %d times as long"
local OTHER_PROGRAM = "the program was started anew: choose the variable again"
local NO_CODE = "there is no code at this line or after it"

function breaking.new (known, main, changed, active)
  return setmetatable({
    places = known, main = main, changed = changed, active = active,
    sources = {},         -- key of a source -> {source =, list =, set = {...}}
    named = {list = {}, set = {}},
    watched = {},         -- those of data that are set
    by_id = {},           -- the program's id -> breakpoint that is set
    filters = {},
    numbers = setmetatable({}, {__mode = "k"}),   -- as given -> its number
    last = 0,             -- of these
    turn = task.turns(),
  }, Breaking)
end

---------------------------------------------------------------------------
-- One breakpoint
---------------------------------------------------------------------------

-- As the protocol has it.
local function told (one)
  local verified = one.line ~= nil or one.given.dataId ~= nil and one.id ~= nil
  return {id = one.number, verified = verified, line = one.line,
          source = one.source, message = one.message,
          reason = not verified and one.reason or nil}
end

local function conditions (given)
  return given.condition ~= "" and given.condition or nil,
         given.hitCondition ~= "" and given.hitCondition or nil,
         given.logMessage ~= "" and given.logMessage
         and logmessage.expressions(given.logMessage) or nil
end

-- Where the program has it, as the client is told: in the file that the Lua was
-- made of, unless it was asked for in the Lua.
local function stand (self, one, script, line)
  local source, at = self.places:position(script, line)
  if one.source and not one.in_original then
    source, at = one.source, line
  end
  one.source, one.line = one.source or source, self.places:line(at)
end

-- Asks the program for it: one.id is that of the program then.
local function set (self, program, one, method, params)
  one.number = self.numbers[one.given] or self.last + 1
  self.numbers[one.given], self.last = one.number, math.max(self.last,
                                                            one.number)
  params.condition, params.hitCondition, params.logExpressions =
    conditions(one.given)
  local result, message = program:try(method, params)
  if not result then
    one.message, one.reason = message, "failed"
    return one
  end
  one.id = result.breakpointId
  self.by_id[one.id] = one
  if one.given.dataId then
    one.message = string.format(SLOWER, prices[result.kind])
    return one
  end
  local place = (result.locations or {result.actualLocation})[1]
  if place then
    stand(self, one, place.scriptId, place.lineNumber)
  else
    one.message, one.reason = PENDING, "pending"
  end
  return one
end

local function remove (self, program, list)
  for _, one in ipairs(list) do
    if one.id then
      self.by_id[one.id] = nil
      program:try("Debugger.removeBreakpoint", {breakpointId = one.id})
    end
  end
end

-- More than one address: whichever the program has.
local function pattern_of (urls)
  local list = {}
  for i, url in ipairs(urls) do
    list[i] = string.gsub(url, "[%^$()%%.%[%]*+?{}|\\-]", "\\%0")
  end
  return "^(?:" .. table.concat(list, "|") .. ")$"
end

-- The file that the program begins with will be loaded as it is: where it has
-- code is known before.
local function foresee (self, one, source, line)
  local found
  local is_main = self.main and (source.path == self.main
                                 or source.path == places.twin(self.main))
  if is_main then
    local functions = possible.functions(self.main)
    if not functions then
      return                    -- it will say so itself
    end
    found = lines.first(functions, line + 1)
  end
  if found then
    one.line, one.message = self.places:line(found - 1), nil
  elseif is_main or self.places:knows(source) then
    one.message, one.reason = NO_CODE, "failed"
  end
end

-- In a file that scripts were made of: in the first of them that has Lua of
-- that line or of one behind it, by whichever name it is loaded.
local function set_original (self, program, one, keys)
  local line = self.places:ours(one.given.line) + 1
  one.in_original = true
  for _, id in ipairs(keys) do
    local made = self.places.originals:stand(one.source, id, self.active(id),
                                             line)
    local url = self.places.scripts[id].url
    if made and url ~= "" then
      return set(self, program, one, "Debugger.setBreakpointByUrl",
                 {url = url, lineNumber = made - 1})
    elseif made then
      return set(self, program, one, "Debugger.setBreakpoint", {
        location = {scriptId = id, lineNumber = made - 1}
      })
    end
  end
  one.message, one.reason = NO_CODE, "failed"
  return one
end

local function set_line (self, program, source, given)
  local one = {given = given, source = source}
  local line = self.places:ours(given.line)
  local number = source.sourceReference
  local keys = self.places.originals:keys(source)
  if keys then
    return set_original(self, program, one, keys)
  elseif number and number > 0 then
    one = set(self, program, one, "Debugger.setBreakpoint", {
      location = {scriptId = string.format("%d", number), lineNumber = line}
    })
  elseif not source.path then
    one.message, one.reason = "this source is not known", "failed"
  else
    local urls = self.places:urls(source.path)
    one = set(self, program, one, "Debugger.setBreakpointByUrl", {
      lineNumber = line, url = not urls[2] and urls[1] or nil,
      urlRegex = urls[2] and pattern_of(urls)
    })
  end
  if one.reason == "pending" then
    foresee(self, one, source, line)
  end
  return one
end

---------------------------------------------------------------------------
-- What the client says
---------------------------------------------------------------------------

local function answer (list)
  local all = {}
  for i, one in ipairs(list) do
    all[i] = told(one)
  end
  return all
end

local function set_lines (self, program, entry)
  entry.set = {}
  for i, given in ipairs(entry.list) do
    entry.set[i] = set_line(self, program, entry.source, given)
  end
end

function Breaking:lines (program, source, list)
  local _ <close> = self.turn()
  local key = asked.key(source)
  local entry = self.sources[key]
  if entry then
    remove(self, program, entry.set)
  end
  entry = {source = source, list = list}
  self.sources[key] = entry
  set_lines(self, program, entry)
  return answer(entry.set)
end

local function set_functions (self, program)
  self.named.set = {}
  for i, given in ipairs(self.named.list) do
    self.named.set[i] = set(self, program, {given = given},
                            "Lua.setBreakpointByName", {name = given.name})
  end
end

function Breaking:functions (program, list)
  local _ <close> = self.turn()
  remove(self, program, self.named.set)
  self.named.list = list
  set_functions(self, program)
  return answer(self.named.set)
end

-- The same again stays as it is: a variable that is watched may have no other
-- way to it by now.
local function watched_before (list, given)
  for i, one in ipairs(list) do
    if one.id and one.given.dataId == given.dataId
       and one.given.condition == given.condition
       and one.given.hitCondition == given.hitCondition then
      return table.remove(list, i)
    end
  end
end

function Breaking:data (program, list)
  local _ <close> = self.turn()
  local before, all = self.watched, {}
  for i, given in ipairs(list) do
    all[i] = watched_before(before, given)
             or set(self, program, {given = given}, "Lua.setDataBreakpoint",
                    {place = given.dataId})
  end
  self.watched = all
  remove(self, program, before)
  return answer(all)
end

---------------------------------------------------------------------------
-- Errors
---------------------------------------------------------------------------

breaking.filters = {
  {filter = "caught", label = "Caught errors", default = false,
   description = "Errors that a pcall or a coroutine's resumer will catch.",
   supportsCondition = true,
   conditionDescription = "A Lua pattern that the error's text has to have"},
  {filter = "uncaught", label = "Uncaught errors", default = true,
   description = "Errors that will end the program.", supportsCondition = true,
   conditionDescription = "A Lua pattern that the error's text has to have"},
}

local function apply_filters (self, program)
  local state = self.filters.caught and self.filters.uncaught and "all"
                or self.filters.caught and "caught"
                or self.filters.uncaught and "uncaught" or "none"
  program:ask("Debugger.setPauseOnExceptions", {state = state})
end

function Breaking:exceptions (program, errors)
  self.filters = errors
  apply_filters(self, program)
end

-- Whether the program is to stand still at an error.
function Breaking:stops (text, uncaught)
  return asked.meets(self.filters, text, uncaught)
end

---------------------------------------------------------------------------
-- What the program says
---------------------------------------------------------------------------

function Breaking:resolved (id, line, script)
  local one = self.by_id[id]
  if not one then
    return
  end
  local before = one.line
  stand(self, one, script, line)
  if one.line ~= before then
    one.message = nil
    self.changed(told(one))
  end
end

-- It is not verified any more, and says why.
local function fail (self, one, message)
  one.id, one.message, one.reason = nil, message, "failed"
  self.changed(told(one))
end

function Breaking:over (id, message)
  local one = self.by_id[id]
  if one then
    self.by_id[id] = nil
    fail(self, one, message)
  end
end

local function word_of (one)
  return one.given.dataId and "data breakpoint"
         or one.given.name and "function breakpoint" or "breakpoint"
end

function Breaking:hits (ids)
  local numbers, word = {}, "breakpoint"
  for _, id in ipairs(ids) do
    local one = self.by_id[id]
    if one then
      numbers[#numbers + 1] = one.number
      word = word == "breakpoint" and word_of(one) or word
    end
  end
  return numbers, word
end

local function tell_all (self, list)
  for _, one in ipairs(list) do
    self.changed(told(one))
  end
end

function Breaking:met (program, id)
  local _ <close> = self.turn()
  for _, entry in pairs(self.sources) do
    for _, key in ipairs(self.places.originals:keys(entry.source) or {}) do
      if key == id then
        remove(self, program, entry.set)
        set_lines(self, program, entry)
        tell_all(self, entry.set)
      end
    end
  end
end

function Breaking:again (program)
  local _ <close> = self.turn()
  self.by_id = {}
  for _, entry in pairs(self.sources) do
    set_lines(self, program, entry)
    tell_all(self, entry.set)
  end
  set_functions(self, program)
  tell_all(self, self.named.set)
  for _, one in ipairs(self.watched) do
    fail(self, one, OTHER_PROGRAM)
  end
  self.watched = {}
  apply_filters(self, program)
end

return breaking
