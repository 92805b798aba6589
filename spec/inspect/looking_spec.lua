-- What a debugger sees of a program that stands still, and what it can do with
-- it: scopes, values, code, changes.

local debugger = require "spec.support.debugger"

local it = debugger.needed(it, pending)

-- Stops at the last line of a program, which has the variables in question.
local function stopped (text, use)
  debugger.debug(text .. "\nreturn\n", function (front, _, command)
    local _, lines = text:gsub("\n", "")
    front:stop_at(lines + 2)
    use(front, front:go "resume", command)
  end)
end

-- Of a variable of the innermost frame.
local function variable (front, paused, name)
  return front:scope(paused, 1, "local")[name]
end

describe("scopes", function ()
  it("have the variables that are alive, hidden ones under another name",
     function ()
    stopped([[
local x = 1
do local gone = 2 end
local x = "two"
]], function (front, paused)
      local all, names = front:scope(paused, 1, "local")
      assert.same({"x (hidden, #1)", "x"}, names)
      assert.equal(1, all["x (hidden, #1)"].value)
      assert.equal("two", all.x.value)
    end)
  end)

  it("have extra arguments, upvalues and globals", function ()
    debugger.debug([[
local up = 5
glob = 6
local function f (...)
  return up, ...
end
f(7, nil, 9)
]], function (front)
      front:stop_at(4)
      local paused = front:go "resume"
      local varargs = front:scope(paused, 1, "local")
      assert.equal(7, varargs["(vararg 1)"].value)
      assert.equal("undefined", varargs["(vararg 2)"].type)
      assert.equal(9, varargs["(vararg 3)"].value)
      assert.equal(5, front:scope(paused, 1, "closure").up.value)
      assert.equal(6, front:scope(paused, 1, "global").glob.value)
    end)
  end)

  it("have the object of a method as 'this'", function ()
    debugger.debug([[
local c = {name = "c"}
function c:m ()
  return self
end
c:m()
]], function (front)
      front:stop_at(3)
      local this = front:go "resume".callFrames[1].this
      assert.equal("c", front:properties(this.objectId).name.value)
    end)
  end)
end)

