-- outputs.lua - the files that coverage is written to, before anything runs.
--
--   outputs.of(names, format)   list of {path =, shown =, format =} for the
--                               report | nil, message: one cannot be had. A
--                               format is nil where the names say it
--
-- The places are tried out, for at the end it is too late.

local core = require "tracegrip.core"
local formats = require "tracegrip.coverage.formats"
local target = require "tracegrip.target"
core.own()

local lua = core.lua          -- the program may have changed its own libraries
local io, os, ipairs = lua.io, lua.os, lua.ipairs

local outputs = {}

local function check (path)
  local problem = target.problem(path)
  if problem then
    return nil, problem
  end
  local existed = core.filetype(path)
  local file, message = io.open(path, "ab")
  if not file then
    return nil, message
  end
  file:close()
  if not existed then
    os.remove(path)
  end
  return true
end

function outputs.of (names, format)
  local list = {}
  for i, name in ipairs(names) do
    local ok, message = check(name)     -- also that it is somewhere
    if not ok then
      return nil, "cannot write the counts: " .. message
    end
    list[i] = {path = target.absolute(name), shown = name,
               format = format or formats.of(name)}
  end
  return list
end

return outputs
