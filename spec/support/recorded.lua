--- recorded.lua - a program recorded in a child, and what its file says.

local cjson = require "cjson"

local core = require "tracegrip.core"
local run = require "spec.support.run"

local recorded = {}

recorded.open = core.open

--- Runs `code` as "program.lua" in `directory`, recorded in the file "rec"
-- there from its first line on; it has the global "process". `options`: the
-- trace's; `how`: as of run.file, `tape` (fields of the tape) and `direct`
-- ("0": by the public API), `env`, `args`. Returns what run.file returns.
function recorded.run (directory, code, options, how)
  how = how or {}
  local tape = {path = "rec"}
  for key, value in pairs(how.tape or {}) do
    tape[key] = value
  end
  local start = ([[
    process = require "process"
    local ok, message = require "tracegrip.core".record(%s, %s)
    if not ok then error(message) end
  ]]):format(run.literal(options or {}), run.literal(tape))
  run.write(directory .. "/program.lua", code)
  local env = {TRACEGRIP_DIRECT = how.direct}
  for _, from in ipairs {run.modules, how.env} do
    for key, value in pairs(from) do
      env[key] = value
    end
  end
  return run.file("program.lua", {
    cwd = directory, env = env, timeout = how.timeout,
    flags = {"-e", start}, args = how.args
  })
end

--- The same in a directory of its own: calls use(info, recording, result,
-- directory).
function recorded.with (code, options, how, use)
  run.within(function (directory)
    local result = recorded.run(directory, code, options, how)
    local recording, message = core.open(directory .. "/rec")
    assert(recording, (message or "") .. "\n" .. result.stderr)
    use(recording:info(), recording, result, directory)
  end)
end

--- A trace's packets as a list.
function recorded.packets (trace, filter)
  local list = {}
  for packet in trace:packets(filter) do
    list[#list + 1] = packet
  end
  return list
end

--- The names of the functions that it enters, in their order.
function recorded.names (trace, filter)
  local list = {}
  for packet in trace:packets(filter) do
    if packet.type == "enteredFrame" then
      list[#list + 1] = packet.name
    end
  end
  return list
end

--- How often each function was on top of the stack when a sample was taken, by
-- name, and the sum. Ticks come with the thread's processor time: their number
-- is the program's own, also where others have the processor. Third, how many
-- samples of one weight tell as much as these: one that stands for the 100 ms
-- in which others had the processor outweighs a hundred. 'how': the export's
-- options, where only that number is asked for and there are many calls.
function recorded.ticks (trace, how)
  local path = os.tmpname()
  assert(trace:export("chrome", path, how))
  local document = cjson.decode(run.read(path))
  os.remove(path)
  local names, ticks, sum = {}, {}, 0
  local weight, squares = 0, 0
  for _, event in ipairs(document.traceEvents) do
    if event.name == "ProfileChunk" then
      local profile = event.args.data.cpuProfile
      for _, node in ipairs(profile.nodes) do
        names[node.id] = node.callFrame.functionName
      end
      for i, id in ipairs(profile.samples) do
        local delta = event.args.data.timeDeltas[i]
        if id ~= 1 then       -- (root): nothing ran
          ticks[names[id]] = (ticks[names[id]] or 0) + 1
          sum = sum + 1
          weight, squares = weight + delta, squares + delta * delta
        end
      end
    end
  end
  return ticks, sum, weight * weight / math.max(squares, 1)
end

--- All that a trace has lost.
function recorded.lost (trace)
  local sum = 0
  for _, count in pairs(trace.lost) do
    sum = sum + count
  end
  return sum
end

return recorded
