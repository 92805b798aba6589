--- spied.lua - a program of any Lua, and the samples that tracegrip takes of it
-- from outside.
--
-- The program waits for its standard input to end, is looked at from then on,
-- does so much work as it was told, and ends: so what there is to be seen is
-- counted, however busy the machine is.

local dkjson = require "dkjson"
local uv = require "luv"

local lookedat = require "spec.support.lookedat"
local recorded = require "spec.support.recorded"
local run = require "spec.support.run"
local waiting = require "spec.support.waiting"

local spied = {}

local assert = require "luassert"

--- Code with which a program finds the modules of spec/support.
spied.cpath = ("package.cpath = %q .. package.cpath "):format(
                run.build .. "/spec/?.so;")

--- A program of more states than are looked at, by three, which waits.
spied.crowd = spied.cpath .. [[
  local list = {}
  for i = 1, 66 do list[i] = require 'states'.new() end
  say 'x' io.read()]]

--- Nothing but calls: each takes some ten nanoseconds.
spied.dense = [[
local function leaf (x) return x + 1 end
local function twig (x) return x + 2 end
local function P (n)
  local s = 0
  for i = 1, n do s = leaf(s) s = twig(s) end
  return s
end
local function Q (n)
  local s = 0
  for i = 1, n do s = leaf(s) s = twig(s) end
  return s
end
say 'x' io.read()
for i = 1, %d do P(20000) Q(10000) end]]

--- Starts tracegrip with these words; what it says is collected. 'prepare' is
-- Lua code that its process runs before it becomes tracegrip, if there is any.
function spied.start (words, prepare)
  local command = {stderr = "", stdout = ""}
  local pipes = {uv.new_pipe(), uv.new_pipe()}
  local environment = {"LUA=" .. run.host}
  for name, value in pairs(uv.os_environ()) do
    if name ~= "LUA" then
      environment[#environment + 1] = name .. "=" .. value
    end
  end
  local file = run.build .. "/bin/tracegrip"
  if prepare then
    words = {"-e", spied.cpath .. prepare
                   .. " require 'process'.exec(arg[0], table.unpack(arg))",
             file, table.unpack(words)}
    file = run.lua
  end
  command.handle, command.pid = uv.spawn(file, {
    args = words, stdio = {nil, pipes[1], pipes[2]}, env = environment
  }, function (status, signal)
    command.status, command.signal = status, signal
    command.handle:close()
  end)
  for i, name in ipairs {"stdout", "stderr"} do
    pipes[i]:read_start(function (_, data)
      command[name] = command[name] .. (data or "")
      if not data then
        pipes[i]:close()
        command[name .. "_ended"] = true
      end
    end)
  end
  return command
end

--- Waits until it has ended, with all that it has said.
function spied.ended (command)
  assert(waiting.till(function ()
    return command.status and command.stdout_ended and command.stderr_ended
  end, run.patience), "tracegrip has not ended: " .. command.stderr)
  uv.run "nowait"               -- handles that were closed just now
  return command
end

--- Waits until it looks at its process.
function spied.looking (command)
  assert(waiting.till(function ()
    return command.stderr:find "looking at process" or command.status
  end, run.patience))
  assert(not command.status, command.stderr)
end

--- Waits until it has shown something.
function spied.showing (command)
  assert(waiting.till(function ()
    return command.stdout ~= "" or command.status
  end, run.patience))
  assert(not command.status, command.stderr)
end

--- Waits until a process has used so many seconds more of a processor.
function spied.used (pid, seconds)
  local function used ()          -- in hundredths: utime, stime (proc(5))
    local stat = run.read(("/proc/%d/stat"):format(pid))
    local user, system = stat:match("^.*%)" .. (" %S+"):rep(11)
                                    .. " (%d+) (%d+)")
    return (user + system) / 100
  end
  local before = used()
  return waiting.till(function () return used() >= before + seconds end,
                      run.patience)
end

--- Takes samples of 'code' from when it has said its word until it ends.
-- use(path, command) gets the recording. 'options': the interpreter's, if it is
-- not to be given the program alone.
function spied.whole (interpreter, code, words, use, options)
  lookedat.with(interpreter, code, function (process)
    process:waiting()
    local path = process.directory .. "/x.tgr"
    local all = {"record", "--pid", tostring(process.pid), "-o", path}
    table.move(words, 1, #words, #all + 1, all)
    local command = spied.start(all)
    spied.looking(command)
    process.stdin:close()
    spied.ended(command)
    assert.equal(0, command.status, command.stderr)
    use(path, command)
  end, options)
end

--- The rows of its report, by name, and the document. By line, if that is
-- asked for.
function spied.report (path, by_line)
  local result = run.command({run.build .. "/bin/tracegrip", "report",
                              "--json", path, by_line and "--lines"},
                             {env = {LUA = run.host}})
  assert.equal(0, result.status, result.stderr)
  local document, rows = dkjson.decode(result.stdout), {}
  for _, row in ipairs(document.functions) do
    rows[row.name] = row
  end
  return rows, document
end

--- What info says of it.
function spied.info (path)
  local result = run.command({run.build .. "/bin/tracegrip", "info",
                              "--json", path}, {env = {LUA = run.host}})
  assert.equal(0, result.status, result.stderr)
  return dkjson.decode(result.stdout)
end

--- Its stacks, outermost first, each with its nanoseconds.
function spied.stacks (path)
  local result = run.command({run.build .. "/bin/tracegrip", "export",
                              "folded", "--weight", "nanoseconds", "-o", "-",
                              path}, {env = {LUA = run.host}})
  assert.equal(0, result.status, result.stderr)
  local list = {}
  for stack, weight in result.stdout:gmatch "([^\n]*) (%d+)\n" do
    local one = {weight = tonumber(weight)}
    for name in stack:gmatch "[^;]+" do
      one[#one + 1] = name
    end
    list[#list + 1] = one
  end
  return list
end

--- Whether a share, of so many samples, is what is expected: two points off at
-- most, or as many as are told, or what chance allows where a busy machine gave
-- fewer samples.
function spied.is_near (expected, share, samples, points)
  local chance = 4 * math.sqrt(expected * (1 - expected) / samples)
  return math.abs(share - expected) <= math.max((points or 2) / 100, chance)
end

-- Which part of the samples was given up: of what they have struck nothing is
-- known, and they weigh with those that come next.
local function given_up (samples)
  local dropped = 0
  for _, n in pairs(samples.dropped) do
    dropped = dropped + n
  end
  return dropped / math.max(samples.taken + dropped, 1)
end

--- Compares shares of what these functions take with what is expected, as
-- is_near does, and as far as a busy machine has let samples be taken; the
-- report's rows. 'alike': how many samples are worth one. One that comes late
-- weighs as much as all that were missed, so no more count than their weights
-- allow.
function spied.check_shares (path, parts, field, alike, points)
  local rows, samples = spied.report(path), spied.info(path).samples
  local _, _, worth = recorded.ticks(recorded.open(path):traces()[1])
  local taken = math.min(samples.taken // (alike or 1), math.floor(worth))
  local missing, sum = 100 * given_up(samples), 0
  taken = math.max(taken, 1)
  for name in pairs(parts) do
    sum = sum + (rows[name] and rows[name][field] or 0)
  end
  for name, part in pairs(parts) do
    local share = (rows[name] and rows[name][field] or 0) / sum
    assert(spied.is_near(part, share, taken, (points or 2) + missing),
           ("%s has %.3f of %d samples, and %.3f of the time; %.1f %% are "
            .. "missing"):format(name, share, taken, part, missing))
  end
  return rows
end

return spied
