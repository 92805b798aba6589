-- Every message that a session gets is as the protocol's published schema has
-- it (npm's devtools-protocol, pinned in spec/importers).

local dkjson = require "dkjson"

local debugger = require "spec.support.debugger"
local run = require "spec.support.run"

local path = run.build .. "/importers/node_modules/devtools-protocol/json/"
             .. "js_protocol.json"

local domains = {}

local function load_schema ()
  for _, domain in ipairs(dkjson.decode(run.read(path)).domains) do
    local one = {types = {}, commands = {}, events = {}}
    for _, kind in ipairs(domain.types or {}) do
      one.types[kind.id] = kind
    end
    for _, command in ipairs(domain.commands or {}) do
      one.commands[command.name] = command
    end
    for _, event in ipairs(domain.events or {}) do
      one.events[event.name] = event
    end
    domains[domain.domain] = one
  end
end

local function is_list (value)
  local meta = type(value) == "table" and getmetatable(value)
  return meta and meta.__jsontype == "array"
end

local check

local function check_object (properties, value, domain, at)
  assert(type(value) == "table" and not is_list(value), at .. ": no object")
  local known = {}
  for _, property in ipairs(properties or {}) do
    known[property.name] = true
    local here = at .. "." .. property.name
    if value[property.name] == nil then
      assert(property.optional, here .. " is missing")
    else
      check(property, value[property.name], domain, here)
    end
  end
  for name in pairs(value) do
    assert(known[name] or not properties, at .. "." .. name .. " is unknown")
  end
end

local scalars = {
  string = function (v) return type(v) == "string" end,
  boolean = function (v) return type(v) == "boolean" end,
  number = function (v) return type(v) == "number" end,
  integer = function (v) return math.type(v) == "integer" end,
  any = function () return true end
}

local function check_enum (kind, value, at)
  for _, one in ipairs(kind.enum) do
    if one == value then
      return
    end
  end
  error(at .. ": not one of its values: " .. tostring(value))
end

function check (kind, value, domain, at)
  if kind["$ref"] then
    local other, name = kind["$ref"]:match "^(.-)%.?([^.]+)$"
    other = other ~= "" and other or domain
    return check(domains[other].types[name], value, other, at)
  elseif kind.type == "object" then
    return check_object(kind.properties, value, domain, at)
  elseif kind.type == "array" then
    assert(is_list(value), at .. ": no list")
    for i, item in ipairs(value) do
      check(kind.items, item, domain, ("%s[%d]"):format(at, i))
    end
    return
  end
  assert(scalars[kind.type](value), ("%s: no %s"):format(at, kind.type))
  if kind.enum then
    check_enum(kind, value, at)
  end
end

-- How many messages were compared.
local function check_all (front)
  local count = 0
  for _, message in ipairs(front.messages) do
    local method = message.method or front.asked[message.id]
    local domain, name = method:match "^(.*)%.(.*)$"
    if message.method then
      check_object(domains[domain].events[name].parameters or {},
                   message.params, domain, method)
      count = count + 1
    elseif message.result then
      check_object(domains[domain].commands[name].returns or {},
                   message.result, domain, method)
      count = count + 1
    end
  end
  return count
end

local program = [[
local Class = setmetatable({}, {__name = "Class"})
Class.__index = Class
function Class:method (a, ...)
  local t = {1, 2, "x", [1.5] = true, f = print, co = coroutine.create(print)}
  local n, big, nan, bytes = nil, math.maxinteger, 0/0, "\xff"
  return t, n, big, nan, bytes, self, a, ...
end
local o = setmetatable({}, Class)
local co = coroutine.wrap(function () o:method(io.stdout, 2) end)
co()
]]

local it = run.read(path) and debugger.needed(it, pending) or function (name)
  pending(name .. ": no devtools-protocol here (make importers)")
end

describe("a session's messages", function ()
  it("are all valid by the schema", function ()
    load_schema()
    debugger.debug(program, function (front, paused)
      local script = paused.callFrames[1].location.scriptId
      front:ask("Debugger.setAsyncCallStackDepth", {maxDepth = 32})
      front:ask("Debugger.setBlackboxPatterns", {patterns = {"^node:"}})
      front:ask("Debugger.setSkipAllPauses", {skip = false})
      front:ask("Debugger.setBreakpointsActive", {active = true})
      front:stop_at(3, "/** DEVTOOLS_LOGPOINT */ console.log(self, {1})")
      front:stop_at(6)
      paused = front:go "resume"
      local frame = paused.callFrames[1]
      for _, scope in ipairs(frame.scopeChain) do
        for _, preview in ipairs {true, false} do
          local result = front:ask("Runtime.getProperties", {
            objectId = scope.object.objectId, ownProperties = true,
            generatePreview = preview
          }).result
          for _, one in ipairs(result) do
            if one.value.objectId then
              front:ask("Runtime.getProperties",
                        {objectId = one.value.objectId})
            end
          end
        end
      end
      front:value(paused, 1, "t")
      front:value(paused, 1, "error {}")
      front:value(paused, 1, "t.x()", {throwOnSideEffect = true})
      front:ask("Runtime.evaluate", {expression = "1 + "})
      front:ask("Runtime.compileScript", {
        expression = "x = ", sourceURL = "", persistScript = false
      })
      front:ask "Runtime.globalLexicalScopeNames"
      front:ask "Runtime.getHeapUsage"
      front:ask "Runtime.getIsolateId"
      front:ask("Debugger.getScriptSource", {scriptId = script})
      front:ask("Debugger.searchInContent", {scriptId = script,
                                             query = "local"})
      front:ask("Debugger.getPossibleBreakpoints",
                {start = {scriptId = script, lineNumber = 0}})
      front:ask("Debugger.setBreakpoint",
                {location = {scriptId = script, lineNumber = 9}})
      front:ask("Debugger.setVariableValue", {
        callFrameId = frame.callFrameId, scopeNumber = 0, variableName = "a",
        newValue = {value = 1}
      })
      front:ask("Runtime.callFunctionOn", {
        objectId = frame.this.objectId, arguments = {{value = "k"},
                                                     {value = "v"}},
        functionDeclaration = "function(a, b) { this[a] = b; }"
      })
      front:ask("Runtime.releaseObject", {objectId = frame.this.objectId})
      front:ask("Runtime.releaseObjectGroup", {objectGroup = "console"})
      for _, method in ipairs {"log", "warn", "group", "groupEnd", "trace",
                               "count", "table", "timeEnd", "timeLog"} do
        front:value(paused, 1, ("require 'tracegrip.console'.%s({{a = 1}}, t)")
                               :format(method))
      end
      front:ask "Runtime.discardConsoleEntries"
      front:ask "Profiler.enable"
      front:ask("Profiler.setSamplingInterval", {interval = 100})
      front:ask "Profiler.start"
      front:ask "Profiler.stop"
      front:ask("Profiler.startPreciseCoverage", {callCount = true,
                                                  detailed = true})
      front:go "stepOut"
      front:ask "Profiler.takePreciseCoverage"
      front:ask "Profiler.getBestEffortCoverage"
      front:ask "Profiler.stopPreciseCoverage"
      front:ask "Debugger.resume"
      front:ended()
      assert.is_true(check_all(front) > 50)
    end)
  end)
end)
