-- Every numbered example runs and prints what its last comment says.

local lfs = require "lfs"

local run = require "spec.support.run"

local function examples ()
  local list = {}
  for name in lfs.dir(run.root .. "/examples") do
    if name:find "^%d%d%-.*%.lua$" then
      list[#list + 1] = name
    end
  end
  table.sort(list)
  return list
end

local function promised (path)
  local text = run.read(path):match "%-%-%[%[ prints\n(.*)\n%-%-%]%]"
  return text and text .. "\n"
end

describe("the example", function ()
  for _, name in ipairs(examples()) do
    it(name .. " prints what it says", function ()
      local path = run.root .. "/examples/" .. name
      local result = run.file(path)
      assert.equal("", result.stderr)
      assert.equal(0, result.status)
      assert.equal(promised(path), (result.stdout:gsub("\t+", "\t")
                                    :gsub("[ \t]+\n", "\n")))
    end)
  end
end)
