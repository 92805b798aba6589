-- A pattern can take for ever: record stood still over the first name. And what
-- a recording has hidden by its names was all that it had, from some place on:
-- a reader had no steps left for more names.

local run = require "spec.support.run"

local program = [[
  local function short () return 1 end
  local function a_function_with_quite_a_long_name (a_parameter_that_is_long)
    return short()
  end
  for i = 1, 20 do a_function_with_quite_a_long_name "geheim" end
]]

local bomb = (".-"):rep(20) .. "!!"

-- What a shell script writes to standard output and to standard error, $T being
-- tracegrip and $B a pattern that takes for ever.
local function shell (script, code)
  local words = {"sh", "-c", "T=$1 B=$2; " .. script, "sh",
                 run.build .. "/bin/tracegrip", bomb}
  local result = run.command(words, {files = {["program.lua"] = code
                                                                or program}})
  return result.stdout, result.stderr
end

local what = ": not matched, by redact hidden"
local why = "%(patterns took too long over them" .. what .. "%)\n"
local reading = "^tracegrip: patterns took too long over %d+ names" .. what
                .. "\n$"
local readers = {"report", "tree", "log", "export chrome -o out"}

describe("a pattern that takes too long", function ()
  it("is given up by record, which says so once", function ()
    for flag, calls in pairs {["--include"] = 0, ["--exclude"] = 41,
                              ["--on"] = 0} do
      local text, errors = shell(([[$T record --no-c %s "$B" -o rec program.lua
        $T export packets -o - rec 2>/dev/null | grep -c enteredFrame
        $T info rec]]):format(flag))
      assert.matches("^tracegrip: /.*rec gave up on 3 names " .. why .. "$",
                     errors)
      assert.equal(calls, tonumber(text:match "^%d+"))
      assert.matches("\nlost: +3 names " .. why, text)
    end
  end)

  it("does not keep others from being found", function ()
    local text, errors = shell [[
      $T record --include "$B" --include '^short$' -o rec program.lua
      $T report rec]]
    assert.matches("gave up on 2 names", errors)
    assert.matches("\n +20 .- short ", text)
  end)

  it("hides what it might have hidden", function ()
    local text, errors = shell [[
      $T record --redact "$B" -o rec program.lua
      $T export packets -o - rec 2>/dev/null]]
    assert.matches("gave up on 1 name ", errors)
    assert.is_nil(text:find("geheim", 1, true))
    assert.is_truthy(text:find('"redacted"', 1, true))
  end)

  it("is told by a live log, and by a trace", function ()
    local _, errors = shell [[$T run --include "$B" program.lua]]
    assert.matches("^tracegrip: the log gave up on 3 names " .. why .. "$",
                   errors)
    local result = run.code(([[
      local tracegrip = require "tracegrip"
      local function a_function_with_quite_a_long_name () end
      local function traced (options)
        options.c = false
        local trace = tracegrip.start(options)
        for i = 1, 3 do a_function_with_quite_a_long_name() end
        return trace:stop()
      end
      local trace, plain = traced {include = %q}, traced {}
      print(trace.lost.patterns, plain.lost.patterns, plain.undecided)
      for p in plain:packets {exclude = %q} do print(p.name, p.why) end
      print(plain.undecided)
    ]]):format(bomb, bomb))
    local call = "a_function_with_quite_a_long_name\tnil\nnil\treturn\n"
    assert.equal("1\t0\tnil\n" .. call:rep(3) .. "1\n", result.stdout,
                 result.stderr)
  end)

  it("is told by all that read", function ()
    for _, command in ipairs(readers) do
      local _, errors = shell(([[$T record -o rec program.lua
        $T %s --include "$B" rec >/dev/null 2>errors
        grep patterns errors >&2]]):format(command))
      assert.matches(reading, errors)
    end
    local _, errors = shell [[$T record -o rec program.lua
      $T scrub --redact "$B" -o out rec]]
    assert.matches("\ntracegrip: patterns took too long over 1 name:", errors)
    _, errors = shell [[$T coverage --include "$B" -o out ./program.lua]]
    assert.matches("^tracegrip: coverage: patterns took too long over 1 name: ",
                   errors)
  end)
end)

describe("names that are hidden", function ()
  it("are hidden, and no others, however many there are", function ()
    local text = shell([[$T record --redact-preset secrets -o rec program.lua
      $T export packets -o - rec 2>/dev/null | tail -n 3]], [[
      local function f (t) return t end
      for i = 1, 30000 do
        f {["key of its own " .. i] = i, ordinary_long_key = 4711,
           password = "geheim" .. i}
      end
    ]])
    assert.is_nil(text:find("geheim", 1, true))
    for _, word in ipairs {"ordinary_long_key", "4711", "password",
                           "redacted"} do
      assert.equal(2, select(2, text:gsub(word, "")), word)
    end
  end)
end)
