-- tracegrip dump and ps of LuaJIT: against what programs say of themselves, and
-- what nobody can say of compiled code.

local dkjson = require "dkjson"

local jits = require "spec.support.jits"
local jitstops = require "spec.support.jitstops"
local lookedat = require "spec.support.lookedat"
local randomstacks = require "spec.support.randomstacks"
local run = require "spec.support.run"
local stackwords = require "spec.support.stackwords"
local waiting = require "spec.support.waiting"

local here = jits.here()
local it = here[1] and it or function (sentence)
  pending(sentence .. ": there is no luajit here")
end

for _, interpreter in ipairs(here) do
  describe("a process of LuaJIT " .. interpreter.release, function ()
    it("shows the stacks and variables that it says it has", function ()
      for seed = 1, tonumber(os.getenv "SEEDS") or 3 do
        local code = randomstacks.program(seed)
        local ok, message = pcall(lookedat.with, interpreter.path, code,
                                  stackwords.compare)
        assert(ok, ("seed %d: %s\n%s"):format(seed, tostring(message), code))
      end
    end)

    it("shows them wherever frames are of other kinds than calls", function ()
      for place in pairs(jitstops.places) do
        local code = jitstops.program(place)
        local ok, message = pcall(lookedat.with, interpreter.path, code,
                                  stackwords.compare)
        assert(ok, place .. ": " .. tostring(message))
      end
    end)
  end)
end

local path = here[1] and here[1].path

local function names_of (coroutine)
  local names = {}
  for i, frame in ipairs(coroutine.frames) do
    names[i] = frame.name
  end
  return names
end

local function seen (code, words, use, options)
  lookedat.with(path, code, function (process)
    process:waiting()
    use(lookedat.dump(process.pid, words))
  end, options)
end

