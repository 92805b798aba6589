-- What a program that stands still shows: threads, frames, variables, values.

local editor = require "spec.support.editor"
local debugger = require "spec.support.debugger"

local plain = it
local it = editor.needed(it, pending)
local with_memory = debugger.needs_memory(it, pending)

local program = [[
local Class = setmetatable({}, {__name = "Class"})
Class.__index = Class
function Class.method (self, ...)
  local text, bytes = "a \"quoted\"\nline", "\xff\0"
  local big, nan, inf, float = math.maxinteger, 0/0, -1/0, 2.0
  local list = {}
  for i = 1, 1000 do list[i] = {i} end
  list.name, list[0], list[-1] = "list", "zero", "minus"
  local odd = {["a b"] = 1, ["end"] = 2, [true] = 3, [1.5] = 4, x = {y = 5}}
  return self, text, bytes, big, nan, inf, float, list, odd, ...
end
local object = setmetatable({}, Class)
object.method(object, nil, 7)
print "over"
]]

local function stop (use)
  editor.launch(program, function (self)
    self:stop_at {10}
    local stopped = self:run()
    local frames = self:stack(stopped)
    use(self, frames[1], stopped)
  end)
end

describe("a program that stands still", function ()
  it("shows variables as Lua writes them", function ()
    stop(function (self, frame)
      local locals, names = self:scope(frame, "Locals")
      assert.same({"self", "text", "bytes", "big", "nan", "inf", "float",
                   "list", "odd", "(vararg 1)", "(vararg 2)"}, names)
      local function shown (name)
        return locals[name].value
      end
      assert.equal('"a \\"quoted\\"\\nline"', shown "text")
      assert.equal('"\\255\\000"', shown "bytes")
      assert.equal("9223372036854775807", shown "big")
      assert.equal("nan", shown "nan")
      assert.equal("-math.huge", shown "inf")
      assert.equal("2.0", shown "float")
      assert.equal("nil", shown "(vararg 1)")
      assert.equal("7", shown "(vararg 2)")
      assert.same({"number", "string", "table"}, {
        locals.big.type, locals.text.type, locals.odd.type
      })
      local odd = self:variables(locals.odd.variablesReference)
      assert.equal('odd["a b"]', odd["a b"].evaluateName)
      assert.equal('odd["end"]', odd["end"].evaluateName)
      assert.equal("odd[true]", odd["[true]"].evaluateName)
      assert.equal("odd[1.5]", odd["[1.5]"].evaluateName)
      local x = self:variables(odd.x.variablesReference)
      assert.equal("odd.x.y", x.y.evaluateName)
      for _, one in pairs(odd) do
        assert.equal(one.value, (self:value(frame, one.evaluateName)))
      end
    end)
  end)

  it("shows lists in parts, and what is beside them", function ()
    stop(function (self, frame)
      local list = self:scope(frame, "Locals").list
      assert.same({1000, 3}, {list.indexedVariables, list.namedVariables})
      local part, names = self:variables(list.variablesReference, {
        filter = "indexed", start = 500, count = 100
      })
      assert.same({"501", "600", 100}, {names[1], names[100], #names})
      assert.equal("{501}", part["501"].value)
      assert.equal("list[501]", part["501"].evaluateName)
      part, names = self:variables(list.variablesReference,
                                   {filter = "named"})
      assert.same({"-1", "0", "name"}, names)
      assert.equal('"zero"', part["0"].value)
    end)
  end)

  it("sets variables, fields, extra arguments and expressions", function ()
    stop(function (self, frame)
      local locals, _, reference = self:scope(frame, "Locals")
      local function set (where, name, value)
        return self:ask("setVariable", {variablesReference = where,
                                        name = name, value = value})
      end
      assert.equal("{1, 2}", assert(set(reference, "text", "{1, 2}")).value)
      assert.equal("{1, 2}", (self:value(frame, "text")))
      assert(set(reference, "(vararg 2)", "nil"))
      assert.equal("nil", (self:value(frame, "(select(2, ...))")))
      assert(set(locals.odd.variablesReference, "a b", "self"))
      assert.equal("true", (self:value(frame, "odd['a b'] == self")))
      assert(set(locals.list.variablesReference, "777", "'there'"))
      assert.equal('"there"', (self:value(frame, "list[777]")))
      local _, message = set(reference, "nobody", "1")
      assert.equal("There is nothing of that name that could be changed",
                   message)
      _, message = set(reference, "big", "1 +")
      assert.truthy(message:find "near <eof>")
      local body = assert(self:ask("setExpression", {
        expression = "odd.x.y", value = "odd.x.y + 1", frameId = frame.id
      }))
      assert.equal("6", body.value)
      assert.equal("6", (self:value(frame, "odd.x.y")))
    end)
  end)

  it("evaluates for watches, the console, the clipboard and the pointer",
     function ()
    stop(function (self, frame)
      assert.equal("7.0", (self:value(frame, "float * 3.5")))
      assert.equal("1, 2, 3", (self:value(frame, "1, 2, 3", "repl")))
      assert.equal("nil", (self:value(frame, "made = 5", "repl")))
      assert.equal("5", (self:value(nil, "made", "repl")))
      assert.equal('a "quoted"\nline', (self:value(frame, "text", "clipboard")))
      assert.equal("5", (self:value(frame, "odd.x.y", "hover")))
      local none, message = self:value(frame, "print(1)", "hover")
      assert.is_nil(none)
      assert.truthy(message:find "side%-effect")
      none, message = self:value(frame, "nobody.x", "repl")
      assert.is_nil(none)
      assert.equal("attempt to index a nil value (global 'nobody')", message)
      local _, body = self:value(frame, "odd")
      local odd = self:variables(body.variablesReference)
      assert.equal("odd.x", odd.x.evaluateName)
    end)
  end)

  it("completes names of variables, fields and methods", function ()
    stop(function (self, frame)
      local function labels (text, column)
        local list = {}
        for i, one in ipairs(assert(self:ask("completions", {
          text = text, column = column or #text + 1, frameId = frame.id
        })).targets) do
          list[i] = one.label
        end
        table.sort(list)
        return table.concat(list, " ")
      end
      assert.equal("big break bytes", (labels "b"))
      assert.equal("y", labels "odd.x.")
      assert.equal("method", labels "self:me")
      assert.truthy(labels("text:"):find "gsub")
      assert.equal("false float for function", labels("f + 1", 2))
    end)
  end)

  with_memory("has its coroutines for threads, the one that stopped first",
              function ()
    local text = [[
local function worker (n)
  local mine = n * 10
  coroutine.yield(mine)
end
local all = {}
for i = 1, 3 do
  all[i] = coroutine.create(worker)
  coroutine.resume(all[i], i)
end
local fresh = coroutine.create(worker)
local broken = coroutine.create(function () local b = 1; error "x" end)
coroutine.resume(broken)
local over = coroutine.create(function () end)
coroutine.resume(over)
coroutine.wrap(function ()
  local inner = 1
  print(inner)
end)()
]]
    editor.launch(text, function (self)
      self:stop_at {17}
      local stopped = self:run()
      local threads = self:ask("threads").threads
      assert.equal(stopped.threadId, threads[1].id)
      assert.truthy(threads[1].name:find "app.lua:15 %(running%)$")
      assert.same({1, "main (normal)"}, {threads[2].id, threads[2].name})
      local suspended, dead = {}, {}
      for _, thread in ipairs(threads) do
        table.insert(thread.name:find "suspended" and suspended
                     or thread.name:find "dead" and dead or {}, thread)
      end
      assert.same({7, 4, 1}, {#threads, #suspended, #dead})
      local mine = {}
      for _, thread in ipairs(suspended) do
        local frames = self:stack {threadId = thread.id}
        local worker = frames[2] and self:scope(frames[2], "Locals")
        mine[#mine + 1] = worker and worker.mine.value
        if worker then
          assert.equal(worker.mine.value,
                       (self:value(frames[2], "mine + 0")))
        end
      end
      table.sort(mine)
      assert.same({"10", "20", "30"}, mine)
      local frames = self:stack {threadId = dead[1].id}
      assert.equal("1", self:scope(frames[2], "Locals").b.value)
      local _, message = self:ask("next", {threadId = 1})
      assert.truthy(message:find "does not run")
    end)
  end)

  with_memory("shows at most 1,024 threads, and says how many there are",
              function ()
    local text = [[
local all = {}
for i = 1, 3000 do
  all[i] = coroutine.wrap(function () coroutine.yield() end)
  all[i]()
end
print(#all)
]]
    editor.launch(text, function (self)
      self:stop_at {6}
      self:run()
      local threads = self:ask("threads").threads
      assert.equal(1024, #threads)
      assert.equal(1, threads[1].id)
      assert.equal("… 1978 of 3001 coroutines are not shown",
                   threads[1024].name)
      local stack = assert(self:ask("stackTrace",
                                    {threadId = threads[1024].id}))
      assert.same({}, stack.stackFrames)
    end)
  end)

  with_memory("shows the threads that there are, whatever was made since they "
              .. "were shown last", function ()
    local text = [[
math.randomseed(41)
local all, count, mode = {}, 0, "incremental"
local function more ()
  local co = coroutine.create(function () coroutine.yield() end)
  coroutine.resume(co)
  all[#all + 1] = co
end
for round = 1, 24 do
  for _ = 1, math.random(0, 20) do more() end
  for _ = 1, math.random(0, 10) do
    table.remove(all, math.random(#all + 1))
  end
  for i = 1, math.random(0, 3000) do local _ = {i} end
  if round == 12 then mode = "generational" end
  if round % 3 == 0 then
    collectgarbage()
    collectgarbage(mode)
    collectgarbage()
  end
  count = #all
end
]]
    editor.launch(text, function (self)
      self:stop_at {20}
      local stopped = self:run()
      for round = 1, 24 do
        local frame = self:stack(stopped)[1]
        local living = tonumber((self:value(frame, "#all")))
        for _ = 1, 2 do
          local found = #self:ask("threads").threads - 1
          assert.is_true(found >= living)
          assert.is_true(round % 3 > 0 or found == living, found .. " of "
                         .. living .. " in round " .. round)
        end
        stopped = round < 24 and self:go("continue", stopped)
      end
    end)
  end)

  it("shows deep stacks in parts", function ()
    local text = [[
local function down (n)
  if n == 0 then
    return 0
  end
  return 1 + down(n - 1)
end
print(down(5000))
]]
    editor.launch(text, function (self)
      self:stop_at {3}
      self:run()
      local function part (first, count)
        return assert(self:ask("stackTrace", {
          threadId = 1, startFrame = first, levels = count
        }))
      end
      local top = part(0, 1)
      assert.same({1, 5003}, {#top.stackFrames, top.totalFrames})
      local middle = part(2500, 20).stackFrames
      assert.equal(20, #middle)
      assert.equal("2500", self:scope(middle[1], "Locals").n.value)
      assert.equal("2501", (self:value(middle[2], "n")))
      assert.equal(7, part(5001, 20).stackFrames[1].line)
    end)
  end)

  it("lists what is loaded", function ()
    editor.launch({["app.lua"] = "local m = 'lib.m'\nrequire(m)\nprint(1)\n",
                   ["m.lua"] = ""}, function (self, where)
      os.execute("mkdir " .. where .. "/lib && mv " .. where .. "/m.lua "
                 .. where .. "/lib")
      self:stop_at {3}
      self:run()
      local paths = {}
      for i, source in ipairs(self:ask("loadedSources").sources) do
        paths[i] = source.path
      end
      assert.same({where .. "/app.lua", where .. "/lib/m.lua"}, paths)
      local modules = {}
      for _, one in ipairs(self:ask("modules").modules) do
        modules[one.name] = one
      end
      assert.equal(where .. "/lib/m.lua", modules["lib.m"].path)
      assert.truthy(modules.string)
      assert.equal(2, self:ask("modules", {moduleCount = 2}).totalModules
                      and #self:ask("modules", {moduleCount = 2}).modules)
    end, {env = {LUA_PATH = "./?.lua;;"}})
  end)

  it("has nothing to show of what has gone on", function ()
    stop(function (self, frame, stopped)
      local _, _, reference = self:scope(frame, "Locals")
      self:go("next", stopped)
      local none, message = self:value(frame, "text")
      assert.is_nil(none)
      assert.truthy(message:find "the program has gone on")
      none, message = self:ask("variables", {variablesReference = reference})
      assert.is_nil(none)
      assert.truthy(message:find "the program has gone on")
    end)
  end)

  it("ends code that is cancelled, and goes on answering", function ()
    stop(function (self, frame)
      local seq = self:post("evaluate", {
        expression = "(function () while true do end end)()",
        frameId = frame.id, context = "repl"
      })
      assert(self:ask("cancel", {requestId = seq}))
      local answer = self:answer(seq)
      assert.same({false, "cancelled"}, {answer.success, answer.message})
      assert.equal("2.0", (self:value(frame, "float")))
    end)
  end)
end)

plain("the protocol's schema tells wrong messages from right ones", function ()
  local dapschema = require "spec.support.dapschema"
  assert.is_nil(dapschema.problem {type = "event", event = "terminated",
                                   seq = 1})
  assert.truthy(dapschema.problem {type = "event", event = "stopped",
                                   seq = 1, body = {}})
  assert.truthy(dapschema.problem {type = "event", event = "nonsense"})
end)
