-- A client whose request timed out had closed its handles in a callback, and
-- nobody ran the loop again: luv crashed at the program's end.

local peers = require "spec.server.peer"
local run = require "spec.support.run"
local uv = require "luv"

local it = run.needs("luv", it, pending)

-- Calls use(port) with a port that takes connections and says nothing, or what
-- 'greeting' is.
local function with_silence (use, greeting)
  local server, sockets = uv.new_tcp(), {}
  server:bind("127.0.0.1", 0)
  server:listen(8, function ()
    local socket = uv.new_tcp()
    table.insert(sockets, socket)
    server:accept(socket)
    socket:write(greeting or "")
  end)
  local ok, message = pcall(use, server:getsockname().port)
  for _, socket in ipairs(sockets) do
    socket:close()
  end
  server:close()
  uv.run "nowait"
  assert(ok, message)
end

-- Runs a program while this one serves; its output and status.
local function serve (program)
  local result
  local out, text = uv.new_pipe(), ""
  local process = assert(uv.spawn("timeout", {
    args = {"20", run.lua, "-e", program},
    stdio = {nil, out}, env = {
      "PATH=" .. os.getenv "PATH", run.variable "LUA_PATH" .. "=" .. run.path,
      run.variable "LUA_CPATH" .. "=" .. run.cpath,
      "LD_PRELOAD=" .. (os.getenv "LD_PRELOAD" or ""),
      "ASAN_OPTIONS=" .. (os.getenv "ASAN_OPTIONS" or "")
    }
  }, function (status, signal)
    result = signal > 0 and 128 + signal or status
  end))
  out:read_start(function (_, piece)
    text = text .. (piece or "")
  end)
  peers.wait(function () return result end)
  process:close()
  out:close()
  uv.run "nowait"
  return text, result
end

describe("a client that waits in vain", function ()
  it("ends in order when it was to connect", function ()
    with_silence(function (port)
      local text, status = serve(([[
        local client = require "tracegrip.client"
        print(client.connect {port = %d, timeout = 0.2})
      ]]):format(port))
      assert.equal("nil\tno answer within 0.2 seconds\ttimeout\n", text)
      assert.equal(0, status)
    end)
  end)

  -- What greets it may be late where the machine is busy.
  it("ends in order when it has asked", function ()
    with_silence(function (port)
      local text, status = serve(([[
        local client = require "tracegrip.client"
        local c = client.connect {port = %d, timeout = 3}
        print(c:listTabs())
      ]]):format(port))
      assert.equal("nil\tno answer within 3 seconds\ttimeout\n", text)
      assert.equal(0, status)
    end, peers.bytes {from = "root", applicationType = "lua"})
  end)
end)
