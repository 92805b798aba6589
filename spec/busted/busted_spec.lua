-- The helper for busted: which tests leave a recording, what is in it, and that
-- busted does and says what it would have without.

local lfs = require "lfs"

local run = require "spec.support.run"
local suite = require "spec.busted.suite"

local it = run.needs("lfs", it, pending)

local account = [[
local function check (amount)
  if amount < 0 then
    error("negative amount")
  end
  return amount
end

local Account = {}
Account.__index = Account

function Account.new ()
  return setmetatable({balance = 0}, Account)
end

function Account:deposit (amount)
  self.balance = self.balance + check(amount)
end

return Account
]]

local function hundred ()
  local lines = {"local Account = require 'account'",
                 "describe('account', function ()"}
  for i = 1, 100 do
    local amount = (i == 37 or i == 72) and -i or i
    lines[#lines + 1] = ("it('deposits %d', function () local a = "
      .. "Account.new() a:deposit(%d) assert.equal(%d, a.balance) end)")
      :format(i, amount, i)
  end
  lines[#lines + 1] = "end)"
  return {["account.lua"] = account,
          ["account_spec.lua"] = table.concat(lines, "\n")}
end

-- One file of specs.
local function specs (text)
  return {["a_spec.lua"] = text}
end

local lpath = {"--lpath=./?.lua"}

describe("busted's helper", function ()

  it("keeps the recordings of two failing tests of a hundred", function ()
    local result = suite.run(hundred(), {args = lpath})
    assert.equal(1, result.status)
    assert.equal("", result.stderr)
    assert.same({"account-deposits-37.tgr", "account-deposits-72.tgr"},
                result.names)
    for _, lines in pairs(result.recordings) do
      assert.same({
        "> (anonymous function)",
        "> Account.new", "< Account.new return",
        "> Account:deposit",
        "> check",
        "< check exception",
        "< Account:deposit exception",
        "< (anonymous function) exception",
      }, lines)
    end
  end)

  it("makes no directory when all tests pass", function ()
    local result = suite.run(specs [[it("passes", function () end)]])
    assert.equal(0, result.status)
    assert.is_nil(result.names)
  end)

  it("shows the assertion that fails, and nothing of what it does", function ()
    local result = suite.run(specs [[
      local function twice (x) return 2 * x end
      it("fails", function () assert.equal(5, twice(2)) end)
      it("differs", function () assert.are_not.same({4}, {twice(2)}) end)
      it("matches", function () assert.matches("4", "5") end)
      it("asserts", function () assert(assert(true) and twice(2) == 5) end)
      it("expects", function () assert.has_error(function () twice(2) end) end)
    ]])
    local function shows (name, ...)
      local lines = {"> (anonymous function)", ...}
      lines[#lines + 1] = "< (anonymous function) exception"
      assert.same(lines, result.recordings[name .. ".tgr"], name)
    end
    local twice, back = "> twice", "< twice return"
    local call, failed = "> __call", "< __call exception"
    shows("fails", twice, back, call, failed)
    shows("differs", twice, back, call, failed)
    shows("matches", call, failed)
    shows("asserts", twice, back)
    shows("expects", call, "> (anonymous function)", twice, back,
          "< (anonymous function) return", failed)
  end)

  it("has before_each, the test and after_each", function ()
    local result = suite.run(specs [[
      local function before () end
      local function test () error "no" end
      local function after () end
      local function last () end
      before_each(function () before() end)
      after_each(function () after() end)
      it("fails", function () finally(function () last() end) test() end)
      it("passes", function () end)
    ]])
    local called = {}
    for _, line in ipairs(result.recordings["fails.tgr"]) do
      called[#called + 1] = line:match "^> (%l+)$"
    end
    assert.same({"before", "test", "last", "after"}, called)
  end)

  it("shows C functions and internals when asked to", function ()
    local text = [[it("fails", function () error(("x"):rep(3)) end)]]
    local plain = suite.run(specs(text))
    local c = suite.run(specs(text), {helper = "traces=traces,c=true"})
    local all = suite.run(specs(text),
                          {helper = "traces=traces,internals=true"})
    local function lines (result)
      return table.concat(result.recordings["fails.tgr"], "\n")
    end
    assert.falsy(lines(plain):find("string.rep", 1, true))
    assert.truthy(lines(c):find("> string.rep\n< string.rep return\n> error\n",
                                1, true))
    assert.falsy(lines(plain):find("publish", 1, true))
    assert.truthy(lines(all):find("publish", 1, true))
  end)

  it("shows of a file or a describe that fails its own calls", function ()
    local files = specs [[
      local function first () end
      local function bad () error "no" end
      first()
      describe("a", function ()
        first()
        it("passes", function () end)
        describe("b", function () bad() end)
      end)
    ]]
    files["b_spec.lua"] = "local function bad () error 'no' end bad()"
    local result = suite.run(files)
    local calls = {"> bad", "< bad exception"}
    assert.same({"> (anonymous function)", calls[1], calls[2],
                 "< (anonymous function) exception"},
                result.recordings["a-b.tgr"])
    assert.same({"> (main chunk)", calls[1], calls[2],
                 "< (main chunk) exception"},
                result.recordings["b_spec.lua.tgr"])
  end)

  it("loses no failure of a test that breaks a library", function ()
    local result = suite.run(specs [[
      local lfs = require "lfs"
      local function broken () error "broken" end
      it("breaks what busted does without", function ()
        string.format, string.lower, utf8.len = nil, nil, broken
        io.open, os.rename, os.remove = nil, broken, broken
        lfs.attributes, lfs.mkdir, lfs.rmdir = broken, broken, nil
        error "no library"
      end)
    ]], {output = run.root .. "/spec/busted/terse.lua"})
    assert.equal("error: ./a_spec.lua:7: no library\nRecording: "
                 .. "traces/breaks-what-busted-does-without.tgr\n",
                 result.stdout)
    assert.same({"breaks-what-busted-does-without.tgr"}, result.names)
  end)

  it("keeps the beginning of each test where there is a limit", function ()
    local result = suite.run(specs [[
      local function f () end
      for _, name in ipairs {"a", "b"} do
        it(name, function () f() f() error "no" end)
      end
    ]], {helper = "traces=traces,maxEvents=3"})
    for _, name in ipairs {"a.tgr", "b.tgr"} do
      assert.same({"> (anonymous function)", "> f", "< f return"},
                  result.recordings[name])
    end
  end)

  it("loads the suite's own helper, with its arguments", function ()
    local files = specs [[
      it("fails", function () during() error "no" end)
    ]]
    files["own.lua"] = [[
      local busted = require "busted"
      local words = table.concat(arg, " ")
      local function before () end
      local function after () end
      function during () print(words) end
      busted.before_each(function () before() end)
      busted.after_each(function () after() end)
    ]]
    local result = suite.run(files,
                             {helper = "traces=traces,helper=own.lua,x=1,y"})
    assert.equal("x=1 y", result.stdout:match "^x[^\n]*")
    local called = {}
    for _, line in ipairs(result.recordings["fails.tgr"]) do
      called[#called + 1] = line:match "^> (%l+)$"
    end
    assert.same({"before", "during", "after"}, called)
  end)

  it("says what is wrong with the suite's own helper", function ()
    local result = suite.run(specs "it('x', function () end)", {
      helper = "traces=traces,helper=no.lua"
    })
    assert.equal(1, result.status)
    assert.matches("helper=no%.lua: cannot open no%.lua", result.stderr)
  end)

  it("keeps the last events when there are many", function ()
    local result = suite.run(specs [[
      local function early () end
      local function often () end
      local function late () error "no" end
      it("fails", function ()
        early()
        for _ = 1, 100000 do often() end
        late()
      end)
    ]], {helper = "traces=traces,buffer=16K"})
    local lines = table.concat(result.recordings["fails.tgr"], "\n")
    assert.falsy(lines:find("early", 1, true))
    assert.truthy(lines:find("> late\n< late exception", 1, true))
  end)

  it("keeps slow tests, and tells of them on standard error", function ()
    local result = suite.run(specs [[
      local function wait (seconds)
        local stop = os.clock() + seconds
        while os.clock() < stop do end
      end
      describe("work", function ()
        it("is slow", function () wait(0.6) end)
        it("is quick", function () end)
        it("fails slowly", function () wait(0.6) error "no" end)
      end)
    ]], {helper = "traces=traces,slow=0.5"})
    assert.same({"work-fails-slowly.tgr", "work-is-slow.tgr"},
                result.names)
    assert.truthy(result.stderr:match(
      "^\nSlow tests:\n%d%.%d%d%d s  work is slow\n"
      .. "Recording: traces/work%-is%-slow%.tgr\n$"))
    assert.truthy(result.stdout:find("# Recording: traces/work-fails-slowly",
                                     1, true))
  end)

  it("writes a page beside each recording", function ()
    local result = suite.run(specs [[
      local function lookup (key) return key .. "!" end
      describe("a", function ()
        it("fails", function ()
          require, package.loaded["tracegrip.htmlpage"] = nil, nil
          lookup "answer"
          error "no"
        end)
        it("passes", function () end)
      end)
    ]], {helper = "traces=traces,html=true"})
    assert.same({"a-fails.html", "a-fails.tgr"}, result.names)
    assert.equal("", result.stderr)
  end)

  it("tells the path with the failure, in every output", function ()
    local text = [[
      describe("a", function () it("b", function () error "no" end) end)
    ]]
    for _, output in ipairs {"plainTerminal", "utfTerminal", "TAP", "gtest",
                             "junit", "json"} do
      local result = suite.run(specs(text), {output = output})
      local _, times = result.stdout:gsub("Recording: traces/a%-b%.tgr", "")
      assert.equal(1, times, output)
      assert.equal("", result.stderr)
      assert.equal(1, result.status)
    end
  end)

  it("changes nothing else of what busted says", function ()
    local text = [[
      local helper = require "luassert"
      describe("a", function ()
        setup(function () x = 1 end)
        it("passes", function () assert.equal(1, x) end)
        it("fails", function () assert.same({1, {2}}, {1, {3}}) end)
        it("throws", function () error {code = 1} end)
        it("throws nil", function () error() end)
        it("asserts", function () assert(1 == 2, "they differ") end)
        it("asserts more", function () assert(nil, {1}) end)
        it("asserts from afar", function ()
          local function f () assert(false, "far", assert:level(2)) end
          f()
        end)
        it("asserts too little", function () assert.equal(1) end)
        it("passes values on", function ()
          assert.same({n = 3, 1, nil, 3}, table.pack(assert(1, nil, 3)))
        end)
        it("throws far", function ()
          local function f (n) if n == 0 then error "deep" end f(n - 1) end
          f(3)
        end)
        it("is pending", function () pending "why" end)
        pending "later"
        insulate("b", function ()
          it("is lonely", function () _G.y = 1 end)
        end)
        expose("c", function () it("is open", function () z = 1 end) end)
        it("has not", function () assert.is_nil(rawget(_G, "y")) end)
        it("runs on a coroutine", function ()
          assert.has_error(coroutine.wrap(function () error "inside" end))
        end)
      end)
      describe("d", function ()
        setup(function () error "no setup" end)
        it("never runs", function () end)
      end)
      describe("e", function ()
        after_each(function () error "no after" end)
        teardown(function () error "no teardown" end)
        it("runs", function () end)
      end)
      describe("f", function () error "no body" end)
      describe("g", function ()
        before_each(function () error "no before" end)
        it("does not run", function () end)
      end)
    ]]
    local files = specs(text)
    files["b_spec.lua"] = "error 'no file'"
    for _, output in ipairs {"plainTerminal", "TAP", "gtest", "junit"} do
      local args = {"-v", "--sort"}
      local without = suite.run(files, {helper = "", output = output,
                                        args = args})
      local with = suite.run(files, {output = output, args = args})
      assert.equal(suite.plain(without.stdout), suite.plain(with.stdout))
      assert.equal(without.stderr, with.stderr)
      assert.equal(without.status, with.status)
    end
  end)

  it("keeps what fails outside of tests", function ()
    local files = specs [[
      local function prepare () error "no" end
      describe("a", function ()
        setup(function () prepare() end)
        it("never runs", function () end)
      end)
      describe("b", function ()
        before_each(function () error "no" end)
        it("does not run", function () end)
      end)
      describe("c", function ()
        after_each(function () error "no" end)
        teardown(function () error "no" end)
        it("runs", function () end)
      end)
    ]]
    files["b_spec.lua"] = "describe('x', function () error 'no' end)"
    local result = suite.run(files)
    assert.same({"a-setup.tgr", "b-before_each.tgr", "c-runs.tgr",
                 "c-teardown.tgr", "x.tgr"}, result.names)
    assert.truthy(table.concat(result.recordings["a-setup.tgr"], "\n")
                  :find("< prepare exception", 1, true))
  end)

  it("makes file names that are safe and differ", function ()
    local long = ("long "):rep(100)
    local result = suite.run(specs(([[
      local function bad () error "no" end
      it("../a/b: \\ \"c\" *?\n", bad)
      it("Same", bad)
      it("same", bad)
      it("Same", bad)
      it("größer 1.5", bad)
      it("\xff\xfe x", bad)
      it("...", bad)
      it(%q, bad)
      it(%q, bad)
    ]]):format(long, long .. "!")))
    local cut = ("long-"):rep(36):sub(1, -2)
    assert.same({
      "Same-3.tgr", "Same.tgr", "a-b-c.tgr", "größer-1.5.tgr",
      cut .. "-2.tgr", cut .. ".tgr", "same-2.tgr", "test.tgr",
      "x.tgr",
    }, result.names)
  end)

  it("replaces older recordings and nothing else", function ()
    local result = suite.run(specs [[
      it("a", function () error "no" end)
      it("b", function () error "no" end)
    ]], {before = function (directory)
      assert(lfs.mkdir(directory .. "/traces"))
      run.write(directory .. "/traces/a.tgr", "")
      run.write(directory .. "/traces/b.tgr", "a letter")
    end})
    assert.same({"a.tgr", "b-2.tgr", "b.tgr"}, result.names)
    assert.truthy(result.recordings["a.tgr"])
    assert.truthy(result.recordings["b-2.tgr"])
    assert.is_nil(result.recordings["b.tgr"])
  end)

  it("numbers the recordings of repeated runs", function ()
    local result = suite.run(specs [[
      it("fails", function () error "no" end)
      it("passes", function () end)
    ]], {args = {"--repeat=3", "--shuffle"}})
    assert.same({"fails-2.tgr", "fails-3.tgr", "fails.tgr"},
                result.names)
  end)

  it("leaves traces of the tests alone", function ()
    local result = suite.run(specs [[
      local tracegrip = require "tracegrip"
      local console = require "tracegrip.console"
      local function f () end
      it("sees none", function ()
        local trace, _, code = console.stopTrace()
        assert.is_nil(trace)
        assert.equal("wrongState", code)
        assert.is_nil(debug.gethook())
      end)
      it("has its own", function ()
        local trace = tracegrip.start {name = "busted"}
        assert.equal("Trace 1", console.startTrace())
        f()
        assert.equal("Trace 1", console.stopTrace().name)
        trace:stop()
        local n = 0
        for packet in trace:packets() do
          n = n + (packet.name == "f" and 1 or 0)
        end
        assert.equal(1, n)
        f()
        error "no"
      end)
    ]], {args = {"--sort"}})
    assert.truthy(result.stdout:find("ok 2 - sees none", 1, true))
    assert.same({"has-its-own.tgr"}, result.names)
    local lines = table.concat(result.recordings["has-its-own.tgr"], "\n")
    local _, times = lines:gsub("> f\n", "")
    assert.equal(2, times)
  end)

  it("hides nothing of busted from another trace", function ()
    local files = specs "it('passes', function () end)"
    files["own.lua"] = [[
      local busted = require "busted"
      local tracegrip = require "tracegrip"
      local trace = tracegrip.start {c = false}
      busted.subscribe({"suite", "end"}, function ()
        local seen = {}
        for packet in trace:stop():packets() do
          seen[packet.name or ""] = true
        end
        print("seen", seen.rejectAll or seen["block.rejectAll"])
        return nil, true
      end)
    ]]
    local result = suite.run(files, {helper = "traces=traces,helper=own.lua"})
    assert.equal("seen\ttrue", result.stdout:match "seen[^\n]*")
  end)

  it("leaves a test's hook in place until another test", function ()
    local result = suite.run(specs [[
      local lines = 0
      local function count () lines = lines + 1 end
      it("sets a hook", function () debug.sethook(count, "l") end)
      it("still has it", function ()
        assert.equal(count, (debug.gethook()))
        assert.is_true(lines > 100)
        debug.sethook()
      end)
      it("has none", function ()
        assert.is_nil(debug.gethook())
        error "no"
      end)
    ]])
    assert.truthy(result.stdout:find("ok 2 - still has it", 1, true))
    assert.same({"has-none.tgr"}, result.names)
    assert.same({"> (anonymous function)", "> __call", "< __call return",
                 "< (anonymous function) exception"},
                result.recordings["has-none.tgr"])
  end)

  it("follows no test into another directory", function ()
    local result = suite.run(specs [[
      local lfs = require "lfs"
      it("goes", function () lfs.chdir "/" error "no" end)
    ]])
    assert.same({"goes.tgr"}, result.names)
  end)

  it("says why a recording cannot be kept, and fails nothing", function ()
    local result = suite.run(specs [[
      it("fails", function () error "no" end)
      it("passes", function () end)
    ]], {helper = "traces=file/traces", before = function (directory)
      run.write(directory .. "/file", "")
    end})
    assert.equal("tracegrip: cannot keep the recording of 'fails': "
                 .. result.stderr:match "'fails': (.*)", result.stderr)
    assert.truthy(result.stderr:find("file/traces: Not a directory", 1, true))
    assert.equal(1, result.status)
    assert.falsy(result.stdout:find("Recording", 1, true))
    assert.truthy(result.stdout:find("ok 2 - passes", 1, true))
  end)

  it("names a wrong option, and lists the known ones", function ()
    local wrong = {
      ["traces=t,depth=3"] = "unknown option 'depth' %(known, as NAME=VALUE: "
                             .. "traces, slow, html, internals, helper, "
                             .. "coverage, coverageInclude, ",
      ["traces=t,oops"] = "unknown option 'oops'",
      ["slow=1"] = "option 'traces' is missing",
      ["traces="] = "option 'traces' is missing",
      ["traces=t,slow=soon"] = "slow=soon: slow wants a time",
      ["traces=t,trace=name,tim"] = "trace=tim: trace wants trace types",
      ["traces=t,c=1"] = "c=1: c wants true or false",
      ["traces=t,buffer=1"] = "option 'buffer'",
      ["traces=t,overflow=spill"] = "overflow=spill: overflow wants stop or ",
    }
    for options, message in pairs(wrong) do
      local result = suite.run(specs "it('x', function () end)",
                               {helper = options})
      assert.equal(1, result.status, options)
      assert.truthy(result.stderr:find(message), result.stderr)
      assert.falsy(result.stderr:find("traceback", 1, true))
      assert.equal("", result.stdout)
    end
  end)

  it("takes the options of tracegrip.start", function ()
    local result = suite.run(specs [[
      local function inner () end
      local function outer () inner() error "no" end
      it("fails", function () outer() end)
    ]], {helper = "traces=traces,trace=name,throw,exclude=^inner$,^none$,"
                  .. "maxDepth=2"})
    assert.same({"> (anonymous function)", "> outer", "< outer exception",
                 "< (anonymous function) exception"},
                result.recordings["fails.tgr"])
  end)

  it("runs the example in examples/busted", function ()
    local result = suite.run({}, {root = run.root .. "/examples/busted",
                                  args = {"--lpath=" .. run.root
                                          .. "/examples/busted/?.lua"}})
    assert.same({"account-deposits-rejects-negative-amounts.tgr"},
                result.names)
  end)
end)
