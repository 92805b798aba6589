-- Exports with fewer calls than there were, as the viewers' own importers read
-- them: what is left out has its time, and nobody else has it.

local cjson = require "cjson".new()

local installed = require "spec.importers.installed"
local programs = require "spec.importers.programs"
local run = require "spec.support.run"
local tracegrip = require "tracegrip"

cjson.decode_max_depth(100000)

local LEFT, LIMIT = "(calls left out)", 300

-- format -> script that reads it, and what of a thread has its tree.
local readers = {
  chrome = {"engine", function (thread) return thread.roots end},
  cpuprofile = {"engine", function (thread) return thread.roots end},
  firefox = {"profiler", function (thread) return thread.samples.roots end},
  speedscope = {"speedscope", function (thread) return thread.roots end}
}

local function add_up (nodes, sums)
  for _, node in ipairs(nodes) do
    sums[node.name] = (sums[node.name] or 0) + node.self
    add_up(node.roots, sums)
  end
  return sums
end

-- Self times of all functions by name, and what the export has said.
local function imported (directory, trace, format)
  local path = directory .. "/limited." .. format
  local result = assert(trace:export(format, path, {limit = LIMIT}))
  local script, roots_of = table.unpack(readers[format])
  local read = cjson.decode(installed.run(script, {path}))[1]
  assert.is_nil(read.error)
  return add_up(roots_of(read.threads[1]), {}), result
end

local function record (directory)
  run.write(directory .. "/wide.lua", programs.wide)
  local result = run.command({run.build .. "/bin/tracegrip", "record", "-o",
    "wide.tgr", "wide.lua"}, {cwd = directory})
  assert.equal("", result.stderr)
  return assert(tracegrip.open(directory .. "/wide.tgr")):traces()[1]
end

describe("calls beyond the limit", function ()
  local missing = installed.missing()
  for format in pairs(readers) do
    it("have their time in " .. format, function ()
      if missing then
        return pending(missing)
      end
      run.within(function (directory)
        local trace = record(directory)
        local sums, result = imported(directory, trace, format)
        assert.is_true(result.leftOut > 1000)
        assert.near(result.leftOut_ms, sums[LEFT], 0.02)
        local report = trace:report()
        local all, function_ms = 0, 0
        for _, f in ipairs(report.functions) do
          function_ms = function_ms + f.self_ms
          if f.name == "(main chunk)" and f.url == "wide.lua" then
            local shown = sums["(main chunk) wide.lua"]
                          or sums["(main chunk)"]
            assert.near(f.self_ms, shown, 0.02)
          end
        end
        for _, ms in pairs(sums) do all = all + ms end
        assert.near(function_ms, all, 0.05)
      end)
    end)
  end
end)
