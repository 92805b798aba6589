-- The formats of tracegrip coverage: what others read, and the page.

local covered = require "spec.coverage.covered"
local run = require "spec.support.run"
local seen = require "spec.export.seen"

local nasty = "a&b<\"c'\xff\1.lua"      -- a file's name

local files = {
  ["app.lua"] = "dofile [[" .. nasty .. "]]\ndofile 'lib/a.lua'\n",
  [nasty] = "-- </script><!-- \xff\n\tlocal x = 1\r\nreturn x\n",
  ["lib/a.lua"] = "local M = {}\nfunction M.f ()\n  return 1\nend\nreturn M",
  ["lib/b.lua"] = "return 1"
}

local function needs (program, sentence, check)
  if os.execute("command -v " .. program .. " >/dev/null 2>&1") then
    return it(sentence, check)
  end
  pending(sentence .. " needs " .. program)
end

describe("the format", function ()
  local small = {["app.lua"] = "local x = 1"}

  local function begins (words, output)
    local result = covered.run(small, words, {output = output})
    assert.equal(0, result.status, result.stderr)
    return result.counts:match "^[^\n]*"
  end

  it("is what the file's name says, or the option", function ()
    assert.equal("TN:", begins({"app.lua"}, "coverage.info"))
    assert.equal("TN:", begins({"-o", "x", "app.lua"}, "x"))
    assert.matches("^<%?xml", begins({"-o", "x.XML", "app.lua"}, "x.XML"))
    assert.matches("^<!DOCTYPE html",
                   begins({"--output", "x.html", "app.lua"}, "x.html"))
    assert.matches("^<%?xml", begins({"--format", "cobertura", "app.lua"},
                                     "coverage.xml"))
    assert.matches("^<!DOCTYPE html", begins({"--format", "html", "app.lua"},
                                             "coverage.html"))
    assert.equal("TN:", begins({"--format", "lcov", "-o", "x.xml", "app.lua"},
                               "x.xml"))
  end)

  it("may be more than one at a time", function ()
    local words = {"-o", "c.xml", "-o", "c.html", "app.lua"}
    local result = covered.run(small, words, {
      output = "c.html", after = function (where)
        assert.matches("^<%?xml", run.read(where .. "/c.xml"))
      end
    })
    assert.matches("^<!DOCTYPE", result.counts)
    assert.matches("tracegrip: c%.xml, c%.html: 1 of 1 lines", result.stderr)
  end)

  it("is refused if nobody knows it", function ()
    local result = covered.run(small, {"--format", "gcov", "app.lua"})
    assert.equal(2, result.status)
    assert.matches("lcov.*cobertura.*html", result.stderr)
  end)
end)

describe("cobertura", function ()
  local words = {"--include", ".", "-o", "c.xml", "app.lua"}

  it("has rates, methods and lines", function ()
    local xml = covered.run(files, words, {output = "c.xml"}).counts
    assert.matches('<coverage line%-rate="0.7778" branch%-rate="0" '
                   .. 'lines%-covered="7" lines%-valid="9" ', xml)
    assert.matches('<source>DIR</source>', xml)
    assert.matches('<package name="lib" line%-rate="0.6000"', xml)
    assert.matches('<class name="a.lua" filename="lib/a.lua" '
                   .. 'line%-rate="0.7500"', xml)
    assert.matches('<method name="M.f" signature="%(%)" line%-rate="0.0000"',
                   xml)
    assert.matches('<line number="3" hits="0" branch="false"/>', xml)
    assert.matches('filename="a&amp;b&lt;&quot;c\'\u{FFFD}\u{FFFD}.lua"', xml)
  end)

  needs("xmllint", "is valid, whatever files are called", function ()
    covered.run(files, words, {after = function (where)
      local xml = run.read(where .. "/c.xml")
      run.write(where .. "/c.xml", (xml:gsub("<!DOCTYPE[^>]*>", "")))
      local result = run.command({
        "xmllint", "--noout", "--nonet", "--dtdvalid",
        run.root .. "/spec/coverage/cobertura.dtd", where .. "/c.xml"})
      assert.equal("", result.stderr)
      assert.equal(0, result.status)
    end})
  end)
end)

