-- The helper for busted: coverage of a suite.

local covered = require "spec.coverage.covered"
local run = require "spec.support.run"

local it = run.needs("busted.runner", it, pending)

local files = {
  ["account.lua"] = [[
local Account = {}
function Account.check (amount)
  if amount < 0 then
    error("negative amount")
  end
  return amount
end
return Account
]],
  ["a_spec.lua"] = [[
local Account = require "account"
it("is fine", function () assert.equal(1, Account.check(1)) end)
]],
  ["other.lua"] = "return 1"
}

-- Runs these with the helper's options; "coverage.info" is read.
local function suite (more, options, how)
  return run.within(function (where)
    for _, list in ipairs {files, more} do
      for name, text in pairs(list) do
        run.write(where .. "/" .. name, text)
      end
    end
    os.execute("mkdir " .. run.quote(where .. "/tmp"))
    local env = {TMPDIR = where .. "/tmp"}
    for name, value in pairs(how and how.env or {}) do
      env[name] = value
    end
    local result = run.command({
      "busted", "--lua=" .. run.lua, "-o", "TAP", "--lpath=./?.lua",
      "--helper=tracegrip.busted", "-Xhelper", options, "."
    }, {cwd = where, env = env})
    result.counts = run.read(where .. "/coverage.info")
    local ls = {"ls", where .. "/tmp", where .. "/traces"}
    result.left = run.command(ls).stdout
    return result
  end)
end

describe("busted's helper, with coverage,", function ()
  it("counts files below the working directory", function ()
    local result = suite({}, "coverage=coverage.info")
    assert.equal(0, result.status, result.stderr)
    assert.matches("ok 1 %- is fine", result.stdout)
    assert.same({[1] = 1, [2] = 1, [3] = 1, [4] = 0, [6] = 1, [8] = 1},
                covered.lines(result.counts, "/account.lua"))
    assert.same({"a_spec.lua", "account.lua"}, (function ()
      local list = {}
      for name in result.counts:gmatch "SF:[^\n]*/([^/\n]*)\n" do
        list[#list + 1] = name
      end
      return list
    end)())
    assert.matches("83%.3 %%  5 of 6     2 of 2  worst  account%.lua\n",
                   result.stderr)
    assert.is_nil(result.left:find "tracegrip")
  end)

  it("takes patterns, and lists what nobody loads", function ()
    local result = suite({}, "coverage=coverage.info,coverageInclude=account,"
                             .. "coverageInclude=other")
    assert.same({[1] = 0}, covered.lines(result.counts, "/other.lua"))
    assert.is_nil(result.counts:find "a_spec")
  end)

  it("keeps recordings of failing tests as well", function ()
    local result = suite({["b_spec.lua"] = [[
      it("fails", function () require "account".check(-1) end)
    ]]}, "traces=traces,coverage=coverage.info")
    assert.equal(1, result.status)
    assert.matches("fails%.tgr", result.left)
    assert.equal(1, covered.lines(result.counts, "/account.lua")[4])
  end)

  it("fails a suite that passes if there is too little", function ()
    local result = suite({}, "coverage=coverage.info,coverageFailUnder=99")
    assert.equal(1, result.status)
    assert.matches("tracegrip: coverage: 7 of 8 lines %(87.5 %%%) are less "
                   .. "than 99 %%\n", result.stderr)
    assert.matches("ok 1 %- is fine", result.stdout)
    result = suite({}, "coverage=coverage.info,coverageFailUnder=87.5")
    assert.equal(0, result.status)
  end)

  it("counts children that tests fork, once", function ()
    local result = suite({["b_spec.lua"] = [[
      local process = require "process"
      it("forks", function ()
        local pid = process.fork()
        if pid == 0 then
          pcall(require "account".check, -1)
          os.exit(0)
        end
        assert.equal(0, process.wait(pid))
      end)
    ]]}, "coverage=coverage.info", {env = run.modules})
    assert.equal(0, result.status, result.stdout)
    assert.equal(1, covered.lines(result.counts, "/account.lua")[4])
    assert.equal(1, select(2, result.stderr:gsub("coverage.info:", "")))
  end)

  it("writes when a test ends the process", function ()
    local result = suite({["b_spec.lua"] = [[
      it("ends it", function () os.exit(3) end)
    ]]}, "coverage=coverage.info")
    assert.is_true(result.status ~= 0)
    assert.equal(1, covered.lines(result.counts, "/account.lua")[6])
    assert.is_nil(result.left:find "tracegrip")
  end)

  it("is right where tests have put others in the place of functions",
     function ()
    local result = suite({["b_spec.lua"] = [[
      it("breaks all", function ()
        local function broken () error "broken" end
        for _, name in ipairs {"string", "table", "io", "os"} do
          for key in pairs(_G[name]) do
            if key ~= "exit" and key ~= "format" and key ~= "write"
               and name ~= "string" then
              -- busted itself needs the rest
              if not (name == "table") and key ~= "stderr" and key ~= "stdout"
                 and key ~= "time" and key ~= "clock" and key ~= "getenv" then
                _G[name][key] = broken
              end
            end
          end
        end
      end)
    ]]}, "coverage=coverage.info")
    assert.equal(1, covered.lines(result.counts, "/account.lua")[6])
  end)

  it("refuses what makes no sense", function ()
    for options, message in pairs {
      ["coverageFailUnder=80"] = "option 'traces' is missing",
      ["coverage=coverage.info,coverageFailUnder=x"] =
        "coverageFailUnder=x: coverageFailUnder wants a number from 0 to 100",
      ["traces=traces,coverageFailUnder=80"] =
        "option 'coverageFailUnder' is for coverage: 'coverage' is missing",
      ["coverage=coverage.info,slow=1"] =
        "option 'slow' is for recordings: 'traces' is missing",
      ["coverage=/nonexistent/c.info"] = "cannot write the counts: "
        .. "/nonexistent/c.info: No such file",
      ["coverage=coverage.info,coverageUntested=nix"] =
        "coverageUntested=nix: no such file or folder"
    } do
      local result = suite({}, options)
      assert.equal(1, result.status)
      assert.is_truthy(result.stderr:find(message, 1, true), result.stderr)
      assert.is_nil(result.left:find "tracegrip")
    end
  end)
end)
