-- The command line's words: help, version, and what is said of wrong usage.

local run = require "spec.support.run"

local tracegrip = run.build .. "/bin/tracegrip"

local function call (...)
  return run.command {tracegrip, ...}
end

describe("tracegrip", function ()
  it("without a command shows what there is and fails", function ()
    local result = call()
    assert.equal(2, result.status)
    assert.equal("", result.stdout)
    assert.matches("Commands:\n   run  ", result.stderr)
  end)

  it("shows the same when asked for help", function ()
    for _, word in ipairs {"help", "--help", "-h"} do
      local result = call(word)
      assert.equal(0, result.status)
      assert.equal("", result.stderr)
      assert.matches("Commands:\n   run  ", result.stdout)
    end
  end)

  it("tells its version", function ()
    local result = call "--version"
    assert.equal(0, result.status)
    assert.matches("^tracegrip %d+%.%d+%.%d+ %(Lua 5%.[45]%)\nframes [^\n]+\n$",
                   result.stdout)
  end)

  it("tells in one line what it cannot be run by", function ()
    local other = ("LUA_INIT_%s=\"_VERSION = 'Lua 5.1'\" exec %s \"$@\"\n")
                  :format(_VERSION:sub(5):gsub("%.", "_"), run.quote(run.host))
    run.within(function (where)
      run.write(where .. "/lua", "#!/bin/sh\n" .. other)
      os.execute("chmod +x " .. run.quote(where .. "/lua"))
      local result = run.command({tracegrip, "--version"},
                                 {env = {LUA = where .. "/lua"}})
      assert.equal(1, result.status)
      assert.equal("tracegrip: this interpreter is of Lua 5.1: Lua 5.4 or 5.5 "
                   .. "is needed (LUA names it)\n", result.stderr)
    end)
  end)

  it("helps with a command in either way", function ()
    local result = call("run", "--help")
    assert.equal(0, result.status)
    assert.matches("^Usage: tracegrip run %[options%] script.lua",
                   result.stdout)
    assert.equal(result.stdout, call("help", "run").stdout)
  end)

  it("says that there is no room for its help", function ()
    for _, words in ipairs {"help", "--version", "help run", "run --help"} do
      local result = run.command {"sh", "-c", '"$0" ' .. words
                                  .. " >/dev/full", tracegrip}
      assert.equal(1, result.status)
      assert.equal("tracegrip: cannot write: No space left on device\n",
                   result.stderr)
    end
  end)

  it("refuses standard output where a file is written", function ()
    for _, words in ipairs {"record -o - x.lua", "coverage -o - x.lua",
                            "heap -o - -- x.lua",
                            "scrub x.tgr --redact x -o -"} do
      local result = run.command {"sh", "-c", '"$0" ' .. words, tracegrip}
      assert.equal(2, result.status)
      assert.matches("^tracegrip: [%a ]+ needs a file: %-o %- is none "
                     .. "%(%./%- is%)\n$", result.stderr)
    end
  end)

  it("helps without the library that only servers and clients need", function ()
    local env = {[run.variable "LUA_CPATH"] = "/nowhere/?.so"}
    local result = run.command({tracegrip, "help"}, {env = env})
    assert.equal(0, result.status, result.stderr)
    assert.matches("\n   attach ", result.stdout)
    for _, command in ipairs {"attach", "view"} do
      assert.matches("^Usage: tracegrip " .. command,
        run.command({tracegrip, command, "--help"}, {env = env}).stdout)
      result = run.command({tracegrip, command, "6006"}, {env = env})
      assert.equal(1, result.status)
      assert.equal("tracegrip: this command needs the library luv\n",
                   result.stderr)
    end
  end)

  it("keeps its help within 80 columns", function ()
    for _, command in ipairs {"run", "record", "info", "report", "tree",
                              "log"} do
      for line in call(command, "--help").stdout:gmatch "[^\n]*" do
        assert.is_true(#line < 80, line)
      end
    end
  end)

  it("works through a symbolic link and from anywhere", function ()
    local result = run.command(
      {"sh", "-c", "ln -s \"$1\" link && ./link --version", "sh", tracegrip})
    assert.equal(0, result.status)
  end)
end)

describe("wrong usage", function ()
  local function refused (words, ...)
    local result = call(table.unpack(words))
    assert.equal(2, result.status)
    assert.equal("", result.stdout)
    assert.matches("^tracegrip: [^\n]+\n$", result.stderr)
    for _, pattern in ipairs {...} do
      assert.matches(pattern, result.stderr)
    end
  end

  it("of a command names it", function ()
    refused({"fly"}, "'fly'")
    refused({"help", "fly"}, "'fly'")
  end)

  it("of an option names it and lists the known ones", function ()
    refused({"run", "--fly", "x.lua"}, "'%-%-fly'", "%-%-max%-depth",
            "%-%-redact")
  end)

  it("of a value tells what is wanted", function ()
    refused({"run", "--max-depth", "deep", "x.lua"}, "%-%-max%-depth")
    refused({"run", "--max-depth", "-1", "x.lua"}, "")
    refused({"run", "--min-duration", "soon", "x.lua"}, "%-%-min%-duration")
    refused({"run", "--buffer", "1X", "x.lua"}, "%-%-buffer")
    refused({"run", "--buffer", "1kb", "x.lua"}, "%-%-buffer")
    refused({"run", "--include", "[", "x.lua"}, "%-%-include",
            "missing '%]'")
    refused({"run", "--include", "((", "x.lua"},
            "%-%-include wants a Lua pattern, not '%(%(' %(unfinished capture")
    refused({"report", "--limit", "-3", "rec"},
            "%-%-limit wants a whole number")
    for _, limit in ipairs {"0", "-3", "2.5", "many", ("9"):rep(30)} do
      refused({"log", "--limit", limit, "rec"},
              "%-%-limit wants a number from 1 on or 'all'")
    end
    refused({"run", "--limit", "3", "x.lua"}, "%-%-limit")
    refused({"attach", "--limit", "3", "127.0.0.1:1"}, "%-%-limit")
    refused({"run", "--max-events", "-3", "x.lua"},
            "%-%-max%-events wants a whole number")
    refused({"run", "--buffer", ("9"):rep(30), "x.lua"}, "%-%-buffer")
    refused({"run", "--buffer", "9223372036854775807K", "x.lua"},
            "%-%-buffer")
    refused({"run", "--max-depth", ("9"):rep(30), "x.lua"}, "%-%-max%-depth")
    refused({"run", "--overflow", "burst", "x.lua"}, "'ring'")
    refused({"run", "--color", "pink", "x.lua"}, "'never'")
    refused({"run", "--trace", "name,colour", "x.lua"}, "'colour'",
            "callsite")
    refused({"run", "--max-depth"}, "%-%-max%-depth")
  end)

  it("of a number tells that it is written in decimal digits", function ()
    for _, number in ipairs {"0x10", "1e3", " 5", "5 ", "+5", "5.0", ""} do
      for _, command in ipairs {"record -o x.tgr", "top"} do
        local words = {}
        for word in command:gmatch "%S+" do
          words[#words + 1] = word
        end
        table.move({"--pid", number}, 1, 2, #words + 1, words)
        refused(words, "%-%-pid wants the number of a process")
      end
      refused({"dump", number}, "is neither the number of a process")
      refused({"log", "--limit", number, "rec"},
              "%-%-limit wants a number from 1 on")
      refused({"run", "--max-events", number, "x.lua"},
              "%-%-max%-events wants a whole number")
      refused({"record", "--sample", number, "x.lua"},
              "%-%-sample wants a number from 1 to 10000")
      refused({"serve", "--port", number}, "%-%-port wants a port")
    end
  end)

  it("of a process tells that there can be none of that number", function ()
    for _, number in ipairs {"0", "-5", "2147483648", "4294967294"} do
      refused({"record", "-o", "x.tgr", "--pid", number},
              "%-%-pid wants the number of a process")
    end
  end)

  it("of a time that is none tells so", function ()
    for _, time in ipairs {"0", "0ms", "0.0"} do
      refused({"run", "--duration", time, "x.lua"},
              "%-%-duration wants a time above 0")
      refused({"record", "--pid", "1", "-o", "x.tgr", "--duration", time},
              "%-%-duration wants a time above 0")
    end
  end)

  it("is none in what is the program's own", function ()
    local result = run.command(
      {tracegrip, "run", "-o", "/dev/null", "program.lua", "--limit", "-3"},
      {files = {["program.lua"] = "print(...)"}})
    assert.equal("--limit\t-3\n", result.stdout)
  end)

  it("is a run without a program", function ()
    refused({"run"}, "script")
  end)
end)
