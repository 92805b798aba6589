--- conform.lua - a tiny program, traced in a child, and its exact packets.

local assert = require "luassert"

local notation = require "spec.support.notation"
local run = require "spec.support.run"

local conform = {}

local here = run.root .. "/spec/support/"

--- What the programs of the specs are called; the url in their packets.
conform.file = "p.lua"

--- The types that a spec shows unless it says otherwise. "time" is checked by
-- the notation and never shown.
conform.types = {"name", "time", "arguments", "return", "throw", "yield"}

local function copy (t)
  local c = {}
  for k, v in pairs(t or {}) do
    c[k] = v
  end
  return c
end

local function reading (directory, result)
  local text = run.read(directory .. "/result.lua")
  if not text then
    error("no result: status " .. tostring(result.status) .. "\n"
          .. result.stdout .. result.stderr, 0)
  end
  for k, v in pairs(load(text, "=result")()) do
    result[k] = v
  end
  for _, trace in ipairs(result) do
    assert.is_nil(trace.again)
  end
  return result
end

local function options_of (how)
  local options = copy(how.options)
  options.trace = how.trace or options.trace or conform.types
  return options
end

--- Runs `program`, which calls start() where the trace is to begin. `how`,
-- optional: `trace` (types), `options` (the trace's others), `files`, `env`,
-- `timeout`. Returns {ok, message, stdout, stderr, status} and, under 1, 2 ...,
-- each trace that the program started: {name, lost, packets}.
function conform.run (program, how)
  how = how or {}
  return run.within(function (directory)
    run.write(directory .. "/" .. conform.file, program)
    run.write(directory .. "/options.lua",
              "return " .. run.literal(options_of(how)))
    for name, content in pairs(how.files or {}) do
      run.write(directory .. "/" .. name, content)
    end
    local env = copy(how.env)
    env.TG_SUPPORT = here
    return reading(directory, run.file(here .. "child.lua", {
      cwd = directory, args = {conform.file}, env = env, timeout = how.timeout
    }))
  end)
end

--- The same, and the first trace in the notation of notation.lua.
function conform.text (program, how)
  local result = conform.run(program, how)
  if not result.ok then
    error(result.message .. "\n" .. result.stderr, 0)
  end
  local options = options_of(how or {})
  options.file = conform.file
  return notation.render(result[1].packets, options), result
end

-- What becomes of an error that is nil: since 5.5, a message.
local nothing = run.older "5.5" and "nil" or '"<no error object>"'

--- Asserts that `program` gives exactly the packets of `expected`, in which
-- NOTHING is what Lua makes of an error that is nil.
function conform.check (program, expected, how)
  expected = expected:gsub("NOTHING", nothing)
  local text, result = conform.text(program, how)
  assert.equal(notation.expected(expected), text)
  return result
end

--- A test of its own: a sentence, a program, its packets.
function conform.frames (it, sentence, program, expected, how)
  it(sentence, function ()
    conform.check(program, expected, how)
  end)
end

local function outcome (result)
  return {
    stdout = result.stdout, stderr = result.stderr, status = result.status
  }
end

--- Asserts that `program` does the same plain and traced; returns the packets.
function conform.same (program, options, how)
  local plain = run.code(program, how)
  local packets, traced = run.packets(program, options, how)
  assert.same(outcome(plain), outcome(traced))
  return packets, traced
end

return conform
