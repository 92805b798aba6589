-- Data breakpoints: where a program stops since a value is another one. Each
-- program here has a line "-- watch from here", where it stops first, and ends
-- with the line "print 'over'", where it stops last.

local editor = require "spec.support.editor"

local it = editor.needed(it, pending)

-- Watches variables of the innermost frame of a stop, and nothing else: what
-- the adapter says of each, and the requests. One with conditions is a table.
local function watch (self, stopped, list)
  local frame, given = self:stack(stopped)[1], {}
  for i, one in ipairs(list) do
    one = type(one) == "table" and one or {name = one}
    local info = assert(self:ask("dataBreakpointInfo", {
      name = one.name, frameId = frame.id
    }))
    given[i] = {dataId = info.dataId, condition = one.condition,
                hitCondition = one.hitCondition}
  end
  return assert(self:ask("setDataBreakpoints", {breakpoints = given}))
         .breakpoints, given
end

-- "what: old → new @ function:line" of a stop.
local function told (self, stopped)
  local _, place = self:stack(stopped)
  return ("%s @ %s"):format(stopped.description, place:match "^%S+:%d+"
                            or place:match "^(.-:%d+)")
end

-- All further stops, up to the last line.
local function stops (self, stopped, command)
  local list = {}
  stopped = self:go(command or "continue", stopped)
  while stopped.reason ~= "breakpoint" do
    list[#list + 1] = told(self, stopped)
    assert.equal("data breakpoint", stopped.reason)
    stopped = self:go("continue", stopped)
  end
  return list, stopped
end

local function line_of (text, what)
  local before = text:sub(1, text:find(what, 1, true))
  return select(2, before:gsub("\n", "")) + 1
end

-- Launches a program, and calls use(self, stopped, breakpoints) where it is
-- watched from. The breakpoint there is no more.
local function watched (text, list, use, more)
  text = text .. "print 'over'\n"
  editor.launch(text, function (self, where)
    local first = line_of(text, "-- watch from here")
    local last = line_of(text, "print 'over'")
    self:stop_at {first, last}
    local stopped = self:run()
    local set, given = watch(self, stopped, list)
    self:stop_at {last}
    use(self, stopped, set, given, where)
  end, more)
end

-- What must be the stops of a program.
local function expect (text, list, expected)
  watched(text, list, function (self, stopped)
    assert.same(expected, (stops(self, stopped)))
  end)
end

describe("a data breakpoint", function ()
  it("stops at the line after the change, or in the call that has made it",
     function ()
    expect([[
local Account = {}
Account.__index = Account
function Account:add (n)
  self.sum = self.sum + n
end
local function set (t, key, value) t[key] = value end
local function later (t, ...) t.sum = 60 return set(t, ...) end
local account = setmetatable({sum = 0}, Account)
local n = 1 -- watch from here
account:add(5)
account.sum = 5
rawset(account, "sum", 20)
set(account, "sum", 30)
n = account.sum
pcall(function () account.sum = 40 error "no" end)
pcall(function ()
  account.sum = 50
  local _ = n.x.y
end)
later(account, "sum", 70)
account.sum = nil
account.sum = 0 / 0
n = account.sum
]], {"account.sum"}, {
      "account.sum: 0 → 5 @ add:5",
      "account.sum: 5 → 20 @ (main chunk):12",
      "account.sum: 20 → 30 @ set:6",
      "account.sum: 30 → 40 @ (anonymous function):15",
      "account.sum: 40 → 50 @ (anonymous function):18",
      "account.sum: 50 → 60 @ set:6",
      "account.sum: 60 → 70 @ set:6",
      "account.sum: 70 → nil @ (main chunk):22",
      "account.sum: nil → nan @ (main chunk):23"
    })
  end)

  it("sees upvalues, globals, and locals of a frame", function ()
    expect([[
local total, other = 0, 0
local function count () total = total + 1 end
local function work (n)
  local mine = n
  local function change () mine = mine + total end -- watch from here
  count()
  change()
  other = mine
  gone = 1
  for i = 1, 2 do
    local each = i
    total = total + each
  end
  return mine
end
work(10)
work(20)
]], {"total", "mine", "gone", "nothing"}, {
      "total: 0 → 1 @ count:2",
      "mine: 10 → 11 @ change:5",
      "gone: nil → 1 @ work:10",
      "total: 1 → 2 @ work:10",
      "total: 2 → 4 @ work:10",
      "total: 4 → 5 @ count:2",
      "total: 5 → 6 @ work:10",
      "total: 6 → 8 @ work:10"
    })
  end)

  it("sees what functions of C, metamethods and coroutines change", function ()
    expect([[
local log = {}
local proxy = setmetatable({}, {
  __newindex = function (_, key, value)
    log[#log + 1] = key
    rawset(log, "last", value)
  end})
local list = {3, 1, 2}
local co = coroutine.wrap(function ()
  list[1] = "co"
  coroutine.yield()
  list[1] = "again"
end)
co = co -- watch from here
proxy.x = 1
table.insert(list, 1, 9)
table.sort(list)
table.sort(list, function (a, b) return a > b end)
co()
co()
]], {"log.last", "list[1]"}, {
      "log.last: nil → 1 @ newindex:5",
      "list[1]: 3 → 9 @ (main chunk):15",
      "list[1]: 9 → 1 @ (main chunk):16",
      "list[1]: 1 → 9 @ (main chunk):17",
      'list[1]: 9 → "co" @ (anonymous function):10',
      'list[1]: "co" → "again" @ (anonymous function):12'
    })
  end)

  it("has conditions and hit counts, a thousand times a second", function ()
    watched([[
local t = {n = 0}
local s = 0 -- watch from here
for i = 1, 5000 do
  t.n = i
  s = s + t.n
end
for i = 1, 50 do
  t.n = i
end
]], {{name = "t.n", condition = "i % 1000 == 0"}}, function (self, stopped)
      local list = {}
      for i = 1, 5 do
        stopped = self:go("continue", stopped)
        list[i] = told(self, stopped)
      end
      assert.same({
        "t.n: 999 → 1000 @ (main chunk):5",
        "t.n: 1999 → 2000 @ (main chunk):5",
        "t.n: 2999 → 3000 @ (main chunk):5",
        "t.n: 3999 → 4000 @ (main chunk):5",
        "t.n: 4999 → 5000 @ (main chunk):5"
      }, list)
      watch(self, stopped, {{name = "t.n", hitCondition = "% 25"}})
      assert.same({"t.n: 24 → 25 @ (main chunk):7",
                   "t.n: 49 → 50 @ (main chunk):7"}, (stops(self, stopped)))
    end)
  end)

  it("is over with its table or its frame, and says so", function ()
    watched([[
local box, kept = {t = {1}}, setmetatable({}, {__mode = "k"})
kept[box.t] = true
local function work (n)
  local mine = n
  n = nil -- watch from here
  error "dropped"
end
pcall(work, 1)
box.t = nil
collectgarbage()
collectgarbage()
io.write(next(kept) == nil and "collected\n" or "kept\n")
]], {"mine", "box.t[1]"}, function (self, stopped, set)
      assert.same({true, true}, {set[1].verified, set[2].verified})
      assert.truthy(set[1].message:find "^while this is watched, the program")
      local list, last = stops(self, stopped)
      assert.same({}, list)
      local over = {}
      for i, body in ipairs(self:events "breakpoint") do
        local one = body.breakpoint
        assert.is_false(one.verified)
        assert.equal("failed", one.reason)
        over[i] = {one.id, one.message}
      end
      assert.same({
        {set[1].id, "the function that has the variable has returned"},
        {set[2].id, "the table is gone, or the key is"}
      }, over)
      self:post("continue", {threadId = last.threadId})
      self:event "terminated"
      assert.truthy(self:printed "stdout":find "collected")
    end)
  end)

  it("stays as it is when others come and go", function ()
    watched([[
local t = {a = 0, b = 0}
local function work (n)
  local mine = n
  n = nil -- watch from here
  mine = 2
  t.a = 1
  mine = 3
  t.b = 1
  t.a = 2
end
work(1)
t.b = 2
]], {"mine"}, function (self, stopped, set, given)
      stopped = self:go("continue", stopped)
      assert.equal("mine: 1 → 2 @ work:6", told(self, stopped))
      local more = assert(self:ask("dataBreakpointInfo", {
        name = "t.b", frameId = self:stack(stopped)[1].id
      }))
      local again = assert(self:ask("setDataBreakpoints", {
        breakpoints = {given[1], {dataId = more.dataId}}
      })).breakpoints
      assert.equal(set[1].id, again[1].id)
      assert.is_true(again[2].verified)
      stopped = self:go("continue", stopped)
      assert.equal("mine: 2 → 3 @ work:8", told(self, stopped))
      assert.same({set[1].id}, stopped.hitBreakpointIds)
      stopped = self:go("continue", stopped)
      assert.equal("t.b: 0 → 1 @ work:9", told(self, stopped))
      assert(self:ask("setDataBreakpoints", {breakpoints = {}}))
      assert.same({}, (stops(self, stopped)))
    end)
  end)

  it("is at a place for steps like others", function ()
    watched([[
local t = {n = 0}
local function set (n) t.n = n end
local function twice (n) -- watch from here
  set(n); set(n + 1)
  return n
end
local x = twice(1)
t.n = x
x = 0
]], {"t.n"}, function (self, stopped)
      local where = {}
      for i, command in ipairs {"continue", "next", "next", "stepOut",
                                "continue", "stepIn"} do
        stopped = self:go(command, stopped)
        local _, place = self:stack(stopped)
        where[i] = stopped.reason .. " " .. place
      end
      assert.same({
        "data breakpoint set:2 twice:4 (main chunk):7",
        "step twice:4 (main chunk):7",
        "data breakpoint set:2 twice:4 (main chunk):7",
        "step twice:5 (main chunk):7", "data breakpoint (main chunk):9",
        "breakpoint (main chunk):10"
      }, where)
    end)
  end)

  it("does not stop at what the debugger changes", function ()
    watched([[
local t, m = {n = 0}, 1
m = 1 -- watch from here
m = 2
t.n = 3
m = 5
t = nil
]], {"t.n", "m"}, function (self, stopped)
      local frame = self:stack(stopped)[1]
      local _, _, locals = self:scope(frame, "Locals")
      self:value(frame, "rawset(t, 'n', 7)", "repl")
      assert(self:ask("setVariable", {variablesReference = locals, name = "t",
                                      value = "t"}))
      assert(self:ask("setExpression", {expression = "t.n", value = "8",
                                        frameId = frame.id}))
      assert.same({"m: 1 → 2 @ (main chunk):4", "t.n: 8 → 3 @ (main chunk):5",
                   "m: 2 → 5 @ (main chunk):6"}, (stops(self, stopped)))
    end)
  end)

  it("says what cannot be watched", function ()
    watched([[
local t = {n = 0}
t.n = 1 -- watch from here
]], {}, function (self, stopped)
      local frame = self:stack(stopped)[1]
      local _, _, globals = self:scope(frame, "Globals")
      local _, _, locals = self:scope(frame, "Locals")
      local function info (name, reference)
        local body = assert(self:ask("dataBreakpointInfo", {
          name = name, variablesReference = reference, frameId = frame.id
        }))
        return type(body.dataId) == "string", body.description
      end
      assert.same({true, "print"}, {info("print", globals)})
      assert.same({true, "t"}, {info("t", locals)})
      assert.same({true, "new"}, {info "new"})
      for _, name in ipairs {"print()", "t.n + 1", "t.", "print.x", "1", ""} do
        assert.same({false, name .. " is no field of a table and no variable: "
                     .. "only those can be watched"}, {info(name)})
      end
      local set = assert(self:ask("setDataBreakpoints", {breakpoints = {
        {dataId = "no such"}
      }})).breakpoints
      assert.same({false, "There is no such place any more"},
                  {set[1].verified, set[1].message})
      local _, message = self:ask("setDataBreakpoints", {breakpoints = {{}}})
      assert.equal("setDataBreakpoints: number 1 of 'breakpoints': 'dataId' "
                   .. "has to be a string", message)
      assert.same({}, (stops(self, stopped)))
    end)
  end)

  it("takes keys of all kinds, and 64 places at once", function ()
    local text = [[
local key = {}
local t = {[1.5] = 0, [true] = 0, [-1] = 0, [key] = 0, f = 1}
t.x = 1 -- watch from here
t[1.5] = 1
t[true] = false
t[-1] = "m"
t[key] = t
t.f = 1.0
t.f = 2
t.f = 2
t[("long"):rep(20)] = 1
t.y = t
]]
    watched(text, {"t[1.5]", "t[true]", "t[-1]", "t[key]", "t.f",
                   "t['" .. ("long"):rep(20) .. "']"},
            function (self, stopped)
      local list = stops(self, stopped)
      for i, told_of in ipairs(list) do
        list[i] = told_of:match ": (.-) @ .*:(%d+)$"
                  .. " " .. told_of:match "%d+$"
      end
      assert.equal('0 → 1 5|0 → false 6|0 → "m" 7',
                   table.concat(list, "|", 1, 3))
      assert.truthy(list[4]:find "^0 → {.* 8$")
      assert.equal("1 → 2 10|nil → 1 12", table.concat(list, "|", 5))
    end)
    watched(text, {}, function (self, stopped)
      local names = {}
      for i = 1, 65 do
        names[i] = "t.a" .. i
      end
      local set = watch(self, stopped, names)
      assert.is_true(set[64].verified)
      assert.is_false(set[65].verified)
      assert.equal("at most 64 places are watched at once", set[65].message)
    end)
  end)

  it("changes nothing of the program", function ()
    watched([[
local weak, order = setmetatable({}, {__mode = "v"}), {}
local Class = {__gc = function (self) order[#order + 1] = self.name end}
local function new (name) return setmetatable({name = name}, Class) end
local all = {a = new "a", b = new "b"}
weak.a, weak.b = all.a, all.b
local function twin () return all end
local co = coroutine.create(function () all.b = new "c" coroutine.yield() end)
local t = setmetatable({}, {__index = function (_, k) return k .. "!" end})
local x = 1
x = 1 -- watch from here
all.a.name = "A"
all.a = nil
collectgarbage()
collectgarbage()
x = t.x
coroutine.resume(co)
io.write(tostring(debug.gethook()), tostring(debug.gethook(co)), "\n")
io.write(table.concat(order, " "), " ", tostring(weak.a), " ",
         tostring(weak.b ~= nil), " ", x, " ", tostring(rawget(t, "x")), "\n")
io.write(tostring(getmetatable(all)), " ", #twin(), "\n")
]], {"all.a.name", "all.a", "all.b", "weak.a", "t.x", "x"},
            function (self, stopped)
      local list, last = stops(self, stopped)
      assert.same({
        'all.a.name: "a" → "A" @ (main chunk):12',
        'all.a: {name = "A"} → nil @ (main chunk):13',
        "weak.a: (freed) → nil @ (main chunk):13",
        'x: 1 → "x!" @ (main chunk):16',
        'all.b: {name = "b"} → {name = "c"} @ (anonymous function):7'
      }, list)
      self:post("continue", {threadId = last.threadId})
      self:event "terminated"
      assert.equal("nilnil\nA nil true x! nil\nnil 0\nover\n",
                   self:printed "stdout")
    end)
  end)

  it("is of one program: the next one is asked anew", function ()
    watched([[
local n = 0 -- watch from here
n = 1
]], {"n"}, function (self, _, set)
      assert(self:ask("restart", {}))
      local changed = self:event("breakpoint", function (body)
        return body.breakpoint.id == set[1].id
      end).breakpoint
      assert.same({false, "the program was started anew: choose the variable "
                   .. "again"}, {changed.verified, changed.message})
    end)
  end)
end)
