--- How large recordings are: what is said of it, and what bounds it.

local cjson = require "cjson"
local run = require "spec.support.run"

local tracegrip = run.build .. "/bin/tracegrip"

-- So many calls, of which most of the bytes are a table's contents.
local program = [[
  local function last () end
  local function f (t, s) return t end
  local inner = {name = "some name", list = {1, 2, 3}, kind = "kind"}
  for i = 1, tonumber(arg[1]) do
    f({tag = "x", a = i, b = i, c = "text" .. i, d = inner}, "x")
  end
  last()
  print "done"
]]

-- A script for the shell, with T for the command and the program beside it. A
-- recording that is PLAIN has the size of its events.
local function shell (script, env)
  local mine = {T = tracegrip, LUA = run.lua, PLAIN = "--compress none"}
  for name, value in pairs(env or {}) do
    mine[name] = value
  end
  return run.command({"sh", "-c", script},
                     {files = {["program.lua"] = program}, env = mine})
end

local function info_of (result)
  return cjson.decode(result.stdout:match "{\n.*")
end

local smaller = {["--value-depth 0"] = true,
                 ["--trace name,callsite,time"] = true}

describe("the size of a recording", function ()
  it("is told with what takes the room, and what would be smaller", function ()
    local info = info_of(shell("$T record $PLAIN --no-c -o rec program.lua "
                              .. "30000; $T info --json rec"))
    local room, sum = info.room, 0
    for _, name in ipairs {"tables", "strings", "values", "calls", "samples",
                           "other", "definitions"} do
      sum = sum + room[name]
    end
    assert.is_true(math.abs(sum - info.file_bytes) < 16)
    assert.matches("^[%d.]+ %a+, %d+ %% of it contents of tables: "
                   .. "%-%-value%-depth 0 is about [^,]+, "
                   .. "%-%-trace name,callsite,time about [^,]+$", room.words)
    assert.equal(2, #room.smaller)
    for _, one in ipairs(room.smaller) do
      assert.is_true(smaller[one.options])
      local really = info_of(shell(("$T record $PLAIN --no-c %s -o rec "
        .. "program.lua 30000; $T info --json rec"):format(one.options)))
        .file_bytes
      assert.is_true(math.abs(one.bytes - really) < really / 6,
                     ("%s: %d, %d"):format(one.options, one.bytes, really))
    end
  end)

  -- The header's page, a block of definitions, and the last block as far as it
  -- was used.
  it("is small if the program is short", function ()
    run.within(function (directory)
      run.write(directory .. "/program.lua", "print(1)")
      for _, flags in ipairs {"", "--duration 100s", "--sample 100"} do
        local result = run.command({"sh", "-c", ([[
          "$1" record %s -o rec program.lua && "$1" log rec
        ]]):format(flags), "sh", tracegrip}, {cwd = directory})
        assert.equal(0, result.status, result.stderr)
        local bytes = run.read(directory .. "/rec")
        local page = string.unpack("<I4", bytes, 13)
        assert.is_true(#bytes < page + math.max(page, 4096) + 1000, #bytes)
      end
    end)
  end)

  -- Blocks grow with the file: what is not used of them is a part of it.
  it("is not much more than what is in it", function ()
    run.within(function (directory)
      run.write(directory .. "/program.lua", [[
        for i = 1, tonumber(arg[1]) do
          load("local function g (x) return x end for i = 1, 40 do g(i) end",
               "=a chunk with a longer name " .. i)()
        end
      ]])
      for calls = 1, 400, 57 do
        assert.equal(0, run.command({tracegrip, "record", "-o", "rec",
                                     "program.lua", tostring(calls)},
                                    {cwd = directory}).status)
        local bytes = run.read(directory .. "/rec")
        local page, used = string.unpack("<I4", bytes, 13), 0
        local at = page
        while at < #bytes do
          local magic, _, size = string.unpack("<c4I4I8", bytes, at + 1)
          assert.equal("TBLK", magic)
          used = used + string.unpack("<I4", bytes, at + 37)
          at = at + size
        end
        assert.is_true(#bytes < 2 * used + 48 * 1024 + 2 * page,
                       ("%d: %d, %d"):format(calls, #bytes, used))
      end
    end)
  end)

  it("is told of strings", function ()
    local info = info_of(shell([[
      cat >long.lua <<'.'
        local function f (s) end
        for i = 1, 2000 do f(("x"):rep(200) .. i) end
.
      $T record --compress none --no-c -o rec long.lua; $T info --json rec]]))
    assert.matches("of it strings of more than 16 bytes: "
                   .. "%-%-value%-string 16 is about", info.room.words)
  end)

  it("is told at the end of a large one", function ()
    local result = shell("$T record $PLAIN --no-c -o rec program.lua 1160000"
                         .. "; $T info --json rec")
    assert.matches("^tracegrip: [^\n]*rec: [%d.]+ MiB, %d+ %% of it contents "
                   .. "of tables: [^\n]+\n$", result.stderr)
    local info = info_of(result)
    assert.is_true(info.room.sampled)
    assert.is_true(info.room.tables > info.file_bytes // 2)
  end)

  it("is not told of a small one", function ()
    local result = shell "$T record -o rec program.lua 100"
    assert.equal("done\n", result.stdout)
    assert.equal("", result.stderr)
  end)

  it("is told when the disk is nearly full", function ()
    if not os.execute [[d=$(mktemp -d) && mount -t tmpfs none $d 2>/dev/null \
                        && umount $d && rmdir $d]] then
      pending "nothing can be mounted here"
      return
    end
    local result = shell [[
      mkdir disk; mount -t tmpfs -o size=72M none disk
      trap "umount disk" EXIT
      $T record --compress none --no-c -o disk/rec program.lua 1160000]]
    assert.matches("^tracegrip: [^\n]*rec has %d+ MiB, and less than a tenth "
                   .. "of its disk is left: %d+ MiB\n",
                   result.stderr)
    assert.equal("done\n", result.stdout)
  end)
end)

describe("a recording's --max-size", function ()
  it("ends the trace, and the program goes on", function ()
    local result = shell("$T record $PLAIN --no-c --max-size 2M -o rec "
                         .. "program.lua 40000; $T info --json rec")
    local info = info_of(result)
    assert.matches("^done\n", result.stdout)
    assert.matches("^tracegrip: [^\n]*rec has the size that it may have "
                   .. "%(%-%-max%-size%): the trace has ended\n$",
                   result.stderr)
    assert.equal("complete", info.state)
    assert.equal("maxSize", info.traces[1].ended)
    assert.is_true(info.file_bytes <= 2 << 20)
    assert.is_true(info.file_bytes > 1 << 20)
  end)

  it("bounds the file of a ring, which has the end", function ()
    for _, size in ipairs {1, 5} do
      local result = shell(("$T record --no-c --ring --max-size %dM -o rec "
        .. "program.lua 120000; $T log rec | grep -c 'last()'; "
        .. "$T info --json rec"):format(size))
      local info = info_of(result)
      assert.matches("^done\n1\n", result.stdout)
      assert.equal("complete", info.state)
      assert.is_nil(info.traces[1].ended)
      assert.is_true(info.lost.ring > 0)
      assert.is_true(info.file_bytes <= size << 20)
    end
  end)

  it("bounds it however many functions are defined", function ()
    for _, ring in ipairs {"", "--ring"} do
      local result = shell(([[
        cat >many.lua <<'.'
          for i = 1, 60000 do load("local a = " .. i .. " return a")() end
          print "done"
.
        $T record %s --max-size 1M -o rec many.lua; $T info --json rec]])
        :format(ring))
      local info = info_of(result)
      assert.matches("^done\n", result.stdout)
      assert.equal("complete", info.state)
      if ring == "" then
        assert.equal("maxSize", info.traces[1].ended)
      else        -- later functions share what is known of them
        assert.is_nil(info.traces[1].ended)
        assert.is_true(info.lost.functions > 0)
      end
      assert.is_true(info.file_bytes <= 1 << 20)
    end
  end)

  it("is one of the environment's options", function ()
    local result = shell("$LUA program.lua 40000; $T info --json rec", {
      [run.variable "LUA_INIT"] = "require 'tracegrip.auto'",
      TRACEGRIP_RECORD = "rec",
      TRACEGRIP_OPTIONS = "maxSize = 2 << 20, compress = 'none'"
    })
    assert.equal("maxSize", info_of(result).traces[1].ended)
  end)

  it("is refused where it makes no sense", function ()
    local result = shell "$T record --max-size 1000 -o rec program.lua 1"
    assert.equal(2, result.status)
    assert.equal("tracegrip: --max-size is 1M at least\n", result.stderr)
    result = run.code [[
      print(pcall(require("tracegrip").start, {maxSize = 1 << 30}))]]
    assert.matches("^false\tunknown option 'maxSize'", result.stdout)
  end)
end)
