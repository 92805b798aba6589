-- installed.lua - the npm packages that exports are tried with, which `make
-- importers` puts into build/importers.

local lfs = require "lfs"

local run = require "spec.support.run"

local installed = {}

installed.home = run.build .. "/importers"

--- Why there is nothing to run, nil if there is: no packages at all or, if one
--- is named, not that one.
function installed.missing (package)
  local home = installed.home
  local reason = run.read(home .. "/missing")
  if reason then
    return (reason:gsub("\n", ""))
  elseif not lfs.attributes(home .. "/node_modules") then
    return "no importers in " .. home .. " (make importers)"
  elseif package then
    local result = run.command({"node", "-e", ("require(%q)"):format(package)},
                               {cwd = home, timeout = 60})
    return result.status ~= 0 and package .. " cannot be used here: "
           .. (result.stderr:match "Error[^\n]*" or "it ends") or nil
  end
end

-- KiB: scripts go down trees by recursion, and trees are as deep as viewers
-- bear. A process has 8192, as systems are set up.
local STACK = "--stack-size=6000"

--- What a script prints, of JSON; raises what it complains about.
function installed.run (script, words, how)
  how = how or {}
  how.cwd = installed.home
  local result = run.command({"node", STACK, script .. ".mjs",
                              table.unpack(words)}, how)
  assert(result.stderr == "" and result.status == 0, result.stderr)
  return result.stdout
end

return installed
