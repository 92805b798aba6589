-- The recipes of docs/contributing.md, done as they stand there: a copy of the
-- tree gets each block where the text says. It compiles without a warning, and
-- what was added works.

local lfs = require "lfs"

local recipes = require "spec.support.recipes"
local run = require "spec.support.run"

local document = run.read(run.root .. "/docs/contributing.md")

-- What is copied is the tree's plain build; others have other flags.
local function is_plain ()
  return lfs.attributes(run.build, "ino")
         == lfs.attributes(run.root .. "/build", "ino")
end

local function why_not ()
  if not is_plain() then
    return "of the tree's own build"
  elseif not os.execute "command -v cc >/dev/null 2>&1" then
    return "with a compiler"
  end
end

local it = not why_not() and run.needs("lfs", it, pending) or function (name)
  pending(name .. ": only " .. why_not())
end

-- Not those of the make that runs this.
local plain = {"env", "-u", "MAKEFLAGS", "-u", "MFLAGS", "-u", "MAKELEVEL",
               "-u", "MAKEOVERRIDES", "-u", "TG_BUILD", "-u", "LUA"}

local function within (words, ...)
  return table.move({...}, 1, select("#", ...), #words + 1,
                    table.move(words, 1, #words, 1, {}))
end

describe("a recipe", function ()
  local tree            -- the directory of the copy

  local function make (...)
    return run.command(within(plain, "make", "--no-print-directory", ...),
                       {cwd = tree, timeout = 600})
  end

  local function passes (...)
    local result = make(...)
    assert.equal(0, result.status, result.stdout .. result.stderr)
    return result.stdout
  end

  local function tracegrip (...)
    local result = run.command(within(plain, tree .. "/build/bin/tracegrip",
                                      ...), {cwd = tree .. "/try"})
    assert.equal(0, result.status, result.stderr)
    return result.stdout
  end

  -- A program with the copy's modules.
  local function printed (program)
    run.write(tree .. "/try/p.lua", program)
    local result = run.command({run.lua, "p.lua"}, {
      cwd = tree .. "/try",
      env = {
        [run.variable "LUA_PATH"] = tree .. "/lua/?.lua;" .. tree
                                    .. "/lua/?/init.lua;" .. run.path,
        [run.variable "LUA_CPATH"] = tree .. "/build/lib/lua/" .. run.version
                                     .. "/?.so;" .. run.build .. "/spec/?.so;"
                                     .. run.cpath
      }
    })
    assert.equal("", result.stderr)
    return result.stdout
  end

  local changed = {}
  local said            -- by make

  local function prepare ()
    if tree then
      return
    end
    tree = os.tmpname()
    os.remove(tree)
    assert(lfs.mkdir(tree))
    recipes.copy(tree)
    assert(lfs.mkdir(tree .. "/try"))
    for _, block in ipairs(recipes.blocks(document)) do
      recipes.apply(block, tree)
      changed[block.path] = true
    end
  end

  -- As lint warns. What code there is matters less than the time it takes.
  local function built ()
    prepare()
    said = said or passes("-j4", "all", "EXTRA=-O0 -g0 -Werror")
    return said
  end

  teardown(function ()
    os.execute("rm -rf " .. run.quote(tree or ""))
  end)

  it("tells of each block where it belongs", function ()
    local blocks = recipes.blocks(document)
    assert.is_true(#blocks > 20)
    for _, block in ipairs(blocks) do
      assert.truthy(block.path, ("line %d, after %q"):format(block.number,
                                                             block.prose))
    end
    prepare()
  end)

  it("compiles without a warning, and with it all that includes it",
     function ()
    local log = built()
    for _, file in ipairs(recipes.touched(tree, changed)) do
      assert.truthy(log:find("CC    " .. file .. "\n", 1, true),
                    file .. " is as it was: " .. log)
    end
  end)

  it("leaves the rockspec and the order of folders right", function ()
    prepare()
    for _, script in ipairs {"rockspec.lua tracegrip-scm-1.rockspec",
                             "rooms.lua includes"} do
      local result = run.command({"sh", "-c", run.host .. " build-aux/"
                                  .. script}, {cwd = tree})
      assert.equal("", result.stdout .. result.stderr)
      assert.equal(0, result.status)
    end
  end)

  local program = [[
    local function inner () return #"x" end
    local function outer () inner() print(inner()) end
    outer()]]

  local function recorded (...)
    built()
    run.write(tree .. "/try/app.lua", program)
    tracegrip("record", "-o", ...)
  end

  it("for an export format makes one", function ()
    recorded("rec", "app.lua")
    assert.equal("(main chunk)\n outer\n  inner\n  inner\n  print\n",
                 tracegrip("export", "lines", "rec", "-o", "-"))
    tracegrip("export", "lines", "rec")
    assert.truthy(run.read(tree .. "/try/rec.lines"))
    assert.truthy(tracegrip("export", "--help")
      :find("lines: people:%s+a%s+line%s+for%s+each%s+call"))
  end)

  it("for a trace type has it listed, traced and recorded", function ()
    recorded("rec", "--trace=name,kind", "app.lua")
    local kinds = {}
    for _, packet in ipairs(run.decode(tracegrip("export", "packets", "rec",
                                                 "-o", "-"))) do
      kinds[packet.name or ""] = packet.kind
    end
    assert.same({["(main chunk)"] = "Lua", outer = "Lua", inner = "Lua",
                 print = "C"}, kinds)
    assert.equal("kind\n", printed [[
      local types = require "tracegrip".traceTypes
      print(types[#types])]])
    assert.truthy(tracegrip("record", "--help"):find "%f[%a]kind%f[%A]")
  end)

  it("for an option has it heeded and recorded", function ()
    recorded("rec", "--no-lua", "app.lua")
    assert.equal("print\n", tracegrip("export", "lines", "rec", "-o", "-"))
    -- Beside a trace of everything, the recording alone can tell.
    assert.equal("1\n1\n", printed [[
      local tracegrip = require "tracegrip"
      local all = tracegrip.start {c = true}
      local some = tracegrip.start {lua = false}
      local function f () print(1) end
      f()
      some:stop()
      f()
      all:stop()
      assert(some:save "some" and all:save "all")]])
    assert.equal("print\n", tracegrip("export", "lines", "some", "-o", "-"))
    assert.truthy(tracegrip("export", "lines", "all", "-o", "-")
      :find("f\n print\n", 1, true))
  end)

  it("for an option leaves older recordings as they are", function ()
    built()
    run.write(tree .. "/try/app.lua", program)
    local result = run.command({run.build .. "/bin/tracegrip", "record", "-o",
                                "old", "app.lua"}, {cwd = tree .. "/try"})
    assert.equal("", result.stderr)
    assert.equal("(main chunk)\n outer\n  inner\n  inner\n  print\n",
                 tracegrip("export", "lines", "old", "-o", "-"))
  end)

  it("for a command has it run", function ()
    recorded("rec", "app.lua")
    assert.equal("(main chunk)\n", tracegrip("first", "rec"))
    assert.truthy(tracegrip("help")
      :find "\n   first +Tells with which function a recording begins%.\n")
  end)

  it("for a part has it told of forks, and freed", function ()
    built()
    assert.equal("0\n1\n2\n0\n", printed [[
      local core, process = require "tracegrip.core", require "process"
      print(core.forks())
      io.stdout:flush()
      local function inside (f)
        local pid = process.fork()
        if pid == 0 then
          f()
          io.stdout:flush()
          os.exit(true, true)
        end
        process.wait(pid)
      end
      inside(function ()
        print(core.forks())
        io.stdout:flush()
        inside(function () print(core.forks()) end)
      end)
      print(core.forks())]])
  end)

  it("has its specs pass, with golden documents that are new", function ()
    built()
    local golden = "/spec/export/golden/"
    passes("golden")
    assert.truthy(run.read(tree .. golden .. "calls.lines")
      :find("coroutine.resume\n gen\n  coroutine.yield\n", 1, true))
    for name in lfs.dir(run.root .. golden) do
      assert.equal(run.read(run.root .. golden .. name),
                   run.read(tree .. golden .. name), name)
    end
    passes("spec", "SPEC=spec/api/start_spec.lua spec/cli/first_spec.lua "
                   .. "spec/conformance/kind_spec.lua")
  end)

  -- The text between a heading and the next one.
  local function section (title)
    return document:match("\n## " .. title .. "\n(.-)\n## ")
  end

  -- One that there never was: this machine's Lua by another name. What includes
  -- its headers is compiled by make versions, not here.
  local function release (directory, name)
    local result = run.command({"sh", "-ec", [[
      mkdir -p "$1/src"
      cp "$HEADERS"/*.h "$1/src"
      echo '#include <unistd.h>
        int main (int argc, char **argv) {
          (void)argc;
          return execvp("'"$LUA"'", argv);
        }' >"$1/src/lua.c"
      tar cf "$1.tar.gz" "$1"
      rm -r "$1"
      printf '%s\n' '#!/bin/sh' 'case "$*" in' \
        '*-fsyntax-only*) echo "$@" >"$0.said" ;;' \
        '*) exec cc "$@" ;;' esac >compiler
      chmod +x compiler]], "sh", name},
      {cwd = directory, env = {LUA = run.lua,
       HEADERS = os.getenv "LUA_INCDIR" or "/usr/include/lua" .. run.version}})
    assert.equal("", result.stderr)
  end

  it("for a release of Lua tries it", function ()
    built()
    local name = section("A release of Lua"):match "`(lua%-[%d.]+)%.tar%.gz`"
    release(tree .. "/try", name)
    local text = passes("versions", "LUASRC=" .. tree .. "/try",
                        "CC=" .. tree .. "/try/compiler",
                        "SPEC=spec/cli/first_spec.lua")
    assert.truthy(text:find("/versions/" .. name .. "/lua: Lua 5", 1, true),
                  text)
    assert.truthy(text:find("\n2 successes / 0 failures / 0 errors", 1, true),
                  text)
    assert.truthy(run.read(tree .. "/try/compiler.said"):find "csrc/lib%.c")
  end)

  it("for a release of Lua names the places that releases differ in",
     function ()
    local text = section "A release of Lua"
    local command = text:match "`(grep %-rnI [^`]+)`"
    local found = run.command({"sh", "-c", command}, {cwd = run.root}).stdout
    for file in text:match("lists%s+(%b())"):gmatch "`([^`]+)`" do
      assert.truthy(found:find(file .. ":", 1, true), file)
    end
  end)

  it("for a version of Lua names the files that know versions", function ()
    local text = section "A release of Lua"
    local code = run.command({"sh", "-c",
      "grep -rnE '5[.]5|55[.]h|:-45[}]|< 5[.]6' lua build-aux "
      .. "csrc/direct/family.h tracegrip-scm-1.rockspec"}, {cwd = run.root})
    local known = {}
    for file, line in code.stdout:gmatch "([^:\n]+):%d+:([^\n]*)" do
      local is_comment = line:find "^%s*%-%-" or line:find "^%s*# "
                         or line:find "%-%- of 5"
      if not is_comment then
        known[file] = true
        assert.truthy(text:find("`" .. file .. "`", 1, true),
                      file .. ": " .. line)
      end
    end
    for file in text:match("\n2%. Its number(.-)\n3%."):gmatch "`([^`]+)`" do
      assert.is_true(known[file], file)
    end
  end)

  it("names files and make's targets that there are", function ()
    prepare()
    for path in document:gmatch "`([%w_]+/[%w_./-]+%.%l+)`" do
      local there = run.read(tree .. "/" .. path)
                    or run.read(tree .. "/csrc/" .. path)
                    or run.read(tree .. "/lua/tracegrip/" .. path)
      assert.truthy(there or path:find "NAME" or path:find "^build/", path)
    end
    local makefile = run.read(tree .. "/Makefile")
    for target in document:gmatch "%f[%w`]make ([%l%d]+)`?" do
      assert.truthy(makefile:find("\n" .. target .. ":", 1, true), target)
    end
  end)
end)
