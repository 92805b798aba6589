-- Snapshots as memlab reads them (make memlab), node by node: what each keeps
-- alive is what tracegrip heap says. Of tables with weak keys memlab knows
-- nothing, and has a value as kept by its table; so there are none here.

local cjson = require "cjson"
local lfs = require "lfs"

local heaps = require "spec.support.heaps"
local run = require "spec.support.run"

local home = run.build .. "/memlab"
local missing = run.read(home .. "/missing")
                or not lfs.attributes(home .. "/node_modules")
                and "no memlab in " .. home .. " (make memlab)"

-- Objects of all kinds, that refer to each other as chance will have it.
local program = [[
math.randomseed(tonumber((...)))
local function new (i)
  local kind = i % 5
  if kind == 0 then return {} end
  if kind == 1 then return setmetatable({}, {__name = "Thing"}) end
  if kind == 2 then return setmetatable({}, {__mode = "v"}) end
  if kind == 3 then
    local up = {}
    return function (x) up[#up + 1] = x return up end
  end
  local co = coroutine.create(function (kept)
    while true do kept[#kept + 1] = coroutine.yield() end
  end)
  coroutine.resume(co, {("s"):rep(i)})
  return co
end
local all = {}
for i = 1, 400 do all[i] = new(i) end
for i = 1, 1500 do
  local from, to = all[math.random(400)], all[math.random(400)]
  if type(from) == "table" then from["f" .. math.random(50)] = to
  elseif type(from) == "function" then from(to)
  else coroutine.resume(from, to) end
end
package.loaded.app = {all[1], all[2], all[4], named = all[5]}]]

local function compare (directory, seed)
  local path = ("%s/%d.heapsnapshot"):format(directory, seed)
  run.write(directory .. "/app.lua", program)
  local taken = heaps.command {"-o", path, "--", directory .. "/app.lua",
                               ("%d"):format(seed)}
  assert.equal(0, taken.status, taken.stderr)
  local result = run.command({"node", "agree.mjs", path},
                             {cwd = home, timeout = 120})
  assert.equal(0, result.status, result.stderr)
  local theirs = cjson.decode(result.stdout)[1]
  local _, ours = heaps.command {path, "--find", "", "--limit", "all",
                                 "--json"}
  assert.equal(theirs.nodes, #ours.objects + 1)         -- the root is no object
  local self = 0
  for _, one in ipairs(ours.objects) do
    self = self + one.self
    local id = ("%d"):format(one.id)
    assert.equal(theirs.retained[id], one.retained,
                 ("%s @%s, %s"):format(one.name, id, one.path))
  end
  assert.equal(theirs.self, self)
end

describe("memlab", function ()
  local sentence = "has of each object what tracegrip has it retain"
  if missing or os.getenv "ASAN_OPTIONS" then
    return pending(sentence .. ": " .. (missing or "ids are not unique there"))
  end
  it(sentence, function ()
    run.within(function (directory)
      for seed = 1, 2 do
        compare(directory, seed)
      end
    end)
  end)
end)
