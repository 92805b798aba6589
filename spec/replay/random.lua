-- random.lua - a random program with traces that are stepped through at random,
-- forwards and backwards, and compared with their packets at each step.
--
--   lua5.4 -e 'loadfile("random.lua")(directory, root)' program.lua

local directory, root = ...

local compare
local asked = 0

local function check (whole, list, ask)
  local function try (what, one, steps, every, most)
    asked = asked + 1
    local wrong = compare.trace(one, steps, asked, {every = every, most = most})
    ask(steps, ("%s, a waypoint every %d"):format(what, every), wrong)
  end
  if whole.events < 4000 then
    for _, every in ipairs {1, 7, 60, 1000} do
      try("the whole", whole, 60, every, every == 7 and 60000 or 0)
    end
  end
  for i, one in ipairs(list) do
    if one.events < 4000 then
      try(("trace %d"):format(i), one, 40, i % 2 == 0 and 3 or 25)
    end
  end
end

local how = {check = check}

function how.prepare ()
  compare = require "spec.replay.compare"
  how.fields = {trace = compare.types, minDuration = 0}
end

loadfile(root .. "/spec/support/randomly.lua")(directory, root, how)
