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

-- Starts the program that listens, and the command with its port: $PORT.
local beside = [[
  : >served
  $LUA_PROGRAM "$EXAMPLES/served.lua" >served 2>said &
  trap "kill $!" EXIT
  for i in $(seq 600); do
    PORT=$(sed -n 's/.*://p;q' served)
    [ -n "$PORT" ] && break
    sleep 0.1
  done
  ]]

local function with_program (command)
  return run.command({"sh", "-c", beside .. command}, {
    env = {LUA_PROGRAM = run.lua, EXAMPLES = run.root .. "/examples"},
    timeout = 120
  })
end

local serves = run.needs("luv", it, pending)

describe("the example", function ()
  for _, name in ipairs(examples()) do
    local it = name:find "attach" and serves or it
    it(name .. " prints what it says", function ()
      local path = run.root .. "/examples/" .. name
      local result = run.file(path)
      assert.equal("", result.stderr)
      assert.equal(0, result.status)
      assert.equal(promised(path), (result.stdout:gsub("\t+", "\t")
                                    :gsub("[ \t]+\n", "\n")))
    end)
  end

  serves("08-attach.lua attaches to a program that runs", function ()
    local result = with_program '$LUA_PROGRAM "$EXAMPLES/08-attach.lua" $PORT'
    assert.equal("", result.stderr)
    assert.matches("^tab 1\tserved.lua\nserve\t1\n.*\ndetached\tdetached\n$",
                   result.stdout)
  end)

  serves("frames.mjs prints frames", function ()
    if run.command({"node", "--version"}).status ~= 0 then
      pending "needs node"
      return
    end
    local result = with_program 'node "$EXAMPLES/frames.mjs" $PORT 40'
    assert.equal("", result.stderr)
    assert.matches("%d%.%d%d%d +serve\n%d+%.%d%d%d +pcall\n"
                   .. "%d+%.%d%d%d +price\n", result.stdout)
  end)
end)
