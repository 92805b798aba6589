-- tracegrip-static, which `make static` builds: one file that does what the
-- command line does. Of a file that is older than the module nothing is said.

local lfs = require "lfs"

local run = require "spec.support.run"

local single = run.build .. "/bin/tracegrip-static"
local root = io.popen("id -u"):read "n" == 0

local function missing ()
  local built = lfs.attributes(single, "modification")
  local module = lfs.attributes(run.lib .. "/tracegrip/core.so", "modification")
  if not built then
    return "not built (make static)"
  elseif module and built < module then
    return "older than the module (make static)"
  end
end

local reason = missing()
local one = not reason and it or function (name)
  pending(name .. ": " .. reason)
end

local files = {
  ["fib.lua"] = [[
local function fib (n)
  return n < 2 and n or fib(n - 1) + fib(n - 2)
end
print(fib(5), arg[0], ...)
os.exit(4)
]],
  ["marks.lua"] = [[
local console = require "tracegrip.console"
console.startTrace("mine")
math.abs(-1)
local trace = console.stopTrace("mine")
for packet in trace:packets() do
  if packet.type == "enteredFrame" then
    print(packet.name)
  end
end
]]
}

-- A script for the shell, with S for the one file and T for the tree's.
local function shell (script)
  return run.command({"sh", "-c", script}, {
    files = files,
    env = {S = single, T = run.build .. "/bin/tracegrip", LUA = run.lua}
  })
end

describe("tracegrip-static", function ()
  one("works in a directory that has nothing else", function ()
    if not root then
      return pending "only root can change what is the root"
    end
    local result = shell [[
      mkdir empty; cp "$S" empty/one; cp fib.lua empty
      chroot empty /one record -o /rec /fib.lua x; echo "status $?"
      chroot empty /one report --json /rec | grep -c '"name": "fib"'
      for what in info tree log; do
        chroot empty /one $what /rec | grep -c . | sed 's/[0-9]*/some/'
      done
      chroot empty /one export firefox /rec -o /out.json.gz
      gzip -t empty/out.json.gz && echo whole]]
    assert.equal("5\t/fib.lua\tx\nstatus 4\n1\nsome\nsome\nsome\nwhole\n",
                 result.stdout)
  end)

  one("exports what the tree's tracegrip exports", function ()
    local result = shell [[
      $T record -o rec fib.lua >/dev/null
      for format in packets firefox chrome speedscope folded html; do
        "$S" export $format rec -o one.$format 2>/dev/null
        $T export $format rec -o tree.$format 2>/dev/null
        cmp one.$format tree.$format
      done
      ls one.* | wc -l]]
    assert.equal("6\n", result.stdout)
  end)

  one("runs scripts that use tracegrip's modules", function ()
    local result = shell [[
      unset LUA_PATH_5_4 LUA_CPATH_5_4; "$S" run -o log marks.lua]]
    assert.equal("math.abs\n", result.stdout)
  end)

  one("shows nothing of its own", function ()
    local result = shell [[
      unset LUA_PATH_5_4 LUA_CPATH_5_4
      "$S" run -o - marks.lua | grep -c installed.lua]]
    assert.equal("0\n", result.stdout)
  end)

  one("is an interpreter by the name of one", function ()
    local result = shell 'ln -s "$S" lua5.4; ./lua5.4 -e "print(_VERSION)" -'
    assert.equal("Lua 5.4\n", result.stdout)
  end)

  one("counts the lines of a script", function ()
    assert.matches("100%.0 %%  3 of 3",
                   shell('"$S" coverage -o lcov fib.lua').stderr)
  end)

  one("says that other programs cannot load it", function ()
    for _, command in ipairs {"record -o rec", "coverage", "run --preload"} do
      local result = shell('"$S" ' .. command .. " -- $LUA fib.lua")
      assert.equal(1, result.status)
      assert.matches("^tracegrip: this tracegrip is one file[^\n]*\n$",
                     result.stderr)
      assert.equal("", result.stdout)
    end
  end)

  one("loads no libraries of C", function ()
    local result = shell [["$S" run -o log - <<'END'
      print(package.loadlib("libm.so.6", "*"))
END]]
    assert.matches("^nil\tthis tracegrip is one file", result.stdout)
  end)

  one("tells its size and what it lacks", function ()
    assert.matches("\none file of %d+%.%d MiB, without commands [^\n]*\n$",
                   shell('"$S" --version').stdout)
  end)
end)
