-- "export otlp" against OpenTelemetry's own messages.

local cjson = require "cjson"

local installed = require "spec.importers.installed"
local programs = require "spec.export.programs"
local recorded = require "spec.support.recorded"
local run = require "spec.support.run"

local PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

-- What the messages have of documents, by file.
local function import (files)
  local by_file = {}
  for _, one in ipairs(cjson.decode(installed.run("otlp", files))) do
    by_file[one.file] = one
  end
  return by_file
end

local function calls_of (trace)
  local calls, errors = 0, 0
  for _, row in ipairs(trace:report().functions) do
    calls, errors = calls + row.calls, errors + row.throws
  end
  return calls, errors
end

describe("spans", function ()
  local reason = installed.missing "@opentelemetry/otlp-transformer"
  if reason then
    it("are OpenTelemetry's messages", function ()
      assert.is_nil(os.getenv "CI", reason)
      pending(reason)
    end)
    return
  end

  local traces, messages = {}, nil

  local function record (directory, name, code)
    local path = ("%s/%s"):format(directory, name)
    run.write(path .. ".lua", "local function start () end " .. code)
    run.command({run.build .. "/bin/tracegrip", "record", "-o", path .. ".tgr",
                 name .. ".lua"}, {cwd = directory, env = {LUA = run.lua}})
    local trace = recorded.open(path .. ".tgr"):traces()[1]
    traces[name] = {trace = trace, file = path .. ".otlp.jsonl"}
    assert(trace:export("otlp", traces[name].file, {
      limit = math.maxinteger, traceparent = PARENT,
      resource = {"host.name", 'a"\xFF'}}))
  end

  lazy_setup(function ()
    run.within(function (directory)
      local files = {}
      for name, code in pairs(programs) do
        record(directory, name, code)
        files[#files + 1] = traces[name].file
      end
      messages = import(files)
    end)
  end)

  for name in pairs(programs) do
    it(("are OpenTelemetry's messages (%s)"):format(name), function ()
      local one = traces[name]
      local got = messages[one.file]
      assert.equal(cjson.null, got.wrong)
      local calls, errors = calls_of(one.trace)
      assert.equal(calls, got.spans)
      assert.equal(errors, got.events)
      assert.equal((calls + 511) // 512, got.batches)
    end)
  end

  it("are none if a field has another name or type", function ()
    run.within(function (directory)
      local text = '{"resourceSpans":[{"resource":{"attributes":[]},'
                   .. '"scopeSpans":[{"scope":{"name":"x"},"spans":[{%s}]}]}]}'
      local right = '"traceId":"0af7651916cd43dd8448eb211c80319c",'
                    .. '"spanId":"b7ad6b7169203331","kind":1,'
                    .. '"startTimeUnixNano":"1"'
      local wrong = {(right:gsub("spanId", "span_id")),
                     (right:gsub(":1,", ':"1",')),
                     (right:gsub("b7", "B7")), (right:gsub('"1"', "1"))}
      local files = {directory .. "/0"}
      run.write(files[1], text:format(right))
      for i, fields in ipairs(wrong) do
        files[i + 1] = directory .. "/" .. i
        run.write(files[i + 1], text:format(fields))
      end
      local got = import(files)
      assert.equal(cjson.null, got[files[1]].wrong)
      for i = 2, #files do
        assert.is_string(got[files[i]].wrong, wrong[i - 1])
      end
    end)
  end)
end)
