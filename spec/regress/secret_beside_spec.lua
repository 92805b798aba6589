-- A recording that hides something had it in its file, though nothing showed
-- it, where another trace was running that hides nothing: both have the same
-- events. So had what trace:save made.

local run = require "spec.support.run"

local code = [[
local tracegrip = require "tracegrip"
function login (user, password) return user end
login("ann", "first secret")
local other = tracegrip.start {}
login("bob", "second secret")
pcall(login, "cem", "third secret")
other:stop()
for p in other:packets {include = "^login$"} do
  if p.arguments then
    local v = p.arguments.values
    print(v[1], type(v[2]) == "table" and v[2].type or v[2])
  end
end
]]

describe("a recording that hides", function ()
  it("has nothing of it in its file, whatever runs beside it", function ()
    run.within(function (directory)
      run.write(directory .. "/program.lua", code)
      local result = run.command({
        run.build .. "/bin/tracegrip", "record", "--redact", "password",
        "--compress", "none", "-o", "rec", "program.lua"
      }, {cwd = directory})
      assert.equal("", result.stderr:match "[Ee]rror" or "")
      assert.equal("bob\tredacted\ncem\tredacted\n", result.stdout)
      local bytes = run.read(directory .. "/rec")
      assert.truthy(bytes:find("bob", 1, true))
      assert.is_nil(bytes:find("secret", 1, true))
    end)
  end)
end)

describe("a trace that hides", function ()
  local function saved (options, path)
    return ([[
      local hiding = require "tracegrip".start {redact = "password"%s}
      %s
      hiding:stop()
      print(hiding:save(%q))
    ]]):format(options, code, path)
  end

  it("is saved without what another one has seen", function ()
    run.within(function (directory)
      local path = directory .. "/rec"
      run.write(path, "before")
      local result = run.code(saved("", path))
      assert.equal("", result.stderr)
      assert.equal("bob\tsecond secret\ncem\tthird secret\ntrue\n",
                   result.stdout)
      local bytes = run.read(path)
      assert.truthy(bytes:find("bob", 1, true))
      assert.is_nil(bytes:find("secret", 1, true))
      local shown = run.command {run.build .. "/bin/tracegrip", "log", path}
      assert.truthy(shown.stdout:find('function: login, "cem", <redacted>',
                                      1, true), shown.stdout)
      assert.equal("rec\n", run.command({"ls", directory}).stdout)
    end)
  end)

  it("is not saved to what is no file", function ()
    local result = run.code(saved("", "/dev/null"))
    assert.matches("nil\t/dev/null: [^\n]+\t22\n$", result.stdout)
  end)
end)