describe("a dump of LuaJIT", function ()
  it("says which one it is, in its document as for a person", function ()
    seen("say 'x' io.read()", {}, function (_, document)
      assert.equal("LuaJIT " .. here[1].release, document.lua)
      local words = require "tracegrip.cli.dump".format(document)[1]
      assert.truthy(words:find(", LuaJIT " .. here[1].release .. ", 1 state,",
                               1, true))
    end)
  end)

  it("names functions as traces do", function ()
    seen([[
      local M = {}
      package.loaded["my.module"] = M
      function M.listed () say 'x' io.read() end
      local Account = {}
      function Account:deposit () M.listed() return 1 end
      local t = setmetatable({}, {__unm = function () return
        Account:deposit() + 1 end})
      local function apply (f) local ok, r = pcall(f) return r end
      local function called () return (-t) end
      string.gsub("a", "a", function () apply(called) end)]], {},
         function (_, document)
      assert.same({"io.read", "my.module.listed", "Account:deposit", "__unm",
                   "called", "pcall", "apply", "(anonymous function)",
                   "string.gsub", "(main chunk)"},
                  {table.unpack(names_of(document.states[1].coroutines[1]),
                                1, 10)})
    end)
  end)

  it("shows values of every type, also at 0, and upvalues", function ()
    seen([[
      local counter = 41
      local function f ()
        counter = counter + 1
        local t = {[0] = "zero", "one", [2.5] = true, x = -7}
        local big, nothing = 2^53, nil
        say 'x' io.read()
        return t, big, nothing
      end
      f()]], {"--locals", "--upvalues"}, function (_, document)
      local frame = document.states[1].coroutines[1].frames[2]
      local rows = {}
      for _, v in ipairs(frame.locals) do
        rows[v.name] = require "tracegrip.cli.griptext"(v.value,
                                                        frame.objectPool)
      end
      assert.equal('{[0] = "zero", [1] = "one", [2.5] = true, x = -7}',
                   rows.t)
      assert.equal("9007199254740992", rows.big)
      assert.equal("nil", rows.nothing)
      local upvalues = {}
      for _, v in ipairs(frame.upvalues) do
        upvalues[v.name] = v.value
      end
      assert.equal(42, upvalues.counter)
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
    end)
  end)

  it("lists coroutines that are over with --all alone", function ()
    local code = [[
      local over = coroutine.create(function () end)
      coroutine.resume(over)
      local failed = coroutine.create(function () error "no" end)
      coroutine.resume(failed)
      local fresh = coroutine.create(function () end)
      say 'x' io.read()
      print(over, failed, fresh)]]
    seen(code, {}, function (_, document)
      assert.equal(2, #document.states[1].coroutines)
      assert.equal("suspended", document.states[1].coroutines[2].status)
      assert.equal(2, document.states[1].dead)
    end)
    seen(code, {"--all"}, function (_, document)
      assert.equal("dead", document.states[1].coroutines[4].status)
    end)
  end)
end)

-- A program in a loop that calls, without an end.
local loop = [[
local function leaf (n)
  local sum = 0
  for i = 1, n do
    sum = sum + i % 7
  end
  return sum
end
local function middle (n)
  local r = leaf(n)
  return r
end
say "x"
while true do
  middle(100000)
end]]

describe("a dump of LuaJIT that runs", function ()
  -- What it shows of the program, as soon as ready(coroutine).
  local function running (words, ready, use)
    lookedat.with(path, words[1] .. loop, function (process)
      process:word()
      local coroutine
      assert(waiting.till(function ()
        local _, document = lookedat.dump(process.pid, words[2])
        coroutine = document.states[1].coroutines[1]
        return ready(coroutine)
      end, run.patience))
      use(coroutine, process)
    end)
  end

  local function is_in_leaf (coroutine)
    return coroutine.frames[1] and coroutine.frames[1].name == "leaf"
  end

  it("finds frames and lines in the interpreter's registers", function ()
    running({"jit.off() ", {}}, is_in_leaf, function (coroutine)
      local frames = coroutine.frames
      assert.is_nil(coroutine.unknown)
      assert.is_nil(coroutine.compiled)
      assert.same({"leaf", "middle", "(main chunk)"},
                  {table.unpack(names_of(coroutine), 1, 3)})
      local lines = 6       -- of the prelude
      assert.truthy(frames[1].line >= lines + 1
                    and frames[1].line <= lines + 6, frames[1].line)
      assert.is_nil(frames[1].stale)
      assert.equal(frames[1].linedefined + 8, frames[2].line)
      assert.equal(frames[1].linedefined + 13, frames[3].line)
    end)
  end)

  it("tells of compiled code where that begins, and callers", function ()
    running({"", {}}, function (coroutine) return coroutine.compiled end,
            function (coroutine)
      local compiled, frames = coroutine.compiled, coroutine.frames
      assert.truthy(compiled.trace >= 1)
      assert.equal("program.lua", compiled.url)
      assert.truthy(compiled.line >= 7)
      assert.equal("(main chunk)", frames[#frames - 1].name)
      local text = table.concat(require "tracegrip.cli.dump".format {
        pid = 1, exe = "x", lua = "LuaJIT 2.1.0", stopped_ms = 0,
        states = {{coroutines = {coroutine}}}}, "\n")
      assert.truthy(text:find(("compiled code runs (trace %d, from program.lua"
        .. ":%d)"):format(compiled.trace, compiled.line), 1, true), text)
    end)
  end)

  it("tells no frames that it does not know: without a stop", function ()
    running({"jit.off() ", {"--no-stop"}}, function (coroutine)
      return coroutine.status == "running"
    end, function (coroutine, process)
      assert.is_true(coroutine.unknown)
      assert.same({}, coroutine.frames)
      local listed = run.command({run.build .. "/bin/tracegrip", "ps",
                                  "--json"}, {env = {LUA = run.host}})
      local found
      for _, row in ipairs(dkjson.decode(listed.stdout)) do
        found = row.pid == process.pid and row or found
      end
      assert.equal("LuaJIT " .. here[1].release, found.lua)
      assert.equal("(Lua code)", found.running.name)
    end)
  end)

  it("has no heap that could be shown, which is refused by name", function ()
    lookedat.with(path, "say 'x' io.read()", function (process)
      process:waiting()
      local result = run.command(
        {run.build .. "/bin/tracegrip", "heap", tostring(process.pid)},
        {env = {LUA = run.host}, cwd = process.directory})
      assert.equal(1, result.status)
      assert.truthy(result.stderr:find("LuaJIT " .. here[1].release
        .. " in it, which ps, dump, record and top look into, and nothing "
        .. "else", 1, true), result.stderr)
    end)
  end)
end)

describe("a dump of neovim", function ()
  local has_nvim = os.execute "command -v nvim >/dev/null 2>&1"
  local test = has_nvim and it or function (sentence)
    pending(sentence .. ": there is no nvim here")
  end

  test("shows the script that runs in it", function ()
    local code = [[
      local function ask (question) say(question) vim.loop.sleep(1000000) end
      local function outer () ask("which") return 1 end
      outer()]]
    lookedat.with("nvim", code, function (process)
      process:word()
      local frames
      assert(waiting.till(function ()
        local result, document = lookedat.dump(process.pid, {"--locals"})
        if not document then        -- a nvim of another Lua
          return result.stderr
        end
        frames = document.states[1].coroutines[1].frames
        return frames[1] and frames[1].name == "luv.sleep"
      end, run.patience))
      assert.same({"luv.sleep", "ask", "outer", "(main chunk)"},
                  names_of {frames = frames})
      assert.equal("which", frames[2].arguments[1].value)
    end, {"--headless", "-u", "NONE", "-c", "luafile program.lua"})
  end)
end)
