-- What calls allocated, where recordings are read: by the command line, in
-- formats for viewers, from another process.

local cjson = require "cjson"
local lfs = require "lfs"

local run = require "spec.support.run"
local served = require "spec.support.served"
local serving = require "spec.server.serving"
local recorded = require "spec.support.recorded"
local remote = run.needs("luv", it, pending)

-- 'make' allocates, 'around' calls it and nothing else, 'idle' does nothing.
local program = [[
  local function make (n) local t = {} for i = 1, n do t[i] = {} end end
  local function around () make(100) make(10) end
  local function idle () end
  around() idle()
  make(1)
]]

local directory, whole

local function shell (command)
  return run.command({"sh", "-c", command}, {cwd = directory, env = {
    T = run.build .. "/bin/tracegrip", LUA = run.lua
  }})
end

local function output (command)
  local result = shell(command)
  assert.equal("", result.stderr)
  assert.equal(0, result.status)
  return result.stdout
end

local function rows (json)
  local by_name = {}
  for _, row in ipairs(cjson.decode(json).functions) do
    by_name[row.name] = row
  end
  return by_name
end

describe("a recording with memory", function ()
  setup(function ()
    directory = os.tmpname() .. ".d"
    assert(lfs.mkdir(directory))
    run.write(directory .. "/p.lua", program)
    assert.equal(0, shell "$T record --memory --no-c -o rec p.lua".status)
    assert.equal(0, shell "$T record -o without p.lua".status)
    whole = rows(output "$T report --json rec")
  end)

  teardown(function () os.execute("rm -r " .. directory) end)

  it("has what each function allocated, itself and in all", function ()
    local make, around = whole.make, whole.around
    assert.equal(3, make.calls)
    assert.is_true(make.self_bytes > 111 * 40)
    assert.is_true(make.self_allocations >= 114)
    assert.equal(make.self_bytes, make.total_bytes)
    assert.equal(0, around.self_bytes)
    assert.is_true(around.total_bytes < make.total_bytes)
    assert.equal(0, whole.idle.total_allocations)
    assert.is_true(whole["(main chunk)"].total_bytes >= make.total_bytes)
  end)

  it("is a report by bytes or allocations", function ()
    for _, by in ipairs {"bytes", "total-bytes", "allocations"} do
      local text = output("$T report --limit all --sort " .. by .. " rec")
      assert.matches(" in [%d,]+ allocations, [%d.]+ KiB alive\n", text)
      assert.matches("calls +bytes +%% +total +allocations", text)
      assert.matches("\n +3 +[%d.]+ KiB +[%d.]+%% +[%d.]+ KiB +%d+ .* make ",
                     text)
    end
    assert.matches("\n +%d.- make .-\n.-idle",
                   output "$T report --sort bytes rec")
  end)

  it("is a tree by bytes", function ()
    local text = output "$T tree --sort total-bytes rec"
    local list = {}
    for name in text:gmatch "[├└] (%S+)" do
      list[#list + 1] = name
    end
    assert.same({"(main", "around", "make", "make", "idle"}, list)
  end)

  it("is stacks with bytes or allocations", function ()
    local function lines (weight)
      local found = {}
      for stack, n in output("$T export folded -o - --weight " .. weight
                             .. " rec 2>/dev/null"):gmatch "(%S.-) (%d+)\n" do
        found[stack:gsub("%(main chunk%)", "chunk")] = tonumber(n)
      end
      return found
    end
    local bytes, counts = lines "bytes", lines "allocations"
    local inner = "main;chunk;around;make"
    assert.equal(whole.make.self_bytes, bytes[inner] + bytes["main;chunk;make"])
    assert.equal(whole.make.self_allocations,
                 counts[inner] + counts["main;chunk;make"])
    assert.is_nil(bytes["main;chunk;idle"])
  end)

  it("has native allocations for Firefox", function ()
    output "$T export firefox -o firefox.json rec 2>/dev/null"
    local profile = cjson.decode(run.read(directory .. "/firefox.json"))
    local thread, sums = profile.threads[1], {}
    local list, shared = thread.nativeAllocations, profile.shared
    assert.equal("bytes", list.weightType)
    for i = 1, list.length do
      local stack = list.stack[i] + 1
      local func = shared.frameTable.func[shared.stackTable.frame[stack] + 1]
      local name = shared.stringArray[shared.funcTable.name[func + 1] + 1]
      if list.weight[i] > 0 then
        sums[name] = (sums[name] or 0) + list.weight[i]
      end
      assert.is_true(list.time[i] >= (list.time[i - 1] or 0))
    end
    assert.equal(whole.make.self_bytes, sums.make)
    assert.is_nil(sums.idle)
    assert.equal("Memory", profile.counters[1].category)
    for _, format in ipairs {"chrome", "gecko", "speedscope", "cpuprofile"} do
      output("$T export " .. format .. " -o x rec 2>/dev/null")
      output("$T export " .. format .. " --min-ms 1 -o x rec 2>/dev/null")
    end
  end)

  it("has totals in info, and packets of its own", function ()
    local about = cjson.decode(output "$T info --json rec").memory
    local sums = {allocations = 0, allocated = 0, freed = 0}
    for line in output("$T export packets -o - rec 2>/dev/null"):gmatch
                "[^\n]+" do
      local packet = cjson.decode(line)
      if packet.type == "allocations" then
        assert.is_nil(packet.sequence)
        for key, sum in pairs(sums) do
          sums[key] = sum + packet[key]
        end
      end
    end
    assert.equal(sums.allocations, about.allocations)
    assert.equal(sums.allocated, about.allocated_bytes)
    assert.equal(sums.freed, about.freed_bytes)
    assert.matches("\nmemory: +[%d.]+ %S+ in [%d,]+ allocations, .- freed; "
                   .. "at most ", output "$T info rec")
  end)

  it("keeps to the calls that are shown", function ()
    local inner = cjson.decode(output "$T report --json --include ^around$ rec")
    assert.equal(1, #inner.functions)
    assert.equal(whole.around.total_bytes, inner.functions[1].self_bytes)
    local short = cjson.decode(output "$T report --json --min-duration 5s rec")
    assert.equal(0, #short.functions)
  end)

  it("says where there is nothing to show", function ()
    for _, command in ipairs {"report --sort bytes", "tree --sort total-bytes",
                              "export folded --weight bytes -o -"} do
      local result = shell("$T " .. command .. " without")
      assert.equal(1, result.status)
      assert.matches("does not tell what was allocated", result.stderr)
    end
    local result = shell "$T report --diff rec --sort bytes rec"
    assert.equal(2, result.status)
    assert.matches("compares times", result.stderr)
  end)
end)

describe("memory of another process", function ()
  local listening = [[
    local tracegrip = require "tracegrip"
    tracegrip.listen()
    local function make (n) local t = {} for i = 1, n do t[i] = {} end end
    for line in io.lines() do
      make(1000)
      print "done"
      io.stdout:flush()
    end
  ]]

  remote("is recorded by attach --memory", function ()
    local target <close> = serving.start(listening)
    local command = served.start({"attach", target.address, "--memory", "-o",
                                  "remote"}, target.directory)
    command:until_ready(function () return command.err:find "attached" end)
    target:tell ""
    target:says "done\n"
    command:kill()
    assert.equal(0, command:ended(), command.err)
    local trace = recorded.open(target.directory .. "/remote"):traces()[1]
    local found
    for _, row in ipairs(trace:report().functions) do
      found = row.name == "make" and row or found
    end
    assert.is_true(found.self_bytes > 40 * 1000)
    assert.is_true(found.self_allocations > 1000)
  end)
end)
