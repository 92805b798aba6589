-- Who made the objects of a heap: a snapshot that is taken while a trace with
-- memory runs, and what tracegrip heap tells of it.

local cjson = require "cjson"

local heaps = require "spec.support.heaps"
local run = require "spec.support.run"

-- Runs a program in a directory, and calls use(snapshot, directory, output);
-- with tracegrip, if words are given for it.
local function of (code, use, words)
  run.within(function (directory)
    run.write(directory .. "/app.lua", code)
    local command = {run.lua, "app.lua"}
    if words then
      command = {run.build .. "/bin/tracegrip", table.unpack(words)}
      command[#command + 1] = "app.lua"
    end
    local env = {LUA = run.lua}
    for name, value in pairs(run.modules) do
      env[name] = value
    end
    local result = run.command(command, {cwd = directory, env = env})
    assert.equal("", result.stderr)
    assert.equal(0, result.status)
    local snapshot = heaps.read(directory .. "/x.heaptimeline")
    snapshot:check()
    use(snapshot, directory, result.stdout)
  end)
end

-- The ways that made the objects of a name, each with how many there are; of
-- strings with that text if it is asked for.
local function ways_to (snapshot, name, strings)
  local ways = {}
  for _, node in ipairs(snapshot.nodes) do
    if node.name == name and (node.type == "string") == (strings == true) then
      local way = snapshot:made_by(node) or "nobody"
      ways[way] = (ways[way] or 0) + 1
    end
  end
  return ways
end

local begin = [[
local heap, tracegrip = require "tracegrip.heap", require "tracegrip"
local function class (name) return {__name = name} end
local function start (options)
  options = options or {}
  options.memory, options.trace = true, {"name"}
  return tracegrip.start(options)
end
]]

local function ask (path, ...)
  local result, document = heaps.command {path, "--json", ...}
  assert.equal("", result.stderr)
  return document
end

describe("a snapshot while a trace with memory runs", function ()
  -- Each kind of object by a function of its own; what grows by another one's
  -- doing stays whose it is.
  it("has the calls that made each object", function ()
    of(begin .. [[
      kept = {}
      local older = setmetatable({}, class "Older")
      local Item = class "Item"
      local function keep (x) kept[#kept + 1] = x end
      local trace = start()
      local function table_ () local t = setmetatable({}, Item) return t end
      local function grow (t) for i = 1, 100 do t[i] = i end end
      local function left () local t = table_() grow(t) keep(t) end
      local function right () for _ = 1, 3 do local t = table_() keep(t) end end
      local function string_ () local s = ("made"):rep(20) keep(s) end
      local function closure () local function made () return kept end
                                keep(made) end
      local function coroutine_ ()
        local co = coroutine.create(function ()
          local t = setmetatable({}, class "Inside") keep(t)
          coroutine.yield()
          local late = setmetatable({}, class "Late") keep(late)
        end)
        keep(co)
        return co
      end
      local function file () local f = io.tmpfile() keep(f) end
      left() right() string_() closure() file()
      local co = coroutine_()
      coroutine.resume(co)
      local function again () coroutine.resume(co) end
      again()
      assert(heap.snapshot "x.heaptimeline")
      trace:stop()
      assert(heap.snapshot "y.heapsnapshot")
      keep(older)]], function (snapshot, directory)
      assert.same({["table_ < left"] = 1, ["table_ < right"] = 3},
                  ways_to(snapshot, "Item"))
      assert.same({nobody = 1}, ways_to(snapshot, "Older"))
      assert.same({["string.rep < string_"] = 1},
                  ways_to(snapshot, ("made"):rep(20), true))
      assert.same({["closure"] = 1}, ways_to(snapshot, "function app.lua:18"))
      assert.same({["io.tmpfile < file"] = 1, nobody = 3},
                  ways_to(snapshot, "FILE*"))
      assert.same({["(anonymous function) < coroutine.resume"] = 1},
                  ways_to(snapshot, "Inside"))
      assert.same({["(anonymous function) < coroutine.resume < again"] = 1},
                  ways_to(snapshot, "Late"))
      local threads = ways_to(snapshot, "thread app.lua:21")
      assert.same({["coroutine.create < coroutine_"] = 1}, threads)
      local call = snapshot.makers[snapshot:where(function (node)
        return node.name == "Item" and node.maker ~= 0
      end)[1].maker]
      assert.same({name = "table_", script = "app.lua", line = 13, column = 1,
                   script_id = call.of.script_id}, call.of)
      assert.is_true(call.of.script_id > 0)
      -- Without a trace nobody is known, and nothing else is different.
      local without = heaps.read(directory .. "/y.heapsnapshot")
      without:check()
      assert.same({}, without.makers)
      assert.same({nobody = 4}, ways_to(without, "Item"))
    end)
  end)

  it("knows objects from those that had the same address", function ()
    of(begin .. [[
      local trace = start()
      local First, Second = class "First", class "Second"
      local function fill (of)
        local list = {}
        for i = 1, 1000 do list[i] = setmetatable({i}, of) end
        return list
      end
      local function first () local list = fill(First) return list end
      local function second () local list = fill(Second) return list end
      local list, places, again = first(), {}, 0
      for i = 1, 1000, 2 do
        places[string.format("%p", list[i])] = true
        list[i] = false
      end
      collectgarbage() collectgarbage()
      local other = second()
      for i = 1, 1000 do
        again = again + (places[string.format("%p", other[i])] and 1 or 0)
      end
      assert(heap.snapshot "x.heaptimeline")
      print(again)
      return list, other]], function (snapshot, _, output)
      -- how many is malloc's choice; the sanitizer's keeps what is freed
      local least = os.getenv "ASAN_OPTIONS" and 0 or 100
      assert.is_true(tonumber(output) >= least, output)
      assert.same({["fill < first"] = 500}, ways_to(snapshot, "First"))
      assert.same({["fill < second"] = 1000}, ways_to(snapshot, "Second"))
    end)
  end)

  it("asks the one that began first, and none that is over", function ()
    of(begin .. [[
      kept = {}
      local function make (name)
        kept[#kept + 1] = setmetatable({}, class(name))
      end
      local function early () make "Early" end
      local function later () make "Later" end
      local over = start {name = "over"}
      early()
      over:stop()
      local a = start {name = "a"}
      later()
      local late = start {name = "late", maxEvents = 1}
      later()
      assert(heap.snapshot "x.heaptimeline")]], function (snapshot)
      assert.same({nobody = 1}, ways_to(snapshot, "Early"))
      assert.same({["make < later"] = 2}, ways_to(snapshot, "Later"))
    end)
  end)

  it("adds up to what the trace itself says", function ()
    of(begin .. [[
      local trace = start()
      local function work ()
        local list = {}
        for i = 1, 1000 do list[i % 10 + 1] = {i} end
        return list
      end
      kept = work()
      assert(heap.snapshot "x.heaptimeline")
      trace:stop()
      for _, row in ipairs(trace:report().functions) do
        if row.name == "work" then
          print(row.self_allocations, row.self_bytes)
        end
      end]], function (snapshot, _, output)
      for _, call in pairs(snapshot.makers) do
        if call.of.name == "work" then
          assert.equal(("%d\t%d\n"):format(call.count, call.size), output)
          output = "found"
        end
      end
      assert.equal("found", output)
    end)
  end)
end)

-- The program has let go of what it wrote first by then, and goes on writing
-- while the snapshot is read; of the packed file blocks move meanwhile.
describe("a snapshot while a trace with memory is recorded", function ()
  local code = begin .. [[
    local Early, Late = class "Early", class "Late"
    kept = {}
    local function make (of, n)
      for i = 1, n do kept[#kept + 1] = setmetatable({}, of) end
    end
    local function early () make(Early, 3) end
    local function late () make(Late, 2) end
    local function work (n)
      for _ = 1, n do (function () return {} end)() end
    end
    early()
    work(CALLS)
    late()
    local result = assert(heap.snapshot("x.heaptimeline", {wait = WAIT}))
    work(20000)
    if not WAIT then result = assert(result()) end
    assert(result.made >= 5 and result.bytes == result.state_bytes)]]

  local function with (calls, wait, ...)
    local text = code:gsub("CALLS", calls):gsub("WAIT", tostring(wait))
    of(text, function (snapshot)
      assert.same({["make < early < (main chunk)"] = 3},
                  ways_to(snapshot, "Early"))
      assert.same({["make < late < (main chunk)"] = 2},
                  ways_to(snapshot, "Late"))
    end, {"record", "--memory", "-o", "x.tgr", ...})
  end

  it("has the calls from the file", function ()
    with(100, true)
    with(60000, false)
    with(60000, false, "--compress", "none")
  end)

  it("has them of a ring that is waited for, as far as it goes", function ()
    with(100, true, "--overflow", "ring")
    of(code:gsub("CALLS", "20000"):gsub("WAIT", "true"):gsub(">= 5", ">= 2"),
       function (snapshot)
      assert.same({nobody = 3}, ways_to(snapshot, "Early"))
      assert.same({["make < late"] = 2},
                  ways_to(snapshot, "Late"))
    end, {"record", "--memory", "--overflow", "ring", "--buffer", "256K", "-o",
          "x.tgr"})
  end)

  it("knows nobody where the file is another one by now", function ()
    of(begin .. [[
      os.rename("x.tgr", "y.tgr")
      local other = io.open("x.tgr", "w")
      other:write("no recording")
      other:close()
      print(assert(heap.snapshot "x.heaptimeline").made)]],
       function (_, _, output)
      assert.equal("0\n", output)
    end, {"record", "--memory", "-o", "x.tgr"})
  end)
end)

describe("tracegrip heap", function ()
  local function with (use)
    of(begin .. [[
      kept = {}
      local trace = start()
      local Item = class "Item"
      local function make (size)
        kept[#kept + 1] = setmetatable({("x"):rep(size)}, Item)
      end
      local function small () make(10) end
      local function large () for i = 1, 10 do make(1000 + i) end end
      small() large()
      assert(heap.snapshot "x.heaptimeline")]], function (_, directory)
      use(directory .. "/x.heaptimeline")
    end)
  end

  it("tells of objects who made them", function ()
    with(function (path)
      local found = ask(path, "--find", "Item")
      local last = found.objects[found.found - 1]
      assert.same({{name = "make", url = "app.lua", line = 11},
                   {name = "small", url = "app.lua", line = 14}}, last.made_by)
      local id = ("%d"):format(last.id)
      assert.same(last.made_by, ask(path, "--path", id).made_by)
      local text = heaps.command({path, "--path", id}).stdout
      assert.truthy(text:find("\nmade by make  app.lua:11\n"
                              .. "  called by small  app.lua:14\n", 1, true))
      text = heaps.command({path, "--find", "Item"}).stdout
      assert.truthy(text:find("make  app.lua:11 < small  app.lua:14", 1, true))
    end)
  end)

  it("writes them into the page of a snapshot that has them", function ()
    with(function (path)
      local page = path:gsub("x%.heaptimeline$", "x.html")
      assert.equal(0, heaps.command({path, "-o", page}).status)
      local facts = run.read(page):match "<script id=\"facts\".->(.-)</script>"
      local document, found = cjson.decode(facts), {}
      for i, text in ipairs(document.nodes.class) do
        local maker = document.nodes.maker[i]
        if document.texts[text + 1] == "Item" then
          local way = document.texts[maker + 1]
          found[way] = (found[way] or 0) + 1
        end
        assert.is_true(maker >= -1)
      end
      assert.same({["make app.lua:11 < small app.lua:14"] = 1,
                   ["make app.lua:11 < large app.lua:15"] = 10}, found)
    end)
  end)

  it("adds up what is alive by who made it", function ()
    with(function (path)
      local document = ask(path, "--makers")
      local root = document.calls[1]
      assert.equal(1, #document.calls)
      assert.same({"(root)", "large", "small"},
                  {root.name, root.calls[1].name, root.calls[2].name})
      local make = root.calls[1].calls[1]
      assert.same({"make", 10}, {make.name, make.count})
      assert.equal("string.rep", make.calls[1].name)
      assert.equal(make.self + make.calls[1].self, make.total)
      assert.equal(10, make.calls[1].count)
      local snapshot, sum = heaps.read(path), 0
      for _, node in ipairs(snapshot.nodes) do
        sum = sum + (node.maker ~= 0 and node.self or 0)
      end
      assert.equal(sum, root.total)
      assert.equal(snapshot:sum(), root.total + document.unknown)
      local text = heaps.command({path, "--makers", "--limit", "3"}).stdout
      assert.truthy(text:find("\n[^\n]*    make  app.lua:11\nand %d+ ways with"
                              .. " less %(%-%-limit%)\n"), text)
    end)
  end)

  it("follows a script to its end, if the file is to be a .heaptimeline",
  function ()
    run.within(function (directory)
      run.write(directory .. "/app.lua", [[
        local Item = {__name = "Item"}
        local function make () return setmetatable({}, Item) end
        local function work () local item = make() return item end
        kept = work()
        if ... then os.exit(3) end]])
      local path = directory .. "/x.heaptimeline"
      for status, words in pairs {[0] = {}, [3] = {"exit"}} do
        local result = heaps.command {"-o", path, "--", directory .. "/app.lua",
                                      words[1]}
        assert.equal("", result.stderr)
        assert.equal(status, result.status)
        local snapshot = heaps.read(path)
        snapshot:check()
        assert.same({["make < work < (main chunk)"] = 1},
                    ways_to(snapshot, "Item"))
      end
      local result = heaps.command {"-o", path, "1"}
      assert.equal(2, result.status)
      assert.truthy(result.stderr:find("known of a script", 1, true))
    end)
  end)

  it("says so of a snapshot that does not tell", function ()
    of(begin .. [[assert(heap.snapshot "x.heaptimeline")]],
       function (_, directory)
      local path = directory .. "/x.heaptimeline"
      assert.equal("the snapshot does not tell who made what is in it\n",
                   heaps.command({path, "--makers"}).stdout)
      assert.same({}, ask(path, "--makers").calls)
      assert.is_nil(ask(path, "--find", "table").objects[1].made_by)
    end)
  end)
end)
