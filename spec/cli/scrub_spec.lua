-- scrub: the recording without what is to be kept secret, all else equal.

local cjson = require "cjson"

local run = require "spec.support.run"

local tracegrip = run.build .. "/bin/tracegrip"

local program = [[
  local console = require "tracegrip.console"
  local function seen (text) return text end
  local function login (user, password, options) return user, password end
  seen("geheim-early")                    -- before it has a name
  for i = 1, 3 do
    seen({list = {"geheim" .. i}, n = i})
    pcall(login, "ann", "geheim" .. i, {pin = i})
    seen("<geheim" .. i .. ">")
  end
  login("bob", "geheim-early", {})
  local long = ("geheim"):rep(40)
  seen(long) login("cat", long) seen(long)
  coroutine.wrap(function (user, passcode) end)("dan", 4711471147114711)
  console.log("again", "geheim1")
  pcall(function (password) error("no " .. password) end, "geheim2")
  pcall(load, "return 'geheim3'", "=chunk")
  load("return 'geheim3'")()
  login("eve", {"geheim5", {deep = 1}})
  seen({geheim5 = true}) seen("geheim5")
  local function open (password, options) return options end
  local function account (user, token, line)    -- all of one kind
    return {user = user, token = token, line = line, column = 1, size = 1}
  end
  local mine = account("fay", 4711471147114711, 1)
  open(mine, account("gus", "geheim" .. 6, 2))
  open(account("hal", 4711471147114711, 3), mine)
  seen(mine) seen(account("ida", 4711471147114711, 4))
  mine.line, mine.user = 5, "geheim" .. 6
  seen(mine) open(mine, mine)
  local function held (user, token)             -- the same with objects
    return {user = user, token = {token}, friend = {user}, line = 1, size = 1}
  end
  for i = 1, 4 do
    local one = held("jo" .. i, "geheim" .. i)
    seen(one) open(one, held(one, "geheim" .. i)) seen(one.token) seen(one)
  end
]]

