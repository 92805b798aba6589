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

local function command (script, words)
  return {"node", STACK, script .. ".mjs", table.unpack(words)}
end

--- What a script prints, of JSON; raises what it complains about.
function installed.run (script, words, how)
  how = how or {}
  how.cwd = installed.home
  local result = run.command(command(script, words), how)
  assert(result.stderr == "" and result.status == 0, result.stderr)
  return result.stdout
end

--- The same of several scripts, name -> words, which run beside each other:
-- name -> what it prints.
function installed.run_all (scripts)
  local printed = {}
  run.within(function (directory)
    local lines = {}
    for name, words in pairs(scripts) do
      local quoted = {}
      for i, word in ipairs(command(name, words)) do
        quoted[i] = run.quote(word)
      end
      lines[#lines + 1] = ("(%s >%s/%s || echo '%s fails' >&2) &"):format(
        table.concat(quoted, " "), run.quote(directory), name, name)
    end
    lines[#lines + 1] = "wait"
    local result = run.command({"sh", "-c", table.concat(lines, "\n")},
                               {cwd = installed.home, timeout = 240})
    assert(result.stderr == "" and result.status == 0, result.stderr)
    for name in pairs(scripts) do
      printed[name] = run.read(directory .. "/" .. name)
    end
  end)
  return printed
end

return installed
