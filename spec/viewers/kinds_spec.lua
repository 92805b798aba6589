-- Every kind of recording, in every viewer: in the code of the viewers as npm
-- has it and, where a checkout of the Firefox Profiler is named (make page
-- PROFILER=DIR), in its page.
--
-- What a call tree is asked for does not come to the code that draws tracks,
-- counters and tooltips; a document that this code cannot read is a blank page.

local cjson = require "cjson".new()

local installed = require "spec.importers.installed"
local kinds = require "spec.viewers.kinds"
local run = require "spec.support.run"

cjson.decode_max_depth(100000)

local tracegrip = run.build .. "/bin/tracegrip"

-- format -> the scripts that read it.
local formats = {
  firefox = {"tracks"}, gecko = {"tracks"}, chrome = {"engine"},
  cpuprofile = {"engine", "speedscope"}, speedscope = {"speedscope"}
}

-- Those with a track for the heap's size; in gecko they are all there is to
-- see, since the rest of that is what firefox has.
local heaps = {["allocations"] = true, ["the size of the heap"] = true,
               ["all that can be recorded"] = true}

local function append (words, more)
  return more and table.move(more, 1, #more, #words + 1, words)
end

local function record (directory, kind, base)
  local words = {tracegrip, "record", "-o", base .. ".tgr"}
  append(words, kind[2])
  words[#words + 1] = base .. ".lua"
  run.write(directory .. "/" .. base .. ".lua", kind[3])
  local result = run.command(words, {cwd = directory})
  assert(result.status == (kind.status or 0), kind[1] .. ": " .. result.stderr)
end

local function export (directory, kind, base, format)
  local file = ("%s/%s.%s"):format(directory, base, format)
  local words = {tracegrip, "export", format, base .. ".tgr", "-o", file}
  append(words, kind[4])
  append(words, format == "firefox" and kind[5])
  local result = run.command(words, {cwd = directory})
  assert(result.status == 0, kind[1] .. ": " .. result.stderr)
  return file
end

-- format -> kind -> file
local function prepare (directory)
  local files = {}
  for i, kind in ipairs(kinds) do
    local base = "kind" .. i
    record(directory, kind, base)
    for format in pairs(formats) do
      files[format] = files[format] or {}
      if format ~= "gecko" or heaps[kind[1]] then
        files[format][kind[1]] = export(directory, kind, base, format)
      end
    end
  end
  return files
end

-- script -> file -> what it made of it
local function import (files)
  local lists, made = {}, {}
  for format, scripts in pairs(formats) do
    for _, script in ipairs(scripts) do
      lists[script] = lists[script] or {}
      for _, file in pairs(files[format]) do
        table.insert(lists[script], file)
      end
    end
  end
  for script, list in pairs(lists) do
    made[script] = {}
    for _, one in ipairs(cjson.decode(installed.run(script, list))) do
      made[script][one.file] = one
    end
  end
  return made
end

local function page_of (checkout, files)
  local list = {}
  for _, file in pairs(files) do
    list[#list + 1] = file
  end
  local result = run.command({"sh", "-c",
    'exec node --experimental-websocket --no-warnings "$@"', "sh",
    run.root .. "/spec/viewers/profilerpage.mjs", checkout,
    table.unpack(list)}, {timeout = 600})
  assert(result.status == 0, result.stderr)
  local seen = {}
  for _, one in ipairs(cjson.decode(result.stdout)) do
    seen[one.file] = one
  end
  return seen
end

describe("every kind of recording", function ()
  local files, made, page

  local missing = installed.missing()
  local checkout = os.getenv "PROFILER"
  if missing then
    it("opens in every viewer", function () pending(missing) end)
    return
  end

  lazy_setup(function ()
    run.within(function (directory)
      files = prepare(directory)
      made = import(files)
      page = checkout and page_of(checkout, files.firefox)
    end)
  end)

  for format, scripts in pairs(formats) do
    for _, script in ipairs(scripts) do
      it("opens as " .. format .. " in the code of " .. script, function ()
        for name, file in pairs(files[format]) do
          assert.is_nil(made[script][file].error, name)
        end
      end)
    end
  end

  for _, format in ipairs {"firefox", "gecko"} do
    it("that has the heap's size has a track for it in " .. format,
       function ()
      for name in pairs(heaps) do
        local counters = made.tracks[files[format][name]].threads.counters
        assert.equal(1, #counters, name)
        assert.equal("Memory", counters[1].label)
        assert.equal("bytes", counters[1].unit)
        assert.is_true(counters[1].sampleCount > 0)
        assert.is_true(#counters[1].stats > 0)
      end
    end)
  end

  it("that has not has none", function ()
    assert.same({}, made.tracks[files.firefox.calls].threads.counters)
  end)

  it("is a picture in the page of the Firefox Profiler", function ()
    if not checkout then
      return pending("no checkout of it is named (make page PROFILER=DIR)")
    end
    for _, kind in ipairs(kinds) do
      local seen = page[files.firefox[kind[1]]]
      assert.same({}, seen.complaints, kind[1])
      assert.is_true(seen.standing, kind[1])
      assert.is_true(#seen.tracks > 0, kind[1])
      assert.is_truthy(seen.panels["marker-table"], kind[1])
    end
  end)
end)
