-- The actor by itself, on a feed that does what the spec says: what needs
-- events at exact moments, or a feed that fails. spec/protocol has the rest,
-- on the real one.

local lfs = require "lfs"

local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$"
local tree = (here:sub(1, 1) == "/" and "" or lfs.currentdir() .. "/")
             .. here .. "/../.."

local types = {"name", "callsite", "time", "parameterNames", "arguments",
               "return", "throw", "yield", "location"}

-- A feed whose frames and ended traces are put there by the test.
local function fake_feed (listener)
  local feed = {listener = listener, running = {}, frames = {}, over = {},
                count = 0, opened = false}

  function feed:open ()
    assert(not self.opened)
    self.opened = true
  end

  function feed:close ()
    assert(self.opened)
    self.opened = false
    local list = {}
    for i = #self.running, 1, -1 do
      list[#list + 1] = {name = self.running[i]}
    end
    self.running, self.count, self.frames = {}, 0, {}
    return list
  end

  function feed:forget (name)
    for i, running in ipairs(self.running) do
      if running == name then
        table.remove(self.running, i)
        self.count = #self.running
        return name
      end
    end
    return nil, "no trace is named '" .. name .. "'", "noSuchTrace"
  end

  function feed:start (options)
    if options.maxDepth == "deep" then
      error("option 'maxDepth' must be a number", 0)
    end
    self.options = options
    local name = options.name or "Trace " .. self.count + 1
    self:forget(name)
    table.insert(self.running, name)
    self.count = #self.running
    return name
  end

  function feed:stop (name)
    return self:forget(name or self.running[#self.running])
  end

  function feed:packets ()
    return function ()
      return table.remove(self.frames, 1)
    end
  end

  function feed:ended ()
    local over = self.over
    self.over = {}
    for _, ended in ipairs(over) do
      self:forget(ended.name)
    end
    return over
  end

  -- For tests: frames with these names come in.
  function feed:frame (...)
    for _, name in ipairs {...} do
      table.insert(self.frames, {type = "enteredFrame", name = name})
    end
  end

  function feed:console (name)
    self.listener("flush")
    table.insert(self.running, name)
    self.count = #self.running
    self.listener("started", name, {"name"})
  end

  return feed
end

local function line (packet)
  if packet.error then
    return packet.error
  elseif packet.type == "traces" then
    local names = {}
    for i, frame in ipairs(packet.traces) do
      names[i] = frame.name
    end
    return "[" .. table.concat(names, " ") .. "]"
  elseif packet.type == "enteredFrame" then
    return packet.name
  end
  local text = packet.type
  for _, word in ipairs {packet.why or "", packet.name or ""} do
    text = word == "" and text or text .. " " .. word
  end
  return text
end

describe("an actor on a scripted feed", function ()
  local new, feed, actor, said, last

  setup(function ()
    package.loaded["tracegrip.core"] = {
      own = function () end,
      traceTypes = types, allTypes = types,
      feed = function (listener)
        feed = fake_feed(listener)
        return feed
      end,
    }
    new = dofile(tree .. "/lua/tracegrip/actor.lua").new
  end)

  teardown(function ()
    package.loaded["tracegrip.core"] = nil
  end)

  local function send (packet)
    last = packet
    table.insert(said, line(packet))
  end

  before_each(function ()
    said = {}
    actor = new {id = "a", send = function (packet) send(packet) end}
  end)

  local function ask (kind, fields)
    local packet = {to = "a", type = kind}
    for key, value in pairs(fields or {}) do
      packet[key] = value
    end
    actor:receive(packet)
  end

  local function tracing (...)
    ask "attach"
    for _, name in ipairs {...} do
      ask("startTrace", {name = name})
    end
    said = {}
  end

  it("sends frames before the reply that ends their trace", function ()
    tracing "one"
    feed:frame("f", "g")
    ask "stopTrace"
    assert.same({"f", "g", "stoppedTrace requested one"}, said)
    assert.equal("idle", actor.state)
  end)

  it("sends frames of before a start before its reply", function ()
    tracing "one"
    feed:frame "f"
    ask("startTrace", {name = "two"})
    assert.same({"f", "startedTrace requested two"}, said)
  end)

  it("says of a trace that ended by itself why, after its frames", function ()
    for _, why in ipairs {"overflow", "maxEvents", "duration"} do
      tracing "one"
      feed:frame "f"
      feed.over = {{name = "one", why = why}}
      actor:flush()
      assert.same({"f", "stoppedTrace " .. why .. " one"}, said)
      assert.equal("idle", actor.state)
      ask "detach"
    end
  end)

  it("answers a stop of a trace that had ended after telling so", function ()
    tracing "one"
    feed.over = {{name = "one", why = "maxEvents"}}
    ask "stopTrace"
    assert.same({"stoppedTrace maxEvents one", "wrongState"}, said)
  end)

  it("detaches with frames, reply, and each trace, latest first", function ()
    tracing("one", "two", "three")
    feed:frame "f"
    ask "detach"
    assert.same({"f", "detached", "stoppedTrace detached three",
                 "stoppedTrace detached two", "stoppedTrace detached one"},
                said)
    assert.equal("detached", actor.state)
    assert.is_false(feed.opened)
  end)

  it("passes a feed's refusal on and changes nothing", function ()
    tracing "one"
    ask("startTrace", {name = "one", maxDepth = "deep", batch = 3})
    assert.same({"badParameterType"}, said)
    assert.equal("option 'maxDepth' must be a number", last.message)
    feed:frame "f"
    actor:flush()
    assert.equal("f", said[2])
  end)

  it("passes options on, but not what is the protocol's", function ()
    ask "attach"
    ask("startTrace", {trace = {"name"}, batch = 2, maxDepth = 3})
    assert.same({trace = {"name"}, maxDepth = 3}, feed.options)
  end)

  describe("with batches", function ()
    it("packs at most that many frames, and the rest at a flush", function ()
      ask "attach"
      ask("startTrace", {name = "one", batch = 2.0})
      feed:frame("f", "g", "h")
      said = {}
      actor:flush()
      assert.same({"[f g]", "[h]"}, said)
      assert.equal("a", last.from)
      assert.is_nil(last.traces[1].from)
    end)

    it("keeps to the smallest size of the running traces", function ()
      ask "attach"
      ask("startTrace", {name = "one", batch = 3})
      ask("startTrace", {name = "two", batch = 2})
      ask("startTrace", {name = "three"})
      feed:frame("f", "g", "h")
      said = {}
      ask("stopTrace", {name = "two"})
      feed:frame("f", "g", "h")
      actor:flush()
      assert.same({"[f g]", "[h]", "stoppedTrace requested two", "[f g h]"},
                  said)
    end)

    it("forgets a batch size with the trace that asked for it", function ()
      ask "attach"
      ask("startTrace", {name = "one", batch = 2})
      ask("startTrace", {name = "one"})
      feed:frame("f")
      said = {}
      actor:flush()
      assert.same({"f"}, said)
    end)
  end)

  describe("whose send comes back", function ()
    it("answers in order, one reply to each", function ()
      local asked = false
      send = function (packet)
        table.insert(said, line(packet))
        if not asked then
          asked = true
          ask "startTrace"
          ask "stopTrace"
          ask "detach"
          table.insert(said, "(back)")
        end
      end
      ask "attach"
      assert.same({"attached", "(back)", "startedTrace requested Trace 1",
                   "stoppedTrace requested Trace 1", "detached"}, said)
    end)

    it("finishes a detach before the attach asked for meanwhile", function ()
      tracing("one", "two")
      send = function (packet)
        table.insert(said, line(packet))
        if packet.type == "detached" then
          ask "attach"
        end
      end
      ask "detach"
      assert.same({"detached", "stoppedTrace detached two",
                   "stoppedTrace detached one", "attached"}, said)
    end)

    it("keeps frames in order when it flushes", function ()
      for _, batch in ipairs {false, 2} do
        send = function (packet)
          table.insert(said, line(packet))
        end
        ask "attach"
        ask("startTrace", {name = "one", batch = batch or nil})
        feed:frame("f", "g", "h", "i", "j")
        said = {}
        send = function (packet)
          table.insert(said, line(packet))
          actor:flush()
        end
        ask "stopTrace"
        assert.equal(batch and "[f g] [h i] [j] stoppedTrace requested one"
                     or "f g h i j stoppedTrace requested one",
                     table.concat(said, " "))
        ask "detach"
      end
    end)
  end)

  describe("whose send fails", function ()
    local function failing ()
      send = function ()
        error({"connection lost"})
      end
    end

    local function detached ()
      assert.equal("detached", actor.state)
      assert.is_false(feed.opened)
      send = function (packet)
        table.insert(said, line(packet))
      end
      ask "attach"
      assert.equal("attached", said[#said])
    end

    it("drops its client and tells the caller of receive", function ()
      tracing "one"
      failing()
      local ok, err = pcall(ask, "stopTrace")
      assert.is_false(ok)
      assert.same({"connection lost"}, err)
      detached()
    end)

    it("drops its client and tells the caller of flush", function ()
      tracing "one"
      failing()
      feed:frame "f"
      assert.has_error(function () actor:flush() end, {"connection lost"})
      detached()
    end)

    it("drops its client, and the program's trace goes on", function ()
      tracing "one"
      failing()
      feed:frame "f"
      feed:console "two"
      detached()
    end)

    it("forgets requests that were waiting", function ()
      tracing "one"
      send = function ()
        send = function (packet)
          table.insert(said, line(packet))
        end
        ask "stopTrace"
        error "connection lost"
      end
      assert.is_false(pcall(ask, "startTrace"))
      assert.same({}, said)
      detached()
    end)
  end)

  describe("with frames that are bytes already", function ()
    -- Frames and what the listener is told, as they come; "|" is the mark.
    local items, marked

    before_each(function ()
      items, marked = {}, false
      actor = new {id = "a", send = function (packet) send(packet) end,
                   feed = function (listener)
        feed = fake_feed(listener)
        function feed:mark ()
          marked = true
        end
        function feed:frames (from, batch)
          while self.opened and items[1] and items[1] ~= "|" do
            local item = table.remove(items, 1)
            if type(item) == "string" then
              return ("%s %s %s"):format(from, batch, item)
            end
            listener(table.unpack(item))
          end
        end
        return feed
      end}
      send = function (packet)
        table.insert(said, type(packet) == "string" and packet or line(packet))
      end
    end)

    it("passes them on as they are, up to a mark, before a reply", function ()
      ask "attach"
      ask("startTrace", {name = "one", batch = 7})
      said, items = {}, {"f", "g", "|", "h"}
      ask("stopTrace")
      assert.is_true(marked)
      assert.same({"a 7 f", "a 7 g", "stoppedTrace requested one"}, said)
    end)

    it("tells what happened between them", function ()
      ask "attach"
      said = {}
      items = {"f", {"started", "two", {}}, "g", {"ended", "two", "memory"},
               {"stopped", "two"}}
      assert.is_true(actor:advance())
      assert.is_true(actor:advance())
      assert.is_false(actor:advance())
      assert.same({"a nil f", "startedTrace console.startTrace two", "a nil g",
                   "stoppedTrace memory two",
                   "stoppedTrace console.stopTrace two"}, said)
    end)

    it("says why it cannot be attached to, and stays detached", function ()
      function feed:open () -- luacheck: ignore self
        return "Already attached to a client"
      end
      ask "attach"
      assert.same({"wrongState"}, said)
      assert.equal("detached", actor.state)
      assert.is_false(actor:advance())
    end)

    it("loses its client over what it is told, and is detached", function ()
      ask "attach"
      items = {{"started", "two", {}}, "f"}
      send = function () error "connection lost" end
      assert.is_false(actor:advance())
      assert.equal("detached", actor.state)
    end)

    it("stops everything when it is closed", function ()
      tracing "one"
      actor:close()
      assert.same({}, said)
      assert.is_false(feed.opened)
      assert.equal("detached", actor.state)
    end)
  end)

  it("tells of console traces in order with frames", function ()
    tracing "one"
    feed:frame "f"
    feed:console "two"
    feed:frame "g"
    feed.listener "flush"
    feed:forget "two"
    feed.listener("stopped", "two")
    assert.same({"f", "startedTrace console.startTrace two", "g",
                 "stoppedTrace console.stopTrace two"}, said)
    assert.equal("tracing", actor.state)
  end)
end)
