-- tracegrip serve, and TRACEGRIP_LISTEN: programs that clients can attach to
-- without knowing of it.

local uv = require "luv"

local freeport = require "spec.support.freeport"
local peers = require "spec.server.peer"
local run = require "spec.support.run"
local serving = require "spec.server.serving"

local it = run.needs("luv", it, pending)

local tracegrip = run.build .. "/bin/tracegrip"

local waiting = [[
  function f () end
  print(...)
  io.stdout:flush()
  io.read()
  f()
  io.read()
  os.exit(tonumber((...)) or 0)
]]

local function serve (words, code, env)
  local all = table.move(words, 1, #words, 3, {tracegrip, "serve"})
  local program = serving.command(all, code or waiting, env)
  program.address, program.port, program.path = program:await_address()
  return program
end

-- Serves on a port that was free a moment ago. Somebody else may have taken it
-- since: then it is another one.
local function serve_on_free_port ()
  for i = 1, 5 do
    local port = freeport()
    local ok, program = pcall(serve, {"--port", tostring(port), "program.lua"})
    if ok then
      return program, port
    elseif i == 5 or not program:find("somebody listens there", 1, true) then
      error(program, 0)
    end
  end
end

-- The frames f() makes for a client.
local function trace_f (program, peer)
  assert.equal("attached", peer:request "attach".type)
  peer:request("startTrace", {include = {"^f$"}})
  program:tell()
  local frame = peer:receive()
  assert.equal("f", frame.name)
  assert.equal("exitedFrame", peer:receive().type)
  return frame
end

local function refused (words, status, pattern, env)
  local all = table.move(words, 1, #words, 3, {tracegrip, "serve"})
  local result = run.command(all, {files = {["program.lua"] = "print 'ran'"},
                                   env = env})
  assert.equal(status, result.status)
  assert.equal("", result.stdout)
  assert.matches("^tracegrip: [^\n]*" .. pattern .. "[^\n]*\n$", result.stderr)
end

describe("tracegrip serve", function ()
  it("runs a program that a client can attach to", function ()
    local program <close> = serve {"program.lua", "7", "--port"}
    program:says "7\t%-%-port\n"
    local peer <close> = program:peer()
    local tabs = peer:ask({to = "root", type = "listTabs"}).tabs
    assert.equal("program.lua", tabs[1].title)
    trace_f(program, peer)
    program:tell()
    assert.equal(7, program:ended())
    assert.is_true(peer:hung_up())
    assert.equal("tracegrip: listening on " .. program.address .. "\n",
                 program.err)
  end)

  it("is not to be seen from inside", function ()
    local code = [[
      local names = {}
      for name in pairs(package.loaded) do names[#names + 1] = name end
      for name in pairs(_G) do names[#names + 1] = name end
      table.sort(names)
      print(table.concat(names, " "))
      print(package.path, package.cpath, debug.gethook())
      for _, name in ipairs {"LUA_INIT", "LUA_INIT_5_4", "LUA_INIT_5_5",
                             "TRACEGRIP_BOOT",
                             "TRACEGRIP_TOKEN"} do
        print(name, os.getenv(name))
      end
      print(select("#", coroutine.resume(coroutine.create(print))))
    ]]
    local how = {files = {["program.lua"] = code}}
    local plain = run.command({run.lua, "program.lua"}, how)
    how.env = {TRACEGRIP_TOKEN = "secret"}
    local served = run.command({tracegrip, "serve", "program.lua"}, how)
    assert.equal(plain.stdout, served.stdout)
    assert.equal(0, served.status)
  end)

  it("passes on status, errors and input", function ()
    for _, code in ipairs {"os.exit(3)", "error 'x'", "return 5",
                           "print(io.read 'a')", "local x = ("} do
      local how = {files = {["program.lua"] = code}, stdin = "some text"}
      local plain = run.command({run.lua, "program.lua"}, how)
      local served = run.command({tracegrip, "serve", "program.lua"}, how)
      assert.equal(plain.status, served.status)
      assert.equal(plain.stdout, served.stdout)
      assert.equal(plain.stderr,
                   (served.stderr:gsub("^tracegrip: listening [^\n]*\n", "")))
    end
  end)

  it("listens where it is told to", function ()
    do
      local served, port = serve_on_free_port()
      local program <close> = served
      assert.equal("127.0.0.1:" .. port, program.address)
      local peer <close> = program:peer()
      assert.equal("root", peer.hello.from)
    end
    do
      local program <close> = serve {"--listen", "localhost:0", "program.lua"}
      assert.matches("^127%.0%.0%.1:%d+$", program.address)
    end
    local program <close> = serve {"--listen", "unix:here.sock", "program.lua"}
    assert.equal("unix:" .. program.directory .. "/here.sock",
                 program.address)
    local peer <close> = program:peer()
    trace_f(program, peer)
  end)

  it("waits for a client with --wait", function ()
    local program <close> = serve({"--wait", "program.lua"}, "print 'ran'")
    local peer <close> = program:peer()
    peer:request "attach"
    peers.sleep(0.3)
    assert.equal("", program.out)
    peer:request("startTrace", {trace = {"name"}})
    program:says "ran"
    local _, frames = peer:reply()
    assert.equal("(main chunk)", frames[1] and frames[1].name)
    assert.equal(0, program:ended())
  end)

  it("can be interrupted while it waits", function ()
    local program <close> = serve({"--wait", "program.lua"}, "print 'ran'")
    program:kill "sigint"
    assert.equal(130, program:ended())
    assert.equal("", program.out)
  end)

  it("asks for a token, from a file or the environment", function ()
    local token = "0123456789abcdef0123456789abcdef"
    local file = os.tmpname()
    run.write(file, token .. "\n")
    for _, how in ipairs {{words = {"--token-file", file}},
                          {env = {TRACEGRIP_TOKEN = token}}} do
      local words = {"--listen", "0.0.0.0:0", table.unpack(how.words or {})}
      words[#words + 1] = "program.lua"
      local program <close> = serve(words, nil, how.env)
      assert.is_nil(program.err:find(token, 1, true))
      local arguments = run.read(("/proc/%d/cmdline"):format(program.pid))
      assert.is_nil(arguments:find(token, 1, true))
      local stranger <close> = program:peer()
      assert.equal("notAuthenticated",
                   stranger:ask({to = "root", type = "listTabs"}).error)
      local peer <close> = program:peer()
      peer:ask {to = "root", type = "authenticate", token = token}
      trace_f(program, peer)
    end
    os.remove(file)
  end)

  it("remarks upon a token file that is open to others", function ()
    local file = os.tmpname()
    run.write(file, "0123456789abcdef0123456789abcdef")
    local remark = "tracegrip: " .. file .. " holds the token and is open to "
                   .. "others (mode 0644); chmod 600 keeps it to you\n"
    for mode, said in pairs {["600"] = false, ["644"] = true} do
      assert(uv.fs_chmod(file, tonumber(mode, 8)))
      local program <close> = serve {"--token-file", file, "program.lua"}
      assert.equal(said, program.err:find(remark, 1, true) == 1)
      assert.equal(said and 2 or 1, select(2, program.err:gsub("\n", "")))
    end
    os.remove(file)
  end)

  it("lets its options hold for every client", function ()
    local program <close> = serve({"--redact", "^pass", "--trace", "arguments",
                                   "program.lua"}, [[
      function f (user, pass) end
      io.read()
      f("me", "x")
      io.read()
    ]])
    local peer <close> = program:peer()
    peer:request "attach"
    peer:request("startTrace", {include = {"^f$"}})
    program:tell()
    local frame = peer:receive()
    assert.same({"me", {type = "redacted"}}, frame.arguments.values)
    assert.is_nil(frame.name)
  end)

  it("hides what the environment and the command line say", function ()
    local code = [[
      function login (name, password, token) end
      io.read()
      login("me", "secret", "secret")
      io.read()
    ]]
    local program <close> = serve({"--redact", "^pass", "program.lua"}, code,
                                  {TRACEGRIP_OPTIONS = 'redact = "^token"'})
    local peer <close> = program:peer()
    assert.equal("attached", peer:request "attach".type)
    peer:request("startTrace", {include = {"^login$"}})
    program:tell()
    assert.same({"me", {type = "redacted"}, {type = "redacted"}},
                peer:receive().arguments.values)
    refused({"program.lua"}, 2, "unknown option 'nosuch'",
            {TRACEGRIP_OPTIONS = "nosuch = 1"})
    refused({"program.lua"}, 2, "TRACEGRIP_OPTIONS",
            {TRACEGRIP_OPTIONS = "nosuch ="})
  end)

  -- The second way: beside a trace that hides nothing all is recorded, and the
  -- client's reader hides it.
  for _, beside in ipairs {"", 'require("tracegrip").start {name = "all"}'} do
    it("hides from a client what is passed on, "
       .. (beside == "" and "alone" or "beside another trace"), function ()
      local program <close> = serve({"--redact", "^pass", "program.lua"},
                                    beside .. [[
        io.read()
        local function f (user, pass) return pass end
        pcall(f, "me", "geheim1")
        pcall(function (pass) error("not " .. pass) end, "geheim2")
        string.format("%s!", "geheim1")
        io.read()
      ]])
      local peer <close> = program:peer()
      peer:request "attach"
      peer:request("startTrace", {include = {"^pcall$", "^f$", "^string"}})
      program:tell()
      local text = {}
      for i = 1, 8 do
        text[i] = run.literal(peer:receive())
      end
      text = table.concat(text)
      assert.is_nil(text:find("geheim", 1, true), text)
      assert.equal(8, select(2, text:gsub('"redacted"', "")), text)
    end)
  end

  it("does not run the program if it cannot listen", function ()
    local program <close> = serve {"program.lua"}
    refused({"--port", tostring(program.port), "program.lua"}, 1,
            "cannot listen on 127.0.0.1:%d+: somebody listens there")
    refused({"--listen", "unix:/no/such/place/x", "program.lua"}, 1,
            "no such directory")
    refused({"--listen", "unix:program.lua", "program.lua"}, 1,
            "something else of that name")
  end)

  it("says what is wrong with its options", function ()
    refused({"--port", "70000", "program.lua"}, 2, "port")
    refused({"--listen", "nowhere", "program.lua"}, 2, "no address")
    for _, address in ipairs {"127.0.0.1:99999", "127.0.0.1", "::1", ":80",
                              "127.0.0.1:" .. ("9"):rep(30), ("9"):rep(30)} do
      refused({"--listen", address, "program.lua"}, 2,
              "'" .. address .. "' is no address")
    end
    refused({"--listen", "0.0.0.0:0", "program.lua"}, 2, "128 bits")
    refused({"--listen", "[::]:0", "program.lua"}, 2, "128 bits",
            {TRACEGRIP_TOKEN = "short"})
    refused({"--port", "0", "--listen", "127.0.0.1:0", "program.lua"}, 2,
            "%-%-listen")
    refused({"--token-file", "/no/such/file", "program.lua"}, 1, "token")
    refused({"--token-file", "/dev/null", "program.lua"}, 1, "empty")
    refused({"--color", "program.lua"}, 2, "unknown option")
  end)
end)

describe("TRACEGRIP_LISTEN", function ()
  local function start (address, env, code)
    env = env or {}
    env.TRACEGRIP_LISTEN = address
    env.LUA_INIT = "require 'tracegrip.auto'"
    local program = serving.command({run.lua, "program.lua"}, code or waiting,
                                    env)
    program.address, program.port, program.path = program:await_address()
    return program
  end

  it("takes a port, an address or a socket's path", function ()
    for _, address in ipairs {"0", "localhost:0", "127.0.0.1:0",
                              "unix:socket"} do
      local program <close> = start(address)
      local peer <close> = program:peer()
      trace_f(program, peer)
    end
  end)

  it("takes options and a token from the environment", function ()
    local program <close> = start("0", {
      TRACEGRIP_OPTIONS = "trace = {'depth'}", TRACEGRIP_TOKEN = "secret"})
    local peer <close> = program:peer()
    peer:ask {to = "root", type = "authenticate", token = "secret"}
    assert.is_nil(rawget(peer:request "attach", "error"))
    peer:request("startTrace", {include = {"^f$"}})
    program:tell()
    assert.same({from = "trace1", type = "enteredFrame", sequence = 0,
                 depth = 0}, peer:receive())
  end)

  it("that is taken does not keep a program from running", function ()
    local program <close> = start("0")
    local result = run.code("print 'ran'", {
      env = {TRACEGRIP_LISTEN = program.port,
             LUA_INIT = "require 'tracegrip.auto'"}})
    assert.equal("ran\n", result.stdout)
    assert.matches("^tracegrip: cannot listen [^\n]*\n$", result.stderr)
  end)

  it("that makes no sense ends the program", function ()
    for _, address in ipairs {"here", "0.0.0.0:0", "127.0.0.1:70000"} do
      local result = run.code("print 'ran'", {
        env = {TRACEGRIP_LISTEN = address,
               LUA_INIT = "require 'tracegrip.auto'"}})
      assert.equal(1, result.status)
      assert.equal("", result.stdout)
      assert.matches("^tracegrip: TRACEGRIP_LISTEN: [^\n]*\n$", result.stderr)
    end
  end)
end)
