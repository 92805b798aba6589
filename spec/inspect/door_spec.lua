-- Where debuggers come in: HTTP as Node.js answers it, the WebSocket, who is
-- let in; and what becomes of messages that make no sense.

local dkjson = require "dkjson"

local debugger = require "spec.support.debugger"
local handshake = require "tracegrip.inspect.handshake"
local run = require "spec.support.run"
local served = require "spec.support.served"

local it = debugger.needed(it, pending)

local waiting = "while not done do end"

local function get (address, path, headers, method)
  local port = address:match ":(%d+)"
  headers = headers or {Host = "127.0.0.1:" .. port}
  local lines = {("%s %s HTTP/1.1"):format(method or "GET", path)}
  for name, value in pairs(headers) do
    lines[#lines + 1] = name .. ": " .. value
  end
  return served.parse(served.exchange(tonumber(port),
                                      table.concat(lines, "\r\n")
                                      .. "\r\n\r\n"))
end

describe("the door", function ()
  it("tells what there is to debug", function ()
    debugger.attach(waiting, function (_, _, address)
      local status, headers, body = get(address, "/json/list")
      assert.equal(200, status)
      assert.equal("application/json; charset=UTF-8",
                   headers["content-type"])
      local one = dkjson.decode(body)[1]
      assert.equal("node", one.type)
      assert.equal("app.lua", one.title)
      assert.equal("ws://" .. address, one.webSocketDebuggerUrl)
      assert.matches("^devtools://", one.devtoolsFrontendUrl)
      assert.equal(body, select(3, get(address, "/json")))
    end)
  end)

  it("tells versions and methods", function ()
    debugger.attach(waiting, function (_, _, address)
      local _, _, body = get(address, "/json/version")
      assert.matches("^tracegrip/", dkjson.decode(body).Browser)
      _, _, body = get(address, "/json/protocol")
      local domains = dkjson.decode(body).domains
      assert.equal("Debugger", domains[1].domain)
      assert.equal("continueToLocation", domains[1].commands[1].name)
    end)
  end)

  it("lets in who names this machine and no page of another", function ()
    debugger.attach(waiting, function (_, _, address)
      local function status (headers, path, method)
        return (get(address, path or "/json/list", headers, method))
      end
      assert.equal(400, status {Host = "evil.example:80"})
      assert.equal(400, status {})
      assert.equal(200, status {Host = "localhost"})
      assert.equal(200, status {Host = "[::1]:9229"})
      assert.equal(403, status {Host = "localhost",
                                Origin = "http://evil.example"})
      assert.equal(403, status {Host = "localhost", Origin = "null"})
      assert.equal(200, status {Host = "localhost",
                                Origin = "http://127.0.0.1:9333"})
      assert.equal(200, status {Host = "localhost",
                                Origin = "devtools://devtools"})
      assert.equal(404, status({Host = "localhost"}, "/nobody"))
      assert.equal(405, status({Host = "localhost"}, nil, "POST"))
      local id = address:match "(/.*)$"
      assert.equal(400, status({Host = "localhost"}, id))
    end)
  end)

  it("turns away what is no request", function ()
    debugger.attach(waiting, function (_, _, address)
      local port = tonumber(address:match ":(%d+)")
      for _, text in ipairs {"rubbish\r\n\r\n", "GET / HTTP/1.0\r\n\r\n",
                             "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                             ("x"):rep(20000)} do
        assert.equal(400, (served.parse(served.exchange(port, text))))
      end
    end)
  end)

  it("asks for a token where it has one", function ()
    run.within(function (where)
      run.write(where .. "/app.lua", waiting)
      local command, address = debugger.start({"serve", "--inspect=0",
                                               "app.lua"}, where,
                                              {TRACEGRIP_TOKEN = "secret"})
      local status = get(address, "/json/list")
      assert.equal(403, status)
      assert.equal(200, (get(address, "/json/list?token=secret")))
      local front = debugger.connect(address)
      assert.is_table(front:ask "Runtime.getIsolateId")
      command:kill "sigkill"
      command:ended()
    end)
  end)

  it("computes what RFC 6455 has as its example", function ()
    assert.equal("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
                 handshake.accept "dGhlIHNhbXBsZSBub25jZQ==")
  end)
end)

describe("a message", function ()
  it("that makes no sense is answered by an error", function ()
    debugger.attach(waiting, function (front)
      local function refusal (text)
        local before = #front.orphans
        front:say(text)
        front:ask "Runtime.getIsolateId"
        return front.orphans[before + 1].error.code
      end
      assert.equal(-32700, refusal "rubbish")
      assert.equal(-32700, refusal "7")
      assert.equal(-32700, refusal(("["):rep(5000)))
      assert.equal(-32600, refusal "{}")
      assert.equal(-32600, refusal '{"id":"1","method":"Runtime.enable"}')
      local function code (method, params)
        return select(2, front:ask(method, params)).code
      end
      assert.equal(-32601, code "Network.enable")
      assert.equal(-32602, code "Runtime.evaluate")
      assert.equal(-32602, code("Runtime.evaluate", {expression = 7}))
      assert.equal(-32602, code("Debugger.setBreakpointByUrl",
                                {lineNumber = -1, url = ""}))
      assert.equal(-32602, code("Debugger.setBreakpointByUrl",
                                {lineNumber = 1}))
      assert.equal(-32000, code("Debugger.setBreakpointByUrl",
                                {lineNumber = 1, urlRegex = "(?=x)"}))
      assert.equal(-32000, code "Debugger.resume")
      assert.equal(-32000, code "Debugger.restartFrame")
      assert.equal(-32000, code("Debugger.getScriptSource",
                                {scriptId = "999"}))
      assert.equal(-32000, code("Runtime.getProperties",
                                {objectId = "999"}))
    end)
  end)

  it("that breaks the rules of WebSocket ends the connection", function ()
    debugger.attach(waiting, function (_, _, address)
      local other = debugger.connect(address)
      other.handle:write("\xff\xff\xff\xff")
      other:ended()
      local closed = debugger.connect(address)
      assert.is_table(closed:ask "Runtime.getIsolateId")
    end)
  end)
end)

describe("a debugger that goes away", function ()
  it("lets the program go on", function ()
    debugger.debug("print 'ran'", function (front, _, command)
      front:close()
      assert.equal(0, command:ended())
      assert.equal("ran\n", command.out)
    end)
  end)

  it("takes its breakpoints with it, and leaves those of others", function ()
    debugger.debug("for i = 1, 3 do\n  print(i)\nend\nprint 'end'\n",
                   function (front, _, command, address)
      local other = debugger.connect(address)
      other:ask "Debugger.enable"
      assert.equal("other", other:event "Debugger.paused".reason)
      other:ask("Debugger.setBreakpointByUrl", {
        urlRegex = "app\\.lua$", lineNumber = 3
      })
      front:stop_at(2)
      front:go "resume"
      front:close()
      other:event "Debugger.paused"
      other:post "Debugger.resume"
      local at = other:event "Debugger.paused"
      assert.equal(3, at.callFrames[1].location.lineNumber)
      other:ask "Debugger.resume"
      assert.equal(0, command:ended())
    end)
  end)
end)
