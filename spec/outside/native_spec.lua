-- record --pid --native: C frames between Lua frames, of a C module whose work
-- is known.

local lookedat = require "spec.support.lookedat"
local run = require "spec.support.run"
local spied = require "spec.support.spied"

-- Lua calls nested.work, which spins 6 to 3 to 1 and calls Lua again; by the
-- main program, by a coroutine, and below pcall. A round takes as long as many
-- ticks: one that takes a part of one is looked at in step with it.
local program = spied.cpath .. [[
  local nested = require 'nested'
  local function inner ()
    local n = 0
    for i = 1, 100000 do n = n + i % 7 end
    return n
  end
  local function outer () nested.work(inner, 400000) return 1 end
  local co = coroutine.wrap(function ()
    while true do outer() coroutine.yield() end
  end)
  say 'x' io.read()
  for i = 1, 20 do
    outer()
    co()
    local ok = pcall(outer)
  end]]

-- Who may call whom, by names without files.
local calls = {
  inner = {nested_back = true}, spin = {nested_six = true, nested_three = true,
                                        nested_one = true},
  nested_six = {["nested.work"] = true},
  nested_three = {["nested.work"] = true},
  nested_one = {["nested.work"] = true},
  nested_back = {["nested.work"] = true}, ["nested.work"] = {outer = true},
}

local function is_impossible (stack)
  for i = 2, #stack do
    local name, caller = stack[i]:match "^[^ ]+", stack[i - 1]:match "^[^ ]+"
    if calls[name] and not calls[name][caller] then
      return true
    end
  end
  return false
end

-- One in a thousand, and a single one in so few as these, which may weigh as
-- much as ten: those that came before it and were given up, or a late one.
local function check_stacks (path)
  local sum, impossible, which = 0, 0, nil
  for _, stack in ipairs(spied.stacks(path)) do
    sum = sum + stack.weight
    if is_impossible(stack) then
      impossible = impossible + stack.weight
      which = table.concat(stack, " > ")
    end
    for _, name in ipairs(stack) do
      assert.is_nil(name:find "^lua[A-Z]?_", name)
      assert.is_nil(name:find "^lua[A-Z]_", name)
    end
  end
  local one = 10 * sum / spied.info(path).samples.taken
  assert(impossible <= 0.001 * sum + one,
         ("%g of %g: %s"):format(impossible, sum, which))
end

local function check_shares (path)
  local rows = spied.check_shares(path, {
    ["nested_six (nested.so)"] = 0.6, ["nested_three (nested.so)"] = 0.3,
    ["nested_one (nested.so)"] = 0.1}, "total_ms")
  local function total (name)
    return rows[name .. " (nested.so)"].total_ms
  end
  local all = total "nested_six" + total "nested_three" + total "nested_one"
  assert.is_true(rows["nested.work"].total_ms >= 0.99 * all)
  -- A sample whose C frames are not known may weigh as much as many.
  assert.is_true(rows.inner.total_ms <= total "nested_back" + 0.05 * all)
end

-- Where the kernel refuses its performance events nobody has the registers of a
-- thread that runs.
local function has_registers ()
  local told
  lookedat.with(run.lua, "say 'x' io.read()", function (process)
    process:waiting()
    told = run.command {
      run.build .. "/bin/tracegrip", "record", "--pid", tostring(process.pid),
      "--native", "--duration", "10ms", "-o", process.directory .. "/x.tgr"}
  end)
  return not told.stderr:find "need the registers"
end

describe("record --pid --native", function ()
  local known = has_registers()

  for _, words in ipairs {{}, {"--stop"}} do
    local it = (known or words[1]) and it or function (sentence)
      pending(sentence .. ": the kernel refuses its events here")
    end
    it("tells C functions between Lua functions, "
       .. (words[1] and "of a thread that stands still" or "by their time"),
       function ()
      spied.whole(run.lua, program, {"--native", "--sample", "2000",
                                     table.unpack(words)}, function (path)
        check_stacks(path)
        if not words[1] then        -- late looks weigh much, and are many there
          check_shares(path)        -- on a busy machine
        end
        local dropped = spied.info(path).samples.dropped
        assert.is_true((dropped.native or 0)
                       <= 0.02 * spied.info(path).samples.taken)
      end)
    end)
  end

  it("is known of samples from outside alone", function ()
    local result = run.command({run.build .. "/bin/tracegrip", "record",
                                "--native", "-o", "x", "x.lua"})
    assert.equal(2, result.status)
    assert.matches("%-%-native is for samples that are taken from outside",
                   result.stderr)
  end)

  local function refused (words, env)
    local told
    lookedat.with(run.lua, "say 'x' io.read()", function (process)
      process:waiting()
      local command = {run.build .. "/bin/tracegrip", "record", "--pid",
                       tostring(process.pid), "--native", "-o",
                       process.directory .. "/x.tgr", table.unpack(words)}
      env.LUA = run.host
      told = run.command(command, {env = env})
    end)
    assert.equal(1, told.status)
    return told.stderr
  end

  it("says what to install where there is no libdw", function ()
    run.within(function (directory)
      run.write(directory .. "/libdw.so.1",
                run.read(run.build .. "/spec/atexit.so"))
      assert.matches("^tracegrip: C frames need elfutils' libdw[^\n]+\n$",
                     refused({}, {LD_LIBRARY_PATH = directory}))
    end)
  end)

  it("says that it needs registers where there are none", function ()
    assert.matches("^tracegrip: C frames need the registers of a thread",
                   refused({"--wall"}, {}))
  end)
end)
