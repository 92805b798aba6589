-- tracegrip heap: what it tells of snapshots, and what it refuses.

local lfs = require "lfs"

local heaps = require "spec.support.heaps"
local run = require "spec.support.run"

local program = [[
local model = {}
package.loaded["app.model"] = model
model.Order = {}
model.cache = {}
for i = 1, 100 do
  model.cache[i] = setmetatable({label = "order " .. i}, model.Order)
end
model.empty = {}
for i = 1, 10 do model.empty[i] = setmetatable({}, {__name = "Nothing"}) end
local long = ("x"):rep(100)
model.twice = {long .. "!", long .. "!"}
model.first = {model.cache, label = long}
model.second = {model.cache, label = long}
print(...)
if ... == "exit" then os.exit(3) end
if ... == "fail" then error "failed" end]]

-- Calls use(path of a snapshot, directory).
local function with (use, code)
  run.within(function (directory)
    run.write(directory .. "/app.lua", code or program)
    local path = directory .. "/x.heapsnapshot"
    local result = heaps.command {"-o", path, "--", directory .. "/app.lua"}
    assert.equal("", result.stderr)
    assert.equal(0, result.status)
    use(path, directory)
  end)
end

local function ask (path, ...)
  local result, document = heaps.command {path, "--json", ...}
  assert.equal("", result.stderr)
  assert.equal(0, result.status)
  return document
end

local function classes_of (path)
  local classes = {}
  for _, node in ipairs(heaps.read(path).nodes) do
    classes[node.name] = node.type == "object" or classes[node.name]
  end
  return classes
end

