-- random.lua - a random program with traces whose sessions are checked:
-- questions about each are compared with plain Lua's answers, with segments of
-- several lengths.
--
--   lua5.4 -e 'loadfile("random.lua")(directory, root)' program.lua

local directory, root = ...

local compare, scope
local asked = 0

local function check (whole, list, ask)
  local function try (what, one, questions, stride)
    local wrong = compare.trace(scope.new(), one, questions, asked + 1,
                                {stride = stride})
    asked = asked + questions
    ask(questions, ("%s, stride %s"):format(what, stride), wrong)
  end
  local events = whole.events
  for _, stride in ipairs {0, 1, 7, 100, 1000} do
    if events < 20000 or stride >= 100 then
      try("the whole", whole, events < 4000 and 40 or 10, stride)
    end
  end
  for i, one in ipairs(list) do
    try(("trace %d"):format(i), one, 10, i % 2 == 0 and 3 or 40)
  end
end

local how = {check = check}

function how.prepare ()
  scope = require "tracegrip.scope"
  compare = require "spec.scope.compare"
  how.fields = {trace = compare.types, valueDepth = 0}
end

loadfile(root .. "/spec/support/randomly.lua")(directory, root, how)
