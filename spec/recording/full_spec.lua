-- A recording whose disk was full before the program had ended, and everything
-- that tells of it: they all name the same loss. A limit on the size of files
-- is as good as a full disk, and can be had anywhere.

local run = require "spec.support.run"

local CALLS = 150000
local PACKETS = 2 * (CALLS + 2)   -- its calls, the main chunk, what it calls

local program = [[
  local function f (n) return n end
  for i = 1, ]] .. CALLS .. [[ do f(i) end
  print "done"
]]

-- What a script prints that begins with such a recording, 'rec': on standard
-- output what is expected to be there, on standard error the rest.
local function shell (script)
  local words = {"sh", "-c", [[T=$1
    (ulimit -f 2000; $T record -o rec program.lua >out 2>err)
    echo "exit $?" >>out
    ]] .. script, "sh", run.build .. "/bin/tracegrip"}
  local result = run.command(words, {files = {["program.lua"] = program}})
  return result.stdout, result.stderr
end

local WHY = "%(the file could not grow%)"

-- '12,345' as a number.
local function number (text)
  return text and tonumber((text:gsub(",", "")))
end

-- The loss as info has it, and what the rest of a script prints.
local function loss_and (script)
  local out, errors = shell("$T info rec | grep '^lost:'; " .. script)
  local first, rest = out:match "^(.-\n)(.*)$"
  return number(first:match("^lost: +([%d,]+) events " .. WHY .. "\n$")), rest,
         errors
end

describe("a recording on a full disk", function ()
  it("does not stop the program, and says so at its end", function ()
    local lost, out = loss_and "cat out; cat err"
    assert.is_true(lost > 0)
    assert.equal("done\nexit 0\n", out:match "^done\nexit 0\n")
    assert.equal(lost, number(out:match("lacks ([%d,]+) events " .. WHY
                                        .. "\n$")))
  end)

  it("loses what is not in it, to the packet", function ()
    local lost, out = loss_and [[
      $T info --json rec; $T export packets --limit all -o all rec 2>err
      wc -l <all]]
    local kept = tonumber(out:match "(%d+)%s*$")
    assert.equal(lost, tonumber(out:match '"disk": *(%d+)'))
    assert.equal("disk", out:match '"ended": *"(%w+)"')
    assert.equal(PACKETS, kept + lost)
  end)

  for _, command in ipairs {"tree", "log", "report", "events"} do
    it("is told by " .. command, function ()
      local _, _, errors = loss_and(("$T %s rec >shown"):format(command))
      assert.matches("rec is incomplete %(the file could not grow: .-%)",
                     errors)
    end)
  end

  for _, command in ipairs {"tree", "log"} do
    it("is counted by " .. command, function ()
      local lost, _, errors = loss_and(("$T %s rec >shown"):format(command))
      assert.equal(lost, number(errors:match("lacks ([%d,]+) events " .. WHY)))
    end)
  end

  for _, format in ipairs {"chrome", "cpuprofile", "firefox", "folded",
                           "gecko", "packets", "speedscope"} do
    it("is counted when it is exported to " .. format, function ()
      local lost, _, errors
          = loss_and(("$T export %s -o shown rec"):format(format))
      assert.equal(lost, number(errors:match("lost ([%d,]+) events " .. WHY)))
    end)
  end

  -- Packets are the protocol's, which has no place for it.
  for _, format in ipairs {"chrome", "cpuprofile", "firefox", "folded",
                           "gecko", "speedscope"} do
    it("says in a document for " .. format .. " what it lacks", function ()
      local lost, out = loss_and(([[
        $T export %s -o shown rec 2>err
        grep -o 'events lost: [0-9]* (disk)' shown | sort -u]]):format(format))
      assert.equal(("events lost: %d (disk)\n"):format(lost), out)
    end)
  end
end)
