-- Where a program was when its recording began: paths of files count from it.

local cjson = require "cjson"

local run = require "spec.support.run"
local tracegrip = require "tracegrip"

local describe = run.needs("lfs", describe, pending)

describe("the working directory", function ()
  local places    -- what is told of a recorded program, of a saved trace, live

  -- The urls in a CPU profile, as a set.
  local function urls_of (path)
    local set = {}
    for _, node in ipairs(cjson.decode(run.read(path)).nodes) do
      set[node.callFrame.url] = true
    end
    return set
  end

  local function told (path)
    local recording = assert(tracegrip.open(path))
    local directory = recording:info().directory
    assert(recording:traces()[1]:export("cpuprofile", path .. ".cpuprofile"))
    return {directory = directory, urls = urls_of(path .. ".cpuprofile")}
  end

  local programs = {
    ["part.lua"] = "return function () return 1 end",
    ["moved.lua"] = [[
      local lfs = require "lfs"
      local trace = require "tracegrip".start {}
      lfs.mkdir "elsewhere"
      local part = dofile "./part.lua"
      lfs.chdir "elsewhere"
      part()
      load("return 2", "=named")()
      trace:stop()
      assert(trace:save "../saved.tgr")
      assert(trace:export("cpuprofile", "../live.cpuprofile"))
    ]]
  }

  lazy_setup(function ()
    places = run.within(function (directory)
      for name, text in pairs(programs) do
        run.write(directory .. "/" .. name, text)
      end
      local result = run.command({
        run.build .. "/bin/tracegrip", "record", "-o", "recorded.tgr",
        "moved.lua"}, {cwd = directory})
      assert.equal("", result.stderr)
      return {at = directory, recorded = told(directory .. "/recorded.tgr"),
              saved = told(directory .. "/saved.tgr"),
              live = {urls = urls_of(directory .. "/live.cpuprofile")}}
    end)
  end)

  it("is that of the program's beginning, though it has left it", function ()
    assert.equal(places.at, places.recorded.directory)
    assert.equal(places.at, places.saved.directory)
  end)

  it("makes a CPU profile's paths absolute, and only paths", function ()
    for _, how in ipairs {"recorded", "saved", "live"} do
      local urls = places[how].urls
      assert.is_true(urls[places.at .. "/part.lua"], how)
      assert.is_true(urls["named"], how)
      assert.is_nil(urls["./part.lua"])
    end
  end)
end)
