-- tracegrip coverage: which lines of a program have run, as lcov has it.

local run = require "spec.support.run"

local tracegrip = run.build .. "/bin/tracegrip"

-- Runs "app.lua" among these files; the result, and the counts without the
-- directory's name.
local function cover (files, words, how)
  local result, counts
  run.within(function (where)
    for name, text in pairs(files) do
      run.write(where .. "/" .. name, text)
    end
    local command = {tracegrip, "coverage"}
    table.move(words or {"app.lua"}, 1, #(words or {1}), 3, command)
    result = run.command(command, {cwd = where, stdin = how and how.stdin,
                                   env = how and how.env})
    counts = run.read(where .. "/coverage.info")
    counts = counts and counts:gsub(where:gsub("%p", "%%%0"), "DIR")
    result.stderr = result.stderr:gsub(where:gsub("%p", "%%%0"), "DIR")
  end)
  return result, counts
end

-- line -> count, of the first file.
local function lines_of (counts)
  local list = {}
  for line, count in counts:match "^.-end_of_record":gmatch "DA:(%d+),(%d+)" do
    list[tonumber(line)] = tonumber(count)
  end
  return list
end

describe("tracegrip coverage", function ()
  it("counts lines and functions, also those never called", function ()
    local result, counts = cover({["app.lua"] = [[
#!/usr/bin/lua
local lib = require "lib"

local function unused (a)
  return a + 1
end

for i = 1, 3 do
  lib.f(i)
end
print(#arg, ...)
]], ["lib.lua"] = [[
local M = {}
function M.f (n)
  if n > 2 then
    M.g(n)
  end
end
M.g = function (...) return ... end
function M.never () end
return M
]]}, {"app.lua", "-x"})
    assert.equal(0, result.status)
    assert.equal("1\t-x\n", result.stdout)
    assert.equal("  lines            functions         file\n"
      .. " 80.0 %    4 of 5     1 of 2  worst  app.lua\n"
      .. "100.0 %    7 of 7     3 of 4         lib.lua\n"
      .. " 91.7 %  11 of 12     4 of 6         2 files\n"
      .. "tracegrip: coverage.info: 11 of 12 lines (91.7 %), 4 of 6 functions, "
      .. "in 2 files\n", result.stderr)
    assert.equal([[
TN:
SF:DIR/app.lua
FN:1,(main chunk)
FN:4,unused
FNDA:1,(main chunk)
FNDA:0,unused
FNF:2
FNH:1
DA:2,1
DA:5,0
DA:8,4
DA:9,3
DA:11,1
LF:5
LH:4
end_of_record
TN:
SF:DIR/lib.lua
FN:1,(main chunk)
FN:2,M.f
FN:7,M.g
FN:8,M.never
FNDA:1,(main chunk)
FNDA:3,M.f
FNDA:1,M.g
FNDA:0,M.never
FNF:4
FNH:3
DA:1,1
DA:2,1
DA:3,3
DA:4,1
DA:7,2
DA:8,1
DA:9,1
LF:7
LH:7
end_of_record
]], counts)
  end)

  it("counts in coroutines, and across yields", function ()
    local _, counts = cover {["app.lua"] = [[
local function body (n)
  for i = 1, n do
    coroutine.yield(i)
  end
end
for _ = 1, 2 do
  local co = coroutine.wrap(body)
  co(3)
  co()
end
]]}
    local list = lines_of(counts)
    list[10] = nil      -- the main chunk's end, in some releases
    assert.same({[2] = 4, [3] = 4, [6] = 3, [7] = 2, [8] = 2, [9] = 2}, list)
  end)

  it("leaves the program its own hook, and counts beside it", function ()
    local result, counts = cover {["app.lua"] = [[
local seen = 0
local function hook () seen = seen + 1 end
debug.sethook(hook, "l")
local x = 1
local y = 2
print(debug.gethook() == hook, select(2, debug.gethook()))
debug.sethook()
print(debug.gethook(), seen)
print(pcall(debug.sethook, 1, 2, 3, 4, 5))
]]}
    assert.matches("^true\tl\t0\nnil\t4\n", result.stdout)
    local list = lines_of(counts)
    for _, line in ipairs {1, 3, 4, 5, 6, 7, 8, 9} do
      assert.equal(1, list[line])
    end
  end)

  it("calls the hook of a coroutine for its events and no others", function ()
    local result = cover {["app.lua"] = [[
local events = {}
local co = coroutine.create(function ()
  local x = 1
  math.abs(x)
  return x
end)
debug.sethook(co, function (event) events[#events + 1] = event end, "cr")
coroutine.resume(co)
print(table.concat(events, " "))
print(debug.gethook())
]]}
    assert.equal("call call return return\nnil\n", result.stdout)
  end)

  it("counts the same in a program that is sampled and sets hooks", function ()
    local times = run.some(500000, 2000000)       -- and ticks by the thousand
    local result, counts = cover {["app.lua"] = ([[
assert(require "tracegrip".start {sample = 10000})
local events, wrong = 0, 0
local function hook () events = events + 1 end
for _ = 1, N do
  debug.sethook(hook, "l")
  local set, mask = debug.gethook()
  if set ~= hook or mask ~= "l" then wrong = wrong + 1 end
  debug.sethook()
end
print(events, wrong, debug.gethook())
]]):gsub("%f[%w]N%f[%W]", times)}
    assert.equal(3 * times .. "\t0\tnil\n", result.stdout)
    local list = lines_of(counts)
    for line = 5, 8 do
      assert.equal(times, list[line])
    end
  end)

  it("goes on beside a trace of calls, and so do the program's hooks",
     function ()
    local result, counts = cover {["app.lua"] = [[
local trace = assert(require "tracegrip".start())
local events = 0
local function hook () events = events + 1 end
debug.sethook(hook, "l")
print((debug.gethook()) == hook)
debug.sethook()
math.abs(1)
trace:stop()
for packet in trace:packets() do
  if packet.name == "math.abs" then print(packet.type) end
end
print(events)
]]}
    assert.equal("true\nenteredFrame\n2\n", result.stdout)
    local list = lines_of(counts)
    for line = 4, 8 do
      assert.equal(1, list[line])
    end
  end)

  it("writes at the end, however it comes", function ()
    for _, ending in ipairs {"error 'x'", "os.exit(3)", "os.exit(3, true)",
                             "coroutine.wrap(function () os.exit(4) end)()"} do
      local result, counts = cover {["app.lua"] = "local a = 1\n" .. ending}
      assert.is_true(result.status ~= 0)
      assert.equal(1, lines_of(counts)[1])
    end
  end)

  it("counts a file once that is loaded often, and by several names",
  function ()
    local _, counts = cover {["app.lua"] = [[
for i = 1, 2 do dofile "part.lua" end
dofile "./part.lua"
]], ["part.lua"] = "local function f () end\nf()\n"}
    assert.matches("SF:DIR/part.lua\n.*FNDA:3,f\n.*DA:2,3\n", counts)
    assert.is_nil(counts:find("SF:.*SF:.*SF:"))
  end)

  it("takes those files that patterns find", function ()
    local files = {["app.lua"] = "require 'one' require 'two'",
                   ["one.lua"] = "return 1", ["two.lua"] = "return 2"}
    local function names (...)
      local _, counts = cover(files, {...})
      local list = {}
      for name in counts:gmatch "SF:DIR/(%S+)" do
        list[#list + 1] = name
      end
      return table.concat(list, " ")
    end
    assert.equal("app.lua one.lua two.lua", names "app.lua")
    assert.equal("one.lua two.lua", names("--include", "one", "--include",
                                          "two", "app.lua"))
    assert.equal("app.lua two.lua", names("--exclude", "^%./one", "app.lua"))
  end)

  it("leaves out what is no file, or none any more", function ()
    local result, counts = cover {["app.lua"] = [[
load("local x = 1", "=text")()
load("local x = 1")()
dofile "gone.lua"
os.remove "gone.lua"
]], ["gone.lua"] = "local x = 1"}
    assert.is_nil(counts:find "gone")
    assert.matches("left out, for it cannot be read any more: DIR/gone.lua",
                   result.stderr)
    assert.equal(1, lines_of(counts)[3])
  end)

  it("finds its way after the program has gone to another directory",
  function ()
    local _, counts = cover {["app.lua"] = "os.execute 'true'\nlocal x = 1\n"}
    assert.matches("SF:DIR/app.lua", counts)
  end)

  it("fails before the program runs if the file cannot be had", function ()
    local result = cover({["app.lua"] = "print 'ran'"},
                         {"-o", "/nonexistent/x", "app.lua"})
    assert.equal(1, result.status)
    assert.equal("", result.stdout)
    assert.equal("tracegrip: cannot write the counts: /nonexistent/x: "
                 .. "No such file or directory\n", result.stderr)
  end)

  it("gives the same counts where memory is not read", function ()
    local files = {["app.lua"] = [[
local function f (n, ...)
  if n > 0 then return f(n - 1, ...) end
end
f(10)
]]}
    local _, read = cover(files)
    local _, asked = cover(files, nil, {env = {TRACEGRIP_DIRECT = "0"}})
    assert.equal(read, asked)
    assert.matches("FNDA:11,f\n", read)
  end)
end)

local has_genhtml = os.execute "command -v genhtml >/dev/null 2>&1"
local it = has_genhtml and it or function (name)
  pending(name .. ": no genhtml here")
end

describe("genhtml", function ()
  it("reads the counts", function ()
    run.within(function (where)
      run.write(where .. "/app.lua", "local x = 1\nif x > 1 then\n  x = 2\nend")
      run.command({tracegrip, "coverage", "app.lua"}, {cwd = where})
      local result = run.command({"genhtml", "-o", "html", "coverage.info"},
                                 {cwd = where})
      assert.equal(0, result.status)
      assert.matches("lines%.*: 75.0%% %(3 of 4 lines%)", result.stdout)
    end)
  end)
end)
