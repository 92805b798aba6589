--- hosts.lua - programs of others that have Lua in them, each a process of its
-- own that answers on a socket.
--
-- What is known of one is a table: 'file', the program; prepare(host), which
-- writes what it needs into 'directory' and gives its words; ready(host),
-- whether it answers; and where that is: 'port' on this machine, or the file
-- 'socket' in its directory.

local uv = require "luv"

local run = require "spec.support.run"
local waiting = require "spec.support.waiting"

local hosts = {}

local Host = {}
Host.__index = Host

--- What declares a test of it: 'it', or one that says that it is not here.
-- 'module': a file that it needs, if there is one; 'name': of both.
function hosts.test (file, module, name, it, pending)
  if (not module or run.read(module))
     and os.execute("command -v " .. file .. " >/dev/null 2>&1") then
    return it
  end
  return function (sentence)
    pending(sentence .. ": there is no " .. name .. " here")
  end
end

local function connect (host, heard)
  local pipe = host.port and uv.new_tcp() or uv.new_pipe()
  if host.port then
    pipe:connect("127.0.0.1", host.port, heard)
  else
    pipe:connect(host.directory .. "/socket", heard)
  end
  return pipe
end

--- Begins a request: its 'answer', and whether that is 'over', which it is with
-- the host's last word, or where that has these words.
function Host:request (text, last)
  local one = {answer = "", over = false}
  one.pipe = connect(self, function (fault)
    one.over = fault
    if fault then return end
    one.pipe:write(text)
    one.pipe:read_start(function (_, data)
      one.answer = one.answer .. (data or "")
      one.over = data == nil
                 or last ~= nil and one.answer:find(last, 1, true) ~= nil
    end)
  end)
  return one
end

--- Waits until a request is over; its answer.
function Host.answer (_, one)
  waiting.till(function () return one.over end, run.patience)
  one.pipe:close()
  return one.answer
end

--- The answer to a request; nil: nobody listens.
function Host:ask (text, last)
  local answer = self:answer(self:request(text, last))
  return answer ~= "" and answer or nil
end

--- Writes a file into its directory, in whose text @ is that directory.
function Host:write (name, text)
  local directory = self.directory:gsub("%%", "%%%%")
  run.write(self.directory .. "/" .. name, (text:gsub("@", directory)))
end

local function use_when_ready (host, use)
  assert(waiting.till(function ()
    return host.ended or host:ready()
  end, run.patience))
  assert(not host.ended, run.read(host.directory .. "/errors")
                         or host.file .. " has ended")
  use(host)
end

--- Runs use(host) while it answers; ends it in any case.
function hosts.with (known, use)
  run.within(function (directory)
    local host = setmetatable({directory = directory}, {
      __index = function (_, key) return known[key] or Host[key] end
    })
    host.handle, host.pid = uv.spawn(known.file, {args = host:prepare()},
                                     function () host.ended = true end)
    assert(host.handle, host.pid)
    local ok, message = pcall(use_when_ready, host, use)
    host.handle:kill "sigkill"
    waiting.till(function () return host.ended end, run.patience)
    host.handle:close()
    uv.run "nowait"
    assert(ok, message)
  end)
end

return hosts
