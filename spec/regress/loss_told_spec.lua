-- A recording that lacks events was shown by tree, log and report --diff as if
-- it were all, and record itself said nothing.

local run = require "spec.support.run"

local program = [[
  local function f (n) return n end
  for i = 1, 50000 do f(i) end
]]

-- What a shell script writes to standard output and to standard error, $T being
-- tracegrip.
local function shell (script)
  local words = {"sh", "-c", "T=$1; " .. script, "sh",
                 run.build .. "/bin/tracegrip"}
  local result = run.command(words, {
    files = {["program.lua"] = program}, env = {LUA = run.lua}
  })
  return result.stdout, result.stderr
end

local lacks = "rec lacks %d+,?%d+ events "
local full = lacks .. "%(the buffer was full%)\n"
local ring = lacks .. "%(overwritten by later ones%)\n"

describe("what a recording lacks", function ()
  it("is told by record at the program's end", function ()
    local _, errors = shell "$T record --buffer 300K -o rec program.lua"
    assert.matches("^tracegrip: /.*" .. full .. "$", errors)
    _, errors = shell [[$T record --buffer 300K -o rec -- "$LUA" program.lua]]
    assert.matches("^tracegrip: /.*" .. full .. "$", errors)
    for _, flags in ipairs {"", "--ring --buffer 300K"} do
      local command = ("$T record %s -o rec program.lua"):format(flags)
      assert.equal("", (select(2, shell(command))))
    end
  end)

  it("is told by tree and log", function ()
    for flags, what in pairs {["--buffer 300K"] = full,
                              ["--ring --buffer 300K"] = ring} do
      local _, errors = shell(([[$T record %s -o rec program.lua 2>/dev/null
        $T tree rec; $T log rec]]):format(flags))
      assert.matches("^tracegrip: " .. what .. "tracegrip: " .. what .. "$",
                     errors)
    end
  end)

  it("is told where two are compared", function ()
    local text = shell [[
      $T record --ring --buffer 300K -o rec program.lua 2>/dev/null
      $T record -o all program.lua
      $T report --diff rec all; $T report --diff all rec]]
    local old, new = text:match "^(.*)\n(program.lua:.*)$"
    assert.matches("\nthe old one lacks [%d,]+ events %(over", old)
    assert.matches("\nthe new one lacks [%d,]+ events %(over", new)
    assert.equal(2, select(2, text:gsub(" one lacks ", "")))
  end)
end)
