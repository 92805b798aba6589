-- What is hidden by its name stays hidden where it is passed on.

local conform = require "spec.support.conform"
local run = require "spec.support.run"

local hidden = {redact = {"^pass", "^token"}}

-- The packets of a program as text, in which "geheim..." is what is to be
-- hidden.
local function traced (program, options)
  local result = conform.run(program, {options = options or hidden})
  assert.is_true(result.ok, result.message)
  return run.literal(result[1].packets)
end

local function keeps (program, options)
  local text = traced(program, options)
  assert.is_nil(text:find("geheim", 1, true), text)
  assert.is_truthy(text:find("redacted", 1, true), text)
  return text
end

describe("what a hidden parameter is given", function ()
  it("is hidden in pcall, which passes it on", function ()
    conform.check([[
      local function login (user, password) return true end
      start()
      pcall(login, "ann", "geheim1")
      pcall(login, "bob", 17)
    ]], [[
      > pcall(#1 function login, "ann", redacted)
        > login("ann", redacted)
        < login return true
      < pcall return true, true
      > pcall(#1 function login, "bob", redacted)
        > login("bob", redacted)
        < login return true
      < pcall return true, true
    ]], {options = hidden})
  end)

  for name, call in pairs {
    xpcall = [[xpcall(login, print, "ann", "geheim1")]],
    ["pcall of pcall"] = [[pcall(pcall, pcall, login, "ann", "geheim1")]],
    ["coroutine.resume"] =
      [[coroutine.resume(coroutine.create(login), "ann", "geheim1")]],
    ["pcall of resume"] =
      [[pcall(coroutine.resume, coroutine.create(login), "ann", "geheim1")]],
    ["coroutine.wrap"] = [[coroutine.wrap(login)("ann", "geheim1")]],
    ["pcall of what wrap gave"] =
      [[pcall(coroutine.wrap(login), "ann", "geheim1")]],
    ["an object that is called"] =
      [[setmetatable({}, {__call = login})("geheim1")]],
    ["pcall of such an object"] =
      [[pcall(setmetatable({}, {__call = login}), "geheim1")]],
    rawset = [[rawset({}, "password", "geheim1")]],
    ["pcall of rawset"] = [[pcall(rawset, {}, "password", "geheim1")]],
    rawget = [[rawget(setmetatable({password = "geheim1"}, {}), "password")]],
    pairs = [[for _ in pairs {password = "geheim1"} do end]],
    ["os.getenv"] = [[os.getenv("passgeheim")]],
    __newindex = [[setmetatable({}, {__newindex = function (t, k, v) end})
                   .password = "geheim1"]],
    __index = [[local _ = setmetatable({}, {
                  __index = function (t, k) return "geheim1" end}).password]],
    ["a result"] = [[local function f (password) return password end
                     f("geheim1")]],
    ["a yield and what resume gives"] =
      [[coroutine.wrap(function (password) coroutine.yield(1, password) end)
        ("geheim1")]],
    ["an error"] =
      [[pcall(function (password) error(password) end, "geheim1")]],
    ["an error's message"] =
      [[pcall(function (password) error("not " .. password) end, "geheim1")]],
    ["a longer string"] = [[login("ann", "geheim1")
                            string.format("%s:%s", "ann", "geheim1")]],
    ["a long string that is cut"] =
      [[login("ann", "geheim1")
        string.rep(string.rep("x", 250) .. "geheim1", 2)]],
    ["a key of a table"] = [[login("ann", "geheim1") login({geheim1 = true})]],
    ["another table"] = [[login("ann", {user = {"geheim1"}})
                          login({"geheim1", {"geheim1"}})]],
    ["the same list, before it"] = [[login("geheim1", "geheim1")]],
    ["the same table"] = [[login({"geheim1", password = "geheim1"})]],
  } do
    it("is hidden in " .. name, function ()
      local program = "local function login (user, password) end start() "
      local environment = {passgeheim = "geheim1"}
      local options = {redact = {"^pass"}, valueDepth = 2}
      local result = conform.run(program .. call,
                                 {options = options, env = environment})
      assert.is_true(result.ok, result.message)
      local text = run.literal(result[1].packets)
      assert.is_nil(text:gsub("passgeheim", ""):find("geheim", 1, true), text)
    end)
  end

  it("is hidden when arguments are not recorded", function ()
    keeps([[
      local function f (password) return password end
      start()
      f("geheim1")
    ]], {redact = {"^pass"}, trace = {"name", "return"}})
  end)

  it("hides nothing else", function ()
    conform.check([[
      local function login (user, password) return user end
      start()
      login("ann", "geh")
      login("geh", true)
      rawset({}, "user", "ann")
    ]], [[
      > login("ann", redacted)
      < login return "ann"
      > login("geh", redacted)
      < login return "geh"
      > rawset(#1{}, "user", "ann")
      < rawset return #1{user = "ann"}
    ]], {options = hidden})
  end)

  it("tells that a property is left out whose key is hidden", function ()
    local text = keeps([[
      local function f (t, token) end
      start()
      f({}, "geheim1")
      f({geheim1 = {1}, other = 2})
    ]])
    assert.is_truthy(text:find('["truncated"] = true', 1, true), text)
    assert.is_truthy(text:find("other", 1, true), text)
  end)

  it("hides the value of a key that is too long to be read", function ()
    keeps([[
      local function f (t) end
      start()
      f({[("x"):rep(5000)] = "geheim1"})
    ]])
  end)

  it("forgets those that were not met for longest", function ()
    local text = traced([[
      local function login (password) return password end
      start()
      for i = 1, 5000 do login("geheim" .. i) end
    ]], {redact = {"^pass"}, include = {"login"}})
    assert.is_nil(text:find("geheim", 1, true))
  end)
end)

describe("redactPreset", function ()
  it("hides what is usual for secrets, whatever its case", function ()
    local text = keeps([[
      local function f (PASSWORD, apiKey, user_token, pwd) end
      local function show (t) end
      start()
      f("geheim1", "geheim2", "geheim3", "geheim4")
      show({Authorization = "geheim5", Cookie = "geheim6", ["X-API-Key"] = 7,
            AWS_SECRET_ACCESS_KEY = "geheim8", session_id = "geheim9",
            user = "ann", passed = 12, compass = "north"})
    ]], {redactPreset = "secrets"})
    assert.is_truthy(text:find('"ann"', 1, true))
    assert.is_truthy(text:find('"north"', 1, true))
  end)

  it("goes with patterns of one's own, which may be of any case", function ()
    local text = keeps([[
      local function show (t) end
      start()
      show({IBAN = "geheim1", ["Iban2"] = "geheim2", secret = "geheim3",
            xIban = "DE"})
    ]], {redactPreset = "secrets", redact = "^iban[%d]?$",
         redactIgnoreCase = true})
    assert.is_truthy(text:find('"DE"', 1, true))
  end)

  it("is one that there is", function ()
    local result = conform.run("start()", {options = {redactPreset = "all"}})
    assert.is_false(result.ok)
    assert.matches("option 'redactPreset': \"secrets\" expected, got all",
                   result.message, 1, true)
  end)
end)
