-- Packets as bytes and back: lua/tracegrip/wire.lua and the JSON below it.

local dkjson = require "dkjson"
local wire = require "tracegrip.wire"
local decode = require("tracegrip.core").decode

-- One packet through a fresh decoder.
local function read (bytes, options)
  local list, problem = wire.decoder(options):feed(bytes)
  return list and list[1], problem
end

local function encoded (body)
  return #body .. ":" .. body
end

describe("wire.encode", function ()
  it("frames a packet by its length in bytes", function ()
    assert.equal('16:{"type":"é☃"}', wire.encode {type = "é☃"})
    assert.equal("2:{}", wire.encode {})
  end)

  it("puts from, to and type first", function ()
    assert.equal('37:{"from":"a","type":"b","a":1,"z":2.5}',
                 wire.encode {z = 2.5, a = 1, type = "b", from = "a"})
  end)

  it("knows arrays by their elements, empty ones by their mark", function ()
    assert.equal('29:{"a":[],"b":{},"c":[1,[],{}]}',
                 wire.encode {a = wire.array(), b = {},
                              c = {1, wire.array {}, {}}})
  end)

  it("keeps integers, floats and null what they are", function ()
    local packet = {
      i = math.maxinteger, j = math.mininteger, f = 2.0, g = 0.1,
      h = 1e300, k = -1.5e-7, l = 123456.789012345678, n = wire.null
    }
    local back = read(wire.encode(packet))
    assert.same(packet, back)
    for key, value in pairs(packet) do
      assert.equal(math.type(value), math.type(back[key]))
    end
  end)

  it("escapes what must be, and mends what is not UTF-8", function ()
    local bytes = wire.encode {s = "\0\"\\\n\127é", bad = "a\xffb\xc3"}
    assert.is_truthy(utf8.len(bytes))
    assert.same({s = "\0\"\\\n\127é", bad = "a\u{FFFD}b\u{FFFD}"},
                read(bytes))
  end)

  it("escapes what is not seen or turns a terminal's lines", function ()
    local function text (s)
      return (wire.json {s = s}:match '^{"s":"(.*)"}$')
    end
    for bytes, told in pairs {
      ["\0\b\t\n\f\r\27\127"] = "\\u0000\\b\\t\\n\\f\\r\\u001b\\u007f",
      ["\u{80}\u{9f}\u{a0}"] = "\\u0080\\u009f\u{a0}",
      ["\u{200a}\u{200b}\u{200f}\u{2010}"] = "\u{200a}\\u200b\\u200f\u{2010}",
      ["\u{2027}\u{2028}\u{202e}\u{202f}"] = "\u{2027}\\u2028\\u202e\u{202f}",
      ["\u{2065}\u{2066}\u{2069}\u{206a}"] = "\u{2065}\\u2066\\u2069\u{206a}",
      ["/\u{FFFF}\u{10FFFF}"] = "/\u{FFFF}\u{10FFFF}",
      ["\xed\xa0\x80"] = ("\u{FFFD}"):rep(3), ["\xc0\x80"] = "\u{FFFD}\u{FFFD}",
      ["\xf4\x90\x80\x80a\xe2\x80"] = ("\u{FFFD}"):rep(4) .. "a"
                                      .. ("\u{FFFD}"):rep(2),
    } do
      assert.equal(told, text(bytes))
    end
    local long = ("é\"x"):rep(100000)
    assert.equal(long, decode(wire.json {s = long}, 2).s)
  end)

  it("has keys in order, however many there have been", function ()
    for i = 1, 3000 do
      local first, second = "a" .. i, "b" .. i % 7
      local told = ('{"type":%d,"%s":1,"%s":{"x":2}}'):format(i, first, second)
      assert.equal(told, wire.json {type = i, [first] = 1,
                                    [second] = {x = 2}})
      local other = {[second] = {x = 2}}
      other[first], other.gone, other.type = 1, true, i
      other.gone = nil
      assert.equal(told, wire.json(other))
    end
  end)

  it("writes a decimal point, whatever the locale has", function ()
    local format, number = string.format, tonumber
    rawset(string, "format", function (...)
      return (format(...):gsub("%.", ","))
    end)
    rawset(_G, "tonumber", function (text)
      return number((text:gsub(",", ".")))
    end)
    local ok, bytes = pcall(wire.encode, {a = 0.5, b = 1e-7, c = 2.0, d = 3})
    rawset(string, "format", format)
    rawset(_G, "tonumber", number)
    assert.is_true(ok, bytes)
    assert.equal('{"a":0.5,"b":1e-07,"c":2.0,"d":3}', bytes:match ":(.*)")
  end)

  it("raises at what JSON does not have", function ()
    local loop = {}
    loop.loop = loop
    for _, bad in ipairs {{a = print}, {a = 0 / 0}, {a = math.huge}, {a = loop},
                          {a = {[1.5] = 1}}, {[true] = 1},
                          {a = 1, [true] = 1}} do
      assert.has_error(function () wire.encode(bad) end)
    end
  end)
end)

