-- code.lua - Lua evaluated on what was recorded at a moment: conditions of
-- breakpoints, watches, what is typed in the debug console.
--
--   code.names(call, finish, variables)
--                              the names that a frame's code has: its
--                              parameters; its locals, if they are known,
--                              which is what packets have of them; args, the
--                              list of its arguments with n; and of what has
--                              just ended, or ends now: result, results with n,
--                              err
--   code.knows(names, name)    whether that is a name which the frame has, of
--                              nil as well
--   code.check(text)           what is wrong with an expression; nil: nothing
--   code.run(text, names)      true, list of results with n | false, message
--
-- 'call' and 'finish' are packets, or nil. What code can call is Lua's own and
-- computes: it reaches nothing but what was recorded, and has so many
-- instructions. All that it has is its own, made for these names: what it
-- assigns is seen by nobody else.
--
-- Conditions run in the middle of a search, so each is compiled once.

local core = require "tracegrip.core"
local values = require "tracegrip.replay.values"
core.own()

local STEPS = 10000000          -- instructions
local COMPILED = 1000           -- texts that are kept

local code = {}

---------------------------------------------------------------------------
-- Names
---------------------------------------------------------------------------

local function list_of (grips)
  local list = {n = 0}
  local all = grips and (grips.values or {grips.value}) or {}
  for i, grip in ipairs(all) do
    list[i], list.n = values.live(grip, grips.objectPool), i
  end
  return list
end

local offered = {
  math = math, string = string, table = table, utf8 = utf8, ipairs = ipairs,
  pairs = pairs, next = next, rawequal = rawequal, rawget = rawget,
  rawlen = rawlen, select = select, tonumber = tonumber, tostring = tostring,
  type = values.kind
}

-- Of two locals with the same name the later one is meant.
local function add_locals (names, known, variables)
  for _, one in ipairs(variables and variables.values or {}) do
    if type(one.name) == "string" then
      known[one.name] = true
      names[one.name] = values.live(one.value, variables.objectPool)
    end
  end
end

-- A library is a copy for those that ask for it: code may assign to it.
local Names = {}

function Names.__index (names, name)
  local what = offered[name]
  if type(what) == "table" then
    what = {}
    for key, value in pairs(offered[name]) do
      what[key] = value
    end
    names[name] = what
  end
  return what
end

function code.names (call, finish, variables)
  values.anew()
  local names = setmetatable({}, Names)
  local args, known = list_of(call and call.arguments), {}
  local fixed = call and call.parameterNames or {}
  for i, name in ipairs(fixed) do
    if name ~= "..." then
      names[name], known[name] = args[i], true
    end
  end
  add_locals(names, known, variables)
  local from = fixed[#fixed] == "..." and #fixed or #fixed + 1
  names.args, names["..."] = args, {from = from, known = known}
  local done = finish and finish["return"]
  names.results = done and list_of(done) or nil
  names.result = done and names.results[1]
  local thrown = finish and finish.throw
  names.err = thrown and values.live(thrown.value, thrown.objectPool)
  return names
end

local always = {args = true, result = true, results = true, err = true}

function code.knows (names, name)
  return names[name] ~= nil or always[name] or names["..."].known[name] or false
end

---------------------------------------------------------------------------
-- Running
---------------------------------------------------------------------------

-- Its environment is given with each call.
local function compile (text)
  local body = "local _ENV <const> = ...; return function (...) return %s\nend"
  local made, message = load(body:format(text), "=expression", "t", {})
  if not made then
    made, message = load(body:gsub("return %%s", "%%s"):format(text),
                         "=expression", "t", {})
  end
  return made, message and message:gsub("^expression:%d+: ", "")
end

local compiled, count = {}, 0

local function compiled_of (text)
  if not compiled[text] then
    local made, message = compile(text)
    if not made then
      return nil, message
    end
    if count >= COMPILED then
      compiled, count = {}, 0
    end
    compiled[text], count = made, count + 1
  end
  return compiled[text]
end

function code.check (text)
  local made, message = compiled_of(text)
  return not made and message or nil
end

local function too_long ()
  error("this takes too long", 0)
end

local function finished (ok, ...)
  debug.sethook()
  if not ok then
    return false, (tostring((...)):gsub("^expression:%d+: ", ""))
  end
  return true, table.pack(...)
end

-- A hook ends what does not end. What is called has no pcall to go on with.
function code.run (text, names)
  local made, message = compiled_of(text)
  if not made then
    return false, message
  end
  local args, from = names.args, names["..."].from
  debug.sethook(too_long, "", STEPS)
  return finished(pcall(made(names), table.unpack(args, from, args.n)))
end

return code
