-- adapter.lua - the debug adapter among its clients: a session for each, on
-- luv's loop.
--
--   editor, by stdin and stdout or a socket
--     | bytes
--   adapter.lua    connections
--   session.lua    requests, responses, events      (framing.lua, requests.lua)
--   live.lua       a running program, or
--   recorded.lua   a recording
--
--   adapter.attend(input, output, gone)
--                   a client whose bytes come from one stream of luv's and go
--                   to another, maybe the same; gone() when its session is over
--   adapter.close()   all clients are as gone
--
-- Failure: a client that breaks the rules, goes, or does not read what it is
-- sent (MAX_UNREAD), ends its own session and no other.

local core = require "tracegrip.core"
local live = require "tracegrip.dap.live"
local session = require "tracegrip.dap.session"
local uv = require "luv"
core.own()

local MAX_UNREAD = 256 << 20    -- bytes

local adapter = {}

local attended = {}             -- set of sessions

-- The back end that a client's first request is for.
local function begin (command, arguments, port)
  if command == "launch" and arguments.recording ~= nil then
    return require "tracegrip.dap.recorded".new(port)
  end
  return live.new(port, command)
end

-- Once, soon: behind what has come by then. A timer would not do: one that is
-- set in a timer's course comes before the loop looks at its streams.
local function defer (f)
  local idle = uv.new_idle()
  idle:start(function ()
    idle:close()
    f()
  end)
end

local function shut (handle)
  if not handle:is_closing() then
    handle:close()
  end
end

-- What was written before goes out first.
local function part (input, output, gone)
  input:read_stop()
  local done = output:shutdown(function ()
    shut(input)
    shut(output)
    gone()
  end)
  if not done then
    shut(input)
    shut(output)
    gone()
  end
end

function adapter.attend (input, output, gone)
  local one
  one = session.new {
    capabilities = live.capabilities(), begin = begin, defer = defer,
    write = function (bytes)
      output:write(bytes)
      if uv.stream_get_write_queue_size(output) > MAX_UNREAD then
        one:close()
      end
    end,
    unread = function () return uv.stream_get_write_queue_size(output) end,
    finish = function ()
      attended[one] = nil
      part(input, output, gone)
    end
  }
  attended[one] = true
  input:read_start(function (err, bytes)
    if err or not bytes then
      one:close()
    else
      one:receive(bytes)
    end
  end)
end

function adapter.close ()
  local all = attended
  attended = {}
  for one in pairs(all) do
    one:close()
  end
end

return adapter
