-- Where debuggers come in: HTTP as Node.js answers it, the WebSocket, who is
-- let in; and what becomes of messages that make no sense.

local dkjson = require "dkjson"

local debugger = require "spec.support.debugger"
local handshake = require "tracegrip.inspect.handshake"
local protocol = require "tracegrip.inspect.protocol"
local run = require "spec.support.run"
local schema = require "spec.support.schema"
local served = require "spec.support.served"

local it = debugger.needed(it, pending)

local waiting = [[io.stderr:write 'begun\n' while not done do end]]

-- name -> parameters and results of a domain's commands, parameters of events,
-- properties of types
local function named (domain)
  local all = {}
  for _, kind in ipairs {"commands", "events", "types"} do
    for _, one in ipairs(domain[kind]) do
      local fields = table.move(one.returns or {}, 1, #(one.returns or {}),
                                #(one.parameters or {}) + 1,
                                {table.unpack(one.parameters or {})})
      all[one.name or one.id] = one.properties or fields
    end
  end
  return all
end

local function check_references (domains, domain, fields)
  for _, one in ipairs(fields) do
    local name = one["$ref"] or one.items and one.items["$ref"]
    local other, id = (name or ""):match "^(%w+)%.(%w+)$"
    assert(not name or domains[other or domain][id or name], name)
  end
end

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
    debugger.attach(waiting, function (front, _, address)
      local status, headers, body = get(address, "/json/list")
      assert.equal(200, status)
      assert.equal("application/json; charset=UTF-8",
                   headers["content-type"])
      local one = dkjson.decode(body)[1]
      assert.equal("node", one.type)
      assert.equal("app.lua", one.title)
      local script = front:event "Debugger.scriptParsed"
      while not script.url:find "/app%.lua$" do
        script = front:event "Debugger.scriptParsed"
      end
      assert.equal(script.url, one.url)
      assert.equal("ws://" .. address, one.webSocketDebuggerUrl)
      assert.matches("^devtools://", one.devtoolsFrontendUrl)
      assert.equal(body, select(3, get(address, "/json")))
    end)
  end)

  it("tells versions, methods, events and types", function ()
    debugger.attach(waiting, function (_, _, address)
      local _, _, body = get(address, "/json/version")
      assert.matches("^tracegrip/", dkjson.decode(body).Browser)
      _, _, body = get(address, "/json/protocol")
      local domains = {}
      for _, one in ipairs(dkjson.decode(body).domains) do
        domains[one.domain] = named(one)
      end
      assert.equal("Location",
                   domains.Debugger.continueToLocation[1]["$ref"])
      assert.equal("callFrames", domains.Debugger.paused[1].name)
      assert.equal("array", domains.Debugger.paused[1].type)
      assert.equal("CallFrame", domains.Debugger.paused[1].items["$ref"])
      assert.is_true(domains.Debugger.paused[3].optional)
      for domain, members in pairs(domains) do
        for _, fields in pairs(members) do
          check_references(domains, domain, fields)
        end
      end
    end)
  end)

  it("tells of nothing that the published protocol does not have",
     function ()
    if not schema.known() then
      return pending "no devtools-protocol here (make importers)"
    end
    -- but for what it has no words for, and a debug adapter needs
    local ours = {Lua = true, hitCondition = true, logExpressions = true,
                  ["stepInto.target"] = true,
                  ["runIfWaitingForDebugger.stop"] = true}
    local function is_ours (domain, name, field)
      return ours[domain] or ours[field] or ours[name .. "." .. field]
    end
    local function each_published (use)
      for _, one in ipairs(protocol.document().domains) do
        for name, fields in pairs(named(one)) do
          for _, field in ipairs(fields) do
            if not is_ours(one.domain, name, field.name) then
              use(one, name, field)
            end
          end
        end
      end
    end
    each_published(function (one, name, field)
      local there = schema.field(one.domain, name, field.name)
      assert.equal(there.type, field.type, name .. "." .. field.name)
      local type = there["$ref"]   -- with or without its own domain
      assert.equal(type and type:gsub("^" .. one.domain .. "%.", "") or nil,
                   field["$ref"], name .. "." .. field.name)
      assert.is_true(not there.optional == not field.optional
                     or field.optional, name .. "." .. field.name)
    end)
  end)

  it("lets in who names this machine and no page of another", function ()
    debugger.attach(waiting, function (_, _, address)
      local function status (headers, path, method)
        return (get(address, path or "/json/list", headers, method))
      end
      assert.equal(400, status {Host = "evil.example:80"})
      assert.equal(400, status {})
      assert.equal(400, status {Host = "[::1]evil.example"})
      assert.equal(400, status {Host = "127.0.0.1.evil.example"})
      assert.equal(200, status {Host = "localhost"})
      assert.equal(200, status {Host = "[::1]:9229"})
      assert.equal(403, status {Host = "localhost",
                                Origin = "http://evil.example"})
      assert.equal(403, status {Host = "localhost", Origin = "null"})
      assert.equal(403, status {Host = "localhost",
                                Origin = "http://[::1]evil.example"})
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

-- Lua hears of a signal when it runs: a wait in C must not be for ever.
describe("a program that waits for a debugger", function ()
  it("is ended by one Ctrl-C, with a debugger or without", function ()
    for _, attached in ipairs {false, true} do
      run.within(function (where)
        run.write(where .. "/app.lua", "print 'ran'")
        local command, address = debugger.start({"serve", "--inspect-brk=0",
                                                 "app.lua"}, where)
        if attached then
          debugger.connect(address):ask "Debugger.enable"
        end
        command:kill "sigint"
        assert.equal(130, command:ended())
        assert.equal("", command.out)
      end)
    end
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
      for _, params in ipairs {"[]", "[1]", "1", '"x"'} do
        front:say('{"id":99,"method":"Runtime.enable","params":'
                  .. params .. "}")
        front:ask "Runtime.getIsolateId"
        assert.equal(-32600, front.replies[99].error.code, params)
        front.replies[99] = nil
      end
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
                                {lineNumber = 1, urlRegex = "(?<=x)"}))
      assert.equal(-32000, code "Debugger.resume")
      assert.equal(-32000, code("Debugger.restartFrame",
                                {callFrameId = "1.1"}))
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

  it("that is not accepted is answered by why, and the end", function ()
    debugger.attach(waiting, function (_, _, address)
      local port, path = address:match ":(%d+)(/.*)$"
      -- what comes back for frames, each a kind, a length and a text
      local function answer (...)
        local frames = {}
        for i, one in ipairs {...} do
          local length = #one[3] < 126 and string.char(0x80 | #one[3])
                         or "\xff" .. string.pack(">I8", one[2])
          frames[i] = string.char(one[1]) .. length .. "\0\0\0\0" .. one[3]
        end
        local all = served.exchange(tonumber(port), ("GET %s HTTP/1.1\r\n"
          .. "Host: localhost\r\nUpgrade: websocket\r\n"
          .. "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
          .. "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
          :format(path) .. table.concat(frames))
        local kind, size, code = string.unpack(">BBI2",
                                               all:match "\r\n\r\n(.*)$")
        assert.equal("88 2", ("%x %d"):format(kind, size))
        return code
      end
      assert.equal(1003, answer {0x82, 1, "x"})
      assert.equal(1002, answer {0x09, 1, "x"})
      assert.equal(1002, answer {0x83, 1, "x"})
      assert.equal(1009, answer {0x81, 17 << 20, ("x"):rep(17 << 20)})
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
