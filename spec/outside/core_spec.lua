-- tracegrip dump CORE: the same of a process that has ended.

local jits = require "spec.support.jits"
local lookedat = require "spec.support.lookedat"
local randomstacks = require "spec.support.randomstacks"
local run = require "spec.support.run"

local it = lookedat.has_cores and it or function (sentence)
  pending(sentence .. " needs gcore (package gdb), and no sanitizer")
end

local function stacks_of (document)
  local list = {}
  for i, coroutine in ipairs(document.states[1].coroutines) do
    list[i] = randomstacks.lines(coroutine)
  end
  table.sort(list)
  return list
end

local function with_core (use, interpreter)
  lookedat.with(interpreter or run.lua, randomstacks.program(3),
                function (process)
    process:waiting()
    local _, living = lookedat.dump(process.pid, {"--locals"})
    use(lookedat.core_of(process), living, process)
  end)
end

-- The same as the process itself has shown.
local function check_same (path, living)
  local result, dead = lookedat.dump(path, {"--locals"})
  assert.equal("", result.stderr)
  assert.same(stacks_of(living), stacks_of(dead))
  assert.equal(living.lua, dead.lua)
  assert.equal(living.pid, dead.pid)
end

describe("a core", function ()
  for _, interpreter in ipairs(lookedat.interpreters()) do
    it("of Lua " .. interpreter.release .. " shows what the process does",
       function () with_core(check_same, interpreter.path) end)
  end

  for _, interpreter in ipairs(jits.here()) do
    it("of LuaJIT " .. interpreter.release .. " shows what the process does",
       function () with_core(check_same, interpreter.path) end)
  end

  for _, tool in ipairs {"zstd", "lz4", "gzip", "xz"} do
    local there = os.execute("command -v " .. tool .. " >/dev/null 2>&1")
    local declare = there and it or pending
    declare("may be compressed with " .. tool, function ()
      with_core(function (path, living)
        local packed = path .. ".packed"
        assert(os.execute(("%s -1 -c <%s >%s"):format(
          tool, run.quote(path), run.quote(packed))))
        check_same(packed, living)
      end)
    end)
  end

  it("says which program would unpack it, where that is missing", function ()
    with_core(function (path)
      run.write(path .. ".zst", "\x28\xb5\x2f\xfd rest")
      local command = {"env", "PATH=" .. path, run.lua,
                       run.root .. "/lua/tracegrip/cli/launcher.lua", "dump",
                       path .. ".zst"}
      local full = io.popen("command -v " .. run.lua):read "l"
      command[3] = full
      local result = run.command(command)
      assert.equal(1, result.status)
      assert.truthy(result.stderr:find("needs the program zstd", 1, true))
    end)
  end)

  it("is of no use with another program's file", function ()
    with_core(function (path)
      local result = lookedat.dump(path, {"--exe", "/bin/sh"})
      assert.equal(1, result.status)
      assert.equal("", result.stdout)
      assert.truthy(result.stderr:find "another build")
    end)
  end)

  it("needs the files that it was mapped from", function ()
    with_core(function (path)
      local result = lookedat.dump(path, {"--sysroot", "/nowhere"})
      assert.equal(1, result.status)
      assert.truthy(result.stderr:find("--sysroot", 1, true))
    end)
  end)

  it("that is cut off is shown as far as it goes, or refused", function ()
    with_core(function (path)
      local text = run.read(path)
      for _, part in ipairs {0.01, 0.3, 0.6, 0.9} do
        run.write(path, text:sub(1, math.floor(#text * part)))
        local result = lookedat.dump(path, {"--locals"})
        assert.is_true(result.status == 0 or result.status == 1)
        local _, lines = result.stderr:gsub("\n", "")
        assert.equal(result.status, lines)
      end
    end)
  end)
end)
