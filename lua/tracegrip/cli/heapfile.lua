-- heapfile.lua - snapshot files, for tracegrip heap and tracegrip export: which
-- file is one, and the page that shows one.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
local meter = require "tracegrip.cli.meter"
local recording = require "tracegrip.cli.recording"
local target = require "tracegrip.target"
local units = require "tracegrip.cli.units"
core.own()

local heapfile = {}

-- A path's last part.
function heapfile.name_of (path)
  return path:match "[^/]*$"
end

-- Its first bytes tell: a core is ELF, a recording has its magic, a snapshot is
-- JSON; any may be compressed, so of others the name does. nil, message: it
-- cannot be read.
function heapfile.is_snapshot (path)
  local file <close>, message = io.open(path, "rb")
  if not file then
    return nil, message
  end
  local head = file:read(64) or ""
  return head:find "^%s*{" ~= nil
         or heapfile.name_of(path):find "%.heapsnapshot" ~= nil
         or heapfile.name_of(path):find "%.heaptimeline" ~= nil
end

-- Whether a file that is to be written has who made the objects.
function heapfile.is_timeline (path)
  return path:find "%.heaptimeline$" ~= nil
end

-- Whether a file that is to be written is a page.
function heapfile.is_page (path)
  return path:find "%.html?$" ~= nil or path:find "%.html?%.gz$" ~= nil
end

-- A file for a snapshot that is not kept, gone when the variable is.
function heapfile.passing ()
  local path = os.tmpname()
  return path, setmetatable({}, {__close = function () os.remove(path) end})
end

local function told (result)
  local text = ("%s, %s"):format(units.several(result.objects, "object"),
                                 units.bytes(result.bytes))
  return result.shown == result.objects and text
         or ("%s; %s that keep most alive one by one (--limit N)"):format(
              text, units.count(result.shown))
end

-- Writes the page of a snapshot, or ends the command: what it has, in words;
-- nil if nobody reads it.
function heapfile.write_page (path, title, output, limit)
  if output ~= "-" then
    local ok, message = target.spares(output)
    if not ok then
      main.fail("cannot write: %s (-o writes elsewhere)", message)
    end
  end
  local result, message, code = meter.during("reading", function ()
    return core.heappage {
      file = path, title = title, out = output, limit = limit,
      page = require "tracegrip.heappage"
    }
  end)
  if not result and code == recording.EPIPE then
    return nil
  elseif not result then
    main.fail("%s", message)
  end
  return told(result)
end

return heapfile
