-- Which lines have code, told before anything has run: the same as Lua tells of
-- the functions when they exist; and regular expressions of front ends.

local run = require "spec.support.run"

-- Prints what differs between lines.of and debug.getinfo.
local comparing = [=[
local lines = require "tracegrip.inspect.lines"

local function differ (what, one, f)
  local info, told = debug.getinfo(f, "SL"), {}
  for _, line in ipairs(one.active) do
    told[line] = true
  end
  for line in pairs(info.activelines) do
    if not told[line] then print(what, "missing", line) end
    told[line] = nil
  end
  if next(told) then print(what, "too much", next(told)) end
  if one.first ~= info.linedefined then print(what, "first") end
  if one.last ~= info.lastlinedefined then print(what, "last") end
end

for path in io.lines() do
  local file <close> = io.open(path)
  local text = file:read "a":gsub("^#[^\n]*", "")
  differ(path, lines.of(text, "@" .. path)[1], load(text, "@" .. path))
end

local text = [[
local function a (x, ...)
  -- nothing

  local y = {
    x,
    ...
  }
  return function ()
    return y
  end
end
local b = function () end
]] .. ("b()\n"):rep(300) .. [[
local c = function (...)
  for i = 1, 2 do
    b(1.5, 1, "s", ("x"):rep(50), true, nil, 7000000000000)
  end
end
return {a, a(1), b, c}
]]
local list = lines.of(text, "=text")
local functions = load(text, "=text")()
for i, f in ipairs(functions) do
  differ("function " .. i, list[i + 1], f)
end
print(#list, lines.of("x = = 1", "=bad"))
]=]

describe("the lines of a source", function ()
  it("are those that its functions will have", function ()
    local files = {}
    local pipe = io.popen("find " .. run.root .. "/lua -name '*.lua'")
    for path in pipe:lines() do
      files[#files + 1] = path
    end
    pipe:close()
    local result = run.code(comparing, {
      stdin = table.concat(files, "\n") .. "\n"
    })
    assert.equal("", result.stderr)
    assert.equal("5\tnil\n", result.stdout)
  end)
end)

describe("lines that may call", function ()
  local lines = require "tracegrip.inspect.lines"

  local function calling (text)
    local list = {}
    for _, one in ipairs(lines.of(text, "=text", true)) do
      for line in pairs(one.calls) do
        list[#list + 1] = line
      end
    end
    table.sort(list)
    return table.concat(list, " ")
  end

  it("are those of calls, loops over iterators, and metamethods", function ()
    assert.equal("1 2 3 4 5 6 7", calling [[
print(1)
t.x = 1
local y = t[1]
y = y + 1
y = -y
y = y .. "a"
for _ in y do end
]])
  end)

  it("are none where values are only handed on", function ()
    assert.equal("", calling [[
local x, y = 1, {1, 2, 3}
local function f (...)
  local a, b = ...
  if a then y = b end
  for i = 1, 10 do
    x = i
  end
  return not a
end
return x == 1
]])
  end)

  it("are those where a variable is closed, too", function ()
    assert.equal("2", calling "local c <close> = nil\nreturn 1, 2\n")
  end)
end)

describe("a regular expression", function ()
  local regex = require "tracegrip.inspect.regex"

  local function found (pattern, text, fold)
    return assert(regex.compile(pattern, fold), pattern)(text)
  end

  it("finds what JavaScript's would", function ()
    assert.is_true(found("^file:///a/b\\.lua$", "file:///a/b.lua"))
    assert.is_false(found("^file:///a/b\\.lua$", "file:///a/bxlua"))
    assert.is_true(found("/node_modules/|^node:", "node:fs"))
    assert.is_false(found("/node_modules/|^node:", "x node:fs"))
    assert.is_true(found("(?:ab)+c?$", "xabab"))
    assert.is_false(found("^(ab)+$", "abba"))
    assert.is_true(found("[^a-c\\d]x*", "1d"))
    assert.is_false(found("^[^a-c\\d]$", "5"))
    assert.is_true(found("\\w+\\s\\D", "ab c"))
    assert.is_true(found("FOO.b", "foo-B", true))
    assert.is_true(found("", "anything"))
    assert.is_true(found("a|", "b"))
  end)

  it("of another kind is refused, and one that takes too long finds nothing",
     function ()
    for _, pattern in ipairs {"(?<=a)", "(", "a)", "[a", "*", "\\1",
                              "[]"} do
      assert.is_nil(regex.compile(pattern), pattern)
    end
    assert.is_nil(found("(a*)*(a*)*b", ("a"):rep(200)))
    assert.is_nil(found("(ab)*c", ("ab"):rep(100000)))
  end)

  it("has counts, edges of words, and what has to follow", function ()
    assert.is_true(found("^a{2}$", "aa"))
    assert.is_false(found("^a{2}$", "aaa"))
    assert.is_true(found("^(ab){2,3}$", "ababab"))
    assert.is_false(found("^(ab){2,}$", "ab"))
    assert.is_true(found("a{,2}", "a{,2}"))
    assert.is_true(found("\\bend\\b", "the end."))
    assert.is_false(found("\\bend\\b", "friends"))
    assert.is_true(found("\\Bend", "friends"))
    assert.is_true(found("local (?!function)", "local x"))
    assert.is_false(found("local (?!function)", "local function"))
    assert.is_true(found("x(?=y|z)", "xz"))
    assert.is_true(found("[A-C]\\w", "xa1", true))
    assert.is_false(found("^[^a]$", "A", true))
  end)

  it("goes through a long line", function ()
    local long = ("a"):rep(200000)
    assert.is_true(found(".*x", long .. "x"))
    assert.is_true(found("a+$", long))
    assert.is_false(found("b.*", long))
  end)
end)
