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

-- A program that first tells all stacks that it can have, function by function
-- with the line that is at work, and then runs compiled: calls in calls,
-- methods, extra arguments, a protected call, metamethods, tail calls,
-- recursion, allocations, a coroutine.
local inlining = [[
jit.off()
local t, Account, Pair = {}, {}, {}
for i = 1, 64 do t[i] = i end
local function store (i)
  local k = i % 61 + 1
  if k > 30 then
    t[k] = t[64 - k] * 0.5 + 1
  else
    t[k] = 2
  end
end
local function twice (i)
  store(i)
  store(i + 1)
end
function Account:add (i)
  twice(i)
  local mine = i + 9
  twice(mine)
  return mine
end
Pair.__index = function (_, k) t[1] = t[1] % 7 + 1 return k end
Pair.__add = function (a, b)
  local r = t[2] + 1
  t[2] = r % 5
  return a, b
end
local pair = setmetatable({}, Pair)
local function pass (...)
  local r = Account.add(...)
  return r
end
local function guarded (i)
  local ok, r = pcall(pass, Account, i)
  return select("#", ok, r)
end
local function tail (i) return twice(i) end
local function deep (n)
  t[3] = n
  if n == 0 then return 0 end
  local r = deep(n - 1)
  return r + 1
end
local function allocate (i)
  Account.last = {i, "a" .. i % 100}
  return #Account.last
end
local resume = coroutine.wrap(function ()
  while true do
    for j = 1, 50 do store(j) end
    coroutine.yield()
  end
end)
local function each (i)
  for j = 1, 20 do store(j + i) end
  for k in ipairs(t) do if k > 10 then break end twice(k) end
end
local function body (i)
  local r = pass(Account, i) + guarded(i) + #tostring(pair[i])
  local s = pair + pair
  tail(i)
  allocate(i)
  each(i)
  resume()
  return r + deep(i % 30) + (s == pair and 1 or 0)
end
local stacks, getinfo = {}, debug.getinfo
local function note ()
  local words, level = {}, 2
  local info = getinfo(level, "Sl")
  while info do
    words[level - 1] = info.what == "C" and "C"
                       or info.linedefined .. ":" .. info.currentline
    level = level + 1
    info = getinfo(level, "Sl")
  end
  stacks[table.concat(words, " ")] = true
end
local function tell ()
  debug.sethook()
  local list = {}
  for stack in pairs(stacks) do list[#list + 1] = stack end
  say(table.concat(list, "\n"))
  jit.on()
end
debug.sethook(note, "", 1)
local rounds = 0
while true do
  rounds = rounds + 1
  if rounds == 100 then tell() end
  body(rounds)
end]]

-- Of the innermost function the line may be next to the one at work.
local function without_line (stack)
  return (stack:gsub("^(%d+):[%w?]+", "%1"))
end

local function stacks_of (word)
  local set = {}
  for stack in word:gmatch "[^\n]+" do
    set[without_line(stack)] = true
  end
  return set
end

-- Above the innermost function of Lua there may be those in C that it has
-- called, which nobody was told of.
local function stack_of (coroutine)
  local words = {}
  for _, frame in ipairs(coroutine.frames) do
    if frame.kind ~= "C" then
      words[#words + 1] = frame.linedefined .. ":" .. (frame.line or "?")
    elseif words[1] then
      words[#words + 1] = "C"
    end
  end
  return table.concat(words, " ")
end

local function has_inlined (coroutine)
  local first = coroutine.frames[1]
  return first and first.inlined or false
end

describe("a dump of LuaJIT in compiled code", function ()
  local core = require "tracegrip.core"

  -- Of as many dumps those with functions that are inlined; none may be
  -- impossible.
  local function look (target, possible, times)
    local inlined = {}
    for i = 1, times do
      local document = assert(core.dump(target, {locals = true}))
      local coroutine = document.states[1].coroutines[1]
      local stack = stack_of(coroutine)
      assert(coroutine.unknown or stack == ""
             or possible[without_line(stack)], ("look %d: %s"):format(i, stack))
      if has_inlined(coroutine) then
        inlined[#inlined + 1] = coroutine
      end
    end
    return inlined
  end

  it("has the functions that are inlined, and no stack that cannot be",
     function ()
    lookedat.with(path, inlining, function (process)
      local possible = stacks_of(process:word())
      local inlined
      assert(waiting.till(function ()
        inlined = look(process.pid, possible, 100)
        return #inlined >= 10
      end, run.patience))
      for _, coroutine in ipairs(inlined) do
        local frame = coroutine.frames[1]
        assert.is_true(coroutine.compiled.trace > 0)
        assert.is_true(frame.near)
        assert.is_true(frame.line >= frame.linedefined)
        -- what registers hold is not on the stack
        for _, variable in ipairs(frame.locals) do
          assert.is_true(variable.unknown)
          assert.is_nil(variable.value)
        end
      end
    end)
  end)

  it("has them in a core", function ()
    if not lookedat.has_cores then
      return            -- of what a sanitizer has mapped a core fills the disk
    end
    lookedat.with(path, inlining, function (process)
      local possible = stacks_of(process:word())
      assert(waiting.till(function ()
        return #look(process.pid, possible, 20) > 0
      end, run.patience))
      assert(waiting.till(function ()
        return #look(lookedat.core_of(process), possible, 1) > 0
      end, run.patience))
    end)
  end)

  it("has them while a call of the FFI waits in it, which is not stopped",
     function ()
    lookedat.with(path, [[
      local module = "ffi"
      local ffi = require(module)
      ffi.cdef "int poll (void *, unsigned long, int);"
      local C = ffi.C
      local function nap (ms)
        if ms < 0 then return 0 end
        local r = C.poll(nil, 0, ms)
        return r + 1
      end
      local function outer (ms) local r = nap(ms) return r end
      local sum = 0
      say "x"
      for i = 1, 1e9 do sum = sum + outer((i - i % 500) * 1000) end]],
                  function (process)
      process:word()
      local document
      assert(waiting.till(function ()
        document = assert(core.dump(process.pid, {}))
        local coroutine = document.states[1].coroutines[1]
        return coroutine.waits and coroutine.compiled
      end, run.patience))
      local coroutine = document.states[1].coroutines[1]
      assert.equal(0, document.stopped_ms)
      assert.same({"nap", "outer", "(main chunk)"},
                  {table.unpack(names_of(coroutine), 1, 3)})
      assert.is_true(coroutine.frames[1].near)
      assert.is_true(coroutine.compiled.trace > 0)
    end)
  end)

  it("marks them for a person, and says what it does not know", function ()
    local rows = table.concat(require "tracegrip.cli.dump".format {
      pid = 1, exe = "x", lua = "LuaJIT 2.1.0", stopped_ms = 0,
      states = {{coroutines = {{
        id = 1, status = "running", compiled = {trace = 3},
        frames = {
          {name = "store", kind = "Lua", url = "p.lua", line = 6, near = true,
           inlined = true, locals = {{name = "k", unknown = true}}},
          {name = "twice", kind = "Lua", url = "p.lua", line = 9}}}}}}}, "\n")
    assert.truthy(rows:find("p.lua:6 or near  (inlined)\n"
      .. "          k = (not known: in compiled code)\n", 1, true), rows)
    assert.truthy(rows:find("p.lua:9\n?$"), rows)
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
