-- Heap snapshots of a server under load: requests come in all the time, and
-- none is lost or answered wrongly; what it forgets to forget is named.

local cjson = require "cjson"
local uv = require "luv"

local heaps = require "spec.support.heaps"
local peers = require "spec.server.peer"
local run = require "spec.support.run"
local serving = require "spec.server.serving"

local CLIENTS = 4
local forks = io.popen "uname -m":read "l" == "x86_64"

-- Of each request a session stays, which nobody asked for.
local server = [[
  local tracegrip, uv = require "tracegrip", require "luv"
  local Session = {__name = "Session"}
  local shop = {sessions = {}, answered = 0}
  package.loaded.shop = shop
  local function answer (line)
    local rows = {}
    for i = 1, 40 do rows[i] = {id = i, text = line .. i} end
    shop.sessions[#shop.sessions + 1] = setmetatable({of = line}, Session)
    shop.answered = shop.answered + 1
    return line .. " " .. #rows .. "\n"
  end
  local door = uv.new_tcp()
  door:bind("127.0.0.1", 0)
  door:listen(16, function ()
    local client, rest = uv.new_tcp(), ""
    door:accept(client)
    client:read_start(function (_, bytes)
      if not bytes then return client:close() end
      rest = (rest .. bytes):gsub("([^\n]*)\n", function (line)
        client:write(answer(line))
        return ""
      end)
    end)
  end)
  io.write("serves ", door:getsockname().port, "\n")
  io.flush()
  assert(tracegrip.listen())
  uv.run()
]]

-- A client asks for the next as soon as it has been answered, and counts what
-- is no answer.
local function begin_client (port, name, load)
  local client, rest, i = uv.new_tcp(), "", 0
  load.clients[name] = client
  local function ask ()
    i = i + 1
    client:write(("%s-%d\n"):format(name, i))
  end
  local function take (line)
    load.answers = load.answers + 1
    if line ~= ("%s-%d 40"):format(name, i) then
      load.wrong[#load.wrong + 1] = line
    end
    if load.over then
      load.open = load.open - 1
    else
      ask()
    end
  end
  client:connect("127.0.0.1", port, function (problem)
    assert(not problem, problem)
    client:read_start(function (_, bytes)
      if not bytes then
        load.wrong[#load.wrong + 1] = "a connection that ends"
        load.open = load.open - 1
        return client:read_stop()
      end
      rest = (rest .. bytes):gsub("([^\n]*)\n", function (line)
        take(line)
        return ""
      end)
    end)
    ask()
  end)
end

local function await_answers (load, n)
  local wanted = load.answers + n
  peers.wait(function () return load.answers >= wanted end)
end

-- tracegrip heap, while requests are made here: its result.
local function take (words)
  local out, err = uv.new_pipe(), uv.new_pipe()
  local said, status = {[out] = "", [err] = ""}, nil
  local env = {"PATH=" .. os.getenv "PATH", "LUA=" .. run.host, "HOME=/tmp"}
  for _, name in ipairs {"LD_PRELOAD", "ASAN_OPTIONS"} do       -- make asan
    local value = os.getenv(name)
    env[#env + 1] = value and name .. "=" .. value
  end
  local open = 2
  local function note (pipe)
    pipe:read_start(function (_, bytes)
      said[pipe] = said[pipe] .. (bytes or "")
      if not bytes then
        pipe:close()
        open = open - 1
      end
    end)
  end
  local process
  process = uv.spawn(run.build .. "/bin/tracegrip", {
    args = {"heap", "--json", table.unpack(words)}, env = env,
    stdio = {nil, out, err}
  }, function (code)
    status = code
    process:close()
  end)
  note(out)
  note(err)
  peers.wait(function () return status and open == 0 end)
  assert.equal(0, status, said[err])
  return cjson.decode(said[out])
end

describe("heap snapshots of a server under load", function ()
  local it = run.needs("luv", it, pending)

  it("lose no request, are right to the byte, and name its leak", function ()
    run.within(function (directory)
      local program = serving.start(server)
      program:says "serves %d+\n"
      local port = tonumber(program.out:match "serves (%d+)")
      local address = program:await_address()
      local load = {answers = 0, wrong = {}, open = CLIENTS, clients = {}}
      finally(function ()
        for _, client in pairs(load.clients) do client:close() end
        program:close()
      end)
      for i = 1, CLIENTS do
        begin_client(port, "client" .. i, load)
      end
      -- by its number the program's state, beside which is the server's
      await_answers(load, 3000)
      local targets = {{address}, {tostring(program.pid)},
                       {tostring(program.pid), forks and "--fork" or nil}}
      local paths = {}
      for i, words in ipairs(targets) do
        await_answers(load, 300)
        paths[i] = ("%s/%d.heapsnapshot"):format(directory, i)
        table.move({"-o", paths[i]}, 1, 2, #words + 1, words)
        local before, result = load.answers, take(words)
        assert.equal(result.state_bytes, result.bytes)
        assert.equal(result.bytes, heaps.read(paths[i]):sum())
        assert.is_true(load.answers > before)
      end
      load.over = true
      peers.wait(function () return load.open == 0 end)
      assert.same({}, load.wrong)
      local _, document = heaps.command {"--growing", "--json",
                                         table.unpack(paths)}
      local first = document.growing[1]
      assert.equal("Session", first.name)
      assert.truthy(first.path:find("shop.sessions", 1, true), first.path)
      assert.is_true(first.counts[1] >= 300)
      assert.is_true(first.counts[3] >= first.counts[2] + 300)
    end)
  end)
end)
