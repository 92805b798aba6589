-- Clients that break the rules, by mistake or on purpose: the program goes on,
-- the server goes on, and so do other clients.

local peers = require "spec.server.peer"
local serving = require "spec.server.serving"
local describe = require("spec.support.run").needs("luv", describe, pending)

local program, unfinished

-- A well-behaved client is served.
local function still_serves ()
  local peer <close> = program:peer()
  assert.equal("attached", peer:request "attach".type)
  assert.equal("startedTrace", peer:request "startTrace".type)
  assert.equal("stoppedTrace", peer:request "stopTrace".type)
  assert.equal("detached", peer:request "detach".type)
  assert.is_nil(program.status)
  assert.is_nil(program.err:find "server:")
end

local function hangs_up_on (bytes)
  local peer <close> = program:peer()
  peer:raw(bytes)
  assert.is_true(peer:hung_up(), bytes:sub(1, 40))
  assert.is_nil(peer:receive(0.01))
end

-- No answer, but the next request has one.
local function passes_over (text)
  local peer <close> = program:peer()
  peer:send(text, {to = "root", type = "echo"})
  assert.equal("echo", peer:receive().type, text:sub(1, 40))
end

describe("the server", function ()
  setup(function ()
    program = serving.start [[
      local tracegrip = require "tracegrip"
      assert(tracegrip.listen {stallTimeout = 3})
      local sleep = require "process".sleep
      local function f (x) for i = 1, 1000 do x = x + i end return x end
      while true do     -- most of the time nobody asks for more
        for i = 1, 40 do f(1) end
        sleep(0.001)
      end
    ]]
    unfinished = program:peer()
    unfinished:raw '100:{"to":"root",'
  end)

  teardown(function ()
    unfinished:close()
    program:close()
  end)

  it("hangs up on a header that is none", function ()
    for _, bytes in ipairs {
      "fluff30:27:{}", "27asd:{}", ":{}", "-1:{}", "+2:{}", " 2:{}", "0x2:{}",
      "2.0:{}", "bulk trace1 get 5:hello", "GET / HTTP/1.1\r\n\r\n",
      "\0\0\0\0", "\255\254", ("1"):rep(300)
    } do
      hangs_up_on(bytes)
    end
    still_serves()
  end)

  it("hangs up on a length beyond what a request may have", function ()
    for _, length in ipairs {
      1 << 20 | 1, 1 << 31, 1 << 40, "9223372036854775807",
      "9223372036854775808", ("9"):rep(34), ("0"):rep(190) .. "99999999"
    } do
      hangs_up_on(length .. ":{")
    end
    still_serves()
  end)

  it("passes over what is no JSON object", function ()
    for _, text in ipairs {
      "", "x", "{", "[]", "null", "1", '"text"', "{}{}", '{"to":"root"',
      "{'to':'root'}", '{"to":"root","type":"echo",}',
      '{"to":"root","x":"\255\254"}', '{"to":"root","x":"\192\175"}',
      '{"to":"root","x":"\237\160\128"}', '{"a":nan}', '{"a":01}',
      "\239\187\191{}"
    } do
      passes_over(text)
    end
    still_serves()
  end)

  it("passes over JSON that is nested too deep", function ()
    for _, depth in ipairs {33, 1000, 100000} do
      passes_over('{"to":"root","type":"echo","x":' .. ("["):rep(depth)
                  .. ("]"):rep(depth) .. "}")
    end
    local deep <close> = program:peer()
    deep:send('{"to":"root","type":"echo","x":' .. ('{"a":'):rep(20) .. "1"
              .. ("}"):rep(20) .. "}")
    assert.equal("echo", deep:receive().type)
    still_serves()
  end)

  it("has an answer to odd fields", function ()
    local peer <close> = program:peer()
    for _, text in ipairs {
      "{}", '{"to":[]}', '{"to":"root"}', '{"to":"","type":""}',
      '{"to":"root","type":"\\u0000"}', '{"to":"trace1","type":7}',
      '{"to":"trace1\\u0000","type":"attach"}', '{"to":"root","type":null}',
      '{"to":"root","type":"__index"}', '{"to":"__index","type":"attach"}',
      '{"to":"trace01","type":"attach"}', '{"to":"tab1","type":"close"}'
    } do
      peer:send(text)
      local packet = peer:receive()
      assert.is_string(packet.error, text)
      assert.is_string(packet.message, text)
      assert.is_string(packet.from, text)
    end
    peer:request "attach"
    for _, text in ipairs {
      '"trace":{"a":1}', '"trace":[["name"]]', '"trace":[null]',
      '"name":"a\\u0000b"', '"include":["["]', '"include":[1]',
      '"maxDepth":-1', '"maxDepth":1e300', '"buffer":-5', '"buffer":"1G"',
      '"duration":-1', '"duration":1e999', '"overflow":"explode"',
      '"valueDepth":"some"', '"redact":7', '"batch":1.5',
      '"batch":9e99', '"id":1', '"first":true'
    } do
      peer:send('{"to":"trace1","type":"startTrace",' .. text .. "}")
      local packet = peer:receive()
      assert.is_truthy(packet.error, text)
    end
    assert.equal("wrongState", peer:request "stopTrace".error)
  end)

  it("takes names of any kind, up to their length", function ()
    local peer <close> = program:peer()
    peer:request "attach"
    local name = ("\u{20ac}\"\\\n\127"):rep(146)
    local reply = peer:request("startTrace", {name = name, trace = {}})
    assert.equal(name, reply.name)
    reply = peer:request("stopTrace", {name = name})
    assert.equal(name, reply.name)
    reply = peer:request("startTrace", {name = name .. "123"})
    assert.equal("badParameterType", reply.error)
    assert.equal("'name' must not have more than 1024 bytes", reply.message)
  end)

  it("takes so many traces and no more", function ()
    local peer <close> = program:peer()
    peer:request "attach"
    for i = 1, 256 do
      local reply = peer:request("startTrace", {name = "t" .. i, trace = {},
                                                include = {"^none$"}})
      assert.equal("startedTrace", reply.type, reply.message)
    end
    assert.equal("tooManyTraces", peer:request "startTrace".error)
    assert.equal("startedTrace",
                 peer:request("startTrace", {name = "t1", trace = {},
                                             include = {"^none$"}}).type)
    assert.equal("detached", peer:request "detach".type)
  end)

  it("takes values of any length that a request may have", function ()
    local peer <close> = program:peer()
    local text = ("x"):rep((1 << 20) - 100)
    local reply = peer:ask {to = "root", type = "echo", text = text}
    assert.equal(text, reply.text)
  end)

  it("reads packets that come a byte at a time", function ()
    local peer <close> = program:peer()
    local bytes = peers.bytes {to = "root", type = "echo", x = "\u{20ac}"}
    for i = 1, #bytes do
      peer:raw(bytes:sub(i, i))
      peers.sleep(0.001)
    end
    assert.equal("\u{20ac}", peer:receive().x)
  end)

  it("forgets a client that has gone in the middle of a packet", function ()
    local half = program:peer()
    half:request "attach"
    half:raw '100:{"to":"root",'
    half:close()
    still_serves()
  end)

  it("answers a client that says its last word at once", function ()
    local peer <close> = program:peer()
    peer:send({to = "root", type = "echo", n = 1},
              {to = "root", type = "echo", n = 2})
    peer.socket:shutdown()
    assert.equal(1, peer:receive().n)
    assert.equal(2, peer:receive().n)
    assert.is_true(peer:hung_up())
  end)

  it("answers a thousand requests in one piece", function ()
    local peer <close> = program:peer()
    local bytes = peers.bytes {to = "root", type = "echo"}
    peer:raw(bytes:rep(1000))
    for _ = 1, 1000 do
      assert.equal("echo", peer:receive().type)
    end
  end)

  it("survives a thousand connections", function ()
    local list, before = {}, program:descriptors()
    for i = 1, 1000 do
      list[i] = peers.connect {port = program.port}
    end
    peers.wait(function ()
      return peers.connected(list) <= 64
             and program:descriptors() <= before + 64
    end)
    assert.is_true(peers.connected(list) <= 64)
    assert.is_true(program:descriptors() <= before + 64)
    for _, peer in ipairs(list) do
      peer:close()
    end
    peers.wait(function () return program:descriptors() <= before end)
    assert.is_true(program:descriptors() <= before)
    still_serves()
  end)

  it("drops a client that asks and does not read", function ()
    local deaf <close> = program:peer {deaf = true}
    local bytes = peers.bytes {to = "root", type = "echo",
                               text = ("x"):rep(100000)}
    for _ = 1, 300 do
      deaf:raw(bytes)
    end
    assert.is_true(peers.wait(function () return deaf:was_left() end))
    deaf:listen()
    assert.is_true(deaf:hung_up())
    assert.is_true(deaf.received < 20e6)
    still_serves()
  end)

  it("drops a client that traces and does not read", function ()
    local deaf <close> = program:peer()
    assert.equal("attached", deaf:request "attach".type)
    assert.equal("startedTrace", deaf:request "startTrace".type)
    deaf.socket:read_stop()
    local peer <close> = program:peer()
    peers.wait(function ()
      return peer:request "attach".type == "attached"
             and peer:request "detach" or peers.sleep(0.02)
    end)
    still_serves()
  end)

  -- Since the first of these tests began.
  it("does not wait for the other half of a packet", function ()
    assert.is_true(unfinished:hung_up())
    still_serves()
  end)

  it("keeps its memory over all this", function ()
    local limit = os.getenv "LD_PRELOAD" and 1000000 or 100000   -- make asan
    assert.is_true(tonumber(program:proc("VmRSS"):match "%d+") < limit)
  end)
end)
