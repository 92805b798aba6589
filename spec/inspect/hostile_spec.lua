-- Whoever gets in may say anything: it costs an error, and nothing else.

local dkjson = require "dkjson"
local uv = require "luv"

local debugger = require "spec.support.debugger"
local protocol = require "tracegrip.inspect.protocol"

local it = debugger.needed(it, pending)

-- Runs until it is told to end, and says what it has then.
local program = [[
local x = {1, "two", {}}
local function f (...)
  local y = ...
  io.stderr:write "begun\n" while not done do end
  return y
end
f(x, nil)
print "done"
]]

local NAMES = {
  "accessorPropertiesOnly", "active", "arguments", "callFrameId",
  "caseSensitive", "columnNumber", "condition", "end", "expression",
  "functionDeclaration", "generatePreview", "isRegex", "lineNumber",
  "location", "maxDepth", "newValue", "nonIndexedPropertiesOnly", "objectGroup",
  "objectId", "patterns", "query", "returnByValue", "scopeNumber", "scriptId",
  "silent", "skip", "start", "state", "throwOnSideEffect", "timeout", "url",
  "urlRegex", "variableName"
}

local VALUES = {
  "null", "true", "false", "-1", "0", "1", "7", "1.5", "1e300", "1e400",
  "2147483648", "9223372036854775807", '""', '"x"', '"1"', '"1.1"', '"("',
  '"[a"', '"\\u0000"', '"%"', '"%s%d"', '"a = "', '"x.y.z"', '"-"', "[]",
  "{}", "[1]", '["("]', "[[[[]]]]", '{"a":1}', '"none"', '"all"',
  '{"scriptId":"1","lineNumber":3}', '{"scriptId":1,"lineNumber":"3"}',
  '{"scriptId":"1","lineNumber":-3,"columnNumber":{}}', '{"objectId":"1"}',
  '{"objectId":{}}', '{"value":{}}', '{"value":null}',
  '{"unserializableValue":"NaN"}', '{"unserializableValue":"-n"}',
  '[{"value":"k"},{"value":1}]', '"function(a, b) { this[a] = b; }"',
  '"' .. ("a"):rep(100000) .. '"', ("["):rep(50) .. ("]"):rep(50)
}

-- What lets it go on, or closes the door, is left out.
local LEFT = {["Debugger.resume"] = true, ["Debugger.stepInto"] = true,
              ["Debugger.stepOver"] = true, ["Debugger.stepOut"] = true,
              ["Debugger.continueToLocation"] = true,
              ["Debugger.disable"] = true, ["Debugger.pause"] = true}

local function all_methods ()
  local list = {}
  for method in pairs(protocol.commands) do
    list[#list + 1] = not LEFT[method] and method or nil
  end
  table.sort(list)
  return list
end

local function pick (list)
  return list[math.random(#list)]
end

-- JSON by hand: dkjson would not make what is wrong.
local function random_request (id, methods)
  local params = {}
  for _, name in ipairs(NAMES) do
    if math.random() < 0.8 then
      params[#params + 1] = ("%q:%s"):format(name, pick(VALUES))
    end
  end
  return ('{"id":%d,"method":%q,"params":{%s}}')
         :format(id, pick(methods), table.concat(params, ","))
end

-- All get an answer, and none says that something has failed in here.
local function assault (front, count)
  local methods = all_methods()
  for id = 1, count do
    local request = random_request(1000000 + id, methods)
    front.asked[1000000 + id] = request:match "\"method\":\"(.-)\""
    front:say(request)
    local reply = front:reply(1000000 + id)
    assert(reply.result or reply.error, request:sub(1, 500))
    assert.is_true(not reply.error or reply.error.code ~= -32603,
                   request:sub(1, 500) .. dkjson.encode(reply))
  end
end

-- Who has the domain of the heap keeps the program where it stands (heap.lua).
local function finish (front, command)
  front:ask "HeapProfiler.disable"
  front:ask "Debugger.disable"
  front:ask("Runtime.evaluate", {expression = "done = true"})
  assert.equal(0, command:ended())
  assert.equal("done\n", command.out)
end

describe("a debugger that says anything", function ()
  it("is answered while the program runs", function ()
    math.randomseed(17)
    debugger.attach(program, function (front, command)
      assault(front, 400)
      finish(front, command)
    end)
  end)

  it("is answered while the program stands still", function ()
    math.randomseed(18)
    debugger.attach(program, function (front, command)
      front:go "pause"
      assault(front, 800)
      finish(front, command)
    end)
  end)
end)

describe("a connection", function ()
  local function frame (opcode, text, final)
    local mask, masked = "\1\2\3\4", {}
    for i = 1, #text do
      masked[i] = string.char(text:byte(i) ~ mask:byte((i - 1) % 4 + 1))
    end
    return string.pack("BB", (final == false and 0 or 0x80) | opcode,
                       0x80 | #text) .. mask .. table.concat(masked)
  end

  local ASK = '{"id":900,"method":"Runtime.getIsolateId"}'

  it("may send pings, and messages in parts", function ()
    debugger.attach(program, function (front, command)
      front.handle:write(frame(9, "ping"))
      for i = 1, #ASK do
        local opcode = i == 1 and 1 or 0
        front.handle:write(frame(opcode, ASK:sub(i, i), i == #ASK))
      end
      assert.is_table(front:reply(900).result)
      finish(front, command)
    end)
  end)

  it("ends when it breaks the rules, and no other one does", function ()
    debugger.attach(program, function (front, command, address)
      for _, bytes in ipairs {
        frame(1, "\xff\xfe"),                           -- no UTF-8
        frame(2, ASK),                                  -- bytes are no text
        "\x81\x05hello",                                -- not masked
        frame(0, "x"),                                  -- part of nothing
        frame(3, "x"),                                  -- no such opcode
        frame(9, "x", false),                           -- a ping in parts
        "\xc1\x80\1\2\3\4",                             -- an extension
        "\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\1\2\3\4x", -- too long by far
        "\x81\xff\x00\x00\x00\x00\x02\x00\x00\x00\1\2\3\4x"   -- or a little
      } do
        local other = debugger.connect(address)
        other.handle:write(bytes)
        other:ended()
      end
      finish(front, command)
    end)
  end)

  it("may be left unfinished, by many at once", function ()
    debugger.attach(program, function (front, command, address)
      local port = tonumber(address:match ":(%d+)/")
      local handles = {}
      for i = 1, 50 do
        handles[i] = uv.new_tcp()
        handles[i]:connect("127.0.0.1", port, function ()
          handles[i]:write("GET /json HTTP/1.1\r\nHost:")
        end)
      end
      front:pass(0.1)
      assert.is_table(front:ask "Runtime.getIsolateId")
      for _, handle in ipairs(handles) do
        handle:close()
      end
      finish(front, command)
    end)
  end)
end)

describe("a program that runs", function ()
  -- Half a gigabyte in the end, of which the server keeps half at most.
  it("waits for no debugger that does not read", function ()
    debugger.attach([[
io.stderr:write "begun\n" while not go do end
local text = ("x"):rep(1 << 20)
for i = 1, 500 do
  local here = i
end
print "done"
]], function (front, command)
      front:stop_at(4, "/** DEVTOOLS_LOGPOINT */ console.log(text)")
      front:ask("Runtime.evaluate", {expression = "go = true"})
      front.handle:read_stop()
      assert.equal(0, command:ended())
      assert.equal("done\n", command.out)
    end)
  end)
end)
