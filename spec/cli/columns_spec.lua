-- Tables and numbers as a person reads them.

local columns = require "tracegrip.cli.columns"
local json = require "tracegrip.cli.json"
local units = require "tracegrip.cli.units"

local cjson = require "cjson"

describe("a time", function ()
  local function shows (expected, ms)
    assert.equal(expected, units.span(ms))
  end

  it("has three digits and the unit that suits it", function ()
    shows("0 ns", 0)
    shows("7 ns", 7e-6)
    shows("999 ns", 999e-6)
    shows("1.00 µs", 1e-3)
    shows("12.3 µs", 0.01234)
    shows("123 µs", 0.1234)
    shows("1.00 ms", 0.9999)
    shows("9.99 ms", 9.994)
    shows("10.0 ms", 9.996)
    shows("1.00 s", 999.6)
    shows("12345 s", 12345000)
    shows("-1.50 ms", -1.5)
  end)

  it("lines up in columns", function ()
    assert.equal("1.00 s ", units.column(1000))
    assert.equal("1.00 ms", units.column(1))
  end)
end)

describe("a number", function ()
  it("has its digits in groups", function ()
    assert.equal("0", units.count(0))
    assert.equal("999", units.count(999))
    assert.equal("1,000", units.count(1000))
    assert.equal("-1,234,567", units.count(-1234567))
    assert.equal("1 call", units.several(1, "call"))
    assert.equal("0 calls", units.several(0, "call"))
  end)

  it("of bytes has a unit", function ()
    assert.equal("1 byte", units.bytes(1))
    assert.equal("999 bytes", units.bytes(999))
    assert.equal("1.00 KiB", units.bytes(1024))
    assert.equal("1.18 MiB", units.bytes(1234567))
  end)

  it("of a whole that is nothing is no part", function ()
    assert.equal("0.0%", units.percent(0, 0))
    assert.equal("33.3%", units.percent(1, 3))
  end)
end)

describe("text in a table", function ()
  it("is as wide as a terminal shows it", function ()
    assert.equal(3, columns.width("añb"))
    assert.equal(4, columns.width("日本"))
    assert.equal(1, columns.width("e\u{301}"))
  end)

  it("is cut at either end, between characters", function ()
    assert.equal("abc", columns.cut("abc", 3, "back"))
    assert.equal("ab…", columns.cut("abcd", 3, "back"))
    assert.equal("…cd", columns.cut("abcd", 3, "front"))
    assert.equal("日…", columns.cut("日本語", 4, "back"))
    assert.equal("…語", columns.cut("日本語", 4, "front"))
  end)

  it("is a sentence in as many lines as it takes", function ()
    local parts = {"1 ms", "20 events", "lost none"}
    assert.same({"a.lua: 1 ms, 20 events, lost none"},
                columns.sentence("a.lua", parts))
    assert.same({"a.lua: 1 ms, 20 events, lost none"},
                columns.sentence("a.lua", parts, 40))
    assert.same({"a.lua: 1 ms, 20 events,", "  lost none"},
                columns.sentence("a.lua", parts, 24))
    assert.same({"a.lua: 1 ms,", "  20 events,", "  lost none"},
                columns.sentence("a.lua", parts, 12))
  end)

  it("moves no cursor and is valid", function ()
    assert.equal("a\\x1B[2J\\nb", columns.clean("a\27[2J\nb"))
    assert.equal("\\xC2\\x9B2J", columns.clean("\u{9B}2J"))
    assert.equal("\\xFFé\\xC3", columns.clean("\xFFé\xC3"))
  end)
end)

describe("a table", function ()
  local function text (key)
    return function (row) return row[key] or "" end
  end

  local list = {
    {title = "n", right = true, text = text "n"},
    {title = "extra", drop = 2, text = text "extra"},
    {title = "more", drop = 1, text = text "more"},
    {title = "none", sparse = true, text = text "none"},
    {title = "name", cut = "back", least = 4, text = text "name"},
    {title = "where", cut = "front", least = 5, text = text "where"},
  }
  local rows = {
    {n = "1", extra = "x", more = "y", name = "function", where = "a/b.lua:1"},
    {n = "100", name = "é"},
  }

  local function lines (width)
    return table.concat(columns.format(list, rows, width), "\n")
  end

  local whole = [[
  n  extra  more  name      where
  1  x      y     function  a/b.lua:1
100               é]]

  it("is as wide as its cells, without columns that are empty", function ()
    assert.equal(whole, lines())
    assert.equal(whole, lines(37))
  end)

  it("is first cut at the right", function ()
    assert.equal([[
  n  extra  more  name      where
  1  x      y     function  ….lua:1
100               é]], lines(35))
    assert.equal([[
  n  extra  more  name     where
  1  x      y     functi…  …ua:1
100               é]], lines(32))
  end)

  it("then loses columns", function ()
    assert.equal([[
  n  extra  name    where
  1  x      funct…  …ua:1
100         é]], lines(25))
    assert.equal([[
  n  name  where
  1  fun…  …ua:1
100  é]], lines(16))
  end)

  it("never is too wide", function ()
    for width = 1, 40 do
      for line in lines(width):gmatch "[^\n]+" do
        assert.is_true(columns.width(line) <= width)
      end
    end
  end)

  it("has its heading without rows", function ()
    assert.same({"n  name  where"},
                columns.format({list[1], list[5], list[6]}, {}, 80))
  end)
end)

describe("JSON", function ()
  it("is what was said, in the order of the documents", function ()
    local text = json.text {
      functions = {{line = 3, name = "f\n\"\\\0é", calls = 2,
                    self_ms = 0.1}},
      lost = 0, events = 4, duration_ms = 1.0
    }
    assert.equal([[
{
  "duration_ms": 1,
  "events": 4,
  "lost": 0,
  "functions": [
    {"name": "f\n\"\\\u0000é", "line": 3, "calls": 2, "self_ms": 0.1}
  ]
}
]], text)
    assert.equal("f\n\"\\\0é", cjson.decode(text).functions[1].name)
  end)

  it("keeps lists that are empty apart from objects that are", function ()
    assert.equal('{\n  "lost": {},\n  "functions": []\n}\n',
                 json.text {functions = {}, lost = {}})
  end)

  it("keeps every digit of a number", function ()
    for _, x in ipairs {0.1, 1 / 3, 123456789.123456, 2^60, 1e300, -0.5} do
      local text = json.text {x = x}
      assert.equal(x, tonumber(text:match ": (%S+)"))
    end
    assert.matches(": 9007199254740993\n", json.text {x = (1 << 53) + 1})
    assert.matches(": null\n", json.text {x = 1 / 0})
  end)

  it("is valid whatever the names are", function ()
    local name = cjson.decode(json.text {name = "a\xFFb\xE2\x82"}).name
    assert.equal("a\u{FFFD}b\u{FFFD}\u{FFFD}", name)
  end)
end)
