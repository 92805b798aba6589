-- The queue of requests, with a client that answers when it is told to.

local run = require "spec.support.run"

local it = run.needs("luv", it, pending)

local setup = [[
  local uv = require "luv"
  local sender = require "tracegrip.send.sender"
  local flying, flown = {}, 0
  local client = {close = function () end}
  function client:post (request, done)
    flown = flown + 1
    flying[#flying + 1] = {request = request, done = done}
  end
  local function answer (status, seconds, body)
    table.remove(flying, 1).done {status = status, message = "gone",
                                  seconds = seconds or 0, body = body or ""}
  end
  local s = sender.new({url = "URL", headers = {}}, client)
]]

local function says (code)
  local result = run.code(setup .. code)
  assert.equal("", result.stderr)
  return result.stdout
end

describe("a sender", function ()
  it("has four requests on their way and the others wait", function ()
    assert.equal("4\t10\n5\t9\n", says [[
      for i = 1, 10 do s:push("x", 1) end
      print(flown, s.bytes)
      answer(200)
      print(flown, s.bytes)
    ]])
  end)

  it("holds 32 MiB and drops what comes then", function ()
    assert.equal("32\t8\t33554432\tURL: too slow\n", says [[
      for i = 1, 40 do s:push(("x"):rep(1 << 20), 1) end
      print(s.pending, s.dropped, s.bytes, s.problem)
    ]])
  end)

  it("rests longer each time, up to half a minute, with a part of chance",
  function ()
    assert.equal("true\n", says [[
      local times = {}
      s.timer = {start = function (_, ms, _, go) times[#times + 1] = ms
                                                 s.go = go end,
                 close = function () end}
      s:push("x", 1)
      for i = 1, 8 do answer(503) s.go() end
      local ok = true
      for i, ms in ipairs(times) do
        local most = math.min(1000 * 2 ^ (i - 1), 30000)
        ok = ok and ms >= most / 2 and ms <= most
      end
      print(ok and #times == 8)
    ]])
  end)

  it("does not come back before Retry-After", function ()
    assert.equal("7000\n", says [[
      local slept
      s.timer = {start = function (_, ms) slept = ms end,
                 close = function () end}
      s:push("x", 1)
      answer(429, 7)
      print(slept)
    ]])
  end)

  -- A request of n things is so many characters, the target's 'halve' a cut.
  local halving = [[
    local halved = 0
    s.target.thing = "thing"
    s.target.halve = function (body)
      local n = #body // 2
      halved = halved + 1
      return body:sub(1, n), n, body:sub(n + 1), #body - n
    end
    local bodies = {}
    local function go (most)
      while flying[1] do
        local body = flying[1].request.body
        bodies[#bodies + 1] = body
        answer(#body > most and 413 or 200, 0, "too much")
      end
    end
  ]]

  it("sends what is too large in halves, in order", function ()
    assert.equal("abcdefgh abcd efgh ab cd ef gh\t8\t0\t0\t0\n", says(halving
      .. [[
      s:push("abcdefgh", 8)
      go(2)
      print(table.concat(bodies, " "), s.sent, s.dropped, s.bytes, s.pending)
    ]]))
  end)

  it("drops one thing that is too large, and says so", function ()
    assert.equal("0\t8\tURL: HTTP status 413 (1 thing in 1 byte)\t0\t0\n",
                 says(halving .. [[
      s:push("abcdefgh", 8)
      go(0)
      print(s.sent, s.dropped, s.problem, s.bytes, s.pending)
    ]]))
  end)

  it("does not try again what is as large as what was too large", function ()
    assert.equal("abcdefgh abcd efgh|ij kl|8\t0\tmn op\n", says(halving .. [[
      s:push("abcdefgh", 8)
      answer(413)
      local at = #bodies
      bodies[1] = "abcdefgh"
      go(4)
      local function since (from)
        return table.concat(bodies, " ", from)
      end
      io.write(since(1), "|")
      s.large = 3
      at = #bodies
      s:push("ijkl", 4)
      go(4)
      io.write(since(at + 1), "|", s.sent - 4, "\t", s.dropped, "\t")
      s.learned = uv.now() - 299000   -- it is a while ago
      at = #bodies
      s:push("mnop", 4)
      go(4)
      print(since(at + 1))
    ]]))
    assert.equal("ijkl\n", says(halving .. [[
      s.large, s.learned = 3, uv.now() - 301000
      s:push("ijkl", 4)
      go(4)
      print(table.concat(bodies, " "))
    ]]))
  end)

  it("drops what is too large if it cannot halve it", function ()
    assert.equal("0\t8\tURL: HTTP status 413 (8 requests in 8 bytes)\n", says [[
      s:push("abcdefgh", 8)
      answer(413)
      print(s.sent, s.dropped, s.problem)
    ]])
  end)

  it("counts what has no answer in time as dropped", function ()
    assert.equal("3\t4\tURL: no answer in time\n", says [[
      s:push("x", 3)
      answer(200)
      s:push("x", 4)
      s:finish(20, function () print(s.sent, s.dropped, s.problem) end)
      uv.run()
    ]])
  end)

  it("waits longer for one that takes some of it, if it is patient", function ()
    local code = [[
      for i = 1, 3 do s:push("x", 1) end
      local timer = uv.new_timer()
      timer:start(60, 60, function () answer(200) end)
      s:finish(100, function ()
        print(s.sent, s.dropped)
        timer:close()
      end, %s)
      uv.run()
    ]]
    assert.equal("3\t0\n", says(code:format "true"))
    assert.equal("1\t2\n", says(code:format "false"))
  end)

  it("is over at once when there is nothing to wait for", function ()
    assert.equal("over\n", says [[
      s:finish(1000000, function () print "over" end)
      uv.run()
    ]])
  end)
end)
