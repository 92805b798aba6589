-- Connection:snapshot against a server that says what each test wants.

local client = require "tracegrip.client"
local fake = require "spec.client.fake"

local HEAP = "heap1"

local function told (change)
  local packet = {from = HEAP, type = "tookSnapshot", objects = 3, bytes = 100,
                  state_bytes = 100, garbage = 0, distant = 0,
                  stopped_ms = 0.5, tries = 1}
  for name, value in pairs(change) do
    packet[name] = value ~= "none" and value or nil
  end
  return packet
end

-- What a client gets of a server that says these packets.
local function taken (...)
  local packets = {...}
  local server = fake.new {
    listTabs = function (s)
      s:send {from = "root", selected = 0,
              tabs = {{actor = "tab1", title = "x", traceActor = "trace1",
                       heapActor = HEAP}}}
    end,
    takeSnapshot = function (s)
      s:send({from = HEAP, type = "takingSnapshot"}, table.unpack(packets))
    end
  }
  local connection = assert(client.connect {port = server.port, timeout = 5})
  local reply = assert(connection:listTabs())
  local result, message, code = connection:snapshot(reply.tabs[1], {
    bytes = function () return true end
  })
  connection:close()
  server:close()
  return result, message, code
end

local ended = {from = HEAP, type = "endedSnapshot"}

describe("a heap snapshot that a server sends", function ()
  it("has the numbers of its result", function ()
    local result = assert(taken(told {}, ended))
    assert.equal(3, result.objects)
    assert.equal(0.5, result.stopped_ms)
  end)

  it("may be an older server's, who says nothing of distant", function ()
    assert.equal(100, assert(taken(told {distant = "none"}, ended)).bytes)
  end)

  for _, name in ipairs {"objects", "bytes", "state_bytes", "garbage",
                         "distant", "stopped_ms"} do
    for _, wrong in ipairs {"3", true, {}} do
      it(("is none with %s as a %s"):format(name, type(wrong)), function ()
        local result, message = taken(told {[name] = wrong}, ended)
        assert.is_nil(result)
        assert.matches("a snapshot's result without its numbers", message)
      end)
    end
  end

  it("is none with numbers that count nothing, or without one", function ()
    for _, change in ipairs {{objects = 1.5}, {bytes = -1},
                             {garbage = "none"}, {stopped_ms = "none"}} do
      assert.is_nil((taken(told(change), ended)))
    end
  end)

  it("has no end before its beginning", function ()
    local result, message = taken(ended)
    assert.is_nil(result)
    assert.matches("the end of no snapshot", message)
  end)
end)