describe("wire.decoder", function ()
  it("gives the packets of one piece in order", function ()
    local d = wire.decoder()
    assert.same({{n = 1}, {n = 2}, {n = 3}},
                d:feed('7:{"n":1}7:{"n":2}7:{"n":3}'))
    assert.same({}, d:feed "")
  end)

  it("takes bytes one at a time", function ()
    local d, got = wire.decoder(), {}
    for c in ('7:{"n":1}10:{"s":"é"}2:{}'):gmatch "." do
      for _, packet in ipairs(assert(d:feed(c))) do
        got[#got + 1] = packet
      end
    end
    assert.same({{n = 1}, {s = "é"}, {}}, got)
  end)

  it("passes over bodies that are no JSON object, and counts them",
     function ()
    local d = wire.decoder()
    local list = d:feed "0:1:x2:[]4:null9:{\"a\":1,}}2:\"\"3:{} 2:{}"
    assert.same({{}, {}}, list)
    assert.equal(6, d.skipped)
    assert.same({}, d:feed(encoded '{"a":"\xff"}'))
    assert.same({}, d:feed(encoded '{"a":nan}'))
    assert.equal(8, d.skipped)
  end)

  it("refuses headers that break the rules, for good", function ()
    for _, bad in ipairs {
      "fluff30:27:{}", "27asd:{}", ("9"):rep(34) .. ":{}", ("0"):rep(201),
      ":{}", "-1:", " 2:{}", "+2:{}", "2 :{}", "0x2:{}", "1e1:",
      "bulk a b 3:abc", "\0", "17000000000:"
    } do
      local d = wire.decoder()
      local list, problem, whole = d:feed("2:{}" .. bad)
      assert.is_nil(list)
      assert.is_string(problem)
      assert.same({{}}, whole)
      assert.is_nil((d:feed "2:{}"))
    end
  end)

  it("takes a header of 200 bytes, and none of 201", function ()
    assert.is_table(read(("0"):rep(198) .. "2:{}"))
    assert.is_nil(read(("0"):rep(199) .. "2:{}"))
  end)

  it("has a limit of length", function ()
    assert.is_table(read(encoded '{"a":"bcd"}', {maxLength = 11}))
    local packet, problem = read("12:", {maxLength = 11})
    assert.is_nil(packet)
    assert.matches("longer than 11", problem)
  end)

  it("has a limit of depth", function ()
    local deep = encoded('{"a":' .. ("["):rep(3) .. ("]"):rep(3) .. "}")
    assert.is_table(read(deep, {maxDepth = 4}))
    local d = wire.decoder {maxDepth = 3}
    assert.same({}, d:feed(deep))
    assert.equal(1, d.skipped)
    assert.same({}, wire.decoder():feed(
      encoded('{"a":' .. ("["):rep(1000000))))
  end)

  it("tells whether a packet has begun, and what the next may have", function ()
    local d = wire.decoder {maxLength = 4}
    assert.is_false(d:pending())
    for _, piece in ipairs {"3", ":", "{", " "} do
      d:feed(piece)
      assert.is_true(d:pending())
    end
    assert.equal(1, #d:feed "}")
    assert.is_false(d:pending())
    d:allow(10)
    assert.equal(1, #d:feed '7:{"a":1}')
    assert.is_nil(d:feed "11:")
  end)

  it("keeps an empty array one", function ()
    local text = encoded '{"a":[],"b":{},"c":[[]]}'
    assert.equal(text, wire.encode(read(text)))
  end)

  it("reads a large packet in small pieces in linear time", function ()
    local text = wire.encode {s = ("x"):rep(4 << 20)}
    local d, got = wire.decoder(), nil
    local start = os.clock()
    for i = 1, #text, 7 do
      got = assert(d:feed(text:sub(i, i + 6)))[1] or got
    end
    assert.equal(4 << 20, #got.s)
    assert.is_true(os.clock() - start < 5)
  end)
end)

describe("JSON", function ()
  local good = {
    ["0"] = 0, ["-0"] = 0, ["12"] = 12, ["1.0"] = 1.0, ["-1.5e+3"] = -1500.0,
    ["1E2"] = 100.0, ["9223372036854775807"] = math.maxinteger,
    ["-9223372036854775808"] = math.mininteger,
    ["9223372036854775808"] = 2.0 ^ 63, ["true"] = true, ["false"] = false,
    ['""'] = "", ['"\\u0041\\n\\/"'] = "A\n/", ['"\\ud83d\\ude00"'] = "😀",
    ['"\\ud83dx"'] = "\u{FFFD}x", ['"\\ude00"'] = "\u{FFFD}",
    ['"\\u0000"'] = "\0", [' "x" '] = "x"
  }
  it("is read exactly", function ()
    for text, value in pairs(good) do
      local got = decode(text, 1)
      assert.equal(value, got)
      assert.equal(math.type(value), math.type(got))
    end
    assert.equal(wire.null, decode("null", 1))
  end)

  it("is read strictly", function ()
    for _, text in ipairs {
      "", " ", "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x1", "nan", "NaN",
      "Infinity", "tru", "nulll", "'a'", '"', '"a', '"\\"', '"\\x"', '"\\u12"',
      '"\\u12g4"', '"\n"', '"\1"', "[", "[1", "[1,", "[1,]", "[,1]", "]",
      "{", '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', "{1:1}", "{,}",
      "[]]", "1 2", '"\xc0\x80"', '"\xed\xa0\x80"', "\xef\xbb\xbf1", "\0",
      "1\0"
    } do
      local value, message = decode(text, 10)
      assert.is_nil(value)
      assert.matches("^no JSON at byte %d+$", message)
    end
  end)

  it("is what another library reads", function ()
    math.randomseed(11)
    local function value (level)
      local kind = math.random(level > 0 and 7 or 5)
      if kind == 1 then return math.random(-1000, 1000)
      elseif kind == 2 then return math.random(1, 4000) / 8 + 0.0625
      elseif kind == 3 then return math.random(2) == 1
      elseif kind <= 5 then
        return ("é\n\"\\/a\u{10FFFF}"):sub(math.random(2) == 1 and 1 or 3)
      end
      local t = {}
      for i = 1, math.random(4) do
        t[kind == 6 and i or "k" .. i] = value(level - 1)
      end
      return t
    end
    for _ = 1, 200 do
      local v = {v = value(4)}
      assert.same(v, decode(dkjson.encode(v), 20))
      assert.same(v, dkjson.decode((wire.encode(v):gsub("^%d+:", ""))))
    end
  end)
end)

-- A stream of packets, cut at random and damaged at random.
describe("wire under fuzz", function ()
  local function sample ()
    local parts, list = {}, {}
    for i = 1, math.random(8) do
      local packet = {n = i, s = ("z"):rep(math.random(0, 40)),
                      l = {1, {2, "é"}}}
      list[i] = packet
      parts[i] = wire.encode(packet)
    end
    return table.concat(parts), list
  end

  -- What comes of the text fed in random pieces.
  local function feed (text)
    local d, got, at = wire.decoder {maxLength = 4096}, {}, 1
    while at <= #text do
      local size = math.random(math.random(2) == 1 and 3 or 90)
      local list, problem, whole = d:feed(text:sub(at, at + size - 1))
      for _, packet in ipairs(list or whole) do
        got[#got + 1] = packet
      end
      if problem then
        return got, problem, d
      end
      at = at + size
    end
    return got, nil, d
  end

  it("gives the same packets however the bytes are cut", function ()
    math.randomseed(42)
    for _ = 1, 500 do
      local text, list = sample()
      local got, problem = feed(text)
      assert.is_nil(problem)
      assert.same(list, got)
    end
  end)

  it("gives the same packets cut in two at any byte", function ()
    math.randomseed(44)
    local text, list = sample()
    for at = 0, #text do
      local d = wire.decoder()
      local got = assert(d:feed(text:sub(1, at)))
      table.move(assert(d:feed(text:sub(at + 1))), 1, #list, #got + 1, got)
      assert.same(list, got)
    end
  end)

  it("survives any bit that is another", function ()
    math.randomseed(45)
    local text = sample()
    for at = 1, #text do
      for bit = 0, 7 do
        local bad = text:sub(1, at - 1)
                    .. string.char(text:byte(at) ~ 1 << bit)
                    .. text:sub(at + 1)
        local got, problem, whole = wire.decoder {maxLength = 4096}:feed(bad)
        assert.is_true(got ~= nil or problem ~= nil and whole ~= nil)
      end
    end
  end)

  it("survives damage, and damage is the same however it is cut", function ()
    math.randomseed(43)
    for _ = 1, 2000 do
      local text = sample()
      for _ = 1, math.random(3) do
        local at = math.random(#text)
        text = text:sub(1, at - 1)
               .. (math.random(3) == 1 and ""
                   or string.char(math.random(0, 255)))
               .. text:sub(at + math.random(0, 2))
      end
      local got, problem, d = feed(text)
      local again, problem2, d2 = feed(text)
      assert.same(got, again)
      assert.equal(problem, problem2)
      assert.equal(d.skipped, d2.skipped)
    end
  end)
end)
