-- What runs a program that is launched: a Lua that can be debugged, or it is
-- told what it is instead, before the program is run.

local lfs = require "lfs"
local uv = require "luv"

local editor = require "spec.support.editor"
local run = require "spec.support.run"
local waiting = require "spec.support.waiting"

local it = editor.needed(it, pending)

local SOON_S = 20               -- nothing is waited for

local heeded = "LUA_INIT_" .. run.version:gsub("%.", "_")
local needed = (" no Lua %s that heeds %s"):format(run.version, heeded)

-- One that tells another version, as far as it is asked by LUA_INIT.
local other = ([[
#!/bin/sh
%s="_VERSION = 'Lua 5.1' $LUA_INIT" exec %s "$@"
]]):format(heeded, run.quote(run.lua))

local own = ("#!/bin/sh\nexec %s \"$@\"\n"):format(run.quote(run.lua))

local both = ([[
#!/bin/sh
%s="_VERSION = 'Lua 5.1' $LUA_INIT" %s -e 'os.exit(0)'
exec %s "$@"
]]):format(heeded, run.quote(run.lua), run.quote(run.lua))

local failing = ([[
#!/bin/sh
[ "$1" = -v ] && exec %s -v
echo "no app" >&2
exit 3
]]):format(run.quote(run.lua))

local hanging = "#!/bin/sh\necho $$ > pid.part\nmv pid.part pid\nsleep 100\n"

-- Calls use(self, where) in a directory with such an interpreter and a program
-- that leaves a file "ran".
local function with (interpreter, use)
  run.within(function (where)
    run.write(where .. "/app.lua", "io.open('ran', 'w'):close()\n")
    run.write(where .. "/lua", interpreter)
    assert(uv.fs_chmod(where .. "/lua", tonumber("755", 8)))
    editor.start({TMPDIR = where}):with(function (self)
      self:initialize()
      use(self, where)
    end)
  end)
end

local function launch_of (where, interpreter)
  return {program = where .. "/app.lua", cwd = where,
          lua = interpreter or where .. "/lua"}
end

-- Neither a book nor what the program would have left.
local function assert_left_alone (where)
  for name in lfs.dir(where) do
    assert.is_nil(name:find "^tracegrip", name)
    assert.not_equal("ran", name)
  end
end

local function runs (pid)
  local status = run.read(("/proc/%d/status"):format(pid))
  return status and not status:find "State:%s+Z"
end

-- The message of a launch that is refused.
local function refused (self, where, interpreter)
  local begun = uv.hrtime()
  local _, message, details = self:ask("launch", launch_of(where, interpreter))
  assert.is_true((uv.hrtime() - begun) / 1e9 < SOON_S)
  assert.is_true(details.showUser)
  assert_left_alone(where)
  return message
end

local function assert_runs (self, where)
  assert(self:ask("launch", launch_of(where)))
  self:event "initialized"
  self:post "configurationDone"
  self:event "terminated"
  assert.truthy(lfs.attributes(where .. "/ran"))
end

describe("an interpreter", function ()
  it("of another version is told, and the program is not run", function ()
    with(other, function (self, where)
      assert.equal("the program cannot be debugged: " .. where
                   .. "/lua runs Lua 5.1, and" .. needed, refused(self, where))
    end)
  end)

  it("of another version is told, whichever is here", function ()
    for name, version in pairs {["lua5.1"] = "Lua 5%.1", luajit = "LuaJIT 2",
                                ["lua5.3"] = "Lua 5%.3"} do
      if os.execute("command -v " .. name .. " >/dev/null") then
        with(own, function (self, where)
          assert.matches(
            ("^the program cannot be debugged: %s runs %s[^\n]*, and%s$")
            :format(name, version, needed), refused(self, where, name))
        end)
      end
    end
  end)

  it("that is no Lua is told", function ()
    for _, name in ipairs {"/bin/false", "/bin/cat", "/bin/sh"} do
      with(own, function (self, where)
        assert.equal(("the program cannot be debugged: %s runs%s"):format(
          name, needed), refused(self, where, name))
      end)
    end
  end)

  it("that cannot be run is told", function ()
    with("no program", function (self, where)
      assert(uv.fs_chmod(where .. "/lua", tonumber("644", 8)))
      assert.equal(("cannot run %s/lua: permission denied"):format(where),
                   refused(self, where))
    end)
  end)

  it("that ends before it runs any Lua is told, and what it said", function ()
    with(failing, function (self, where)
      assert.equal(("the program has ended (status 3), and has run%s: no app\n")
                   :format(needed), refused(self, where))
    end)
  end)

  it("may be a script that starts one, also after another one", function ()
    with(own, assert_runs)
    with(both, assert_runs)
  end)

  it("is not waited for by who has gone, and ends", function ()
    for _, act in ipairs {
      function (self) self:post "disconnect" end,
      function (self) self:post("disconnect", {terminateDebuggee = false}) end,
      function (self) self.kill "sigterm" end
    } do
      with(hanging, function (self, where)
        self:post("launch", launch_of(where))
        local function pid ()
          return run.read(where .. "/pid")
        end
        local number = tonumber(assert(waiting.till(pid, run.patience)))
        act(self)
        self.ended()
        assert(waiting.till(function () return not runs(number) end,
                            run.patience))
        assert_left_alone(where)
      end)
    end
  end)
end)
