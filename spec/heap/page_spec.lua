-- The page that "export html" writes of a heap snapshot: its numbers against
-- what "tracegrip heap" prints of the same file, and against the file itself;
-- and, where there is a browser, what it shows and how it is used.

local cjson = require "cjson"

local heaps = require "spec.support.heaps"
local run = require "spec.support.run"

-- The cache is nearly all of it; names are what a hostile program may have.
local program = [[
local model = {}
package.loaded["app.model"] = model
model.Order = {}
model.cache = {}
for i = 1, 100 do
  model.cache[i] = setmetatable({text = i .. ("order"):rep(400)}, model.Order)
end
model.first = model.cache[1]
model.evil = setmetatable({("y"):rep(2000)},
  {__name = "</script><img/src=x\u{2028}\u{202E}\xff"})
model.evil["<!-- <script>\xff\u{2029}"] = {}
local long = ("x"):rep(100)
model.twice = {long .. "!", long .. "!"}
]]

local function export (words)
  local command = {run.build .. "/bin/tracegrip", "export"}
  table.move(words, 1, #words, 3, command)
  return run.command(command, {env = {LUA = run.host}})
end

-- What is in a page: the document, and all of its text.
local function read (path)
  local text = run.read(path)
  local data = text:match '<script id="facts" type="application/json">(.-)</s'
  return cjson.decode(data), text
end

-- Calls use(path of a snapshot, directory).
local function with (use, code)
  run.within(function (directory)
    run.write(directory .. "/app.lua", code or program)
    local path = directory .. "/x.heapsnapshot"
    local result = heaps.command {"-o", path, "--", directory .. "/app.lua"}
    assert.equal(0, result.status, result.stderr)
    use(path, directory)
  end)
end

local function with_page (use, code, ...)
  local words = {...}
  with(function (path, directory)
    local page = directory .. "/x.html"
    local result = export {"html", path, "-o", page, table.unpack(words)}
    assert.equal(0, result.status, result.stderr)
    use(path, page, result)
  end, code)
end

local function ask (path, ...)
  return (select(2, heaps.command {path, "--json", ...}))
end

-- Boxes as tables, numbers from 1.
local function nodes_of (document)
  local columns, list = document.nodes, {}
  for i, id in ipairs(columns.id) do
    list[i] = {
      id = id, name = document.texts[columns.name[i] + 1],
      self = columns.self[i], retained = columns.retained[i],
      before = columns.before[i] + 1, above = (columns.above[i] or -1) + 1,
      edge = document.texts[columns.edge[i] + 1], kept = columns.kept[i],
      referrers = columns.referrers[i], ways = columns.ways[i], kids = {},
      real = document.types[columns.type[i] + 1] ~= "synthetic",
      box = i <= document.boxes
    }
    if list[i].above > 0 then
      local above = list[list[i].above]
      above.kids[#above.kids + 1] = list[i]
    end
  end
  return list
end

-- How an edge of the snapshot is called where it is written alone.
local function called (edge)
  local name = edge.name
  if type(name) == "number" then
    return ("[%d]"):format(name)
  elseif edge.type ~= "property" then
    return name
  elseif name:find "^[%a_$][%w_$]*$" then
    return "." .. name
  end
  return name:find "^%[.+%]$" and name
         or '["' .. name:gsub('["\\]', "\\%0"):gsub("%c", " ") .. '"]'
end

local function leads (snapshot, from, to, text)
  for _, edge in ipairs(snapshot.by_id[from].edges) do
    if edge.to.id == to and edge.type ~= "weak" and called(edge) == text then
      return true
    end
  end
end

-- A sanitizer has blocks further apart than ids can tell.
local function told_apart (sentence, check)
  if os.getenv "ASAN_OPTIONS" then
    return pending(sentence .. ": ids are not one object's there")
  end
  return it(sentence, check)
end

describe("the page of a heap snapshot", function ()
  it("has what tracegrip heap prints", function ()
    with_page(function (path, page)
      local document = read(page)
      assert.equal("x.heapsnapshot", document.title)
      assert.same(ask(path, "--limit", "1000"), document.summary)
      assert.same(ask(path, "--limit", "1000", "--duplicates"),
                  document.duplicates)
      assert.same(ask(path, "--limit", "1000", "--empty"), document.empty)
    end)
  end)

  told_apart("has all of a small one, and each box's sizes add up", function ()
    with_page(function (path, page, result)
      local snapshot, document = heaps.read(path), read(page)
      local objects, own = 0, 0
      assert.equal(#snapshot.nodes, document.boxes)
      for i, node in ipairs(nodes_of(document)) do
        local retained, kept = node.self, node.real and 1 or 0
        for _, kid in ipairs(node.kids) do
          retained, kept = retained + kid.retained, kept + kid.kept
        end
        assert.equal(snapshot.by_id[node.id].self, node.self)
        assert.equal(retained, node.retained)
        assert.equal(kept, node.kept)
        assert.is_true(i == 1 or node.above > 0 and node.above < i)
        objects = objects + (node.real and 1 or 0)
        own = own + node.self
      end
      assert.equal(document.summary.objects, objects)
      assert.equal(document.summary.bytes, own)
      assert.truthy(result.stderr:find("x.html: %d+ objects, [%d.]+ KiB\n$"))
    end)
  end)

  told_apart("has ways to each object, along edges that there are", function ()
    with_page(function (path, page)
      local snapshot, document = heaps.read(path), read(page)
      local nodes = nodes_of(document)
      local ways = 0
      for i = 2, document.boxes do
        local node = nodes[i]
        assert.is_true(leads(snapshot, nodes[node.before].id, node.id,
                             node.edge), node.edge)
        assert.is_true(#node.ways >= 2 and #node.ways / 2 <= node.referrers)
        assert.equal(node.before, node.ways[1] + 1)
        for k = 1, #node.ways, 2 do
          local from = nodes[node.ways[k] + 1]
          assert.is_true(leads(snapshot, from.id, node.id,
                               document.texts[node.ways[k + 1] + 1]))
          while from.before > 0 do      -- to the root, and not in a circle
            assert.not_equal(node.id, from.id)
            from = nodes[from.before]
          end
          assert.equal(1, from.id)
          ways = ways + 1
        end
      end
      assert.is_true(ways > document.boxes)
    end)
  end)

  it("has the ways that tracegrip heap --path prints", function ()
    with_page(function (path, page)
      local document = read(page)
      local nodes = nodes_of(document)
      local id, meant                   -- of one with two ways
      for _, one in ipairs(ask(path, "--find", "app.model.Order", "--limit",
                               "all").objects) do
        id = one.path:find "%.first$" and ("%d"):format(one.id) or id
      end
      for _, node in ipairs(nodes) do
        meant = ("%d"):format(node.id) == id and node or meant
      end
      local wanted = {}
      for i, way in ipairs(ask(path, "--path", id).paths) do
        local words = {}
        for k, edge in ipairs(way) do
          words[k] = ("%s %d"):format(edge.text, edge.id)
        end
        wanted[i] = table.concat(words, ", ")
      end
      local got = {}
      for k = 1, #meant.ways, 2 do
        local words = {("%s %d"):format(document.texts[meant.ways[k + 1] + 1],
                                        meant.id)}
        local node = nodes[meant.ways[k] + 1]
        while node.before > 0 do
          table.insert(words, 1, ("%s %d"):format(node.edge, node.id))
          node = nodes[node.before]
        end
        got[#got + 1] = table.concat(words, ", ")
      end
      assert.equal(2, #wanted)          -- as an entry, and as "first"
      assert.same(wanted, got)
    end)
  end)

  it("says of a part how much is not there", function ()
    with_page(function (_, page, result)
      local document = read(page)
      assert.equal(50, document.boxes)
      assert.is_true(#document.nodes.id <= 150)
      local nodes = nodes_of(document)
      local least, own, left = math.huge, 0, 0
      for i = 1, 50 do
        local node = nodes[i]
        local rest = node.retained - node.self
        for _, kid in ipairs(node.kids) do
          rest = rest - kid.retained
          assert.is_true(kid.retained <= node.retained)
        end
        assert.is_true(rest >= 0)
        own, left = own + node.self, left + rest
        least = math.min(least, node.retained)
      end
      assert.equal(document.summary.bytes, own + left)
      assert.is_true(left > 0 and least > 100)
      assert.truthy(result.stderr:find(
        "; 4[89] that keep most alive one by one %(%-%-limit N%)\n$"))
    end, nil, "--limit", "50")
  end)

  it("is of a few megabytes, however many objects there are", function ()
    with_page(function (_, page)
      local document, text = read(page)
      assert.equal(20000, document.boxes)
      assert.is_true(document.summary.objects > 200000)
      assert.is_true(#document.nodes.id <= 60000)
      assert.is_true(#text < 6 * 2^20, #text)
      local rows = 0
      for _, above in ipairs(document.nodes.above) do
        local class = above >= 0 and document.nodes.class[above + 1]
        rows = rows + (class and document.texts[class + 1] == "app.Rows"
                       and 1 or 0)
      end
      assert.is_true(rows > 10000)      -- the chain has not taken the room
    end, [[
      local rows = setmetatable({}, {__name = "app.Rows"})
      for i = 1, 1e5 do rows[i] = {i, {}} end
      local chain
      for i = 1, 5e4 do chain = {chain, i} end
      package.loaded.app = {rows = rows, chain = chain}
    ]])
  end)

  it("has nothing of the heap as markup, and needs nothing from elsewhere",
  function ()
    with_page(function (_, page)
      local _, text = read(page)
      assert.equal(3, select(2, text:gsub("</script", "")))
      assert.equal(3, select(2, text:gsub("<script", "")))
      assert.is_nil(text:find("<img", 1, true))
      assert.is_nil(text:find "<!%-%- <")
      assert.truthy(text:find("\\u003c/script>\\u003cimg/src=x", 1, true))
      assert.truthy(utf8.len(text))
      local template = dofile(run.root .. "/lua/tracegrip/heappage.lua")
      assert.is_nil(template:find "https?://")
      assert.is_nil(template:find "src=")
      assert.is_nil(template:find "import ")
      assert.is_true(#template < 60000)
    end)
  end)

  it("is written of a process and of a script by -o x.html, too", function ()
    with(function (path, directory)
      local result = heaps.command {path, "-o", directory .. "/a.html"}
      assert.equal(0, result.status, result.stderr)
      assert.equal("x.heapsnapshot", (read(directory .. "/a.html")).title)
      result = heaps.command {"-o", directory .. "/b.html", "--",
                              directory .. "/app.lua"}
      assert.equal("", result.stderr)
      assert.truthy(result.stdout:find("^" .. directory .. "/b.html: "))
      local document = read(directory .. "/b.html")
      assert.equal("b", document.title)
      local found
      for _, class in ipairs(document.summary.classes) do
        found = found or class.name == "app.model.Order"
      end
      assert.is_true(found)
    end)
  end)

  it("is the one format that there is, without a recording's options",
  function ()
    with(function (path, directory)
      local function refused (status, message, ...)
        local result = export {...}
        assert.equal(status, result.status)
        assert.equal("", result.stdout)
        assert.truthy(result.stderr:find(message, 1, true), result.stderr)
      end
      refused(2, "is a heap snapshot, whose format is html", "chrome", path)
      refused(2, "--no-c is for recordings, not for heap snapshots",
              "html", "--no-c", path)
      refused(2, "--include is for recordings", "html", "--include", "x", path)
      refused(1, "is the snapshot itself", "html", path, "-o", path)
      run.write(directory .. "/bad.heapsnapshot", '{"snapshot":')
      refused(1, "damaged", "html", directory .. "/bad.heapsnapshot")
      refused(1, "/none/x.html: No such file", "html", path, "-o",
              "/none/x.html")
      assert.equal(2, heaps.command({path, "--empty", "-o",
                                     directory .. "/c.html"}).status)
      assert.is_nil(run.read(directory .. "/c.html"))
    end)
  end)
end)

-- What Chromium shows, where there is one, and node to ask it. It is asked
-- once, since a browser takes long to begin; without a sanitizer's library.
local seen, document, printed, failed

local function asked ()
  if seen then return end
  assert(not failed, "the browser has failed before")
  failed = true
  with_page(function (path, page)
    document, printed = read(page), ask(path, "--limit", "1000")
    local result = run.command({"node", "--experimental-websocket",
                                run.root .. "/spec/heap/page.mjs", page},
                               {timeout = 180, env = {LD_PRELOAD = ""}})
    assert.equal(0, result.status, result.stderr)
    seen = cjson.decode(result.stdout)
  end)
end

local function browser (sentence, check)
  if os.execute "command -v chromium node >/dev/null" then
    return it(sentence, function ()
      asked()
      check()
    end)
  end
  pending(sentence .. " needs chromium and node")
end

local function count (n)
  local text = ("%d"):format(n)
  return (text:reverse():gsub("%d%d%d", "%0,"):reverse():gsub("^,", ""))
end

describe("the page of a heap snapshot, in a browser,", function ()
  browser("draws a map, which a click goes into and a crumb out of",
  function ()
    assert.matches("^[%d,]+ objects, [%d.]+ KiB$", seen.map.about)
    assert.is_true(seen.map.colours > 3)
    assert.same({"All objects"}, seen.map.first)
    assert.matches("own [%d.]+ .*, retained [%d.]+ .*%%", seen.map.tip)
    local way = seen.map.entered
    assert.equal("All objects", way[1])
    assert.equal("registry", way[2])
    assert.equal("package.loaded", way[3])
    assert.equal('["app.model"]', way[4])
    assert.equal("cache", way[5])
    assert.matches("^%[%d+%] app%.model%.Order$", way[6])
    assert.same({way[1], way[2]}, seen.map.out)
  end)

  browser("says why an object is alive, step by step", function ()
    assert.matches("^app%.model%.Order @%d+\nwhere\n"
      .. 'package%.loaded%["app%.model"%]%.cache%[%d+%]\nown\n.*retained\n'
      .. "[%d.]+ KiB, [%d.]+%%: itself and 1 object\nwhy alive.*registry"
      .. '.*%._LOADED.*%["app%.model"%].*%.cache.*%[%d+%]', seen.map.detail)
    assert.matches("^table @%d+$", seen.map.stepped)
  end)

  browser("is walked by keys", function ()
    assert.same({"registry", "package.loaded", 'package.loaded["app.model"]',
                 "package.loaded"}, seen.keys.walked)
    assert.same({"All objects", "registry", "package.loaded"},
                seen.keys.entered)
    assert.same({"All objects", "registry"}, seen.keys.out)
  end)

  browser("has the retainers that are printed, and what each keeps", function ()
    local rows = seen.tree.rows
    assert.is_true(#printed.retainers > 100)
    for i = 1, 100 do                   -- then it asks whether to go on
      local row, wanted = rows[i], printed.retainers[i]
      local name = row[1]:match "@(%d+)$"
      assert.equal(("%d"):format(wanted.id), name)
      if not wanted.path:find "\\u" then
        assert.equal(wanted.path, row[6])
      end
    end
    assert.matches("^true 1 ▾table @%d+$", seen.tree.keys[1])
    assert.equal("false 2 ▸package.loaded", seen.tree.keys[2])
    assert.matches("^true 1 ", seen.tree.keys[3])
    assert.matches("^false 1 ", seen.tree.keys[4])
    assert.matches("All objects$", seen.tree.rooted[1][1])
    assert.equal("▸registry", seen.tree.rooted[2][1])
  end)

  browser("has a table by class, which is sorted by its headings", function ()
    assert.same({"retained ▾ descending", "count ▾ descending",
                 "class ▴ ascending"}, seen.classes.sorted)
    local rows = {}
    for i, row in ipairs(seen.classes.rows) do
      rows[i] = row[1] .. " " .. row[2]
    end
    local wanted, counts = {}, {}
    for i, class in ipairs(printed.classes) do
      -- what cannot be seen is written out
      wanted[i] = class.name:gsub("\u{202E}", "\\u{202E}")
        :gsub("\u{2028}", "\\u{2028}") .. " " .. count(class.count)
      counts[i] = class.count
    end
    assert.same(wanted, rows)
    table.sort(counts, function (a, b) return a > b end)
    for i, n in ipairs(counts) do
      counts[i] = count(n)
    end
    assert.same(counts, seen.classes.byCount)
    assert.matches("^app%.model%.Order\nobjects\n100\n.*the largest\n",
                   seen.classes.detail)
    assert.matches("^app%.model%.Order @%d+\n.*why alive", seen.classes.largest)
  end)

  browser("shows what is there twice", function ()
    assert.matches("Equal strings: [%d,.]+ %a+ more than one", seen.waste)
    assert.matches("xxx", seen.waste)
    assert.matches("Objects that refer to nothing: ", seen.waste)
  end)

  browser("finds objects", function ()
    local hits = 0
    for i = 1, document.boxes do
      local text = document.texts[document.nodes.name[i] + 1]:lower()
      hits = hits + (text:find("order", 1, true) and 1 or 0)
    end
    local n = tonumber(seen.search.hits:match "^(%d+) of %d+ objects, ")
    assert.is_true(n >= hits and hits >= 200, seen.search.hits)
    assert.matches("^%d+ of " .. n .. "$", seen.search.next)
    assert.matches("@%d+$", seen.search.chosen)
    assert.equal(math.min(n, 100) + 1, seen.search.rows)
  end)

  browser("names what it has for who cannot see it", function ()
    local names = {}
    for _, node in ipairs(seen.accessible) do
      names[node] = true
    end
    for _, node in ipairs {
      "button Map pressed=false", "button Retainers pressed=true",
      "searchbox Search classes, names, texts, fields",
      "region What is chosen polite", "treegrid Retainers",
      "button From the root pressed=false", "columnheader retained"
    } do
      assert.is_true(names[node], node .. " of\n"
                     .. table.concat(seen.accessible, "\n"))
    end
  end)

  browser("asks for nothing, and nothing of it fails", function ()
    assert.same({}, seen.requests)
    assert.same({}, seen.complaints)
    assert.equal(0, seen.images)
  end)

  browser("is used with a finger on a phone, in the dark", function ()
    assert.equal("cache", seen.phone.entered[5])
    assert.same({390, 390, 390, 390}, seen.phone.widths)
    assert.equal("rgb(13, 17, 23)", seen.phone.dark)
  end)
end)
