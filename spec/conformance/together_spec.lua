-- A trace has the same packets whether others run or not. Random programs are
-- in spec/transparency/alone_spec.lua.

local conform = require "spec.support.conform"
local notation = require "spec.support.notation"

local types = {"name", "callsite", "yield", "depth"}

-- Programs begin trace k by begin(k, options).
local prelude = [[
  local only = %s
  local function begin (k, options)
    if k == (only or k) then start(options) end
  end
]]

local function texts (program, only)
  local result = conform.run(prelude:format(only):gsub("\n", " ") .. program,
                             {trace = types})
  assert.is_true(result.ok, result.message)
  local list = {}
  for i, trace in ipairs(result) do
    local text = notation.render(trace.packets,
                                 {file = conform.file, trace = types})
    list[i] = text:gsub(" *> start @1 d%d+\n *< start return\n", "")
  end
  return list
end

-- The packets of each trace are as if it were the only one; those of the last
-- one have 'shown' in them.
local function same (sentence, program, shown)
  it(sentence, function ()
    local together = texts(program, nil)
    for k, text in ipairs(together) do
      assert.equal(texts(program, k)[1], text)
    end
    assert.truthy(together[#together]:find(shown, 1, true),
                  together[#together])
  end)
end

describe("a trace beside others", function ()
  same("has a suspended coroutine's frames that are older than those", [[
    local function inner () coroutine.yield() end
    local function body ()
      begin(1)
      inner()
      inner()
    end
    local co = coroutine.create(function () body() end)
    coroutine.resume(co)
    begin(2)
    coroutine.resume(co)
    coroutine.resume(co)
  ]], "> body resumed d2")

  same("has those of the coroutines that had resumed it", [[
    local function outer ()
      coroutine.resume(coroutine.create(function () begin(1) end))
      coroutine.yield()
    end
    local co = coroutine.create(function () outer() end)
    coroutine.resume(co)
    begin(2)
    coroutine.resume(co)
  ]], "> outer resumed d2")

  same("tells who called from a frame that was suspended meanwhile", [[
    local function leaf () end
    local co = coroutine.create(function ()
      begin(2)
      coroutine.yield()
      leaf()
    end)
    begin(1)
    coroutine.resume(co)
    begin(3)
    coroutine.resume(co)
  ]], "> leaf @5 d2")

  same("has frames that those do not ask for", [[
    local function leaf () coroutine.yield() end
    local function middle () leaf() end
    local co = coroutine.create(function () middle() end)
    begin(1, {trace = {"name", "callsite", "yield", "depth"},
              include = {"^leaf$"}})
    coroutine.resume(co)
    begin(2)
    coroutine.resume(co)
  ]], "> middle resumed d2")

  same("has frames that are too deep for those, which still have them not", [[
    local function leaf () coroutine.yield() end
    local function middle () leaf() end
    local co = coroutine.create(function () middle() end)
    begin(1, {trace = {"name", "callsite", "yield", "depth"}, maxDepth = 2})
    coroutine.resume(co)
    begin(2)
    coroutine.resume(co)
  ]], "> leaf resumed d3")
end)
