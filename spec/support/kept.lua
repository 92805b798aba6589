--- kept.lua - directories that take long to fill, filled once for a spec file.
--
--   local kept = require "spec.support.kept".new()
--   kept:within("calls", make, use)    make(directory) the first time; then
--                                      use(directory) of a copy of its own
--   teardown(function () kept:close() end)

local lfs = require "lfs"

local run = require "spec.support.run"

local kept = {}
kept.__index = kept

function kept.new ()
  return setmetatable({all = {}, names = {}}, kept)
end

local function fill (self, make)
  local name = os.tmpname()
  table.insert(self.names, name)
  assert(lfs.mkdir(name .. ".d"))
  make(name .. ".d")
  return name .. ".d"
end

--- A recording that could not be made is tried again by whoever asks next.
function kept:within (key, make, use)
  self.all[key] = self.all[key] or fill(self, make)
  run.within(function (directory)
    assert(os.execute(("cp -a %s/. %s"):format(run.quote(self.all[key]),
                                               run.quote(directory))))
    use(directory)
  end)
end

function kept:close ()
  for _, name in ipairs(self.names) do
    os.remove(name)
    run.remove(name .. ".d")
  end
  self.all, self.names = {}, {}
end

return kept
