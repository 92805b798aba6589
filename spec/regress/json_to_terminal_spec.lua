-- JSON on a terminal: DEL, C1 and what turns the direction of a line came raw
-- out of a recording, as export packets -o - wrote it.

local run = require "spec.support.run"

local program = [[
  local text = "a\x7fb\xC2\x9B31m\xE2\x80\xAEc\u{2066}\u{200B}\u{A7}\u{2026}"
  local function f (s) return {[s] = s} end
  f(text) f(("x"):rep(1023) .. text)
]]

local odd = {"\x7f", "\xC2[\x80-\x9F]", "\xE2\x80[\x8B-\x8F\xA8-\xAE]",
             "\xE2\x81[\xA6-\xA9]"}

describe("JSON of a recording", function ()
  it("has nothing that a terminal obeys", function ()
    for _, format in ipairs {"packets", "chrome", "firefox", "gecko",
                             "speedscope", "cpuprofile", "otlp"} do
      local result = run.command({"sh", "-c", [[
        "$1" record --value-string all -o rec program.lua
        "$1" export "$2" -o - rec 2>/dev/null
      ]], "sh", run.build .. "/bin/tracegrip", format},
        {files = {["program.lua"] = program}})
      assert.equal(0, result.status, result.stderr)
      assert.is_true(#result.stdout > 100)
      for _, pattern in ipairs(odd) do
        assert.is_nil(result.stdout:find(pattern), format)
      end
    end
  end)

  it("says the same as before", function ()
    local result = run.code [[
      local cjson = require "cjson"
      local tracegrip = require "tracegrip"
      local text = "a\x7f\xC2\x9B\u{202E}\u{2066}\u{A7}\u{2026}\u{9F}\u{A0}"
      text = text .. ("y"):rep(1020) .. text .. text
      local function f (s) end
      local trace = tracegrip.start {valueString = "all"}
      f(text)
      trace:stop()
      local path = os.tmpname()
      assert(trace:export("packets", path))
      for line in io.lines(path) do
        local packet = cjson.decode(line)
        if packet.name == "f" then
          print(packet.arguments.values[1] == text)
        end
      end
      os.remove(path)
    ]]
    assert.equal("true\n", result.stdout, result.stderr)
  end)
end)
