-- Folded stacks as a flame graph: what build-aux/flame.lua, with which the demo
-- ends, draws of them for a terminal.

local run = require "spec.support.run"
local seen = require "spec.export.seen"

describe("a flame graph of folded stacks", function ()
  local COLUMNS = 240
  local NARROW = 20           -- columns; names in less may be cut

  -- As the export writes them.
  local folded = table.concat({
    "main;parent;busy 2000", "main;parent;child;busy 4000",
    "body (p.lua:7), coroutine;body;parent;busy 2000",
    "body (p.lua:7), coroutine;body;parent;child;busy 4000",
    "body (p.lua:7), coroutine;body;child;busy 4000"
  }, "\n") .. "\n"

  -- Rows of boxes, {name, from}: each begins with a bar.
  local function drawn (text)
    local rows = {}
    for line in text:gmatch "[^\n]+" do
      local row = {}
      for at, name in line:gmatch "()▕([^\xE2]*)" do
        row[#row + 1] = {name = name:gsub("%s+$", ""),
                         from = utf8.len(line, 1, at) - 1}
      end
      rows[#rows + 1] = row
    end
    return rows
  end

  -- Where boxes have to be: a list of {path, from, columns}, callers first. The
  -- one that took most is on the left.
  local function laid_out (text)
    local lines, all = seen.folded(text)
    local list, by_path = {}, {}
    for stack, time in pairs(lines) do
      local path
      for name in stack:gmatch "[^;]+" do
        local caller = path
        path = path and path .. ";" .. name or name
        local box = by_path[path] or {path = path, caller = caller, time = 0,
                                      level = select(2, path:gsub(";", "")) + 1}
        by_path[path] = box
        list[#list + 1] = box.time == 0 and box or nil
        box.time = box.time + time
      end
    end
    table.sort(list, function (a, b)
      return a.level < b.level or a.level == b.level and a.time > b.time
    end)
    local used = {}
    for _, box in ipairs(list) do
      local caller = by_path[box.caller]
      local key = box.caller or ""
      box.from = used[key] or caller and caller.from or 0
      box.columns = box.time * COLUMNS / all
      used[key] = box.from + box.columns
    end
    return list
  end

  it("has each function above its caller, as wide as its time", function ()
    local result = run.command(
      {run.host, run.root .. "/build-aux/flame.lua", "x.folded",
       tostring(COLUMNS)}, {files = {["x.folded"] = folded}})
    assert.equal("", result.stderr)
    local rows, found = drawn(result.stdout), 0
    for _, box in ipairs(laid_out(folded)) do
      local name = box.path:match "[^;]*$"
      if box.columns > NARROW then
        local there = false
        for _, one in ipairs(rows[box.level]) do
          -- Columns are whole numbers, on each level anew.
          there = there or one.name == name
                           and math.abs(one.from - box.from) <= box.level
        end
        assert.is_true(there, box.path .. "\n" .. result.stdout)
        found = found + 1
      end
    end
    assert.is_true(found >= 9)
  end)
end)
