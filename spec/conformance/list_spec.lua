-- Lists of few values take a shorter way than lists that may be long, as those
-- of vararg functions: what they show is the same. Fixed seed.

local conform = require "spec.support.conform"
local run = require "spec.support.run"

local program = [[
  math.randomseed(20, 24)
  local random = math.random
  local class = {__index = error, __name = "Class"}
  local numbered = {__name = 1}
  local endless = {__name = ("name"):rep(99)}
  local letter = setmetatable({}, {__name = "Letter"})
  local document = ("a long text "):rep(40)
  local shared = {
    class, letter, print, function () end, coroutine.create(print), io.stdout,
    setmetatable({1}, class), setmetatable({}, numbered),
    setmetatable({}, endless), {}, {1, 2, 3}, {x = 1},
    {1, 2, nil, 4, x = 1}, {[1] = 1, [3] = 3}, {n = 2, "a", "b"}
  }
  for n = 1, 40, 3 do
    local list = {}
    for i = 1, n do list[i] = i % 4 == 0 and {i} or i end
    if n % 2 == 0 then list.name = "list" end
    shared[#shared + 1] = list
    local backwards = {}
    for i = n, 1, -1 do backwards[i] = i end
    shared[#shared + 1] = backwards
  end
  local plain = {1, -1, 1 << 40, 0.5, true, false, "", "text", document,
                 document .. "again", ("x"):rep(63), ("x"):rep(64)}
  local function value ()
    if random(3) == 1 then return nil end
    local from = random(2) == 1 and plain or shared
    return from[random(#from)]
  end
  local function few (a, b, c, d, e) end
  local function many (...) end
  start()
  for _ = 1, 400 do
    local a, b, c, d, e = value(), value(), value(), value(), value()
    few(a, b, c, d, e)
    many(a, b, c, d, e)
  end
]]

local function lists (options)
  local result = conform.run(program, {trace = {"name", "arguments"},
                                       options = options})
  assert.is_true(result.ok, result.message)
  local few, many = {}, {}
  for _, p in ipairs(result[1].packets) do
    local to = p.name == "few" and few or p.name == "many" and many
    if to then
      to[#to + 1] = p.arguments
    end
  end
  return few, many
end

describe("a list of few values", function ()
  for _, options in ipairs {
    {valueDepth = 0}, {valueDepth = 1}, {valueDepth = 2, valueProperties = 3},
    {valueDepth = 0, valueObjects = 2}, {valueDepth = 0, valueString = 5},
    {valueDepth = 1, valueProperties = 0}
  } do
    local names = {}
    for name, limit in pairs(options) do
      names[#names + 1] = name .. " = " .. limit
    end
    table.sort(names)
    it("is shown as any other: " .. table.concat(names, ", "), function ()
      local few, many = lists(options)
      assert.equal(400, #few)
      assert.equal(#few, #many)
      for i = 1, #few do
        assert.same(many[i], few[i])
      end
    end)
  end
end)

describe("a table that is longer than the limit", function ()
  local function shown (code, limit)
    local text = conform.text("local function f (t) end\n" .. code,
                              {trace = {"name", "arguments"},
                               options = {valueProperties = limit}})
    return text:match "> f%((.-)%)\n"
  end

  it("shows the first elements of its sequence", function ()
    assert.equal("#1{1, 2, 3, ~}", shown("start() f({1, 2, 3, 4, x = 5})", 3))
  end)

  it("shows the whole sequence, if that ends before", function ()
    assert.equal("#1{1, 2, [[4]] = 4}", shown([[
      local t = {1, 2, 3, 4}
      t[3] = nil
      start() f(t)
    ]], 3))
  end)

  it("shows a sequence that is no array", function ()
    assert.equal("#1{1, 2, ~}", shown([[
      local t = {}
      for i = 5, 1, -1 do t[i] = i end
      start() f(t)
    ]], 2))
  end)
end)

-- An event is written where it stays, in its chunk: a list that does not fit
-- there is begun again in the next one, whichever its byte is that has no room.
describe("a list at the end of a chunk", function ()
  local result = run.traced([[
    local function take (...) end
    local things = {}
    for i = 1, 60 do
      things[i] = i % 2 == 0 and ("s"):rep(60) or {i}
    end
    for i = 0, 1999 do
      take(table.unpack(things, 1, 31 + i % 30))
    end
  ]], {trace = {"name", "arguments"}, valueDepth = 0})

  local shown = {}
  for line in result.text:gmatch "[^\n]+" do
    if line:find('"take"', 1, true) then
      shown[#shown + 1] = line:gsub('"sequence":%d+', "")
    end
  end

  it("is as it is anywhere else", function ()
    assert.equal(2000, #shown)
    for i = 31, #shown do
      assert.equal(shown[i - 30], shown[i])
    end
  end)
end)
