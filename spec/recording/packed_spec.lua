-- Recordings whose full blocks are packed by a thread while the program runs:
-- the same as those that are not, only smaller, whatever happens meanwhile.

local cjson = require "cjson"
local run = require "spec.support.run"

local tracegrip = run.build .. "/bin/tracegrip"

-- Calls enough for many blocks; what they are given differs from call to call,
-- and is the same each time that the program runs.
local program = [[
  local seed = 7
  local function random (n)
    seed = seed * 1103515245 + 12345 & 0x7fffffff
    return seed >> 8 & n
  end
  local function leaf (t, word) return #word + t[1] end
  local function f (i)
    local t = {random(255), "name" .. random(63), {i, i + 1}}
    return leaf(t, "text " .. random(7))
  end
  for i = 1, tonumber(os.getenv "N") do f(i) end
]]

local TYPES = "--trace name,arguments,return --no-c"

-- A script for the shell, with T for the command and the program beside it.
local function shell (script, env)
  local mine = {T = tracegrip, LUA = run.lua, TYPES = TYPES}
  for name, value in pairs(env or {}) do
    mine[name] = value
  end
  return run.command({"sh", "-c", script},
                     {files = {["program.lua"] = program}, env = mine,
                      timeout = 600})
end

-- Of the packed blocks of a recording, those in columns, and those that are one
-- frame.
local function count_packed (bytes)
  local columns, frames = 0, 0
  local at = 1 + string.unpack("<I4", bytes, 13)
  while at + 40 <= #bytes do
    local magic, kind, size = string.unpack("<c4I4I8", bytes, at)
    if magic ~= "TBLK" then
      break
    end
    if kind == 3 and string.unpack("<I4", bytes, at + 40) == 1 then
      columns = columns + 1
    elseif kind == 3 then
      frames = frames + 1
    end
    at = at + size
  end
  return columns, frames
end

-- Bytes that a recording would have unpacked, all causes together.
local function unpacked_size (info)
  local sum = 0
  for _, bytes in pairs(info.room) do
    sum = sum + (math.tointeger(bytes) or 0)
  end
  return sum
end

local function info_of (result)
  local text = assert(result.stdout:match "{\n.*", result.stderr)
  return cjson.decode(text)
end

