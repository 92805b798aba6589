-- Which calls of os.exit end the program is decided by its arguments, as in
-- loslib.c. One that failed stopped the live log; one with a function was taken
-- for the end, and nothing was recorded any more; one with a number in another
-- guise than an integer was not seen as the end.

local conform = require "spec.support.conform"
local run = require "spec.support.run"

local tracegrip = run.build .. "/bin/tracegrip"

describe("os.exit that fails", function ()
  for _, argument in ipairs {"print", "'x'", "{}", "1.5", "'1.5'"} do
    it("ends nothing, of " .. argument, function ()
      local result = conform.run([[
        local function after () end
        start {trace = {"name"}}
        pcall(os.exit, ]] .. argument .. [[)
        after()
      ]])
      assert.is_true(result.ok, result.message)
      local names = {}
      for i, packet in ipairs(result[1].packets) do
        names[i] = packet.name or packet.why
      end
      assert.equal("pcall os.exit exception return after return",
                   table.concat(names, " "))
    end)
  end

  it("leaves the live log going", function ()
    local program = [[
      local function after () end
      pcall(os.exit, {})
      after()
      print(io.open("log"):read "a")
    ]]
    local result = run.command({tracegrip, "run", "-o", "log", "program.lua"},
                               {files = {["program.lua"] = program}})
    assert.matches("after", result.stdout)
  end)
end)

describe("os.exit of a number", function ()
  for _, argument in ipairs {"'3'", "3.0", "'0x3'", "3"} do
    it("ends the frames before the state closes, of " .. argument, function ()
      local result = run.traced(([[
        local closed <close> = setmetatable({}, {__close = function () end})
        os.exit(%s, true)
      ]]):format(argument), {trace = {"name"}})
      assert.equal(3, result.status)
      local names = {}
      for name in result.text:gmatch '"name":"(.-)"' do
        names[#names + 1] = name
      end
      assert.equal("(main chunk) setmetatable os.exit",
                   table.concat(names, " "))
    end)
  end
end)