describe("values", function ()
  it("are what they are in Lua", function ()
    stopped([[
local n, t, i, big = nil, true, 42, math.maxinteger
local f, nan, inf, zero = 1.0, 0/0, -1/0, -0.0
local s, bytes = "gr\u{fc}n", "\xff\0a"
]], function (front, paused)
      local v = front:scope(paused, 1, "local")
      assert.same({type = "undefined"}, v.n)
      assert.same({type = "boolean", value = true}, v.t)
      assert.same({type = "number", value = 42, description = "42"}, v.i)
      assert.same({type = "bigint",
                   unserializableValue = "9223372036854775807n",
                   description = "9223372036854775807"}, v.big)
      assert.equal("1.0", v.f.description)
      assert.equal("NaN", v.nan.unserializableValue)
      assert.equal("-Infinity", v.inf.unserializableValue)
      assert.equal("-0", v.zero.unserializableValue)
      assert.same({type = "string", value = "gr\u{fc}n"}, v.s)
      assert.equal("\\xff\\x00a", v.bytes.value)
    end)
  end)

  it("have their keys in order, each under a name of its own", function ()
    stopped([[
local t = {10, 20, a = 1, ["1"] = 2, [1.5] = 3, [true] = 4}
]], function (front, paused)
      local t = variable(front, paused, "t")
      assert.equal("table(#2)", t.description)
      local all, names = front:properties(t.objectId)
      assert.same({"1", "[1.5]", "2", '["1"]', "a", "[true]"}, names)
      assert.equal(2, all['["1"]'].value)
    end)
  end)

  it("never run a metamethod", function ()
    stopped([[
ran = 0
local function run () ran = ran + 1 return "x" end
local t = setmetatable({1}, {__index = run, __len = run, __tostring = run,
                             __pairs = run, __eq = run, __name = "Kind"})
local u = t
]], function (front, paused)
      local t = variable(front, paused, "t")
      assert.equal("Kind(#1)", t.description)
      assert.equal("Kind", t.className)
      local internal = front:properties(t.objectId, "internalProperties")
      local meta = front:properties(internal["[[Metatable]]"].objectId)
      assert.equal("function", meta.__index.type)
      local seen, problem = front:value(paused, 1, "t.x",
                                        {throwOnSideEffect = true})
      assert.equal("error", seen.subtype)
      assert.is_table(problem)
      assert.equal(0, front:value(paused, 1, "ran").value)
      assert.equal("x", front:value(paused, 1, "t.x").value)
    end)
  end)

  it("tell of functions, coroutines and their stacks", function ()
    stopped([[
local up = 1
local function f (a, ...) return up end
local co = coroutine.create(function () coroutine.yield() end)
coroutine.resume(co)
]], function (front, paused)
      local v = front:scope(paused, 1, "local")
      assert.matches("^function %(a, %.%.%.%) { app%.lua:2 }$",
                     v.f.description)
      local f = front:properties(v.f.objectId, "internalProperties")
      local place = f["[[FunctionLocation]]"]
      assert.equal("app.lua:2", place.description)
      assert.same({scriptId = paused.callFrames[1].location.scriptId,
                   lineNumber = 1, columnNumber = 0}, place.value)
      assert.equal(1, front:properties(f["[[Upvalues]]"].objectId).up.value)
      local co = front:properties(v.co.objectId, "internalProperties")
      assert.equal("suspended", co["[[Status]]"].value)
      local stack = front:properties(co["[[Stack]]"].objectId)
      assert.matches("app%.lua:3", stack["1"].value)
    end)
  end)

  it("of a large table come in parts", function ()
    stopped([[
local t = {}
for i = 1, 1000 do t[i] = i * i end
]], function (front, paused)
      local t = variable(front, paused, "t")
      local all, names = front:properties(t.objectId)
      assert.equal(10, #names)
      assert.equal("[101 … 200]", names[2])
      local part = front:properties(all[names[2]].objectId)
      assert.equal(150 * 150, part["150"].value)
    end)
  end)

  it("of a very large table come in parts of parts, without previews",
     function ()
    stopped([[
local t = {name = "x"}
for i = 1, 20000 do t[i] = i end
]], function (front, paused)
      local function parts (id)
        local list, names = {}, {}
        local result = front:ask("Runtime.getProperties", {
          objectId = id, ownProperties = true, generatePreview = true
        }).result
        for i, one in ipairs(result) do
          list[one.name], names[i] = one.value, one.name
        end
        return list, names
      end
      local all, names = parts(variable(front, paused, "t").objectId)
      assert.same({"[1 … 10000]", "[10001 … 20000]", "name"}, names)
      all, names = parts(all[names[2]].objectId)
      assert.equal(100, #names)
      assert.equal("[10101 … 10200]", names[2])
      all, names = parts(all[names[2]].objectId)
      assert.equal(100, #names)
      assert.equal(10150, all["10150"].value)
    end)
  end)

  it("of a large table are previewed by its first fields", function ()
    stopped([[
local t = {name = "x"}
for i = 1, 20000 do t[i] = i end
]], function (front, paused)
      local scope = paused.callFrames[1].scopeChain[1].object.objectId
      local result = front:ask("Runtime.getProperties", {
        objectId = scope, ownProperties = true, generatePreview = true
      })
      local preview = result.result[1].value.preview
      assert.is_true(preview.overflow)
      assert.equal(101, #preview.properties)
      assert.same({name = "100", type = "number", value = "100"},
                  preview.properties[100])
      assert.same({name = "name", type = "string", value = "x"},
                  preview.properties[101])
    end)
  end)

  it("of a table of many fields cost what the parts cost", function ()
    stopped([[
local t, begun = {}, os.clock()
for i = 1, 300000 do t["key" .. i] = i end
local before = os.clock()
local filled = before - begun]], function (front, paused)
      local id = variable(front, paused, "t").objectId
      local parts, names = front:properties(id)
      assert.equal(30, #names)
      local some, more = front:properties(parts[names[2]].objectId)
      assert.equal(100, #more)
      local all, last = front:properties(some[more[3]].objectId)
      assert.equal(100, #last)
      local function key (name)
        return tonumber(name:match "^key(%d+)$")
      end
      assert.equal(key(last[1]), all[last[1]].value)
      local changed = front:ask("Runtime.callFunctionOn", {
        objectId = some[more[3]].objectId, arguments = {
          {value = last[7]}, {value = "new"}
        }, functionDeclaration = "function(a, b) { this[a] = b; }"
      })
      assert.is_table(changed)
      assert.is_table(front:ask("Runtime.callFunctionOn", {
        objectId = id, arguments = {{value = "key77"}, {value = "other"}},
        functionDeclaration = "function(a, b) { this[a] = b; }"
      }))
      assert.equal("new", front:value(paused, 1, "t." .. last[7]).value)
      assert.equal("other", front:value(paused, 1, "t.key77").value)
      local spent = front:value(paused, 1, "os.clock() - before").value
      local filled = front:value(paused, 1, "filled").value
      assert.is_true(spent < 20 * filled + 0.5,
                     "took " .. spent .. " s of the processor")
    end)
  end)

  it("of large strings have no more text than a message may have", function ()
    stopped([[
local t = {}
for i = 1, 300 do t[i] = ("\u{fc}"):rep(1 << 19) .. i end]],
            function (front, paused)
      local all = front:properties(variable(front, paused, "t").objectId)
      local sum = 0
      for _, one in pairs(all) do
        sum = sum + #one.value
      end
      assert.is_true(sum < 10 << 20)
      assert.matches("^\u{fc}.*\u{fc}%.%.%. %(1048577 bytes%)$",
                     all["1"].value)
      assert.matches("^\u{fc}.*\u{fc}%.%.%. %(1048579 bytes%)$",
                     all["300"].value)
      assert.matches("%(1048577 bytes%)",
                     front:value(paused, 1, "t[1]").value)
    end)
  end)

  it("that inherit fields tell of these where they are asked for", function ()
    stopped([[
local Base = {greet = print}
local Account = setmetatable({deposit = print, name = "class"},
                             {__index = Base})
local account = setmetatable({name = "mine"}, {__index = Account})]],
            function (front, paused)
      local id = variable(front, paused, "account").objectId
      local list = front:ask("Runtime.getProperties", {objectId = id}).result
      local own = {}
      for _, one in ipairs(list) do
        own[one.name] = one.isOwn
      end
      assert.same({name = true, deposit = false, greet = false}, own)
      local _, names = front:properties(id)
      assert.same({"name"}, names)
    end)
  end)

  it("that are userdata have the name of their kind", function ()
    stopped("local file = io.stdout", function (front, paused)
      local file = variable(front, paused, "file")
      assert.equal("FILE*", file.className)
      assert.matches("^FILE%*: 0x%x+$", file.description)
    end)
  end)

  it("are given as JSON where that is asked for", function ()
    stopped([[
local t = {list = {1, 2.5, "x"}, [1] = true, f = print, none = {}}
local endless = {}
endless[1] = endless
]], function (front, paused)
      local by_value = {returnByValue = true}
      assert.same({
        type = "object", value = {list = {1, 2.5, "x"}, ["1"] = true, f = {},
                                  none = {}}
      }, (front:value(paused, 1, "t", by_value)))
      local ok, problem = pcall(front.value, front, paused, 1, "endless",
                                by_value)
      assert.is_false(ok)
      assert.matches("Object reference chain is too long", problem)
    end)
  end)

  it("have previews within limits", function ()
    stopped([[
local t = {a = 1, b = 2, c = 3, d = 4, e = ("x"):rep(200), f = 6}
for i = 1, 150 do t[i] = i end
]], function (front, paused)
      local scope = paused.callFrames[1].scopeChain[1].object.objectId
      local result = front:ask("Runtime.getProperties", {
        objectId = scope, ownProperties = true, generatePreview = true
      })
      local preview = result.result[1].value.preview
      assert.is_true(preview.overflow)
      assert.equal(105, #preview.properties)
      local long = preview.properties[105].value
      assert.equal(100, utf8.len(long))
      assert.matches("x…x", long)
    end)
  end)

  it("are gone when the program goes on", function ()
    debugger.debug("local t = {}\nlocal u = 1\nlocal v = 2\nreturn v\n",
                   function (front)
      front:go "stepOver"
      local paused = front:go "stepOver"
      local t = variable(front, paused, "t")
      front:go "stepOver"
      local _, problem = front:ask("Runtime.getProperties",
                                   {objectId = t.objectId})
      assert.same({code = -32000,
                   message = "Could not find object with given id"}, problem)
    end)
  end)

  it("of the console stay until their group is released", function ()
    debugger.debug("local t = {}\nlocal u = 1\nreturn u\n", function (front)
      local t = front:ask("Runtime.evaluate", {
        expression = "{k = 'v'}", objectGroup = "console"
      }).result
      front:go "stepOver"
      assert.equal("v", front:properties(t.objectId).k.value)
      front:ask("Runtime.releaseObjectGroup", {objectGroup = "console"})
      local _, problem = front:ask("Runtime.getProperties",
                                   {objectId = t.objectId})
      assert.equal(-32000, problem.code)
    end)
  end)
end)

describe("code in a frame", function ()
  it("reads and assigns locals, upvalues, globals and extra arguments",
     function ()
    debugger.debug([[
local up = 1
local function f (a, ...)
  local b = up
  print(a, b, up, glob)
end
f(10, 20, 30)
]], function (front, _, command)
      front:stop_at(4)
      local at = front:go "resume"
      assert.equal(61, front:value(at, 1,
                                   "a + b + select('#', ...) * 25").value)
      assert.equal(50, front:value(at, 1, "... + 30").value)
      front:value(at, 1, "a = 'A' b = 'B' up = 'U' glob = 'G'")
      assert.equal("U", front:value(at, 2, "up").value)
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("A\tB\tU\tG\n", command.out)
    end)
  end)

  it("may be statements, whose value is that of their return", function ()
    stopped("local a = 1", function (front, paused)
      assert.equal(6, front:value(paused, 1, [[
        local sum = 0
        for i = a, 3 do sum = sum + i end
        return sum]]).value)
    end)
  end)

  it("fails with a traceback, and so does code that does not compile",
     function ()
    stopped("local function fail () error 'oh' end", function (front, paused)
      local object, details = front:value(paused, 1, "fail()")
      assert.equal("error", object.subtype)
      assert.matches("^app%.lua:1: oh\nstack traceback:", object.description)
      assert.equal("Uncaught", details.text)
      object = front:value(paused, 1, "1 +")
      assert.matches("near <eof>", object.description)
      object = front:value(paused, 1, "error({})")
      assert.equal("table", object.description)
    end)
  end)

  it("fails with an error that can be opened, if that has fields", function ()
    stopped("local t = {code = 7}", function (front, paused)
      local object, details = front:value(paused, 1, "error(t)")
      assert.equal("object", object.type)
      assert.is_nil(object.subtype)
      assert.equal(7, front:properties(object.objectId).code.value)
      assert.same(object.objectId, details.exception.objectId)
      assert.matches("stack traceback:", details.text)
    end)
  end)

  it("gives all of its values", function ()
    stopped("local a, b = 1, 'two'", function (front, paused)
      local object = front:value(paused, 1, "a, b, nil, {}",
                                 {generatePreview = true})
      assert.equal('1, "two", nil, table', object.description)
      local all, names = front:properties(object.objectId)
      assert.same({"1", "2", "3", "4"}, names)
      assert.equal("two", all["2"].value)
      assert.equal("undefined", all["3"].type)
      assert.equal('false, "x"', front:value(paused, 1,
                                             "pcall(error, 'x')").description)
      assert.equal("2, 2", front:value(paused, 1, "string.find('abc', 'b')",
                                       {objectGroup = "console"}).description)
      assert.same({2, 2}, front:value(paused, 1, "string.find('abc', 'b')",
                                      {returnByValue = true}).value)
      assert.equal(1, front:value(paused, 1, "(pcall(error)) and 2 or a").value)
      assert.equal("undefined", front:value(paused, 1, "print()").type)
    end)
  end)

  it("cannot yield, and ends when its time is over", function ()
    stopped("local a = 1", function (front, paused)
      local object = front:value(paused, 1, "coroutine.yield(1)")
      assert.matches("attempt to yield", object.description)
      object = front:value(paused, 1, "(function () while true do end end)()",
                           {timeout = 100})
      assert.matches("took too long", object.description)
    end)
  end)

  it("is looked at without side effects where that is asked for", function ()
    stopped("local t = {a = {b = {7}}, ['x y'] = 8}", function (front, at)
      local eager = {throwOnSideEffect = true, timeout = 500}
      assert.equal(7, front:value(at, 1, "t.a.b[1]", eager).value)
      assert.equal(8, front:value(at, 1, "t['x y']", eager).value)
      assert.is_table(select(2, front:value(at, 1, "print(1)", eager)))
      assert.is_table(select(2, front:value(at, 1, "t.a = 1", eager)))
    end)
  end)

  it("may have operators there, but no metamethods", function ()
    stopped([[
local n, f, s, none = 7, 1.5, "text", nil
local k, t = "a", {a = {b = 2}, 10, 20}
local loud = setmetatable({1}, {
  __index = print, __len = print, __eq = print, __add = print, __concat = print,
  __lt = print
})
local one = setmetatable({}, {__index = setmetatable({}, {__index = {m = 5}})})
local function f2 () return n, f, s, none, k, t, loud, one end]],
            function (front, at, command)
      local function eager (text)
        local object, details = front:value(at, 1, text, {
          throwOnSideEffect = true, generatePreview = true
        })
        if details then
          return "refused"
        end
        return object.value == nil and (object.description or object.type)
               or object.value
      end
      for text, expected in pairs {
        ["n + 1"] = 8, ["n * 2 - 3 // 2"] = 13, ["2 ^ 3 ^ 2"] = 512,
        ["-n + -2 ^ 2"] = -11, ["(n + 1) * 2"] = 16, ["n % 4 << 2"] = 12,
        ["#t"] = 2, ["#s .. ''"] = "4", ["t[k].b"] = 2, ["t[#t]"] = 20,
        ["t['a']['b'] == 2"] = true, ["n < f"] = false, ["not n"] = false,
        ["none and none.x"] = "undefined", ["none or n"] = 7,
        ["s == 'text' and 'yes' or 'no'"] = "yes", ["n // 0"] = "refused",
        ["s .. n .. f"] = "text71.5", ["none.x"] = "refused",
        ["loud.x"] = "refused", ["#loud"] = "refused", ["loud + 1"] = "refused",
        ["loud == t"] = "refused", ["loud .. s"] = "refused",
        ["loud < loud"] = "refused", ["loud[1]"] = 1, ["loud ~= 1"] = true,
        ["one.m * 2"] = 10, ["f2()"] = "refused", ["{}"] = "refused",
        ["n, f"] = "7, 1.5", ["~5 & 0xff"] = 250, ["n +"] = "refused",
        ["math.pi > 3"] = true, ["s.upper == string.upper"] = true
      } do
        assert.equal(expected, eager(text), text)
      end
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("", command.out)
    end)
  end)

  it("knows what the front end calls globals", function ()
    stopped("name_of_ours = 1", function (front, paused)
      local object = front:value(paused, 1, "globalThis",
                                 {objectGroup = "completion"})
      assert.equal(1, front:properties(object.objectId).name_of_ours.value)
    end)
  end)
end)

describe("changes", function ()
  it("are made to variables of all scopes", function ()
    debugger.debug([[
local up = 1
local function f (a, ...)
  print(a, up, ...)
end
f(1, 2)
]], function (front, _, command)
      front:stop_at(3)
      local at = front:go "resume"
      local id = at.callFrames[1].callFrameId
      local function set (scope, name, value)
        return front:ask("Debugger.setVariableValue", {
          callFrameId = id, scopeNumber = scope, variableName = name,
          newValue = value
        })
      end
      assert.same({}, set(0, "a", {value = "A"}))
      assert.same({}, set(0, "(vararg 1)", {unserializableValue = "5n"}))
      assert.same({}, set(1, "up", {value = 2.5}))
      local _, problem = set(0, "nobody", {value = 1})
      assert.equal("There is no variable nobody", problem.message)
      front:ask "Debugger.resume"
      assert.equal(0, command:ended())
      assert.equal("A\t2.5\t5\n", command.out)
    end)
  end)

  it("are made to fields, as the front end asks for them", function ()
    stopped("local t = {1, a = 2}", function (front, paused)
      local t = variable(front, paused, "t")
      local function call (code, ...)
        local arguments = {}
        for i, value in ipairs {...} do
          arguments[i] = {value = value}
        end
        return front:ask("Runtime.callFunctionOn", {
          objectId = t.objectId, functionDeclaration = code,
          arguments = arguments
        })
      end
      call("function(a, b) { this[a] = b; }", "1", "one")
      call("function(a) { delete this[a]; return !(a in this); }", "a")
      local all, names = front:properties(t.objectId)
      assert.same({"1"}, names)
      assert.equal("one", all["1"].value)
      local _, problem = call("function() { return 1; }")
      assert.equal(-32000, problem.code)
    end)
  end)
end)
