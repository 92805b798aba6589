-- The trace type "allocations": what calls allocate, to the byte, by a host's
-- own allocator that counts as well; and that it is the host's again.

local run = require "spec.support.run"

-- In the state of a host that counts. sums(trace) adds up what came before each
-- call of 'counted', and what that tells is beside it, in 'seen'.
local prelude = [[
local tracegrip = require "tracegrip"
local seen = {}
local function look ()
  seen[#seen + 1] = {counted()}
end
local function start (options)
  options = options or {}
  options.memory = true
  return tracegrip.start(options)
end
local function sums (trace)
  local list, n, allocated, freed, heap = {}, 0, 0, 0, 0
  for p in trace:packets() do
    if p.type == "allocations" then
      n, allocated = n + p.allocations, allocated + p.allocated
      freed, heap = freed + p.freed, p.bytes or heap
    elseif p.type == "enteredFrame" and p.name == "counted" then
      list[#list + 1] = {n, allocated, freed, heap}
    end
  end
  return list
end
-- Whether what a trace counted between looks is what the host has counted.
local function agree (trace)
  local list = sums(trace)
  assert(#list == #seen and #list > 1, #list)
  for i = 2, #list do
    for k = 1, 3 do
      local told, real = list[i][k] - list[1][k], seen[i][k] - seen[1][k]
      assert(told == real, ("%d, %d: %d, not %d"):format(i, k, told, real))
    end
    assert(list[i][4] == seen[i][4], "heap")
  end
  return true
end
]]

-- What a program prints that has a host with such states.
local function hosted (program, environment)
  local result = run.code([[
    local new = require "allocators"
    local prelude = ]] .. ("%q"):format(prelude) .. "\n" .. program,
    {env = environment or run.modules})
  assert.equal("", result.stderr)
  assert.equal(0, result.status)
  return result.stdout
end

-- The same of a program in one such state, which is closed then: 'facts' of it.
local function within (program)
  return hosted(([[
    local state = new()
    print(state:run(prelude .. %q))
    state:close()
    local blocks, used, wrong = state:facts()
    print(blocks, used, wrong)
  ]]):format(program))
end

local good = "true\n0\t0\t0\n"

describe("allocations", function ()
  it("are what the allocator was asked for, to the byte", function ()
    assert.equal(good, within [[
      local function strings (n)
        local list = {}
        for i = 1, n do list[i] = ("x"):rep(i) .. i end
        return table.concat(list)
      end
      local function tables (n)
        local t = {}
        for i = 1, n do t[i] = {i} t["k" .. i] = i end
        return t
      end
      local trace = start()
      look()
      strings(500) look()
      tables(300) look()
      collectgarbage() look()
      collectgarbage "generational"
      tables(3000) strings(100) look()
      collectgarbage "incremental"
      load("return " .. ("1,"):rep(50) .. "1") look()
      trace:stop()
      return agree(trace)
    ]])
  end)

  it("are so with coroutines and errors", function ()
    assert.equal(good, within [[
      local function fails (n)
        if n == 0 then error {("x"):rep(1000)} end
        fails(n - 1)
        return n
      end
      local trace = start()
      look()
      for i = 1, 5 do
        local co = coroutine.wrap(function ()
          local t = {}
          for k = 1, 20 do t[k] = {} coroutine.yield() end
        end)
        for k = 1, 10 do co() end
      end
      look()
      for i = 1, 10 do
        pcall(fails, i)
        pcall(string.rep, "x", -1 << 63, nil, 1 << 62)
        pcall(function () local x = nil + i end)
      end
      look()
      local co = coroutine.create(function () fails(3) end)
      coroutine.resume(co) coroutine.close(co)
      look()
      trace:stop()
      return agree(trace)
    ]])
  end)

  it("are so where memory is refused, which counts nothing", function ()
    assert.equal(good, within [[
      local trace = start()
      look()
      limit(200000)
      local failed = 0
      for i = 1, 5 do
        local ok, message = pcall(function ()
          local list = {}
          for k = 1, 1 << 20 do list[k] = {} end
        end)
        failed = failed + (message == "not enough memory" and 1 or 0)
      end
      pcall(string.rep, "x", 10000000)
      look()
      limit()
      trace:stop()
      assert(failed == 5, failed)
      return agree(trace)
    ]])
  end)

  it("are so where frames are asked for of the public API", function ()
    assert.equal(good, (within [[
      local trace = start()
      look()
      for i = 1, 100 do look() local t = {{}, {}, tostring(i)} end
      look()
      trace:stop()
      return agree(trace)
    ]]))
    assert.equal("true\n", hosted([[
      print(new():run(prelude .. "local trace = start() look() "
                      .. "local t = {{}} look() look() trace:stop() "
                      .. "return agree(trace)"))
    ]], {TRACEGRIP_DIRECT = "0",
         [run.variable "LUA_CPATH"] = run.modules[run.variable "LUA_CPATH"]}))
  end)

  it("belong to the frame that ran, itself and around", function ()
    assert.equal(good, within [[
      local function leaf () return ("x"):rep(1000) .. "y" end
      local function idle () end
      local function both ()
        idle() leaf() local t = {{}, {}} leaf()
        return t
      end
      collectgarbage "stop"             -- it shrinks stacks, when it likes
      local trace = start()
      both() both()
      trace:stop()
      local report, rows, self = trace:report(), {}, 0
      for _, row in ipairs(report.functions) do
        rows[row.name] = row
        self = self + row.self_bytes
      end
      local m = report.memory
      assert(m.total_bytes == self + m.self_bytes)
      assert(rows.idle.total_bytes == 0 and rows.idle.peak_bytes == 0)
      assert(rows.both.total_bytes == rows.both.self_bytes
             + rows.leaf.total_bytes)
      assert(rows.leaf.total_bytes > 4 * 2000
             and rows.both.self_allocations == 8)
      assert(rows.leaf.peak_bytes >= 2000
             and rows.both.peak_bytes >= rows.leaf.peak_bytes
             and m.peak_bytes > rows.both.peak_bytes)
      local root = trace:tree()
      assert(root.total_bytes == m.total_bytes)
      local node = root.children[1]
      assert(node.name == "both" and node.total_bytes == rows.both.total_bytes
             and node.peak_bytes == rows.both.peak_bytes)
      return true
    ]])
  end)

  it("count recursion once in a total", function ()
    assert.equal(good, within [[
      local function deep (n)
        local t = {}
        if n > 0 then deep(n - 1) end
        return t
      end
      collectgarbage "stop"
      local trace = start()
      deep(20)
      trace:stop()
      local row = trace:report().functions[1]
      assert(row.name == "deep" and row.calls == 21)
      assert(row.self_bytes == row.total_bytes and row.self_allocations >= 21)
      return true
    ]])
  end)

  it("of tracegrip itself are no frame's", function ()
    assert.equal(good, within [[
      local console = require "tracegrip.console"
      local function marks ()
        for i = 1, 10 do console.timeStamp("x" .. 1, {}) end
      end
      local function makes ()
        for i = 1, 10 do local s, t = "x" .. 1, {} end
      end
      -- The stack grows in the first one, for the hook.
      collectgarbage "stop"
      local trace
      for i = 1, 2 do
        trace = start {c = false}
        marks() makes()
        trace:stop()
      end
      local rows = {}
      for _, row in ipairs(trace:report().functions) do rows[row.name] = row end
      assert(rows.marks.self_bytes == rows.makes.self_bytes,
             rows.marks.self_bytes .. " " .. rows.makes.self_bytes)
      return true
    ]])
  end)

  it("are not counted unless they are asked for", function ()
    assert.equal(good, within [[
      local trace = tracegrip.start {trace = {"name", "time", "memory"}}
      assert(original())
      local t = {{}}
      look()
      trace:stop()
      for p in trace:packets() do assert(p.type ~= "allocations") end
      assert(trace:report().memory == nil)
      return true
    ]])
  end)

  it("are the same for several traces, each of its own time", function ()
    assert.equal(good, within [[
      local function make (n) local t = {} for i = 1, n do t[i] = {} end end
      local function bytes (trace)
        for _, row in ipairs(trace:report().functions) do
          if row.name == "make" then return row.total_bytes end
        end
      end
      collectgarbage "stop"
      local calls = tracegrip.start()
      local one = start()
      make(100)
      local two = start {overflow = "ring", buffer = 100000}
      make(100)
      one:stop()
      make(100)
      local three = start()
      make(100)
      two:stop() three:stop()
      assert(original())
      calls:stop()
      local unit = bytes(three)
      assert(unit > 0 and bytes(one) == 2 * unit and bytes(two) == 3 * unit)
      assert(bytes(calls) == nil or bytes(calls) == 0)
      return true
    ]])
  end)

  it("are those in calls that the trace waits for", function ()
    assert.equal(good, within [[
      local function make (n) local t = {} for i = 1, n do t[i] = {} end end
      local function awaited () make(10) end
      local function bytes (trace)
        for _, row in ipairs(trace:report().functions) do
          if row.name == "make" then return row.self_bytes end
        end
      end
      collectgarbage "stop"     -- it makes stacks smaller
      local trace = start {on = "^awaited$", calls = "all"}
      make(1000) awaited() make(1000) awaited()
      trace:stop()
      local other = start()
      make(10)
      other:stop()
      local outside = trace:report().memory.self_bytes
      assert(outside == 0, outside)
      assert(bytes(trace) == 2 * bytes(other), bytes(trace))
      return true
    ]])
  end)

  it("are all there where nothing but samples is taken", function ()
    assert.equal(good, within [[
      collectgarbage "stop"
      local before = {counted()}
      local trace = start {sample = 1000}
      local t = os.clock()
      local list = {}
      repeat list[#list + 1] = {} until os.clock() - t > 0.03
      local after = {counted()}
      trace:stop()
      local m = trace:report().memory
      local most = after[2] - before[2]
      -- What start itself makes is its own, and what comes until counted tells.
      assert(m.total_bytes > #list * 56 and m.total_bytes <= most,
             m.total_bytes .. " of " .. most)
      return true
    ]])
  end)

  it("are the same from a file, and from packets", function ()
    assert.equal(good, within [[
      local path = os.tmpname()
      local trace = start()
      look() local t = {{}, {}} look() collectgarbage() look()
      trace:stop()
      assert(trace:save(path))
      local copy = assert(tracegrip.open(path)):traces()[1]
      local a, b = sums(trace), sums(copy)
      os.remove(path)
      for i = 1, #a do
        for k = 1, 4 do assert(a[i][k] == b[i][k]) end
      end
      return #a == 3 and agree(copy)
    ]])
  end)
end)

describe("the allocator", function ()
  it("is the host's again, function and data", function ()
    assert.equal(good, within [[
      assert(original())
      for i = 1, 3 do
        local trace = start()
        assert(not original())
        local other = start()
        trace:stop()
        assert(not original())
        other:stop()
        assert(original())
      end
      local trace = start {maxEvents = 2}
      look() look()
      return original()
    ]])
  end)

  it("is asked with the same arguments", function ()
    assert.equal("true\n", hosted [[
      local program = "local trace = %s "
        .. "for i = 1, 1000 do local t = {tostring(i)} end trace:stop()"
      local function tables (how)
        local state = new()
        state:run(prelude .. program:format(how))
        local _, _, wrong, made = state:facts()
        assert(wrong == 0)
        return made
      end
      print(tables "start()" - tables "tracegrip.start {}" < 20)
    ]])
  end)

  it("stays behind one that the program puts before it", function ()
    assert.equal(good, within [[
      local trace = start()
      wrap()
      local t = {{}}
      look() local u = {{}} look()
      trace:stop()
      local kept = {}
      for i = 1, 1000 do kept[i] = {i} end
      local again = start()
      local v = {}
      again:stop()
      return agree(trace)
    ]])
  end)

  it("of the program may go before the trace ends", function ()
    assert.equal(good, within [[
      local trace = start()
      wrap()
      look() local t = {{}} look()
      unwrap()
      trace:stop()
      return original() and agree(trace)
    ]])
  end)

  it("is given back when the state closes in the middle of a trace",
     function ()
    assert.equal("nil\n0\t0\t0\n", within [[
      kept = start()
      local t = setmetatable({}, {__gc = function () local u = {{}} end})
    ]])
    assert.equal("nil\n0\t0\t0\n", within [[
      kept = start()
      wrap()
      local t = {{}}
    ]])
    -- By a finalizer that comes after ours: no trace begins there.
    assert.equal("nil\n0\t0\t0\n", within [[
      last = setmetatable({}, {__gc = function ()
        local ok, message = pcall(start)
        assert(not ok and message:find "the state closes" and original())
      end})
      start():stop()
    ]])
  end)

  it("may be another in each of many states and threads", function ()
    local body = [[
      local tracegrip = require "tracegrip"
      collectgarbage "stop"         -- it shrinks stacks, when it likes
      local function make (n) local t = {} for i = 1, n do t[i] = {} end end
      local trace = tracegrip.start {memory = true}
      make(1000)
      trace:stop()
      for _, row in ipairs(trace:report().functions) do
        if row.name == "make" then return row.total_bytes end
      end
    ]]
    assert.equal("true\n", hosted(([[
      local states, body = require "states", %q
      local list, code = {}, {}
      for i = 1, 8 do code[i] = body end
      local results = {states.together(table.unpack(code))}
      for i = 1, 8 do list[i] = new() end
      for i = 1, 8 do results[#results + 1] = list[i]:run(body) end
      for i = 2, 16 do assert(results[i] == results[1]) end
      print(tonumber(results[1]) > 1000 * 40)
    ]]):format(body)))
  end)

  it("counts on in a forked child", function ()
    assert.equal("true\n0\n", hosted [[
      local states = require "states"
      local tracegrip = require "tracegrip"
      local function make (n) local t = {} for i = 1, n do t[i] = {} end end
      local trace = tracegrip.start {memory = true}
      local status = states.fork(function ()
        make(100)
        trace:stop()
        return trace:report().memory.total_bytes > 100 * 40 and 0 or 1
      end)
      make(100)
      trace:stop()
      print(trace:report().memory.total_bytes > 100 * 40)
      print(status)
    ]])
  end)
end)
