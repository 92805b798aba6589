-- Whole documents of one program, as they are but for times. A difference here
-- is read like one of the code: wanted, then `make golden` writes them anew.

local exported = require "spec.export.exported"
local golden = require "spec.support.golden"

-- Frames of every kind.
local program = [[
local function leaf (n) return n * 2 end
local function tail (n) return leaf(n) end
local function fail (t) error(t) end
local function gen (n)
  for i = 1, n do coroutine.yield(i, "v" .. i) end
  return "end"
end
start()
leaf(1.5)
tail("3")
pcall(fail, {code = 1})
local next = coroutine.wrap(gen)
next(1) next() pcall(next)
local co = coroutine.create(gen)
coroutine.resume(co, 2)
local trace = start()
local function last () trace:stop() end
last()
]]

-- For stacks: each has microseconds of its own.
local busy = [[
local function leaf () for i = 1, 50000 do end end
local function caller () for i = 1, 50000 do end leaf() end
local function body ()
  for i = 1, 50000 do end
  caller()
  coroutine.yield()
  leaf()
end
start()
leaf() caller()
coroutine.wrap(body)()
local next = coroutine.wrap(body)
next() next()
]]

-- What differs from run to run. Lengths of 0 stay: they are meant.
local changes = {
  {'("pid":)%d+', "%1P"}, {'("ts":)[%d.]+', "%1T"}, {'("dur":)[%d.]+', "%1T"},
  {'("at":)%d+', "%1T"}, {'("time":)[%d.]+', "%1T"},
  {'("endValue":)%d+', "%1T"}, {'("endTime":)[%d.]+', "%1T"},
  {'("hitCount":)%d+', "%1N"}, {'("started":)"[^"]*"', "%1D"},
  {"tracegrip %d+%.%d+%.%d+", "tracegrip V"}
}

local function without_times (text)
  -- Which stacks last a microsecond differs too.
  text = text:gsub('("cpuProfile":{"nodes":%b[],"samples":)%b[]', "%1[S]")
             :gsub('(]},"timeDeltas":)%b[]', "%1[T]")
  text = text:gsub('("timeDeltas":)%[(.-)%]', function (key, list)
    return key .. "[" .. list:gsub("[%d.]+", function (delta)
      return delta ~= "0" and "T" or nil
    end) .. "]"
  end)
  for _, change in ipairs(changes) do
    text = text:gsub(change[1], change[2])
  end
  return text
end

local columns = {"stack", "time", "weight", "argumentValues"}

local function split (list)
  local items = {}
  for item in list:gmatch "[^,]+" do
    items[#items + 1] = item
  end
  return items
end

-- Samples without those that only say that the one before lasts: which there
-- are depends on the time that it took.
local function without_ends (samples)
  local stacks = split(samples:match '"stack":%[([^%]]*)')
  for _, key in ipairs(columns) do
    samples = samples:gsub(('("%s":%%[)([^%%]]*)'):format(key),
                           function (start, list)
      local kept = {}
      for i, item in ipairs(split(list)) do
        if i == 1 or stacks[i] ~= stacks[i - 1] then
          kept[#kept + 1] = item
        end
      end
      return start .. table.concat(kept, ",")
    end)
  end
  return (samples:gsub('"length":%d+', '"length":N'))
end

-- Columns of times become so many letters, zeros stay; of samples, which depend
-- on the time that it took, nothing is left. One line would be too long
-- for a person.
local function of_firefox (text)
  text = text:gsub('"samples":{"weightType"[^{}]*}', without_ends)
  for _, key in ipairs {"time", "weight", "startTime", "endTime"} do
    local column = ('("%s":%%[)([^%%]]*)'):format(key)
    text = text:gsub(column, function (start, list)
      return start .. list:gsub("[%d.]+", function (time)
        return time ~= "0" and "T" or nil
      end)
    end)
  end
  text = text:gsub('("samples":{"schema":%b{},"data":)%b[]', "%1[S]")
             :gsub("%[(%d+),[%d.]+,[%d.]+,1,(%d+),{", "[%1,T,T,1,%2,{")
             :gsub('("[%l%u]+Time":)%d[%d.]*', "%1T")
             :gsub('("pid":"?)%d+', "%1P")
             :gsub('"[%d.]+( ms on the clock)', '"T%1')
             :gsub("tracegrip %d+%.%d+%.%d+", "tracegrip V")
  return (text:gsub('},"', '},\n"'):gsub('%],"', '],\n"')
              :gsub("},{", "},\n{"))
end

local endings = {
  chrome = ".trace.json", cpuprofile = ".cpuprofile", packets = ".jsonl",
  speedscope = ".speedscope.json"
}

describe("a document", function ()
  local traces = exported.of(program, {export = {samples = true}})

  for format, ending in pairs(endings) do
    it("is as it was: " .. format, function ()
      golden.check("export/golden/calls" .. ending,
                   without_times(traces[1].text[format]))
      golden.check("export/golden/open" .. ending,
                   without_times(traces[2].text[format]))
    end)
  end

  local firefox = {
    {"firefox", ".profile.json"}, {"gecko", ".gecko.json"},
    {"gecko", ".gecko5.json", 5}
  }

  for _, one in ipairs(firefox) do
    local format, ending, version = table.unpack(one)
    local how = {formats = {format}, export = {geckoVersion = version}}
    it("is as it was: calls" .. ending, function ()
      local list = exported.of(program, how)
      golden.check("export/golden/calls" .. ending,
                   of_firefox(list[1].text[format]))
      golden.check("export/golden/open" .. ending,
                   of_firefox(list[2].text[format]))
    end)

    it("is valid when there is nothing" .. ending, function ()
      local nothing = exported.of("start()", how)[1]
      golden.check("export/golden/nothing" .. ending,
                   of_firefox(nothing.text[format]))
    end)
  end

  it("is as it was: folded", function ()
    local text = exported.of(busy, {export = {c = false}})[1].text.folded
    golden.check("export/golden/busy.folded", (text:gsub("%d+\n", "N\n")))
  end)

  for format, ending in pairs(endings) do
    it("is valid when there is nothing: " .. format, function ()
      local nothing = exported.of("start()", {export = {samples = true}})[1]
      golden.check("export/golden/nothing" .. ending,
                   without_times(nothing.text[format]))
    end)
  end
end)