-- Records the program, and does something in that directory.
local function recorded (options, use, code)
  run.within(function (directory)
    local function command (...)
      return run.command({tracegrip, ...}, {cwd = directory})
    end
    run.write(directory .. "/p.lua", code or program)
    local words = {"record", "-o", "p.tgr"}
    table.move(options, 1, #options, #words + 1, words)
    table.move({"p.lua", "--token=geheim7", "--password", "geheim8", "x"},
               1, 5, #words + 1, words)
    assert.equal(0, command(table.unpack(words)).status)
    use(command, directory)
  end)
end

local hide = {"--redact", "^pass", "--redact", "^token$"}

local function scrub (command, ...)
  local words = {"scrub", "p.tgr", "-o", "s.tgr", ...}
  table.move(hide, 1, #hide, #words + 1, words)
  return command(table.unpack(words))
end

-- What info says, without what may differ.
local function about (command, file)
  local info = cjson.decode(command("info", "--json", file).stdout)
  info.path, info.scrubbed, info.arguments = nil, nil, nil
  info.room = nil       -- what takes it is told by the kinds of values
  return info
end

-- The packets with every value that is hidden as it was before.
local function lines (command, file)
  local list = {}
  for line in command("export", "packets", "-o", "-", file).stdout
              :gmatch "[^\n]+" do
    list[#list + 1] = cjson.decode(line)
  end
  return list
end

-- Whether 'b' is 'a' but for what is redacted, and the keys that are left out.
local function same (a, b, where)
  if type(b) == "table" and b.type == "redacted" then
    return
  elseif type(a) ~= "table" or type(b) ~= "table" then
    assert.same(a, b, where)
    return
  end
  for key in pairs(b) do
    if key ~= "truncated" and key ~= "objectPool" and key ~= "objectId" then
      same(a[key], b[key], where .. "." .. key)
    end
  end
end

-- No table shows what its 'token' is, not even which object.
local function shows_no_token (packets)
  local n = 0
  for _, packet in ipairs(packets) do
    local values = packet.arguments or packet["return"] or {}
    for _, object in ipairs(values.objectPool or {}) do
      local token = (object.ownProperties or {}).token
      if token then
        assert.equal("redacted", token.value.type)
        n = n + 1
      end
    end
  end
  assert.is_true(n >= 16, tostring(n))
end

describe("scrub", function ()
  for name, options in pairs {
    ["a recording"] = {}, ["one with sources"] = {"--sources"},
    ["a ring"] = {"--overflow", "ring", "--buffer", "1M"},
    ["one with deep values"] = {"--value-depth", "all", "--value-string",
                                "all"},
    ["one of short strings"] = {"--value-string", "8"},
  } do
    it("takes the bytes out of " .. name .. ", and nothing else", function ()
      recorded(options, function (command, directory)
        local before = run.read(directory .. "/p.tgr")
        assert.is_truthy(before:find("geheim1", 1, true))
        local result = scrub(command)
        assert.equal(0, result.status, result.stderr)
        assert.matches("^tracegrip: %d+ values taken out, of %d+ secrets\n$",
                       result.stderr)
        local after = run.read(directory .. "/s.tgr")
        assert.equal(before, run.read(directory .. "/p.tgr"))
        assert.equal(#before, #after)
        assert.is_nil(after:find("geheim%d"), after:match("geheim%d"))
        assert.is_nil(after:find("geheim-early", 1, true))
        assert.is_nil(after:find(("geheim"):rep(10), 1, true))
        assert.same(about(command, "p.tgr"), about(command, "s.tgr"))
        local old, new = lines(command, "p.tgr"), lines(command, "s.tgr")
        assert.equal(#old, #new)
        for i, packet in ipairs(old) do
          same(packet, new[i], tostring(i))
        end
        shows_no_token(new)
        local text = cjson.encode(new)
        assert.is_truthy(text:find('"ann"', 1, true))
        assert.is_nil(text:find("4711471147114711", 1, true))
        assert.is_truthy(text:find('"type":"redacted"', 1, true))
      end)
    end)
  end

  it("says so in the recording, and hides arguments of the program", function ()
    recorded({}, function (command)
      scrub(command)
      local info = cjson.decode(command("info", "--json", "s.tgr").stdout)
      assert.is_true(info.scrubbed)
      assert.same({"--token=*******", "--password", "*******", "x"},
                  info.arguments)
      assert.is_false(cjson.decode(
        command("info", "--json", "p.tgr").stdout).scrubbed)
      assert.matches("scrubbed: +values have been taken out",
                     command("info", "s.tgr").stdout)
    end)
  end)

  it("takes one that was cut off, wherever", function ()
    recorded({}, function (command, directory)
      local whole = run.read(directory .. "/p.tgr")
      for _, size in ipairs {5000, 8300, #whole - 1500, #whole - 300,
                             #whole - 1} do
        run.write(directory .. "/p.tgr", whole:sub(1, size))
        local result = scrub(command, "--force")
        assert.equal(0, result.status, result.stderr)
        local after = run.read(directory .. "/s.tgr")
        assert.equal(size, #after)
        -- the name of a chunk may be there without the call that told of it
        assert.is_nil(after:gsub("return 'geheim3'", ""):find("geheim%d"))
        assert.same(about(command, "p.tgr"), about(command, "s.tgr"))
      end
    end)
  end)

  it("has a preset, and tells programs", function ()
    recorded({}, function (command, directory)
      local result = command("scrub", "p.tgr", "--json", "-o", "s.tgr",
                             "--redact-preset", "secrets")
      assert.equal(0, result.status, result.stderr)
      local told = cjson.decode(result.stdout)
      assert.is_true(told.values > told.secrets and told.secrets > 5)
      assert.is_nil(run.read(directory .. "/s.tgr"):find("geheim%d"))
    end)
  end)

  it("refuses what would destroy something", function ()
    recorded({}, function (command, directory)
      local before = run.read(directory .. "/p.tgr")
      for _, output in ipairs {"p.tgr", "./p.tgr", "link"} do
        assert(os.execute(("ln -sf p.tgr %s/link"):format(directory)))
        local result = command("scrub", "p.tgr", "-o", output, "--force",
                               "--redact", "x")
        assert.equal(1, result.status)
        assert.equal(("tracegrip: %s is the recording itself (-o writes "
                      .. "elsewhere)\n"):format(output), result.stderr)
      end
      run.write(directory .. "/other", "other")
      local result = command("scrub", "p.tgr", "-o", "other", "--redact", "x")
      assert.equal(1, result.status)
      assert.equal("tracegrip: other is there already (--force replaces it)\n",
                   result.stderr)
      assert.equal("other", run.read(directory .. "/other"))
      assert.equal(before, run.read(directory .. "/p.tgr"))
    end)
  end)

  it("says what it is not told, and what is no recording", function ()
    recorded({}, function (command)
      local result = command("scrub", "p.tgr", "-o", "s.tgr")
      assert.equal(2, result.status)
      assert.equal("tracegrip: what is to be hidden? --redact PATTERN or "
                   .. "--redact-preset secrets\n", result.stderr)
      result = command("scrub", "p.lua", "-o", "s.tgr", "--redact", "x")
      assert.equal(1, result.status)
      assert.equal("tracegrip: p.lua: not a recording\n", result.stderr)
      result = command("scrub", "p.tgr", "-o", "no/s.tgr", "--redact", "x")
      assert.equal(1, result.status)
      assert.matches("^tracegrip: no/s.tgr%S*: No such file or directory\n$",
                     result.stderr)
    end)
  end)
end)
