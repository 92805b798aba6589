-- Several states in one process that are open to debuggers, on one thread, each
-- inside of another's C code, and on many: each is reached at its own door.

local debugger = require "spec.support.debugger"
local run = require "spec.support.run"

local it = debugger.needed(it, pending)

local modules = ("package.cpath = %q .. package.cpath\n"):format(
  run.build .. "/spec/?.so;")

-- Code of another state, which listens and then runs until it is told to end.
local listens = [[
listening = assert(require "tracegrip".listen {inspect = 0})
]]

-- Starts a program that is open to debuggers itself, as are `count` states of
-- its own: use(the addresses, its own first, command).
local function with_states (count, text, use)
  run.within(function (where)
    run.write(where .. "/app.lua", modules .. text)
    local command = debugger.start({"serve", "--inspect=0", "app.lua"}, where)
    local addresses
    command:until_ready(function ()
      addresses = {}
      for address in command.err:gmatch "&ws=(%S+)\n" do
        addresses[#addresses + 1] = address
      end
      return #addresses == count + 1
    end)
    debugger.with(command, use, addresses, command)
  end)
end

local function value (front, expression)
  local reply = assert(front:ask("Runtime.evaluate",
                                 {expression = expression}))
  return reply.result.value
end

-- Stops what runs there once, and sees a global.
local function stop (front)
  front:ask "Runtime.enable"
  front:ask "Debugger.enable"
  front:post "Debugger.pause"
  local at = front:event "Debugger.paused"
  assert.equal("mine", front:value(at, 1, "name").value)
  front:ask "Debugger.resume"
end

describe("a state that another one's C code runs", function ()
  local function behind (body)
    return ("local s = require 'states'.new()\n%s s:run %q\nprint 'end'")
           :format("name = 'outer'\n", "name = 'mine'\n" .. listens .. body)
  end

  for what, body in pairs {
    ["a loop without calls"] = "while not go do end",
    ["a loop with calls"] = "while not go do type(go) end",
    ["coroutines"] = [[
      while not go do
        for _ in coroutine.wrap(function () coroutine.yield(1) end) do end
      end]],
    ["a trace"] = [[
      local t = require "tracegrip".start {overflow = "ring", buffer = 1 << 20}
      while not go do type(go) end]]
  } do
    it("answers and stops, with " .. what, function ()
      with_states(1, behind(body), function (addresses, command)
        local front = debugger.connect(addresses[2])
        for _ = 1, 20 do
          stop(front)
        end
        front:post("Runtime.evaluate", {expression = "go = true"})
        assert.equal(0, command:ended())
        assert.equal("end\n", command.out)
      end)
    end)
  end

  it("keeps that one from answering until its C code returns", function ()
    local text = behind "while not go do end" .. "\nwhile not go do end"
    with_states(1, text, function (addresses, command)
      local outer = debugger.connect(addresses[1])
      local inner = debugger.connect(addresses[2])
      assert.equal("mine", value(inner, "name"))
      local id = outer:post("Runtime.evaluate", {expression = "name"})
      for _ = 1, 20 do
        assert.equal("mine", value(inner, "name"))
      end
      assert.is_nil(outer.replies[id])
      inner:post("Runtime.evaluate", {expression = "go = true"})
      assert.equal("outer", outer:reply(id).result.result.value)
      outer:post("Runtime.evaluate", {expression = "go = true"})
      assert.equal(0, command:ended())
    end)
  end)
end)

describe("states that a program runs in turn", function ()
  it("answer and stop, each at its own door", function ()
    with_states(3, ([[
local states = require "states"
local list = {}
for i = 1, 3 do
  list[i] = states.new()
  list[i]:run %q
end
repeat
  local going
  for i = 1, 3 do
    going = list[i]:run "return type(go)" == "nil" or going
  end
until not going
]]):format("name = 'mine'\n" .. listens), function (addresses, command)
      local fronts = {}
      for i = 1, 3 do
        fronts[i] = debugger.connect(addresses[i + 1])
        stop(fronts[i])
      end
      for i = 3, 1, -1 do
        stop(fronts[i])
        assert.equal("mine", value(fronts[i], "name"))
        fronts[i]:post("Runtime.evaluate", {expression = "go = true"})
      end
      assert.equal(0, command:ended())
    end)
  end)
end)

describe("states on threads of their own", function ()
  it("answer and stop, each at its own door", function ()
    with_states(3, ([[
local code = %q
print(require "states".together(code, code, code))
]]):format("name = 'mine'\n" .. listens .. "while not go do end\nreturn name"),
    function (addresses, command)
      for i = 1, 3 do
        local front = debugger.connect(addresses[i + 1])
        stop(front)
        front:post("Runtime.evaluate", {expression = "go = true"})
      end
      assert.equal(0, command:ended())
      assert.equal("mine\tmine\tmine\n", command.out)
    end)
  end)
end)
