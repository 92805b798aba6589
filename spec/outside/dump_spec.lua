-- tracegrip dump: against what programs say of themselves, for every Lua that
-- is here.

local lookedat = require "spec.support.lookedat"
local randomstacks = require "spec.support.randomstacks"
local run = require "spec.support.run"
local spied = require "spec.support.spied"
local stackwords = require "spec.support.stackwords"

for _, interpreter in ipairs(lookedat.interpreters()) do
  describe("a process of Lua " .. interpreter.release, function ()
    it("shows the stacks and variables that it says it has", function ()
      for seed = 1, tonumber(os.getenv "SEEDS") or 6 do
        local code = randomstacks.program(seed)
        local ok, message = pcall(lookedat.with, interpreter.path, code,
                                  stackwords.compare)
        assert(ok, ("seed %d: %s\n%s"):format(seed, tostring(message), code))
      end
    end)
  end)
end

describe("a dump", function ()
  local function seen (code, words, use)
    lookedat.with(run.lua, code, function (process)
      process:waiting()
      use(lookedat.dump(process.pid, words))
    end)
  end

  it("says how a process that waits was not stopped", function ()
    seen("say 'x' io.read()", {}, function (result, document)
      assert.equal(0, result.status)
      assert.equal(0, document.stopped_ms)
      assert.is_true(document.steady)
      assert.is_true(document.states[1].coroutines[1].waits)
    end)
  end)

  it("names functions as traces do", function ()
    seen([[
      local M = {}
      package.loaded["my.module"] = M
      function M.listed () say 'x' io.read() end
      local Account = {}
      function Account:deposit () M.listed() return 1 end
      local t = setmetatable({}, {__len = function () return
        Account:deposit() + 1 end})
      local _ = #t]], {}, function (_, document)
      local names = {}
      for i, frame in ipairs(document.states[1].coroutines[1].frames) do
        names[i] = frame.name
      end
      assert.same({"io.read", "my.module.listed", "Account:deposit", "__len",
                   "(main chunk)"}, {table.unpack(names, 1, 5)})
    end)
  end)

  it("hides what it is told to, wherever that is", function ()
    seen([[
      local function login (password)
        local copy = "the word is " .. password
        local t = {token = "t0ps3cret", other = "t0ps3cret!"}
        say 'x' io.read()
        return copy, t
      end
      login("opensesame")]], {"--locals", "--redact", "password", "--redact",
                              "token"}, function (result)
      assert.is_nil(result.stdout:find("opensesame", 1, true))
      assert.is_nil(result.stdout:find("t0ps3cret", 1, true))
      assert.truthy(result.stdout:find('"type":"redacted"', 1, true))
    end)
  end)

  it("shows upvalues on request", function ()
    seen([[
      local counter = 41
      local function f () counter = counter + 1 say 'x' io.read() end
      f()]], {"--upvalues"}, function (_, document)
      local frame = document.states[1].coroutines[1].frames[2]
      local found = {}
      for _, upvalue in ipairs(frame.upvalues) do
        found[upvalue.name] = upvalue.value
      end
      assert.equal(42, found.counter)
      assert.is_nil(frame.locals)
    end)
  end)

  it("lists coroutines that are over with --all alone", function ()
    local code = [[
      local over = coroutine.create(function () end)
      coroutine.resume(over)
      say 'x' io.read()
      print(over)]]
    seen(code, {}, function (_, document)
      assert.equal(1, #document.states[1].coroutines)
      assert.equal(1, document.states[1].dead)
    end)
    seen(code, {"--all"}, function (_, document)
      assert.equal("dead", document.states[1].coroutines[2].status)
    end)
  end)

  it("has no state that was closed, though memory still has it", function ()
    lookedat.with(run.lua, spied.cpath .. [[
      local other = require "states".new(true)
      other:run "kept = {} for i = 1, 100 do kept[i] = {} end"
      other:close()
      say 'x' io.read()]], function (process)
      process:waiting()
      local result, document = lookedat.dump(process.pid)
      assert.equal("", result.stderr)
      assert.equal(1, #document.states)
    end)
  end)
end)
