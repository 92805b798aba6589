-- The helper for busted: the file that the running test is recorded on.

local run = require "spec.support.run"
local suite = require "spec.busted.suite"

local it = run.needs("lfs", it, pending)

local function specs (text)
  return {["a_spec.lua"] = text}
end

describe("busted's helper", function ()
  it("has a file while a test runs, and none when it has passed", function ()
    local result = suite.run(specs [[
      local lfs = require "lfs"
      local function names ()
        local list = {}
        for name in lfs.dir "traces" do
          list[#list + 1] = not name:find "^%." and name or nil
        end
        return list
      end
      describe("a", function ()
        setup(function ()
          assert.same({"outside-of-tests.running.tgr"}, names())
        end)
        it("b", function () assert.same({"a-b.running.tgr"}, names()) end)
        it("c", function () assert.same({"a-c.running.tgr"}, names()) end)
      end)
    ]])
    assert.equal(0, result.status, result.stdout)
    assert.is_nil(result.names)
  end)

  it("leaves the recording of a test that ends the process", function ()
    local ends = {
      [9] = [[io.popen("kill -9 $PPID"):read "a"]],
      [10] = [[io.popen("kill -USR1 $PPID"):read "a"]],
      [0] = "os.exit(3)",
    }
    for _, last in pairs(ends) do
      local result = suite.run(specs(([[
        local function before () end
        local function last () %s end
        describe("a", function ()
          it("passes", function () before() end)
          it("never ends", function () before() last() end)
        end)
      ]]):format(last)), {args = {"--sort"}})
      assert.is_true(result.status ~= 0)
      assert.same({"a-never-ends.running.tgr"}, result.names)
      local lines = result.recordings["a-never-ends.running.tgr"]
      assert.same({"> (anonymous function)", "> before", "< before return",
                   "> last"}, table.move(lines, 1, 4, 1, {}))
    end
  end)

  it("leaves nothing of a child that a test has forked", function ()
    local result = suite.run(specs [[
      local process = require "process"
      local function f () end
      it("forks", function ()
        local pid = process.fork()
        f()
        if pid == 0 then
          process.leave(0)
        end
        process.wait(pid)
      end)
      it("fails", function () f() error "no" end)
    ]], {args = {"--sort", "--cpath=" .. run.build .. "/spec/?.so"}})
    assert.same({"fails.tgr"}, result.names)
    assert.same({"> (anonymous function)", "> f", "< f return",
                 "< (anonymous function) exception"},
                result.recordings["fails.tgr"])
  end)
end)
