-- heap.lua - heap snapshots of the program that asks for them.
--
--   local heap = require "tracegrip.heap"
--   local result = heap.snapshot("a.heapsnapshot")
--   print(result.objects, result.bytes, result.stopped_ms)
--
-- A copy of the process writes the file, so the program stands still for the
-- copy alone, which is what stopped_ms says. Who calls waits for the file, or
-- with {wait = false} goes on: then the result is called for the rest.

local core = require "tracegrip.core"
core.own()

local error, next, type = error, next, type
local format = string.format

local heap = {}

local function check (options)
  if type(options) ~= "table" then
    error("bad argument #2 to 'snapshot' (a table of options)", 3)
  end
  for key in next, options do
    if key ~= "wait" then
      error(format("unknown option '%s' (known is wait)", key), 3)
    end
  end
end

-- objects, bytes, state_bytes, garbage, distant, made, stopped_ms; or nil,
-- message, code
function heap.snapshot (path, options)
  if type(path) ~= "string" then
    error("bad argument #1 to 'snapshot' (the name of a file)", 2)
  end
  if options ~= nil then
    check(options)
    return core.snapshot(path, options.wait ~= false)
  end
  return core.snapshot(path, true)
end

return heap
