-- token.lua - the token of serve and attach: what a client has to say first.

local core = require "tracegrip.core"
local main = require "tracegrip.cli.main"
core.own()

local token = {}

local MOST = 4096           -- bytes of the file

-- A pipe or a terminal is nobody else's, whatever its mode.
local function warn_if_open (path)
  local kind, mode = core.filetype(path)
  if kind == "file" and mode & 0x3f ~= 0 then   -- 077
    main.note("%s holds the token and is open to others (mode %04o); "
              .. "chmod 600 keeps it to you", path, mode)
  end
end

local function read (path)
  local file <close>, message = io.open(path, "rb")
  if not file then
    main.fail("cannot read the token: %s", message)
  end
  local text = (file:read(MOST) or ""):match "^%s*(.-)%s*$"
  if text == "" then
    main.fail("cannot read the token: %s is empty", path)
  end
  warn_if_open(path)
  return text
end

-- Of --token-file, else of the environment; nil if there is none.
function token.of (parsed)
  local text = parsed.tokenFile and read(parsed.tokenFile)
               or os.getenv "TRACEGRIP_TOKEN"
  return text ~= "" and text or nil
end

return token