describe("tracegrip heap -- script.lua", function ()
  local function ended (word)
    run.within(function (directory)
      run.write(directory .. "/app.lua", program)
      local path = directory .. "/x.heapsnapshot"
      local result = heaps.command {"-o", path, "--", directory .. "/app.lua",
                                    word}
      assert.truthy(result.stdout:find("^" .. word .. "\n"))
      local orders = heaps.read(path):where(function (node)
        return node.name == "app.model.Order" and node.type == "object"
      end)
      assert.equal(100, #orders)
      assert(result.status == ({exit = 3, fail = 1})[word], result.status)
    end)
  end

  it("is of the end, also by os.exit", function () ended "exit" end)
  it("is of the end, also by an error", function () ended "fail" end)

  it("is not of a script that cannot be loaded", function ()
    run.within(function (directory)
      run.write(directory .. "/bad.lua", "x = = 1")
      for _, script in ipairs {"/nowhere/app.lua", "bad.lua"} do
        local result = heaps.command({"--", script}, directory)
        assert.same({1, ""}, {result.status, result.stdout})
        assert.matches("^[^\n]*" .. script:match "[^/]*$" .. "[^\n]*\n$",
                       result.stderr)
      end
      for name in lfs.dir(directory) do
        assert.is_nil(name:find "heapsnapshot")
      end
    end)
  end)

  it("says why there is none", function ()
    run.within(function (directory)
      run.write(directory .. "/app.lua", "print 'app'")
      local result = heaps.command({"-o", "no/x.heapsnapshot", "--", "app.lua"},
                                   directory)
      assert.equal(1, result.status)
      assert.equal("app\n", result.stdout)
      assert.matches("^tracegrip: there is no snapshot: [^\n]*/no/x%.heap"
                     .. "snapshot: No such file or directory\n$",
                     result.stderr)
    end)
  end)

  it("goes where it was meant, wherever the script goes", function ()
    run.within(function (directory)
      run.write(directory .. "/app.lua", [[
        require "process".chdir "/"
        kept = setmetatable({}, {__name = "Kept"})]])
      local result = heaps.command({"-o", "x.heapsnapshot", "--", "app.lua"},
                                   directory)
      assert.equal("", result.stderr)
      assert.matches("^x%.heapsnapshot: ", result.stdout)
      assert.is_true(classes_of(directory .. "/x.heapsnapshot").Kept)
    end)
  end)

  it("is the script's, not that of a child which it forks", function ()
    run.within(function (directory)
      run.write(directory .. "/app.lua", [[
        local process = require "process"
        local pid = process.fork()
        if pid == 0 then
          childs = setmetatable({}, {__name = "Child's"})
          os.exit(0, true)
        end
        process.wait(pid)
        parents = setmetatable({}, {__name = "Parent's"})]])
      local path = directory .. "/x.heapsnapshot"
      local result = heaps.command {"-o", path, "--", directory .. "/app.lua"}
      assert.equal("", result.stderr)
      local classes = classes_of(path)
      assert.is_true(classes["Parent's"])
      assert.is_nil(classes["Child's"])
    end)
  end)

  it("says what was taken", function ()
    run.within(function (directory)
      run.write(directory .. "/app.lua", "io.write ''")
      local result, document = heaps.command {"--json", "-o",
        directory .. "/x.heapsnapshot", "--", directory .. "/app.lua"}
      assert.equal("", result.stderr)
      assert.equal(document.state_bytes, document.bytes)
      assert.equal(document.bytes,
                   heaps.read(directory .. "/x.heapsnapshot"):sum())
    end)
  end)
end)

describe("tracegrip heap FILE", function ()
  it("has classes, and who keeps most alive", function ()
    with(function (path)
      local snapshot = heaps.read(path)
      local document = ask(path, "--limit", "all")
      assert.equal(snapshot:sum(), document.bytes)
      local found = {}
      local sum = 0
      for _, class in ipairs(document.classes) do
        found[class.name] = class
        sum = sum + class.self
        assert.is_true(class.retained >= class.self)
      end
      assert.equal(document.bytes, sum)
      assert.equal(100, found["app.model.Order"].count)
      local retainers = {}
      for _, one in ipairs(document.retainers) do
        retainers[one.path] = one
      end
      local cache = retainers["package.loaded[\"app.model\"].cache"]
      assert.equal(found["app.model.Order"].retained + cache.self,
                   cache.retained)
    end)
  end)

  it("has the ways to an object, the shortest first", function ()
    with(function (path)
      local found = ask(path, "--find", "order 42")
      assert.equal(1, found.found)
      local document = ask(path, "--path", ("%d"):format(found.objects[1].id))
      local words = {}
      for i, edge in ipairs(document.paths[1]) do
        words[i] = edge.text
      end
      assert.same({"registry", "._LOADED", "[\"app.model\"]", ".cache", "[42]",
                   ".label"}, words)
    end)
  end)

  it("finds equal strings, equal tables and empty ones", function ()
    with(function (path)
      local document = ask(path, "--duplicates", "--limit", "all")
      local strings, tables = {}, {}
      for _, one in ipairs(document.strings) do strings[one.text] = one end
      for _, one in ipairs(document.tables) do tables[one.path] = one end
      assert.equal(2, strings[("x"):rep(100) .. "!"].count)
      assert.equal(2, tables["package.loaded[\"app.model\"].first"].count)
      local empty = ask(path, "--empty").empty
      local nothing
      for _, one in ipairs(empty) do
        nothing = one.name == "Nothing" and one or nothing
      end
      assert.equal(10, nothing.count)
    end)
  end)

  -- Shown are their first 1024 bytes.
  it("finds long strings equal that are, and no others", function ()
    with(function (path)
      local found = {}
      for _, one in ipairs(ask(path, "--duplicates").strings) do
        if one.self > 2 * 1024 then
          found[#found + 1] = {one.count, one.text:sub(1, 1)}
        end
      end
      assert.same({{2, "x"}, {2, "\\"}}, found)
    end, [[
      local long = ("x"):rep(3000)
      kept = {long .. "a", long .. "b", long .. "\xff", long .. "a",
              ("\xff"):rep(2000), ("\xff"):rep(2000)}
    ]])
  end)

  it("is a table for a person", function ()
    with(function (path)
      local text = heaps.command({path}).stdout
      assert.truthy(text:find "objects, [%d.]+ KiB\n\nBy class:\n")
      assert.truthy(text:find("app.model.Order", 1, true))
      assert.truthy(text:find("Who keeps most alive:", 1, true))
      assert.truthy(heaps.command({path, "--empty"}).stdout:find "Nothing")
      assert.truthy(heaps.command({path, "--diff", path}).stdout
                    :find "^0 objects added")
      assert.truthy(heaps.command({"--growing", path, path}).stdout
                    :find "none")
    end)
  end)

  it("reads what Node writes", function ()
    if not os.execute "command -v node >/dev/null 2>&1" then
      return pending "no Node.js here"
    end
    run.within(function (directory)
      local path = directory .. "/node.heapsnapshot"
      run.command {"node", "-e", [[class Account {}
        globalThis.all = Array.from({length: 77}, () => new Account())
        require("node:v8").writeHeapSnapshot(process.argv[1])]], path}
      local document = ask(path, "--limit", "all")
      local found
      for _, class in ipairs(document.classes) do
        found = class.name == "Account" and class.count == 77 and class
                or found
      end
      assert.truthy(found)
    end)
  end)
end)

describe("tracegrip heap refuses", function ()
  local function refused (words, message, status)
    local result = heaps.command(words)
    assert.equal(status, result.status)
    assert.equal("", result.stdout)
    assert.truthy(result.stderr:find(message, 1, true), result.stderr)
    local _, lines = result.stderr:gsub("\n", "")
    assert.equal(1, lines)
  end

  it("what is damaged, in one line", function ()
    run.within(function (directory)
      local path = directory .. "/x.heapsnapshot"
      for _, text in ipairs {"{", "{}", "[1]", "{\"nodes\":[1]}",
                             "{\"snapshot\":{\"meta\":{}}}", "\0\1"} do
        run.write(path, text)
        refused({path}, "it is no heap snapshot, or a damaged one: at byte ",
                1)
      end
      run.write(path, "")
      refused({path}, "it is empty", 1)
    end)
  end)

  it("wrong usage", function ()
    with(function (path)
      refused({"nothing.here"}, "nothing.here is neither the number of a "
              .. "process nor an address nor a file", 2)
      refused({path, path}, "more than one snapshot is for --growing", 2)
      refused({"--growing", path}, "--growing takes two snapshots or more", 2)
      refused({path, "--empty", "--find", "x"}, "are two questions", 2)
      refused({path, "-o", "y"},
              "-o, --exe, --sysroot and --fork are for a process "
              .. "or a core", 2)
      refused({"1", "--empty"}, "1 is no snapshot", 2)
      refused({path, "--path", "2"}, "no object has the id 2", 1)
    end)
  end)
end)