describe("lcov", function ()
  needs("genhtml", "is read by genhtml", function ()
    covered.run(files, {"--include", ".", "--exclude", "&", "app.lua"},
                {after = function (where)
      local result = run.command({"genhtml", "-o", "html", "coverage.info"},
                                 {cwd = where})
      assert.equal(0, result.status, result.stderr)
      assert.matches("lines%.*: 71.4%% %(5 of 7 lines%)", result.stdout)
      assert.matches("functions%.*: 50.0%% %(2 of 4 functions%)",
                     result.stdout)
    end})
  end)
end)

describe("the page", function ()
  local words = {"--include", ".", "-o", "c.html", "app.lua"}

  it("has files, lines and functions, and nothing of them is markup",
     function ()
    local page = covered.run(files, words, {output = "c.html"}).counts
    local text = page:match '<script id="data" type="application/json">(.-)</s'
    assert.is_nil(text:find "<")
    local data = seen.json(text)
    assert.same({9, 7, 5, 3}, data.totals)
    local by_name = {}
    for _, file in ipairs(data.files) do
      by_name[file.name] = file
    end
    assert.same({1, 1, 2, 1, 3, 0, 5, 1}, by_name["lib/a.lua"].lines)
    assert.same({{"(main chunk)", 1, 1}, {"M.f", 2, 0}},
                by_name["lib/a.lua"].functions)
    assert.is_false(by_name["lib/b.lua"].loaded)
    assert.equal("-- </script><!-- \u{FFFD}\n\tlocal x = 1\r\nreturn x\n",
                 by_name["a&b<\"c'\u{FFFD}\1.lua"].text)
  end)

  it("asks for nothing from elsewhere", function ()
    local page = covered.run({["app.lua"] = "local x = 1"},
                             {"-o", "c.html", "app.lua"},
                             {output = "c.html"}).counts
    assert.is_nil(page:find "https?://")
    assert.is_nil(page:find '%ssrc=')
  end)

  needs("chromium node", "shows them in a browser, by mouse and keys",
        function ()
    local shown
    covered.run(files, words, {after = function (where)
      local result = run.command({
        "node", "--experimental-websocket",
        run.root .. "/spec/coverage/page.mjs", where .. "/c.html"
      }, {env = {LD_PRELOAD = ""}})     -- of make asan: not the browser's
      assert.equal(0, result.status, result.stderr)
      shown = seen.json(result.stdout)
    end})
    assert.same({}, shown.complaints)
    assert.matches("^77.8%% of 9 lines, 3 of 5 functions, 4 files", shown.about)
    assert.same({
      {"▾ .", "100.0%", "", "4", "0", "4", "2 of 2"},
      {"a&b<\"c'\u{FFFD}\\u{1}.lua", "100.0%", "", "2", "0", "2", "1 of 1"},
      {"app.lua", "100.0%", "", "2", "0", "2", "1 of 1"},
      {"▾ lib", "60.0%", "", "3", "2", "5", "1 of 3"},
      {"a.lua", "75.0%", "", "3", "1", "4", "1 of 2"},
      {"b.luanot loaded", "0.0%", "", "0", "1", "1", "0 of 1"},
      {"4 files", "77.8%", "", "7", "2", "9", "3 of 5"},
    }, shown.files)
    assert.equal("lib/b.lua", shown.worst)      -- sorted by lines, flat
    assert.same({"lib/a.lua", "lib/b.lua"}, shown.found)
    assert.same({
      {"1", "1", "local M = {}", "hit"}, {"2", "1", "function M.f ()", "hit"},
      {"3", "0", "  return 1", "miss"}, {"4", "", "end", ""},
      {"5", "1", "return M", "hit"}
    }, shown.source)
    assert.equal("3", shown.missed)
    assert.equal("✗ M.f: 0 calls", shown.option)
    assert.same({"1", "", "-- </script><!-- \u{FFFD}", ""}, shown.nasty)
    assert.is_true(shown.back)
  end)
end)
