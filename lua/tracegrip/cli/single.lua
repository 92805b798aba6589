-- single.lua - whether this is tracegrip-static, one file that needs nothing
-- else (modules/static.c), and what that cannot do.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
core.own()

local single = {}

local where = package.searchpath("tracegrip.core", package.cpath) or ""

--- Modules of the one file are below a place where no other can be.
single.is = where:find("^/proc/self/exe/") ~= nil

--- Fails for what has to load our library into programs of others.
function single.refuse ()
  if single.is then
    main.fail("this tracegrip is one file, which other programs cannot load: "
              .. "a command needs an installed one (a script does not)")
  end
end

-- What may be missing, by module.
local parts = {
  {"luv", "attach, serve, top and view (luv)"},
  {"tracegrip.wslay", "debuggers (wslay)"},
  {"tracegrip.curl", "OTLP over TLS (libcurl)"},
}

-- "1.9 MiB".
local function size ()
  local file = io.open(core.interpreter(), "rb")
  local bytes = file and file:seek "end" or 0
  if file then
    file:close()
  end
  return ("%.1f MiB"):format(bytes / (1 << 20))
end

--- A line for --version; nil of an installed tracegrip.
function single.about ()
  if not single.is then
    return nil
  end
  local lacks = {"commands (record --, coverage --, --preload)",
                 "C modules of scripts", "--native"}
  for _, part in ipairs(parts) do
    if not package.searchpath(part[1], package.cpath) then
      lacks[#lacks + 1] = part[2]
    end
  end
  return "one file of " .. size() .. ", without " .. table.concat(lacks, ", ")
end

return single
