-- tracegrip history: every call that had a table, and who changed it.

local cjson = require "cjson"

local run = require "spec.support.run"

local tracegrip = run.build .. "/bin/tracegrip"
local TYPES = "name,callsite,parameterNames,arguments,return,identity"

-- Records a program and calls use(history), a function of the command's words
-- that gives its output, or its JSON as a table if they have --json.
local function recorded (code, use, record)
  run.within(function (directory)
    local function command (...)
      local result = run.command({tracegrip, ...}, {cwd = directory})
      assert.equal(0, result.status, result.stderr)
      return result.stdout
    end
    run.write(directory .. "/p.lua", code)
    local words = {"record", "--no-c", "--trace", TYPES, "-o", "p.tgr"}
    table.move(record or {}, 1, #(record or {}), #words + 1, words)
    words[#words + 1] = "p.lua"
    command(table.unpack(words))
    use(function (...)
      local text = command("history", "p.tgr", ...)
      return (select("#", ...) > 0 and select(-1, ...) == "--json")
             and cjson.decode(text) or text
    end)
  end)
end

-- The number of the table whose field "id" has that value.
local function number_of (history, id)
  for _, one in ipairs(history("--limit", "all", "--json").tables) do
    if (one.text or ""):find(('id = "%s"'):format(id), 1, true) then
      return ("%d"):format(one.table)
    end
  end
end

-- Calls as lines: "2 f returns value 1 by f n: 1 -> 2".
local function lines_of (document)
  local lines = {}
  for i, call in ipairs(document.calls) do
    local parts = {("%d"):format(call.packet), call.name, call.what, call.where}
    if call.changed then
      parts[#parts + 1] = call.by and "by " .. call.by
                          or ("since %d"):format(call.since)
      for _, one in ipairs(call.changes) do
        parts[#parts + 1] = ("%s: %s -> %s"):format(one.field, one.old or "nil",
                                                   one.new or "nil")
      end
    end
    lines[i] = table.concat(parts, " ")
  end
  return lines
end

local planted = [[
  local function add (bill, n) bill.sum = bill.sum + n return bill end
  local function look (bill) return bill.sum end
  local function wrap (list) return #list end
  local function label (bill) bill.name, bill.sum = "B", nil end
  local bill, other = {id = "b", sum = 0}, {id = "o", sum = 0}
  look(bill)            -- event 1, 2
  add(bill, 5)          -- 3, 4
  look(other)           -- 5, 6
  wrap {bill, other}    -- 7, 8
  bill.sum = 6
  look(bill)            -- 9, 10
  label(bill)           -- 11, 12
  look(bill)            -- 13, 14
]]

describe("tracegrip history", function ()
  it("shows every call that had a table, and who changed it", function ()
    recorded(planted, function (history)
      local number = number_of(history, "b")
      assert.same({
        "1 look is called bill",
        "3 add is called bill",
        "4 add returns value 1 by add sum: 0 -> 5",
        "7 wrap is called list[1]",
        "9 look is called bill since 4 sum: 5 -> 6",
        "11 label is called bill",
        '13 look is called bill since 11 name: nil -> "B" sum: 6 -> nil',
      }, lines_of(history(number, "--json")))
      assert.same({
        "4 add returns value 1 by add sum: 0 -> 5",
        "9 look is called bill since 4 sum: 5 -> 6",
        '13 look is called bill since 11 name: nil -> "B" sum: 6 -> nil',
      }, lines_of(history(number, "--changes", "--json")))
      assert.same({'13 look is called bill since 11 name: nil -> "B"'},
                  lines_of(history(number, "--changes", "--field", "name",
                                   "--json")))
      local text = history(number, "--limit", "3")
      assert.matches("add returns.*add +sum: 0 %-> 5\n… and 4 more calls\n$",
                     text)
      assert.matches("^no call has table 999999", history "999999")
      local all = history()
      assert.matches("^table", all)
      assert.matches('look +bill +{id = "b", sum = 0}', all)
    end)
  end)

  it("finds in locals what no call was given", function ()
    recorded([[
      local function tick (n) end
      local function work ()
        local t = {id = "t", n = 0}
        for i = 1, 2 do t.n = i tick(i) end
        return t.n
      end
      work()
    ]], function (history)
      local list = history(number_of(history, "t"), "--changes", "--json").calls
      assert.equal(1, #list)
      assert.same({"work", "calls", "t", {{field = "n", old = "1", new = "2"}}},
                  {list[1].name, list[1].what, list[1].where, list[1].changes})
    end, {"--trace", TYPES .. ",locals"})
  end)

  it("takes for no change what was not told", function ()
    recorded([[
      local function see (t) end
      local t = {id = "t"}
      for i = 1, 20 do t["f" .. i] = i end
      see(t)
      for i = 21, 40 do t["f" .. i] = i end     -- in another order now
      see(t)
      t.text = ("x"):rep(400) see(t)
      t.text = ("x"):rep(399) .. "y" see(t)
    ]], function (history)
      local document = history("--json")
      assert.same({}, history(("%d"):format(document.tables[1].table),
                              "--changes", "--json").calls)
    end, {"--value-properties", "3"})
  end)

  it("says what is wrong", function ()
    run.within(function (directory)
      run.write(directory .. "/p.lua", "local function f (t) end f {}")
      run.command({tracegrip, "record", "-o", "p.tgr", "p.lua"},
                  {cwd = directory})
      local result = run.command({tracegrip, "history", "p.tgr"},
                                 {cwd = directory})
      assert.equal("tracegrip: p.tgr does not tell which tables its values are "
                   .. "(record --trace ...,identity)\n", result.stderr)
      assert.equal(1, result.status)
      for _, word in ipairs {"x", "0x1"} do
        result = run.command({tracegrip, "history", "p.tgr", word},
                             {cwd = directory})
        assert.equal(2, result.status)
        assert.matches(("TABLE is a number, not '%s'"):format(word),
                       result.stderr)
      end
    end)
  end)
end)

---------------------------------------------------------------------------
-- Random programs
---------------------------------------------------------------------------

-- A program that changes tables and gives them to functions, and says which
-- call saw which table as what: "CALL TABLE FIELD=VALUE ..." on a line.
local chance = [[
  math.randomseed(%d)
  local tables, keys = {}, {"a", "b", "c", 1, 2, true, 2.5}
  local truth = assert(io.open("truth.txt", "w"))
  local function text (t)
    local parts = {}
    for k, v in pairs(t) do
      parts[#parts + 1] = tostring(k) .. "="
                          .. (type(v) == "table" and v.id or tostring(v))
    end
    table.sort(parts)
    return table.concat(parts, " ")
  end
  local function see (t, u) end
  local function deep (t) if math.random(3) > 1 then see(t, t) end return t end
  for i = 1, 6 do tables[i] = {id = "t" .. i} end
  local function any () return tables[math.random(#tables)] end
  for call = 1, 300 do
    local t = any()
    local what = math.random(6)
    if what < 4 then
      local values = {math.random(2), "s" .. math.random(2), any(), false}
      t[keys[math.random(#keys)] ] = values[math.random(4)]
    elseif what == 4 then t[keys[math.random(#keys)] ] = nil
    elseif what == 5 then
      local i = math.random(#tables)
      tables[i] = {id = "t" .. i .. "-" .. call}
      t = any()
      collectgarbage()
    end
    truth:write(t.id, "|", text(t), "\n")
    see(t)
  end
  truth:close()
]]

describe("the list of tables", function ()
  it("has twenty, or as many as are asked for", function ()
    run.within(function (directory)
      run.write(directory .. "/p.lua", [[
        local function see (t) return t end
        for i = 1, 30 do see({i}) end]])
      local function count (...)
        local result = run.command({tracegrip, ...}, {cwd = directory})
        assert.equal(0, result.status, result.stderr)
        return #cjson.decode(result.stdout).tables
      end
      run.command({tracegrip, "record", "--include", "^see$", "--trace", TYPES,
                   "-o", "p.tgr", "p.lua"}, {cwd = directory})
      assert.equal(20, count("history", "--json", "p.tgr"))
      assert.equal(30, count("history", "--json", "--limit", "1000", "p.tgr"))
      assert.equal(5, count("history", "--json", "--limit", "5", "p.tgr"))
    end)
  end)
end)

describe("the history of a table", function ()
  it("is what a random program has done", function ()
    run.within(function (directory)
      run.write(directory .. "/p.lua", chance:format(7))
      local function command (...)
        local result = run.command({tracegrip, ...}, {cwd = directory})
        assert.equal(0, result.status, result.stderr)
        return result.stdout
      end
      command("record", "--no-c", "--include", "^see$", "--trace", TYPES,
              "-o", "p.tgr", "p.lua")
      local told = {}         -- id -> list of contents, call by call
      for line in io.lines(directory .. "/truth.txt") do
        local id, text = line:match "^(.-)|(.*)$"
        told[id] = told[id] or {}
        table.insert(told[id], text)
      end
      local tables = cjson.decode(command("history", "p.tgr", "--limit",
                                          "all", "--json")).tables
      local checked = 0
      for _, one in ipairs(tables) do
        local document = cjson.decode(command(
          "history", "p.tgr", ("%d"):format(one.table), "--limit", "all",
          "--json"))
        local id
        for _, call in ipairs(document.calls) do
          id = id or (call.text or ""):match 'id = "([^"]+)"'
        end
        local own, last, n = id and told[id] or {}, nil, 0
        for _, call in ipairs(document.calls) do
          if call.where == "t" then
            n = n + 1
            local changed = last ~= nil and own[n] ~= last
            assert.equal(changed, call.changed, id .. " " .. n)
            assert.equal(changed, call.changes ~= nil
                                  and #call.changes > 0)
            last = own[n]
          end
        end
        if id and told[id] then
          assert.equal(#own, n)
          checked = checked + 1
          told[id] = nil
        end
      end
      assert.is_nil(next(told))
      assert.is_true(checked > 6)
    end)
  end)
end)
