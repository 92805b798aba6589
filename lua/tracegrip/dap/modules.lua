-- modules.lua - what the program has loaded: modules, sources, and the text of
-- those that have no file.
--
--   modules.handlers        command -> function (live, arguments, request), as
--                           session.lua has them; live: live.lua's back end

local core = require "tracegrip.core"
local problem = require "tracegrip.dap.problem"
local wire = require "tracegrip.wire"
core.own()

local handlers = {}
local modules = {handlers = handlers}

function handlers.source (live, arguments, request)
  local given = arguments.source
  local number = given and given.sourceReference or arguments.sourceReference
  local is_number = math.type(number) == "integer"
  local kept = is_number and live.places.originals:text(number)
  if kept then
    return {content = kept}
  end
  local id = is_number and live.places:script(number)
  if not id then
    problem.raise("there is no source %s", tostring(number))
  end
  local result = live.program:ask("Debugger.getScriptSource", {scriptId = id},
                                  request)
  return {content = result.scriptSource, mimeType = "text/x-lua"}
end

function handlers.loadedSources (live)
  return {sources = wire.array(live.places:all())}
end

-- What an expression is, which is not run: its fields; none of what fails.
local function rows (live, expression, request)
  local result = live.program:ask("Runtime.evaluate", {
    expression = expression, throwOnSideEffect = true, objectGroup = "modules"
  }, request).result
  local list = result.objectId and live.program:ask("Lua.variables", {
    objectId = result.objectId
  }, request).variables or {}
  return list, result
end

-- The file of a module among those that are loaded, by the templates of
-- package.path.
local function file_of (live, name, templates)
  local path = string.gsub(name, "%.", "/")
  for template in string.gmatch(templates, "[^;]+") do
    local tail = string.gsub(template, "%?", (string.gsub(path, "%%", "%%%%")))
    local source = live.places:ending(string.gsub(tail, "^%./", "/"))
    if source then
      return source.path
    end
  end
end

function handlers.modules (live, arguments, request)
  local _, path = rows(live, "package.path", request)
  local list = {}
  for _, row in ipairs((rows(live, "package.loaded", request))) do
    list[#list + 1] = {
      id = row.name, name = row.name,
      path = type(path.value) == "string"
             and file_of(live, row.name, path.value) or nil
    }
  end
  live.program:post("Runtime.releaseObjectGroup", {objectGroup = "modules"})
  local first = math.max(arguments.startModule or 0, 0)
  local count = arguments.moduleCount or 0
  local last = count > 0 and first + count or #list
  return {modules = wire.array(table.move(list, first + 1,
                                          math.min(last, #list), 1, {})),
          totalModules = #list}
end

return modules
