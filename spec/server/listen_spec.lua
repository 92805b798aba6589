-- tracegrip.listen: what it takes, where it listens, who gets in.

local uv = require "luv"

local peers = require "spec.server.peer"
local run = require "spec.support.run"
local serving = require "spec.server.serving"

local describe = run.needs("luv", describe, pending)

-- What a program prints that has "tracegrip" at hand.
local function printed (code)
  local result = run.code('local tracegrip = require "tracegrip"\n' .. code)
  assert.equal(0, result.status, result.stderr)
  return result.stdout, result.stderr
end

describe("tracegrip.listen", function ()
  it("tells where it listens, once, on standard error", function ()
    local out, err = printed [[
      local listening = tracegrip.listen {port = 0}
      print(listening.address, listening.host, listening.port, listening.path)
    ]]
    local port = err:match "^tracegrip: listening on 127%.0%.0%.1:(%d+)\n$"
    assert.is_string(port)
    assert.equal(("127.0.0.1:%s\t127.0.0.1\t%s\tnil\n"):format(port, port), out)
  end)

  it("tells that whatever the program has in the place of io.stderr",
     function ()
    local _, err = printed [[
      io.stderr = {write = error}
      assert(tracegrip.listen {port = 0, inspect = 0})
    ]]
    assert.matches("^tracegrip: listening on [^\n]+\n"
                   .. "tracegrip: to debug, open [^\n]+\n$", err)
  end)

  it("needs no options", function ()
    assert.matches("^127%.0%.0%.1:%d+\n127%.0%.0%.1:%d+\n$", (printed [[
      print(tracegrip.listen().address)
      print(tracegrip.listen({}).address)
    ]]))
  end)

  it("raises what is wrong with its options", function ()
    local out = printed [[
      local function try (...)
        local ok, message = pcall(tracegrip.listen, ...)
        print(ok, message)
      end
      try(5)
      try {color = 1}
      try {port = -1}
      try {port = 65536}
      try {port = 1.5}
      try {port = "6006"}
      try {host = ""}
      try {host = 7}
      try {path = ""}
      try {path = "/tmp/x", port = 1}
      try {path = "/tmp/x", host = "127.0.0.1"}
      try {token = ""}
      try {wait = "yes"}
      try {signal = 0}
      try {stallTimeout = -1}
      try {stallTimeout = 0/0}
      try {options = "fast"}
      try {options = {color = 1}}
      try {options = {maxDepth = "deep"}}
    ]]
    local n = 0
    for line in out:gmatch "[^\n]+" do
      assert.matches("^false\t", line)
      n = n + 1
    end
    assert.equal(19, n)
    assert.matches("unknown option 'color' %(known: heap, host, inspect, "
                   .. "options, otlp, path, port, profile, signal, "
                   .. "stallTimeout, token, wait%)", out)
    assert.matches("option 'port' must be a number from 0 to 65535", out)
  end)

  it("wants 128 bits of a token where others can come", function ()
    local out = printed [[
      local hex, base64 = ("0123456789abcdef"):rep(2), "abcdefghijklmnopqrst-_"
      for _, host in ipairs {"0.0.0.0", "::", "192.0.2.1", "example.org",
                             "127.0.0.1.example.org"} do
        for _, token in ipairs {false, "secret", hex:sub(2), base64:sub(2),
                                ("0"):rep(32), ("abcdefg"):rep(9)} do
          local ok, message = pcall(tracegrip.listen,
                                    {host = host, token = token or nil})
          assert(not ok and message:find("128 bits", 1, true), host)
          assert(not (token and message:find(token, 1, true)))
        end
      end
      for _, token in ipairs {hex, base64} do
        print(tracegrip.listen({host = "0.0.0.0", token = token}).host)
      end
      for _, host in ipairs {"127.0.0.1", "localhost", "127.1.2.3"} do
        print(tracegrip.listen({host = host, token = "x"}).host)
      end
    ]]
    assert.equal("0.0.0.0\n0.0.0.0\n127.0.0.1\n127.0.0.1\n127.1.2.3\n", out)
  end)

  it("says why it cannot listen", function ()
    local out = printed [[
      local listening = tracegrip.listen {path = "here"}
      local function try (options)
        local handle, message, code = tracegrip.listen(options)
        assert(handle == nil and type(message) == "string")
        print(code)
      end
      try {port = tracegrip.listen().port}
      try {path = "here"}
      try {path = "/no/such/directory/socket"}
      try {path = "/" .. ("x"):rep(200)}
      try {host = "127.0.0.999", port = 0}
      local file = io.open("file", "w"):close()
      try {path = "file"}
      print(io.open("file") ~= nil)
    ]]
    assert.matches("^EADDRINUSE\nEADDRINUSE\nENOENT\nENAMETOOLONG\n%u+\n"
                   .. "EEXIST\ntrue\n$", out)
  end)

  it("goes on listening when nobody holds it", function ()
    local program <close> = serving.start [[
      require("tracegrip").listen()
      for i = 1, 10 do collectgarbage() end
      io.read()
    ]]
    local peer <close> = program:peer()
    assert.equal("root", peer.hello.from)
  end)

  it("stops when it is closed, once or often, or its scope ends", function ()
    local program <close> = serving.start [[
      local tracegrip = require "tracegrip"
      local listening = tracegrip.listen()
      io.read()
      listening:close()
      listening:close()
      do
        local other <close> = tracegrip.listen()
      end
      print "closed"
      io.stdout:flush()
      io.read()
      local again = tracegrip.listen {port = listening.port}
      io.read()
    ]]
    local peer <close> = program:peer()
    program:tell()
    program:says "closed"
    assert.is_true(peer:hung_up())
    assert.is_nil((peers.connect {port = program.port}))
    program:tell()
    assert.equal(program.port, select(2, program:await_address(3)))
    local other <close> = program:peer()
    local tabs = other:ask({to = "root", type = "listTabs"}).tabs
    assert.equal("attached",
                 other:request("attach", nil, tabs[1].traceActor).type)
  end)

  it("may be called twice: one tab, two addresses", function ()
    local program <close> = serving.start [[
      local tracegrip = require "tracegrip"
      local one = tracegrip.listen()
      local two = tracegrip.listen {path = "socket"}
      io.read()
      one:close()
      io.read()
    ]]
    local _, _, path = program:await_address(2)
    local tcp <close> = program:peer()
    local unix <close> = assert(peers.connect {path = path})
    assert.equal("root", unix:receive().from)
    assert.equal("attached", tcp:request "attach".type)
    assert.equal("wrongState", unix:request "attach".error)
    program:tell()
    assert.is_true(tcp:hung_up())
    assert.equal("attached", unix:request "attach".type)
    assert.equal(1, #unix:ask({to = "root", type = "listTabs"}).tabs)
  end)

  it("waits for a client's first trace if it is told to", function ()
    local program <close> = serving.start [[
      function f () end
      require("tracegrip").listen {wait = true}
      print "begun"
      f()
      print "done"
      io.stdout:flush()
      io.read()
    ]]
    local peer <close> = program:peer()
    peer:request "attach"
    peers.sleep(0.3)
    assert.equal("", program.out)
    peer:request("startTrace", {trace = {"name"}})
    program:says "begun\ndone"
    local _, frames = peer:request "stopTrace"
    local names = {}
    for _, packet in ipairs(frames) do
      names[packet.name or ""] = true
    end
    assert.is_true(names.print and names.f)
  end)

  it("keeps what the host says secret", function ()
    local program <close> = serving.start [[
      function login (user, password) end
      require("tracegrip").listen {options = {redact = {"^pass"},
                                              trace = {"arguments"},
                                              include = {"^login$"}}}
      io.read()
      login("me", "x")
      io.read()
    ]]
    local peer <close> = program:peer()
    peer:request "attach"
    peer:request("startTrace", {redact = {"^user"}})
    program:tell()
    local packet = peer:receive()
    assert.same({{type = "redacted"}, {type = "redacted"}},
                packet.arguments.values)
    assert.is_nil(packet.time)
  end)

  -- What a client, attached before it, is sent of login("me", "x", {pass = 1}).
  local function sent_of_login (listen, request, before)
    local program <close> = serving.start(([[
      function login (user, password, more) end
      require("tracegrip").listen {options = %s}
      io.read()
      %s
      login("me", "x", {password = "y"})
      io.read()
    ]]):format(listen, before or ""))
    local peer <close> = program:peer()
    peer:request "attach"
    if request then
      assert.equal("startedTrace", peer:request("startTrace", request).type)
    end
    program:tell()
    local packet
    repeat
      packet = peer:receive()
    until packet.name == "login"
    return packet.arguments
  end

  local hidden = {
    values = {"me", {type = "redacted"}, {type = "object", objectId = 0}},
    objectPool = {{
      class = "table", extensible = true, frozen = false, sealed = false,
      prototype = {type = "null"}, safeGetterValues = {},
      ownProperties = {password = {
        configurable = true, enumerable = true, writable = true,
        value = {type = "redacted"}
      }}
    }}
  }

  for _, redact in ipairs {'"^pass"', '{"^pass"}'} do
    it("keeps it secret from who asks for something else, by " .. redact,
       function ()
      local options = '{redact = ' .. redact .. ', include = "^login$"}'
      for _, asked in ipairs {"zzz", {"zzz"}, {}} do
        assert.same(hidden, sent_of_login(options, {redact = asked}))
      end
    end)
  end

  it("keeps it secret in the traces that the program starts", function ()
    local before = 'require("tracegrip.console").startTrace("mine", '
                   .. '{include = "^login$"})'
    assert.same(hidden, sent_of_login('{redact = "^pass"}', nil, before))
    assert.same(hidden, sent_of_login('{redact = "^pass"}', {redact = "zzz"},
                                      before))
  end)

  it("sends no more of the program's traces than the host allows", function ()
    local program <close> = serving.start [[
      local console = require "tracegrip.console"
      require("tracegrip").listen {options = {maxEvents = 3}}
      local function f () end
      io.read()
      console.startTrace("mine", {trace = {"name"}})
      for _ = 1, 10 do f() end
      print(console.stopTrace("mine").events)
      io.read()
    ]]
    local peer <close> = program:peer()
    peer:request "attach"
    program:tell()
    assert.equal("startedTrace", peer:reply().type)
    local reply, frames = peer:reply()
    assert.equal("maxEvents", reply.why)
    assert.equal(3, #frames)
    assert.equal("20", program:says "(%d+)\n")   -- the program has all of it
  end)

  it("lets no client go on for longer than the host allows", function ()
    local program <close> = serving.start [[
      require("tracegrip").listen {options = {duration = 50}}
      io.read()
    ]]
    local peer <close> = program:peer()
    peer:request "attach"
    peer:request("startTrace", {duration = 0})
    assert.equal("duration", peer:reply().why)
  end)

  it("lets no client stop the program by a pattern", function ()
    local program <close> = serving.start [[
      local names = {}
      for i = 1, 1000 do
        names[i] = load("local function x" .. i .. " () end return x" .. i)()
      end
      local long = {[("k"):rep(60)] = 1}
      local function take (t) end
      require("tracegrip").listen()
      for _ in io.lines() do
        local before = os.clock()
        for i = 1, #names do names[i]() end
        take(long)
        print(os.clock() - before < 3 and "quick" or "slow")
        io.stdout:flush()
      end
    ]]
    local peer <close> = program:peer()
    peer:request "attach"
    local pattern = (".-"):rep(60) .. "!!"
    for _, option in ipairs {"include", "exclude", "redact"} do
      peer:request("startTrace", {name = "x", [option] = pattern})
      program:tell()
      assert.equal("quick", program:says "(%a+)\n")
    end
    peer:request "stopTrace"
    peer:request("startTrace", {redact = pattern, include = "^take$"})
    program:tell()
    program:says "quick"
    local _, frames = peer:request "stopTrace"
    local shown = frames[1].arguments.objectPool[1].ownProperties
    assert.same({type = "redacted"}, shown[("k"):rep(60)].value)
  end)

  it("leaves the program's signals and its hook alone", function ()
    local out = printed [[
      -- Those from 32 on are the C library's.
      local function ignored ()
        local file <close> = io.open("/proc/self/status")
        local mask = file:read("a"):match "SigIgn:%s*(%x+)"
        return tonumber(mask, 16) & 0x7fffffff
      end
      local before, hook = ignored(), debug.gethook()
      local listening = tracegrip.listen()
      print(before == ignored(), debug.gethook() == hook)
      print(package.loaded.luv, package.loaded["tracegrip.server"])
      listening:close()
      print(debug.gethook() == hook)
    ]]
    assert.equal("true\ttrue\nnil\tnil\ntrue\n", out)
  end)
end)

describe("a Unix socket", function ()
  local program

  before_each(function ()
    program = serving.start [[
      require("tracegrip").listen {path = "socket"}
      io.read()
    ]]
  end)

  after_each(function ()
    program:close()
  end)

  it("is its owner's alone", function ()
    assert.equal(program.directory .. "/socket", program.path)
    local stat = uv.fs_stat(program.path)
    assert.equal("socket", stat.type)
    assert.equal(384, stat.mode & 511)
    local peer <close> = program:peer()
    assert.equal("attached", peer:request "attach".type)
  end)

  it("goes when the program ends", function ()
    program:tell()
    assert.equal(0, program:ended())
    assert.is_nil((uv.fs_stat(program.path)))
  end)

  it("that was left behind is taken over", function ()
    program:kill()
    program:ended()
    assert.is_table(uv.fs_stat(program.path))
    local other <close> = serving.start(([[
      require("tracegrip").listen {path = %q}
      io.read()
    ]]):format(program.path))
    local peer <close> = other:peer()
    assert.equal("root", peer.hello.from)
  end)
end)

describe("a token", function ()
  local program
  local token = "0123456789abcdef0123456789abcdef"

  setup(function ()
    program = serving.start(([[
      require("tracegrip").listen {token = %q}
      io.read()
    ]]):format(token))
  end)

  teardown(function ()
    program:close()
  end)

  local function authenticate (peer, text)
    return peer:ask {to = "root", type = "authenticate", token = text}
  end

  it("lets in who knows it", function ()
    local peer <close> = program:peer()
    assert.is_true(peer.hello.traits.authenticate)
    assert.same({from = "root", type = "authenticated"},
                authenticate(peer, token))
    assert.equal("attached", peer:request "attach".type)
    assert.equal("authenticated", authenticate(peer, "x").type)
  end)

  it("comes with other requests in one piece", function ()
    local peer <close> = program:peer()
    peer:send({to = "root", type = "authenticate", token = token},
              {to = "root", type = "listTabs"})
    assert.equal("authenticated", peer:receive().type)
    assert.equal(1, #peer:receive().tabs)
  end)

  it("keeps others out, and tells nothing", function ()
    for _, packet in ipairs {
      {to = "root", type = "listTabs"}, {to = "trace1", type = "attach"},
      {to = "root", type = "authenticate"},
      {to = "root", type = "authenticate", token = ""},
      {to = "root", type = "authenticate", token = 7},
      {to = "root", type = "authenticate", token = token:sub(1, 31)},
      {to = "root", type = "authenticate", token = token .. "0"},
      {to = "root", type = "authenticate", token = token:upper()},
      {to = "tab1", type = "authenticate", token = token},
    } do
      local peer <close> = program:peer()
      peer:send(packet, {to = "root", type = "listTabs"})
      local reply = peer:receive()
      assert.equal("notAuthenticated", reply.error)
      assert.is_nil(reply.message:find(token, 1, true))
      assert.is_nil(peer:receive(1))
      assert.is_true(peer:hung_up())
    end
    assert.is_nil(program.err:find(token, 1, true))
  end)

  it("has to be short", function ()
    local peer <close> = program:peer()
    peer:raw(peers.bytes {to = "root", type = "authenticate", token = token,
                          more = ("x"):rep(5000)})
    assert.is_true(peer:hung_up())
  end)

  it("has to come soon, and strangers are few", function ()
    local strangers = {}
    for i = 1, 30 do
      strangers[i] = peers.connect {port = program.port}
    end
    peers.wait(function () return peers.connected(strangers) <= 16 end)
    assert.equal(16, peers.connected(strangers))
    strangers[1]:close()
    local peer
    peers.wait(function ()      -- until the server knows that one has gone
      peer = peers.connect {port = program.port}
      return peer:receive().error == nil
    end)
    assert.equal("authenticated", authenticate(peer, token).type)
    assert.is_true(strangers[2]:hung_up())
    assert.is_false(peer:hung_up(0.5))
    peer:close()
    for _, one in ipairs(strangers) do
      one:close()
    end
  end)
end)
