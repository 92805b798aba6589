--- stackwords.lua - what a program of randomstacks says of its coroutines,
-- compared with a dump of it.

local assert = require "luassert"

local lookedat = require "spec.support.lookedat"
local randomstacks = require "spec.support.randomstacks"

local stackwords = {}

-- What the program has said, coroutine by coroutine.
local function parts_of (word)
  local list = {}
  for part in (word .. "\nC "):gmatch "(C .-)\n%f[C]" do
    list[#list + 1] = part
  end
  return list
end

local function of_status (document, status)
  local list = {}
  for _, coroutine in ipairs(document.states[1].coroutines) do
    if coroutine.status == status then
      list[#list + 1] = randomstacks.lines(coroutine)
    end
  end
  return list
end

local function suspended_of (parts)
  local list = {}
  for _, part in ipairs(parts) do
    if part:find "^C suspended" then
      list[#list + 1] = part
    end
  end
  table.sort(list)
  return list
end

--- Of a process that waits; the document.
function stackwords.compare (process)
  local parts = parts_of(process:waiting())
  local result, document = lookedat.dump(process.pid, {"--locals"})
  assert.equal("", result.stderr)
  assert.is_nil(document.rejected)
  assert.same({parts[1]}, of_status(document, "running"))
  local seen = of_status(document, "suspended")
  table.sort(seen)
  assert.same(suspended_of(parts), seen)
  return document
end

return stackwords
