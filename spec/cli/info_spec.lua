--- tracegrip info of files that ended early, or whose header is damaged: it
--- says what there is, whatever that is.

local run = require "spec.support.run"

local tracegrip = run.build .. "/bin/tracegrip"

local program = "local function f (x) return x end f(1) print(f 'two')\n"

-- What info prints of each variant of a recording that 'variants' gives, one
-- after the other to 'take'; what is wrong goes to standard error.
local variants = [[
  local core = require "tracegrip.core"
  local info = require "tracegrip.cli.info"
  local json = require "tracegrip.cli.json"
  local file = assert(io.open("good.tgr", "rb"))
  local good = file:read "a"
  file:close()
  local shown = 0
  local function look (bytes, what)
    local out = assert(io.open("bad.tgr", "wb"))
    out:write(bytes)
    out:close()
    local opened = core.open "bad.tgr"
    if opened then
      local about = opened:info()
      local ok, text = pcall(info.format, about, 100, 40)
      if not ok or table.concat(text, "\n"):find("%f[%w]inf%f[%W]") then
        print(what, ok and "inf" or text)
      end
      json.text(about)
      shown = shown + 1
    end
  end
]]

local function look (directory, code)
  local text = variants .. code
               .. "\nio.stderr:write(shown)"
  local result = run.command({run.lua, "-e", text}, {cwd = directory})
  assert.equal("", result.stdout)
  assert.equal(0, result.status, result.stderr)
  return tonumber(result.stderr)
end

local function within (use)
  run.within(function (directory)
    run.write(directory .. "/program.lua", program)
    local result = run.command({tracegrip, "record", "-o", "good.tgr",
                                "program.lua"}, {cwd = directory})
    assert.equal(0, result.status, result.stderr)
    use(directory)
  end)
end

describe("info", function ()
  it("tells of a file that was cut at any byte", function ()
    within(function (directory)
      assert.is_true(look(directory, [[
        for n = 1, 4096, 31 do
          look(good:sub(1, n), n)
        end
        for n = 4096, 5400 do           -- the definitions
          look(good:sub(1, n), n)
        end
        for n = 5400, #good, 1021 do
          look(good:sub(1, n), n)
        end
      ]]) > 1000)
    end)
  end)

  it("tells of a file with any header", function ()
    within(function (directory)
      assert.is_true(look(directory, [[
        math.randomseed(1)
        local odd = {"\0", "\xff", "\x7f", "\x80", "\1"}
        for n = 1, 500 do
          local at, size = math.random(13, 64), math.random(8)
          local with = odd[math.random(#odd)]
                       or string.char(math.random(0, 255))
          look(good:sub(1, at - 1) .. with:rep(size) .. good:sub(at + size),
               ("%d: %q"):format(at, with:rep(size)))
        end
      ]]) > 100)
    end)
  end)

  it("says that a recording has no trace yet", function ()
    within(function (directory)
      local bytes = run.read(directory .. "/good.tgr")
      run.write(directory .. "/cut.tgr", bytes:sub(1, 4096))
      local result = run.command({tracegrip, "info", "cut.tgr"},
                                 {cwd = directory})
      assert.equal(0, result.status, result.stderr)
      assert.is_nil(result.stdout:find("nil", 1, true))
      assert.matches("\nstate: +cut off: [^\n]*; it has no trace\n",
                     result.stdout)
    end)
  end)
end)
