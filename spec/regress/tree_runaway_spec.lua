-- The tree of a recursion that ran away was half a million rows, made of a
-- gigabyte of tables.

local run = require "spec.support.run"

local program = [[
  local function so (n) return 1 + so(n + 1) end
  pcall(so, 1)
]]

describe("the tree of a runaway recursion", function ()
  it("fits a screen and says how deep it is", function ()
    local words = {
      "sh", "-c", [["$1" record -o rec program.lua && "$1" tree rec &&
        "$1" tree --depth 2 rec]], "sh", run.build .. "/bin/tracegrip"
    }
    local files = {["program.lua"] = program}
    local text = run.command(words, {files = files}).stdout
    local whole, short = text:match("^(.-levels[^\n]*\n)(.*)$")
    assert.equal(44, select(2, whole:gsub("\n", "")))
    assert.matches("… 40 of %d+,%d+ levels %(%-%-depth%)\n$", whole)
    assert.matches("program.*main chunk.*pcall.*… 1 call in 1 function, "
                   .. ".*\n… 2 of %d+,%d+ levels %(%-%-depth%)\n$", short)
  end)
end)

describe("a tree of so many levels", function ()
  it("has the time of deeper calls at its edge", function ()
    local result = run.code [[
      local tracegrip = require "tracegrip"
      local function c () for _ = 1, 1000 do end error "x" end
      local function b () c() end
      local function a () pcall(b) pcall(b) end
      local trace = tracegrip.start {c = false, exclude = "chunk"}
      a()
      trace:stop()
      local function show (node)
        local ms, text = node.self_ms, node.name
        for _, child in ipairs(node.children) do
          local below, more = show(child)
          ms, text = ms + below, text .. " " .. child.calls .. more
        end
        return ms, "(" .. text .. ")"
      end
      for levels = 1, 4 do
        local root = trace:tree {levels = levels}
        local ms, text = show(root)
        print(root.levels, text, math.abs(ms - root.total_ms) < 1e-6)
      end
      print(pcall(trace.tree, trace, {levels = 0}))
      print(pcall(trace.report, trace, {levels = 1}))
    ]]
    local text = result.stdout:gsub("Trace 1", "T")
    assert.equal("3\t(T 1(a))\ttrue\n3\t(T 1(a 2(b)))\ttrue\n"
                 .. ("3\t(T 1(a 2(b 2(c))))\ttrue\n"):rep(2)
                 .. "false\toption 'levels': a positive integer expected, "
                 .. "got 0\n", (text:gsub("false\tunknown.*", "")))
    assert.matches("unknown option 'levels' %(known: .*, progress%)", text)
  end)
end)
