-- profiles.lua - a profile of one Lua state now and then, to a store of
-- profiles, on the server's thread: what listen {profile = ...} asks for.
--
--   profiles.start(server, tab, plan)     an exporter | nil, message
--   exporter:finish(ms)                   sends what there is, and ends
--
-- Every so many seconds a trace of samples begins that the program keeps for
-- the server (Tab:keep), beside those of clients; it is exported as pprof and
-- posted. The program only counts samples: what a sample costs is in
-- docs/samples.md. A program that was asleep all the time has not begun its
-- trace, and there is nothing to send.
--
-- The server (server.lua) has: exporters and parted(exporter, account).

local core = require "tracegrip.core"
local http = require "tracegrip.send.http"
local sender = require "tracegrip.send.sender"
local uv = require "luv"
core.own()

local BUFFER = 64 << 20       -- of a trace, if its host says nothing
local RATE = 100              -- samples a second, if nobody says another
local TIMEOUT_MS = 10000

local profiles = {}

local Profiles = {__name = "tracegrip.server.profiles"}
Profiles.__index = Profiles

local function begin (self)
  local options = self.tab:options {sample = self.plan.rate or RATE}
  options.trace = nil
  options.buffer = options.buffer or BUFFER
  self.id = self.tab:next_id()
  self.tab:keep(self.id, options)
end

-- The document, gzipped; nil, message. By a file, as exports are.
local function document_of (trace)
  local base = os.getenv("TMPDIR")
  local directory, message = uv.fs_mkdtemp(
    (base and base ~= "" and base or "/tmp") .. "/tracegrip-XXXXXX")
  if not directory then
    return nil, message
  end
  local path, body = directory .. "/profile.pb.gz", nil
  local result, problem = trace:export("pprof", path, {})
  if result then
    local file <close> = io.open(path, "rb")
    body = file and file:read "a"
  end
  os.remove(path)
  uv.fs_rmdir(directory)
  return body, problem or "the profile cannot be read again"
end

-- What the program has kept is sent, and let go.
local function conclude (self)
  local trace = self.tab:kept(self.id)
  self.id = nil
  if not trace then
    return
  end
  local body, message = document_of(trace)
  core.forget(trace)
  if body then
    self.sender:push(body, 1)
  else
    self.sender:miss(1, message)
  end
end

local function after (self, seconds, f)
  self.timer:start(math.ceil(seconds * 1000), 0, self.server:safely(f))
end

-- From one profile's beginning to the next.
local function go_round (self)
  begin(self)
  after(self, self.plan.for_, function ()
    conclude(self)
    after(self, self.plan.every - self.plan.for_, function ()
      go_round(self)
    end)
  end)
end

-- The tab is gone, with what it kept.
function Profiles:forget (tab)
  if tab == self.tab then
    self.id = nil
    self:finish(self.server.parting)
  end
end

-- A profile that has begun is not sent: it is not what the others are.
function Profiles:finish (ms)
  if self.ending then
    return
  end
  self.ending = true
  self.timer:close()
  if self.id and not self.tab.gone then
    self.tab.channel:drop(self.id)
    self.tab:stop(self.id)
  end
  self.sender:part(ms, function ()
    self.server:parted(self, self.sender:told())
  end)
end

function profiles.start (server, tab, plan)
  local client, message = http.new()
  if not client then
    return nil, message
  end
  local headers = {"Content-Type: application/octet-stream", "Expect:",
                   "User-Agent: tracegrip/" .. core.version}
  for name, value in pairs(plan.headers or {}) do
    headers[#headers + 1] = name .. ": " .. value
  end
  local self = setmetatable({
    server = server, tab = tab, plan = plan, timer = uv.new_timer(),
    sender = sender.new({url = plan.to, headers = headers,
                         timeout = TIMEOUT_MS, title = "profiles"}, client),
    ending = false,
  }, Profiles)
  go_round(self)
  return self
end

return profiles
