-- tracegrip events.

local cjson = require "cjson"

local run = require "spec.support.run"

local program = [[
local function leaf () end
local function twice () leaf() leaf() end
twice()
load("return 1", "=piece")()
local co = coroutine.wrap(function () coroutine.yield() leaf() end)
co() co()
]]

-- A script for the shell, with T for the command, after a recording of the
-- program has been made as "rec".
local function shell (script)
  return run.command(
    {"sh", "-c", "$T record -o rec program.lua\n" .. script},
    {files = {["program.lua"] = program},
     env = {T = run.build .. "/bin/tracegrip", LUA = run.lua}})
end

local function output (script)
  local result = shell(script)
  assert.equal("", result.stderr)
  assert.equal(0, result.status)
  return result.stdout
end

-- The table below the heading, without times.
local function plain (text)
  return (text:gsub("^[^\n]*\n\n", ""):gsub("%-?[%d.]+ [mµn]*s", "T")
              :gsub(" +", " "):gsub("\n ", "\n"):gsub("^ ", ""))
end

describe("tracegrip events", function ()
  it("lists the calls of the main coroutine", function ()
    assert.equal([[
id start length self total overhead hits type event where
1 T T T T T 1 chunk (main chunk) program.lua:1
2 T T T T T 1 call twice program.lua:2
3 T T T T T 1 call leaf program.lua:1
4 T T T T T 1 call leaf program.lua:1
5 T T T T T 1 compile load "piece"
6 T T T T T 1 chunk (main chunk) piece:1
7 T T T T T 1 call coroutine.wrap
8 T T T T T 1 call co
11 T T T T T 1 call co
]], plain(output "$T events rec"))
  end)

  it("lists another coroutine's", function ()
    assert.equal([[
id start length self total overhead hits type event where
9 T T T T T 2 coroutine (anonymous function) program.lua:5
10 T T T T T 2 call coroutine.yield
12 T T T T T 1 call leaf program.lua:1
]], plain(output "$T events rec --timeline 2"))
  end)

  it("says what it is about", function ()
    assert.matches("^program.lua: timeline 2 of 2, .-, 12 events in all, "
                   .. "overhead %d+ ns a call and %d+ ns a return\n\n",
                   output "$T events rec --timeline 2")
  end)

  it("tells what was lost, and why", function ()
    local result = shell [[
      echo 'for i = 1, 60000 do math.abs(i) end' >many.lua
      $T record --buffer 64K -o many many.lua
      $T events many]]
    assert.matches("^many.lua: [^\n]*, lost [%d,]+ events %(the buffer was "
                   .. "full%)\n", result.stdout)
  end)

  it("adds up", function ()
    assert.equal([[
start length self overhead hits type event where
T T T T 1 chunk (main chunk) program.lua:1
T T T T 1 call twice program.lua:2
T T T T 2 call leaf program.lua:1
T T T T 1 compile load "piece"
T T T T 1 chunk (main chunk) piece:1
T T T T 1 call coroutine.wrap
T T T T 2 call co
]], plain(output "$T events rec --mode events"))
    assert.equal([[
start length self overhead hits type
T T T T 2 chunk
T T T T 6 call
T T T T 1 compile
]], plain(output "$T events rec --mode types"))
    assert.equal("start length self overhead hits type\nT T T T 9 all\n",
                 plain(output "$T events rec --mode total"))
    assert.equal(plain(output "$T events rec --mode 4"),
                 plain(output "$T events rec --mode reduce_all"))
  end)

  it("selects", function ()
    assert.equal([[
id start length self total overhead hits type event where
3 T T T T T 1 call leaf program.lua:1
4 T T T T T 1 call leaf program.lua:1
]], plain(output "$T events rec --event 2"))
    assert.equal([[
id start length self total overhead hits type event where
5 T T T T T 1 compile load "piece"
6 T T T T T 1 chunk (main chunk) piece:1
]], plain(output "$T events rec --event 1 --type compile --type chunk"))
    assert.equal([[
id start length self total overhead hits type event where
1 T T T T T 1 chunk (main chunk) program.lua:1
]], plain(output "$T events rec --max-depth 1"))
    assert.equal("no events\n", plain(output "$T events rec --interval :-1"))
    assert.equal("no events\n", plain(output "$T events rec --interval 1e9:"))
    assert.equal(plain(output "$T events rec"),
                 plain(output "$T events rec --interval :"))
  end)

  it("shows no more than it is told", function ()
    assert.equal([[
id start length self total overhead hits type event where
1 T T T T T 1 chunk (main chunk) program.lua:1
… and more (--limit)
]], plain(output "$T events rec --limit 1"))
    assert.is_nil(output("$T events rec --limit all"):find "more")
    assert.is_nil(output("$T events rec --limit 9"):find "more")
  end)

  it("gives the service's messages to programs", function ()
    local all = cjson.decode(output "$T events rec --json")
    assert.equal(9, #all.eventList)
    local first = all.eventList[1]
    assert.equal(6, first.type)
    assert.equal(1, first.scriptThreadEvaluation.scriptThreadType)
    assert.equal("(main chunk)", first.functionCall.name)
    assert.same(all.interval, first.interval)
    local none = cjson.decode(output "$T events rec --json --interval :-1")
    assert.same({eventList = {}}, none)
  end)

  it("says what is wrong", function ()
    for script, expected in pairs {
      ["--mode x"] =
        "2tracegrip: --mode: no such thing as 'x' "
        .. "(known: all, events, total, types)\n",
      ["--type 12"] =
        "2tracegrip: --type: no such thing as '12' "
        .. "(known: call, chunk, collect, compile)\n",
      ["--interval 5"] = "2tracegrip: --interval wants A:B in milliseconds, "
                         .. "such as 10:20.5 or :5\n",
      ["--event 77"] =
        "1tracegrip: rec: there is no event 77 on timeline 1\n",
      ["--timeline 3"] = "1tracegrip: rec: there is no timeline 3\n",
      ["--trace x"] =
        "1tracegrip: rec: no trace named 'x' in this recording\n",
    } do
      local result = shell("$T events rec " .. script)
      assert.equal(expected, result.status .. result.stderr)
      assert.equal("", result.stdout)
    end
  end)
end)