describe("a recording that is packed", function ()
  it("says the same as one that is not, in fewer bytes", function ()
    local result = shell [[
      N=60000 $T record $TYPES -o packed program.lua
      N=60000 $T record $TYPES --compress none -o plain program.lua
      $T export packets packed -o a; $T export packets plain -o b
      cmp a b && wc -l <a && wc -c <packed && wc -c <plain
      $T info --json packed
      $T info --json plain >&2]]
    local lines, packed, plain = result.stdout:match "^(%d+)%s+(%d+)%s+(%d+)"
    assert.equal(600002, math.tointeger(lines), result.stderr)
    assert.is_true(packed * 2 < tonumber(plain), result.stdout)
    local info = info_of(result)
    assert.equal("complete", info.state)
    assert.is_true(info.saved_bytes > 0)
    assert.is_true(info.bytes_per_event * info.events < info.file_bytes)
    assert.near(tonumber(plain), unpacked_size(info), 32 << 10)
    assert.equal(0, cjson.decode(result.stderr:match "{\n.*").saved_bytes)
  end)

  it("has its calls in columns", function ()
    run.within(function (directory)
      run.write(directory .. "/program.lua", program)
      local result = run.command({"sh", "-c",
        "N=60000 $T record $TYPES -o rec program.lua"}, {
        cwd = directory, env = {T = tracegrip, LUA = run.lua, TYPES = TYPES}
      })
      assert.equal(0, result.status, result.stderr)
      local columns, frames = count_packed(run.read(directory .. "/rec"))
      assert.is_true(columns > 0)
      assert.equal(0, frames)
    end)
  end)

  it("has each event up to the moment at which it was killed", function ()
    local result = shell [[
      N=40000 $T record $TYPES --compress none -o plain program.lua
      $T export packets plain -o - | head -240000 >all
      # The first 4 MiB are there from the beginning.
      for n in 5 9 6 13 8; do
        N=100000000 $T record $TYPES -o rec program.lua &
        while ! [ -s rec ] || [ "$(wc -c <rec)" -lt $((n << 20)) ]; do
          sleep 0.01
        done
        i=0; while [ $i -lt $((n * 300)) ]; do i=$((i + 1)); done
        kill -9 $!; wait $! 2>/dev/null
        $T export packets rec -o - 2>/dev/null | head -240000 >some
        [ "$(wc -l <some)" -ge 10000 ] || echo "$n: few"
        head -n "$(wc -l <some)" all | cmp - some || echo "$n: others"
        $T info --json rec | grep -q '"state": "cut off"' || echo "$n: state"
        rm rec
      done
      echo over]]
    assert.equal("over\n", result.stdout)
  end)

  it("can be read while it is written, up to where reading began", function ()
    local result = shell [[
      N=30000 $T record $TYPES --compress none -o plain program.lua
      $T export packets plain -o all
      N=100000000 $T record $TYPES -o rec program.lua &
      until $T info --json rec 2>&1 | grep -q '"events": [1-9]'; do
        sleep 0.01
      done
      before=0
      for n in 1 2 3; do
        $T info --json rec >info || echo "not read"
        grep -q '"state": "running"' info || cat info
        $T export packets rec -o - 2>/dev/null | head -120000 >some
        head -n "$(wc -l <some)" all | cmp - some || echo "others"
        now=$(sed -n 's/.*"events": \([0-9]*\).*/\1/p' info | head -1)
        [ "$now" -ge "$before" ] || echo "fewer: $now after $before"
        before=$now
      done
      kill -9 $!; wait $! 2>/dev/null
      echo over]]
    assert.equal("over\n", result.stdout)
  end)

  it("is followed while it is written, by its blocks", function ()
    local result = run.command({"sh", "-c", [[
      N=60000 $T record $TYPES -o rec program.lua &
      $LUA follow.lua; wait
      $T export packets rec -o a; $T export packets copy -o b
      cmp a b; wc -l <b]]}, {
      files = {["program.lua"] = program, ["follow.lua"] = [[
        local core = require "tracegrip.core"
        core.own()
        local tail, taker = core.tail("rec", 0), nil
        local all = {trace = {"name", "arguments", "return"}}
        for _, key in ipairs {"Depth", "Properties", "String", "Objects"} do
          all["value" .. key] = "all"
        end
        local over = false
        repeat
          local last, bytes = over, assert(tail:read() or "")
          if bytes ~= "" then
            taker = taker or assert(core.receive(all, nil, {
              path = "copy", name = "program", program = "program.lua"}))
            assert(taker:feed(bytes))
            taker:pump()
          end
          over = bytes == "" and tail:over()
        until last and bytes == ""
        assert(taker:finish "requested")]]},
      env = {T = tracegrip, LUA = run.lua, TYPES = TYPES,
             [run.variable "LUA_PATH"] = run.path,
             [run.variable "LUA_CPATH"] = run.cpath}
    })
    assert.equal("600002\n", result.stdout, result.stderr)
  end)

  it("holds more than one that is not within --max-size", function ()
    local result = shell [[
      export N=300000
      $T record $TYPES --max-size 3M -o packed program.lua
      $T record $TYPES --max-size 3M --compress none -o plain program.lua
      $T export packets packed -o - | wc -l
      $T export packets plain -o - | wc -l
      wc -c <packed]]
    local packed, plain, bytes = result.stdout:match "^(%d+)%s+(%d+)%s+(%d+)"
    assert.is_true(packed * 2 > 3 * plain, result.stdout)
    assert.is_true(tonumber(bytes) <= 3 << 20)
  end)

  it("has what came before the disk was full", function ()
    local result = shell [[
      N=40000 $T record $TYPES --compress none -o plain program.lua
      $T export packets plain -o - | head -240000 >all
      (ulimit -f 6000; N=1000000 $T record $TYPES -o rec program.lua) \
        2>/dev/null
      $T export packets rec -o - 2>/dev/null | head -240000 >some
      head -n "$(wc -l <some)" all | cmp - some && wc -l <some
      $T info --json rec]]
    assert.is_true(tonumber(result.stdout:match "^%d+") > 50000)
    local info = info_of(result)
    assert.equal("failed", info.state)
    assert.is_true(info.lost.disk > 0)
  end)

  it("leaves a ring as it is", function ()
    local info = info_of(shell [[
      N=60000 $T record $TYPES --ring --buffer 4M -o rec program.lua
      $T info --json rec]])
    assert.equal(0, info.saved_bytes)
    assert.is_true(info.bytes > 2 << 20)
  end)

  it("is not made, nor opened, without the library", function ()
    local result = shell [[
      N=20000 $T record $TYPES -o packed program.lua
      mkdir lacking; echo "no library" >lacking/libzstd.so.1
      export LD_LIBRARY_PATH=$PWD/lacking
      N=20000 $T record $TYPES -o plain program.lua
      $T info --json plain | grep saved_bytes
      $T report packed; echo "status $?"]]
    assert.matches('^ *"saved_bytes": 0,?\nstatus 1\n$', result.stdout)
    assert.equal("tracegrip: packed: it is compressed, which needs libzstd "
                 .. "(libzstd.so.1)\n", result.stderr)
  end)

  it("is scrubbed, and packed again", function ()
    local result = shell [[
      N=30000 $T record $TYPES -o rec program.lua
      $T scrub rec -o clean --redact '^word$' 2>note
      $T export packets rec -o - | grep -c '"text 3"'
      $T export packets clean -o - | grep -c '"text 3"'
      $T export packets clean -o - | wc -l; wc -c <rec; wc -c <clean
      $T info --json clean]]
    local before, after, lines, bytes, clean =
      result.stdout:match "^(%d+)%s+(%d+)%s+(%d+)%s+(%d+)%s+(%d+)"
    assert.is_true(tonumber(before) > 0)
    assert.equal("0", after)
    assert.equal("300002", lines)
    assert.is_true(tonumber(clean) < bytes * 1.2)
    assert.equal("complete", info_of(result).state)
  end)

  -- Prints places in packed blocks; what other blocks have has no checksum.
  local places = [[
    local bytes = io.open(arg[1], "rb"):read "a"
    local at, list = 1 + string.unpack("<I4", bytes, 13), {}
    while at + 40 <= #bytes do
      local _, kind, size = string.unpack("<c4I4I8", bytes, at)
      local used = string.unpack("<I4", bytes, at + 36)
      if kind == 3 then
        list[#list + 1] = at + 40
        list[#list + 1] = at + 40 + used // 2
        list[#list + 1] = at + used
      end
      at = at + size
    end
    for i = 1, 7 do print(list[1 + (#list - 1) * (i - 1) // 6]) end
  ]]

  it("ends where it was damaged, and says so where it was cut off", function ()
    local result = shell([[
      N=30000 $T record $TYPES -o rec program.lua
      $T export packets rec -o all
      size=$(wc -c <rec)
      for n in 1 3 7 12 19 26 31; do
        head -c $((size * n / 32)) rec >cut
        $T info --json cut | grep -q '"state": "complete"' && echo "$n: whole"
        $T report cut >/dev/null 2>&1; [ $? -lt 2 ] || echo "$n: crashed"
      done
      echo "$PLACES" >places.lua
      for at in $($LUA places.lua rec); do
        cp rec bad; chmod 600 bad
        printf 'xxxxxxxxxxxxxxxxxxxx' | dd of=bad bs=1 conv=notrunc seek=$at \
          2>/dev/null
        $T export packets bad -o - 2>/dev/null >some
        [ $? -lt 2 ] || echo "$at: crashed"
        [ "$(wc -l <some)" -lt "$(wc -l <all)" ] || echo "$at: not noticed"
        head -n "$(wc -l <some)" all | cmp - some || echo "$at: others"
      done
      echo over]], {PLACES = places})
    assert.equal("over\n", result.stdout)
  end)

  it("is each process's own", function ()
    local result = run.command({"sh", "-c", [[
      $T record $TYPES -o rec fork.lua
      for f in rec rec.*; do $T export packets $f -o - | wc -l; done]]}, {
      files = {["fork.lua"] = [[
        local process = require "process"
        local function f (i, t) return i end
        local function work (n)
          for i = 1, n do f(i, {i, i + 1, "text" .. i % 64}) end
        end
        work(40000)
        local pid = process.fork()
        work(40000)
        if pid == 0 then os.exit(0, true) end
        process.wait(pid)]]},
      env = {T = tracegrip, TYPES = TYPES,
             [run.variable "LUA_CPATH"] = run.modules[run.variable "LUA_CPATH"]}
    })
    local parent, child = result.stdout:match "^(%d+)%s+(%d+)"
    assert.is_true(tonumber(parent) > 160000, result.stderr)
    assert.is_true(tonumber(child) > 80000, result.stdout)
  end)
end)
