-- Which files and lines tracegrip coverage tells of, and what it makes of them:
-- the table, the threshold, and nothing at all.

local covered = require "spec.coverage.covered"
local run = require "spec.support.run"

local function names_of (counts)
  local list = {}
  for name in counts:gmatch "SF:DIR/([^\n]*)" do
    list[#list + 1] = name
  end
  return table.concat(list, " ")
end

describe("lines", function ()
  it("of a function that never ran are none of them covered", function ()
    local result = covered.run({["app.lua"] = [[
local M = {}
function M.never (a)
  local b = a
  return b
end
M.other = function (...)
  return ...
end
local function empty ()
end
pcall(function ()
  return 1
end)
local list = {
  f = function ()
    return 2
  end,
}
return M
]]}, {"app.lua"})
    assert.same({[1] = 1, [2] = 1, [3] = 0, [4] = 0, [7] = 0, [11] = 2,
                 [12] = 1, [14] = 1, [16] = 0, [19] = 1},
                covered.lines(result.counts, "app.lua"))
  end)

  it("with an end are lines if something else is done there", function ()
    local result = covered.run({["app.lua"] = [[
local function g (f, x) return x end
g(function ()
  return 1
end, tostring(1))
local function h () return function ()
  return 1
end end
local function k () g()
  return 1 end
]]}, {"app.lua"})
    assert.same({[1] = 2, [2] = 2, [3] = 0, [4] = 1, [6] = 0, [8] = 0,
                 [9] = 0}, (function ()
      local list = covered.lines(result.counts, "app.lua")
      list[1], list[2] = math.min(list[1], 2), math.min(list[2], 2)
      return list
    end)())
  end)
end)

describe("files that nobody loads", function ()
  local files = {
    ["app.lua"] = "dofile 'lib/a.lua'", ["lib/a.lua"] = "local x = 1\nreturn x",
    ["lib/b.lua"] = "local function f ()\n  return 1\nend\nreturn f",
    ["lib/c_old.lua"] = "return 1", ["lib/.hidden.lua"] = "return 1",
    ["lib/text.txt"] = "none", ["lib/deep/d.lua"] = "return 1",
    ["lib/deep/wrong.lua"] = "return ][", ["lib/.git/e.lua"] = "return 1",
    ["bin/tool"] = "#!/usr/bin/lua\nprint(1)\n"
  }
  local function names (...)
    local result = covered.run(files, {...})
    return names_of(result.counts), result
  end

  it("are listed beside those that patterns find", function ()
    local list, result = names("--include", "^lib/", "--exclude", "_old",
                               "app.lua")
    assert.equal("lib/a.lua lib/b.lua", list)
    assert.same({[2] = 0, [4] = 0},
                covered.lines(result.counts, "lib/b.lua"))
    assert.matches("0%.0 %%  0 of 2 +0 of 2  not loaded  lib/b%.lua",
                   result.stderr)
    assert.matches("lib/a%.lua\n", result.stderr)
  end)

  it("are not without patterns, nor with --loaded", function ()
    assert.equal("app.lua lib/a.lua", names "app.lua")
    assert.equal("lib/a.lua", names("--loaded", "--include", "lib", "app.lua"))
  end)

  it("are listed if they are named, with all below a folder", function ()
    local list, result = names("--untested", "lib", "--untested", "bin/tool",
                               "app.lua")
    assert.equal("app.lua bin/tool lib/a.lua lib/b.lua lib/c_old.lua "
                 .. "lib/deep/d.lua", list)
    assert.matches("left out, for it cannot be compiled any more: "
                   .. "DIR/lib/deep/wrong.lua", result.stderr)
    assert.same({[2] = 0}, covered.lines(result.counts, "bin/tool"))
  end)

  it("are refused if they are not there", function ()
    local result = covered.run(files, {"--untested", "nix", "app.lua"})
    assert.equal(1, result.status)
    assert.equal("tracegrip: --untested nix: no such file or folder\n",
                 result.stderr)
  end)
end)

describe("the result", function ()
  local files = {
    ["app.lua"] = "local x = 1\nif x > 1 then\n  x = 2\nend\nrequire 'lib'\n",
    ["lib.lua"] = "return 1\n"
  }

  it("is a table of files with the worst marked, and the sum", function ()
    local result = covered.run(files, {"app.lua"})
    assert.equal("  lines          functions         file\n"
      .. " 75.0 %  3 of 4     1 of 1  worst  app.lua\n"
      .. "100.0 %  1 of 1     1 of 1         lib.lua\n"
      .. " 80.0 %  4 of 5     2 of 2         2 files\n"
      .. "tracegrip: coverage.info: 4 of 5 lines (80.0 %), 2 of 2 functions, "
      .. "in 2 files\n", result.stderr)
  end)

  it("is the sum alone with --brief", function ()
    local result = covered.run(files, {"--brief", "app.lua"})
    assert.equal("tracegrip: coverage.info: 4 of 5 lines (80.0 %), "
                 .. "2 of 2 functions, in 2 files\n", result.stderr)
  end)

  it("shows the worst of very many files", function ()
    local many, words = {["app.lua"] = "for i = 1, 50 do "
                         .. "dofile('f' .. i .. '.lua') end"}, {"app.lua"}
    for i = 1, 50 do
      many["f" .. i .. ".lua"] = "if not arg then\n  x = 1\nend\n"
                                 .. ("x = 1\n"):rep(i)
    end
    local result = covered.run(many, words)
    assert.matches("worst +f1%.lua", result.stderr)
    assert.is_nil(result.stderr:find "f50%.lua")
    assert.matches("and 11 more files with no less than that\n", result.stderr)
  end)

  it("is 100.0 % of all lines only", function ()
    local result = covered.run({
      ["app.lua"] = "if not arg then\n  x = 1\nend\n" .. ("x = 1\n"):rep(4000)
    }, {"--brief", "app.lua"})
    assert.matches("%(99%.9 %%%)", result.stderr)
  end)

  it("fails below --fail-under, and not at it", function ()
    local result = covered.run(files, {"--fail-under", "80", "app.lua"})
    assert.equal(0, result.status)
    result = covered.run(files, {"--brief", "--fail-under", "80.5", "app.lua"})
    assert.equal(1, result.status)
    assert.matches("\ntracegrip: coverage: 4 of 5 lines %(80 %%%) are less "
                   .. "than 80.5 %%\n$", result.stderr)
    assert.matches("SF:DIR/app.lua", result.counts)
  end)

  it("leaves the program its own status", function ()
    local result = covered.run({["app.lua"] = "os.exit(3)\nx = 1"},
                               {"--fail-under", "100", "app.lua"})
    assert.equal(3, result.status)
  end)

  it("refuses a threshold that is no percentage", function ()
    local result = covered.run(files, {"--fail-under", "101", "app.lua"})
    assert.equal(2, result.status)
    assert.matches("%-%-fail%-under wants a number from 0 to 100",
                   result.stderr)
  end)
end)

describe("a program that cannot be counted", function ()
  local function refused (result, line)
    assert.equal(1, result.status)
    assert.equal("", result.stdout)
    assert.matches("^" .. line .. "\n$", result.stderr)
    assert.is_nil(result.counts)
  end

  it("is not run where the counts have no place", function ()
    local files = {["app.lua"] = "print 'ran'"}
    refused(covered.run(files, {"app.lua"}, {env = {TMPDIR = "/nowhere"}}),
            "tracegrip: cannot keep counts: /nowhere: No such file or "
            .. "directory")
  end)

  it("is not run where the counts have no room", function ()
    if not os.execute [[d=$(mktemp -d) && mount -t tmpfs none $d 2>/dev/null \
                        && umount $d && rmdir $d]] then
      pending "nothing can be mounted here"
      return
    end
    for _, words in ipairs {"app.lua", "-- $LUA app.lua"} do
      local result = run.command({"sh", "-c", [[
        mkdir disk; mount -t tmpfs -o size=4k none disk
        trap "umount disk" EXIT
        head -c 4096 /dev/zero >disk/full
        export TMPDIR=$PWD/disk
        $T coverage ]] .. words .. "; s=$?; ls disk >&2; exit $s"},
        {files = {["app.lua"] = "print 'ran'"},
         env = {T = run.build .. "/bin/tracegrip", LUA = run.lua}})
      refused(result, "tracegrip: cannot keep counts: [^\n]*disk: No space "
                      .. "left on device\nfull")
    end
  end)

  it("is told of by the interpreter alone, if that cannot load it", function ()
    refused(covered.run({["bad.lua"] = "x = = 1"}, {"bad.lua"}),
            "[^\n]*bad%.lua:1: [^\n]*")
    refused(covered.run({}, {"nowhere.lua"}), "[^\n]*nowhere%.lua[^\n]*")
  end)
end)

describe("nothing that was counted", function ()
  local function check (result, what)
    assert.equal(1, result.status)
    assert.matches("tracegrip: nothing was counted, and nothing is written: "
                   .. what .. "[^\n]*\n$", result.stderr)
    assert.is_nil(result.stderr:find "100%.0")
    assert.is_nil(result.counts)
  end

  it("is a failure of a command without Lua", function ()
    check(covered.run({}, {"--", "true"}), "the command ran no Lua 5.%d that "
          .. "heeds LUA_INIT_5_%d")
  end)

  it("and of one that heeds no variable", function ()
    check(covered.run({["app.lua"] = "x = 1"}, {
      "--", "sh", "-c", run.lua .. " -E app.lua"
    }), "the command ran no Lua")
  end)

  it("and of a program that is not a file", function ()
    check(covered.run({}, {"-"}, {stdin = "x = 1"}),
          "the program ran no code of a file")
  end)

  it("and of patterns that leave nothing", function ()
    check(covered.run({["app.lua"] = "x = 1"},
                      {"--exclude", "app", "app.lua"}),
          "of 1 file loaded, as app.lua, none has lines")
  end)

  it("and is not made good by files that nobody loads", function ()
    check(covered.run({["app.lua"] = "x = 1"},
                      {"--untested", "app.lua", "--", "true"}),
          "the command ran no Lua")
  end)

  it("leaves the status of a program that failed", function ()
    local result = covered.run({}, {"--", "sh", "-c", "exit 7"})
    assert.equal(7, result.status)
    assert.matches("nothing was counted", result.stderr)
  end)
end)
