--- golden.lua - texts compared with files that are kept; with TG_GOLDEN=1 in
-- the environment (make golden) the files are written instead.

local assert = require "luassert"
local run = require "spec.support.run"

local golden = {}

local rewrite = os.getenv "TG_GOLDEN" == "1"

--- Compares a text with the file of that name below spec/.
function golden.check (name, text)
  local path = run.root .. "/spec/" .. name
  if rewrite then
    run.write(path, text)
  end
  assert.equal(run.read(path), text)
end

return golden
