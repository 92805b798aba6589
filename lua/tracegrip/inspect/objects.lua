-- objects.lua - values that a debugger has been told of and may ask about
-- again: its remote objects. They live as long as their group; those of a pause
-- end with it. The program's values are held here and nowhere else.
--
--   objects.keep(value, group)    its id, a string; each time another one
--   objects.get(id)               the value, the group; raises a fault if there
--                                 is none, or no more
--   objects.release(id), objects.release_group(group)
--   objects.release_all()         nobody is there any more who could ask
--   objects.new()                 the same for others than the program's: what
--                                 it returns has all of these

local core = require "tracegrip.core"
local fault = require "tracegrip.inspect.fault"
core.own()

local NIL = {}

-- The values of one who keeps them; all that follows is in it.
local function new ()
  local objects = {PAUSE = "backtrace"}     -- the group that ends with a pause
  local values, groups, last = {}, {}, 0

  function objects.keep (value, group)
    last = last + 1
    local id = string.format("%d", last)
    values[id], groups[id] = value == nil and NIL or value, group or ""
    return id
  end

  function objects.get (id)
    local value = values[id]
    if value == nil then
      fault.raise("Could not find object with given id")
    end
    if rawequal(value, NIL) then
      value = nil
    end
    return value, groups[id]
  end

  function objects.release (id)
    values[id], groups[id] = nil, nil
  end

  function objects.release_group (group)
    for id, name in next, groups do
      if name == group then
        objects.release(id)
      end
    end
  end

  function objects.release_all ()
    values, groups = {}, {}
  end

  return objects
end

local program = new()
program.new = new

return program
