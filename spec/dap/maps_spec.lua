-- Programs that were compiled to Lua, debugged in the files that they were made
-- of. What the compilers wrote is in spec/dap/compiled/.

local dkjson = require "dkjson"

local debugger = require "spec.support.debugger"
local editor = require "spec.support.editor"
local run = require "spec.support.run"

local it = editor.needed(it, pending)

local function compiled (name)
  return run.read(run.root .. "/spec/dap/compiled/" .. name)
end

-- The map with other fields: false, none of that name.
local function map_with (fields)
  local map = dkjson.decode((compiled "basket.ts.map"))
  map.sources = {"basket.ts"}
  for name, value in pairs(fields or {}) do
    map[name] = value or nil
  end
  return dkjson.encode(map)
end

-- The same program as files of a session: false, no such file.
local function typescript (more)
  local files = {["basket.ts"] = compiled "basket.ts",
                 ["app.lua"] = compiled "basket.ts.out",
                 ["app.lua.map"] = map_with()}
  for name, text in pairs(more or {}) do
    files[name] = text or nil
  end
  return files
end

local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                 .. "0123456789+/"

local function base64 (text)
  local out = {}
  for at = 1, #text, 3 do
    local a, b, c = text:byte(at, at + 2)
    local bits = a << 16 | (b or 0) << 8 | (c or 0)
    for i = 0, 3 do
      local digit = bits >> 18 - 6 * i & 63
      out[#out + 1] = i > (c and 3 or b and 2 or 1) and "="
                      or ALPHABET:sub(digit + 1, digit + 1)
    end
  end
  return table.concat(out)
end

-- Where a session stops as it goes on by these requests.
local function walk (self, stopped, requests)
  local places = {}
  for request in requests:gmatch "%w+" do
    stopped = self:go(request, stopped)
    places[#places + 1] = select(2, self:stack(stopped)):match "^.-:%d+"
  end
  return table.concat(places, " "), stopped
end

describe("a program that was TypeScript", function ()
  it("stops in its TypeScript, before the line runs for the first time",
     function ()
    editor.launch(typescript(), function (self, where)
      local set = self:stop_at({7, 35, {line = 19, condition = "sum == 3"}},
                               "basket.ts")
      assert.same({"pending", "pending", "pending"},
                  {set[1].reason, set[2].reason, set[3].reason})
      local stopped = self:run()
      assert.equal("breakpoint", stopped.reason)
      assert.same({set[1].id}, stopped.hitBreakpointIds)
      local frames, place = self:stack(stopped)
      assert.equal("(main chunk):8", place)
      assert.same({name = "basket.ts", path = where .. "/basket.ts"},
                  frames[1].source)
      local lines = {}
      for _, body in ipairs(self:events "breakpoint") do
        local one = body.breakpoint
        assert.is_true(one.verified)
        lines[one.id] = one.line
      end
      assert.same({8, 34, 19}, {lines[set[1].id], lines[set[2].id],
                                lines[set[3].id]})
      assert.equal("(main chunk):34 total:19",
                   (walk(self, stopped, "continue continue")))
      assert.equal("3", self:value(self:stack(stopped)[1], "sum"))
    end)
  end)

  it("steps from line to line of it, and not into what has no line there",
     function ()
    editor.launch(typescript(), function (self)
      self:stop_at({17, 25}, "basket.ts")
      local stopped = self:run()
      assert.equal("total:18 total:19 total:18 total:19 total:18 total:21",
                   (walk(self, stopped, "next next next next next next")))
      local _
      _, stopped = walk(self, stopped, "continue")
      _, stopped = walk(self, stopped, "stepIn")
      local frames, place = self:stack(stopped)
      assert.equal("callbackfn:25 __TS__ArrayMap:13 (main chunk):38", place)
      assert.same({"basket.ts", "app.lua", "basket.ts"},
                  {frames[1].source.name, frames[2].source.name,
                   frames[3].source.name})
      assert.equal("callbackfn:25 (main chunk):38 (main chunk):39",
                   (walk(self, stopped, "stepOut stepOut next")))
    end)
  end)

  it("tells where its errors are, its sources and its lines", function ()
    editor.launch(typescript(), function (self, where)
      self:ask("setExceptionBreakpoints", {filters = {"uncaught"}})
      local stopped = self:run()
      assert.equal("exception", stopped.reason)
      local frames = self:stack(stopped)
      assert.same({"refuse", "basket.ts", 30},
                  {frames[1].name, frames[1].source.name, frames[1].line})
      local details = assert(self:ask("exceptionInfo", {threadId = 1})).details
      assert.equal("basket.ts:30: refuse\nbasket.ts:39: (main chunk)\n"
                   .. "[C]: ?", details.stackTrace)
      assert.equal("8 9 11 12 13 16 17 18 19 21 24 25 29 30 33 34 37 38 39",
                   self:locations("basket.ts", 1, 100))
      local names = {}
      for _, source in ipairs(self:ask("loadedSources").sources) do
        names[source.path] = true
      end
      assert.same({[where .. "/app.lua"] = true,
                   [where .. "/basket.ts"] = true}, names)
    end)
  end)

  it("can be stopped in its Lua all the same", function ()
    editor.launch(typescript(), function (self)
      local set = self:stop_at {42}
      assert.same({true, 43}, {set[1].verified, set[1].line})
      local _, place = self:stack(self:run())
      assert.equal("total:21 (main chunk):37", place)
      assert.equal(43, self:stop_at {42}[1].line)
    end)
  end)

  it("is attached to, whatever of it is loaded by then", function ()
    run.within(function (where)
      for name, text in pairs(typescript()) do
        run.write(where .. "/" .. name, text)
      end
      debugger.attach(([[
        local chunk = assert(loadfile %q)
        io.stderr:write "begun\n"
        while not over do end
        chunk()
        assert(loadfile %q) ()
      ]]):format(where .. "/app.lua", where .. "/app.lua"),
      function (front, _, address)
        front:close()
        editor.start():with(function (self)
          self:initialize()
          self.where = where
          assert(self:ask("attach", {port = tonumber(address:match ":(%d+)/")}))
          self:event "initialized"
          self:stop_at({18}, "basket.ts")
          assert(self:ask "configurationDone")
          assert(self:ask("evaluate", {expression = "over = true",
                                       context = "repl"}))
          local stopped = self:event "stopped"
          assert.equal("total:18 (main chunk):37",
                       select(2, self:stack(stopped)):match "^%S+ .-:%d+")
          assert(self:ask("disconnect", {terminateDebuggee = true}))
        end)
      end)
    end)
  end)

  it("is shown with the text of its map, where the file is not here",
     function ()
    local map = map_with {sources = {"src/basket.ts"},
                          sourcesContent = {compiled "basket.ts"}}
    local lua = compiled "basket.ts.out"
                .. "\n--# sourceMappingURL=data:application/json;base64,"
                .. base64(map) .. "\n"
    editor.launch(typescript {["basket.ts"] = false, ["app.lua"] = lua,
                              ["app.lua.map"] = false}, function (self, where)
      self:stop_at({18}, "src/basket.ts")
      local stopped = self:run()
      local frames, place = self:stack(stopped)
      assert.equal("total:18 (main chunk):37", place)
      local source = frames[1].source
      assert.equal(where .. "/src/basket.ts", source.path)
      assert.equal(compiled "basket.ts", assert(self:ask("source", {
        source = source, sourceReference = source.sourceReference
      })).content)
      assert.same({21}, {assert(self:ask("setBreakpoints", {
        source = source, breakpoints = {{line = 20}}
      })).breakpoints[1].line})
    end)
  end)

  it("is found where it is on this machine", function ()
    local map = map_with {sources = {"file:///build/src/basket.ts"}}
    run.within(function (here)
      run.write(here .. "/basket.ts", compiled "basket.ts")
      editor.launch(typescript {["basket.ts"] = false, ["app.lua.map"] = map},
                    function (self)
        local source = {path = here .. "/basket.ts"}
        self:ask("setBreakpoints", {source = source,
                                    breakpoints = {{line = 18}}})
        assert.equal(source.path, self:stack(self:run())[1].source.path)
      end, {pathMappings = {{localRoot = here, remoteRoot = "/build/src"}}})
    end)
  end)

  it("stops there again when it is started anew", function ()
    editor.launch(typescript(), function (self)
      self:stop_at({18}, "basket.ts")
      self:run()
      assert(self:ask "restart")
      assert.equal("total:18 (main chunk):37",
                   select(2, self:stack(self:event "stopped")))
    end)
  end)

  it("is Lua where maps are not wanted", function ()
    editor.launch(typescript(), function (self)
      self:stop_at {35}
      assert.equal("total:35 (main chunk):61",
                   select(2, self:stack(self:run())))
    end, {sourceMaps = false})
  end)

  it("is Lua where its map is damaged, which is told in a line", function ()
    for problem, map in pairs {
      ["it is no JSON object"] = "{",
      ["it is of version 4, not of 3"] = map_with {version = 4},
      ["it has no list of sources"] = map_with {sources = false},
      ["its source number 1 has no name"] = map_with {sources = {{}}},
      ["it has no mappings"] = map_with {mappings = false},
      ["its mappings are damaged (character 3)"] = map_with {mappings = "AA"},
      ["its mappings are damaged (character 2)"] =
        map_with {mappings = "A\255"},
      ["it has a place that is not in its sources"] =
        map_with {mappings = "ACAA"},
      ["a section of it has its map elsewhere"] = dkjson.encode {
        version = 3, sections = {{offset = {line = 0, column = 0}, url = "x"}}
      },
    } do
      editor.launch(typescript {["app.lua.map"] = map}, function (self, where)
        self:stop_at {35}
        assert.equal("total:35 (main chunk):61",
                     select(2, self:stack(self:run())))
        assert.equal(("tracegrip: the source map of file://%s/app.lua is left "
                      .. "aside: %s\n"):format(where, problem),
                     self:printed "important")
      end)
    end
  end)
end)

describe("a source map", function ()
  local sourcemap = require "tracegrip.dap.sourcemap"

  it("may have sections, each with a map of its own", function ()
    local function part (line, name, mappings)
      return {offset = {line = line, column = 0}, map = {
        version = 3, sources = {name}, sourceRoot = "root/", names = {},
        mappings = mappings
      }}
    end
    local map = assert(sourcemap.read(")]}'\n" .. dkjson.encode {
      version = 3, sections = {part(0, "a", "AAAA;AACA"),
                               part(5, "b", ";AAgBA,CADA")}
    }))
    assert.same({"root/a", "root/b"}, {map.sources[1].name,
                                       map.sources[2].name})
    assert.same({1, 2}, {map:original(2)})
    assert.same({}, {map:original(6)})
    assert.same({2, 17}, {map:original(7)})
    assert.same({{7}, {7}, {}}, {map:generated(2, 17), map:generated(2, 16),
                                 map:generated(2, 15)})
  end)

  it("is refused by its size before it is read", function ()
    local map, message = sourcemap.read((" "):rep((16 << 20) + 1))
    assert.same({nil, "it has more than 16 MiB"}, {map, message})
  end)

  it("is told from what is none in an address", function ()
    assert.equal("{é}", sourcemap.inline "data:;base64,e8OpfQ==")
    assert.equal("{}", sourcemap.inline "data:application/json,%7B}")
    assert.same({nil, "its base64 is damaged"},
                {sourcemap.inline "data:;base64,e8O*fQ=="})
    assert.same({nil, "it is no data: address"}, {sourcemap.inline "data:x"})
  end)
end)

describe("a program in Fennel", function ()
  local files = {
    ["basket.fnl"] = compiled "basket.fnl",
    ["app.lua"] = ([[
      local lines = {}
      for line in ("%s"):gmatch "%%d+" do
        line = line ~= "0" and tonumber(line) or nil
        lines[#lines + 1] = {"basket.fnl", line}
      end
      package.loaded["fennel.compiler"] = {
        sourcemap = {["@basket.fnl"] = lines}
      }
      load(io.open "out":read "a", "@basket.fnl") ()
    ]]):format(compiled "basket.fnl.lines":gsub("%s+$", "")),
    out = compiled "basket.fnl.out"
  }

  it("has the lines that its compiler has kept", function ()
    editor.launch(files, function (self, where)
      self:stop_at({8, 14}, "basket.fnl")
      local stopped = self:run()
      local frames, place = self:stack(stopped)
      assert.equal("(main chunk):17", place:match "^.-:%d+")
      assert.equal(where .. "/basket.fnl", frames[1].source.path)
      assert.equal("total:8 total:6 total:8 total:6 total:9 total:10 "
                   .. "(main chunk):19 (main chunk):21",
                   (walk(self, stopped, "continue next continue next next "
                                        .. "next next next")))
      assert.equal(1, #self:ask("loadedSources").sources - 1)
    end)
  end)

  it("has its own lines where it was compiled to keep them", function ()
    local app = "load(io.open 'out':read 'a', '@basket.fnl') ()\n"
    editor.launch({["app.lua"] = app, ["basket.fnl"] = files["basket.fnl"],
                   out = compiled "basket.fnl.correlated"}, function (self)
      local set = self:stop_at({7}, "basket.fnl")
      assert.equal("pending", set[1].reason)
      local stopped = self:run()
      assert.equal("total:8", select(2, self:stack(stopped)):match "^%S+")
      assert.equal(8, self:events "breakpoint"[1].breakpoint.line)
      assert.equal("1 3 6 8 10 13 17 19 21 22",
                   self:locations("basket.fnl", 1, 100))
    end)
  end)
end)

describe("a program in Teal", function ()
  it("is debugged in its file where it is compiled in the program", function ()
    local app = "load(io.open 'out':read 'a', '@basket.tl') ()\n"
    editor.launch({["app.lua"] = app, ["basket.tl"] = compiled "basket.tl",
                   out = compiled "basket.tl.out"}, function (self)
      self:stop_at({11}, "basket.tl")
      local frames, place = self:stack(self:run())
      assert.equal("total:11", place:match "^%S+")
      assert.equal("3", self:value(frames[1], "item.price"))
    end)
  end)

  it("is debugged in its file where the Lua was made before", function ()
    local files = {["app.lua"] = compiled "basket.tl.out",
                   ["app.tl"] = compiled "basket.tl"}
    editor.launch(files, function (self, where)
      local set = self:stop_at({5, 10}, "app.tl")
      assert.same({9, 10}, {set[1].line, set[2].line})
      local stopped = self:run()
      local frames = self:stack(stopped)
      assert.same({where .. "/app.tl", 9},
                  {frames[1].source.path, frames[1].line})
      assert.equal("total:10 total:11", (walk(self, stopped, "continue next")))
    end)
    editor.launch(files, function (self, where)
      self:stop_at {10}
      assert.equal(where .. "/app.lua",
                   self:stack(self:run())[1].source.path)
    end, {sourceMaps = false})
  end)
end)

describe("a recording of a program that was compiled to Lua", function ()
  local function opened (files, use, more)
    run.within(function (where)
      for name, text in pairs(files) do
        run.write(where .. "/" .. name, text)
      end
      run.command({run.build .. "/bin/tracegrip", "record", "--no-c",
                   "--sources", "-o", "app.tgr", "app.lua"}, {cwd = where})
      editor.start():with(function (self)
        self:initialize()
        self.where = where
        local arguments = {recording = where .. "/app.tgr"}
        for name, value in pairs(more or {}) do
          arguments[name] = value
        end
        assert(self:ask("launch", arguments))
        self:event "initialized"
        use(self, where)
      end)
    end)
  end

  it("is walked through in its TypeScript", function ()
    opened(typescript(), function (self, where)
      local set = self:stop_at({16, 35, 37, 41}, "basket.ts")
      assert.same({{true, 16}, {true, 37}, {true, 37}, {false, 41}}, {
        {set[1].verified, set[1].line}, {set[2].verified, set[2].line},
        {set[3].verified, set[3].line}, {set[4].verified, set[4].line}
      })
      assert.equal("8 9 11 12 16 18 19 24 25 29 30 33 34 37 38 39",
                   self:locations("basket.ts", 1, 100))
      local stopped = self:run()
      local frames, place = self:stack(stopped)
      assert.equal("(main chunk):37", place)
      assert.equal(where .. "/basket.ts", frames[1].source.path)
      assert.equal("Basket.prototype.total:16 (main chunk):38 (main chunk):37 "
                   .. "(main chunk):34",
                   (walk(self, stopped, "continue next stepBack stepBack")))
    end)
  end)

  it("is Lua where maps are not wanted, or one cannot be read", function ()
    local function is_lua (self)
      local stopped = self:run()
      assert.equal("refuse:51 (main chunk):67", select(2, self:stack(stopped)))
    end
    opened(typescript(), is_lua, {sourceMaps = false})
    opened(typescript {["app.lua.map"] = "{"}, function (self)
      is_lua(self)
      assert.equal("tracegrip: the source map of app.lua is left aside: it is "
                   .. "no JSON object\n", self:printed "important")
    end)
  end)

  it("is walked through in its Teal, which has the same lines", function ()
    local files = {["app.lua"] = compiled "basket.tl.out",
                   ["app.tl"] = compiled "basket.tl"}
    opened(files, function (self, where)
      assert.same({true, 29}, {self:stop_at({29}, "app.tl")[1].verified, 29})
      local frames, place = self:stack(self:run())
      assert.same({"(main chunk):29", where .. "/app.tl"},
                  {place, frames[1].source.path})
    end)
    opened(files, function (self)
      local frames, place = self:stack(self:run())
      assert.same({"(main chunk):1", "app.lua"},
                  {place, frames[1].source.name})
    end, {sourceMaps = false, stopOn = "entry"})
  end)
end)
