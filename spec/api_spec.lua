-- docs/api.md against what it describes: its Lua runs as it stands, and what
-- can be asked for and what comes back is all in it.

local lfs = require "lfs"

local run = require "spec.support.run"

local text = run.read(run.root .. "/docs/api.md")

-- The blocks of Lua are one program; what it prints last is shown.
local function blocks ()
  local list = {}
  for block in text:gmatch "\n```lua\n(.-)\n```" do
    list[#list + 1] = block
  end
  return table.concat(list, "\n")
end

-- Names are in code spans, alone or with others.
local function describes (name)
  for span in text:gmatch "`([^`\n]+)`" do
    for word in span:gmatch "[%w_]+" do
      if word == name then
        return true
      end
    end
  end
end

local function missing (names)
  local list = {}
  for name in names:gmatch "[%w_]+" do
    list[#list + 1] = not describes(name) and name or nil
  end
  return list
end

local function sources (directory, use)
  for name in lfs.dir(directory) do
    local path = directory .. "/" .. name
    if name:find "%.lua$" or name:find "%.c$" then
      use(run.read(path))
    elseif not name:find "%." then
      sources(path, use)
    end
  end
end

describe("docs/api.md", function ()
  it("has Lua that runs, and prints what is shown", function ()
    run.within(function (directory)
      run.write(directory .. "/api.lua", blocks())
      local result = run.command({run.lua, "api.lua"}, {cwd = directory})
      local shown = text:match "<!%-%- prints %-%->\n```\n(.-)```"
      assert.equal(0, result.status, result.stderr)
      assert.equal(shown, result.stdout:sub(-#shown))
    end)
  end)

  it("has all options, of traces, filters, logs, exports and servers",
     function ()
    local result = run.code [[
      local tracegrip = require "tracegrip"
      local trace = tracegrip.start()
      trace:stop()
      for _, use in ipairs {tracegrip.start, tracegrip.listen, function (o)
        trace:report(o)
      end, function (o)
        trace:tree(o)
      end, function (o)
        trace:log(o)
      end, function ()
        trace:export("?", "")
      end, function ()
        tracegrip.start {trace = {"?"}}
      end} do
        local _, message = pcall(use, {["?"] = 1})
        print(message:match "%(known:%s*(.-)%)")
      end
    ]]
    assert.equal(0, result.status, result.stderr)
    assert.same({}, missing(result.stdout))
  end)

  it("has all fields of reports, trees and recordings", function ()
    local result = run.code [[
      local tracegrip = require "tracegrip"
      local function names (t)
        for key, value in pairs(t) do
          if type(key) == "string" then
            print(key)
          end
          if type(value) == "table" then
            names(value)
          end
        end
      end
      local trace = tracegrip.start {memory = true, trace = {"name"}}
      trace:stop()
      names(trace:report())
      names(trace:tree())
      local path = os.tmpname()
      assert(trace:save(path))
      names(tracegrip.open(path):info())
      os.remove(path)
    ]]
    assert.equal(0, result.status, result.stderr)
    assert.same({}, missing(result.stdout))
  end)

  it("has all codes that the sources return", function ()
    local codes = {}
    local function take (source)
      for _, pattern in ipairs {
        'tg_trace_failure *%(L, "(%a+)"', 'failure%([%w."]+, "(%l+%u%a+)"',
        'error = "(%l+%u%a+)"', ', "(no%u%a+)"\n'
      } do
        for code in source:gmatch(pattern) do
          codes[#codes + 1] = code
        end
      end
    end
    sources(run.root .. "/csrc", take)
    sources(run.root .. "/lua", take)
    assert.is_true(#codes > 15)
    assert.same({}, missing(table.concat(codes, " ")))
  end)

  it("has all causes of loss, and all methods of the console", function ()
    local result = run.code [[
      require "tracegrip"
      for cause in pairs(require "tracegrip.core".losses) do print(cause) end
      for name in pairs(require "tracegrip.console") do print(name) end
    ]]
    assert.same({}, missing(result.stdout))
  end)
end)
