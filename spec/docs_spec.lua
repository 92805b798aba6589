-- The commands that README.md and docs/ show, typed as they stand there: each
-- works, in a directory that has the files which they name. And their links.

local lfs = require "lfs"

local run = require "spec.support.run"

-- They run busted and lua5.4.
local it = run.needs("lfs", it, pending)

local program = "local function f (x) return x end  print(f(1))"

-- Long enough for samples.
local parsing = "local function parse (n) local x, list = 0, {n} "
                .. "for i = 1, n do x = x + i % 7 end return x end "
                .. "print(parse(5e6))"

local files = {
  ["prog.lua"] = parsing, ["app.lua"] = program, ["server.lua"] = program,
  ["script.lua"] = program,
  ["spec/a_spec.lua"] = "local stock = require 'stock' it('passes', "
                        .. "function () assert.equal(1, stock.count) end)",
  ["src/stock.lua"] = "return {count = 1}",
  ["spec/helper.lua"] = "",
  ["their-script"] = "#!/bin/sh\nexec lua5.4 prog.lua\n",
}

-- What begins so is run by other specs: it builds, waits, or opens a browser.
local elsewhere = {
  "^make", "^sudo make install", "^kill %-USR1 PID", "^tracegrip view",
  "^tracegrip serve", "^tracegrip attach", "^tracegrip top",
  "^tracegrip ps", "^tracegrip dump", "^tracegrip heap", "^gcore",
  "^tracegrip record %-%-pid",
  "^TRACEGRIP_LISTEN=%d+ LUA_INIT_5_4=",
}

local words = {"tracegrip", "busted", "make", "sudo", "kill", "lua5.4",
               "luarocks", "sed", "[%u_]+=%S+"}

local function is_command (line)
  for _, word in ipairs(words) do
    if line:find("^" .. word .. " ") or line == word then
      return true
    end
  end
end

local function documents ()
  local list = {run.root .. "/README.md"}
  for name in lfs.dir(run.root .. "/docs") do
    if name:find "%.md$" then
      list[#list + 1] = run.root .. "/docs/" .. name
    end
  end
  table.sort(list)
  return list
end

-- Indented lines, outside of fences, and a CI job's "- run:" in them.
local function commands (text)
  local list, fenced = {}, false
  for line in text:gmatch "[^\n]+" do
    if line:find "^```" then
      fenced = not fenced
    end
    local command = line:match "^ +%- run: (.*)" or line:match "^    (%S.*)"
    if command and is_command(command)
       and (not fenced or line:find "%- run:") then
      list[#list + 1] = command
    end
  end
  return list
end

local function is_run_elsewhere (command)
  for _, pattern in ipairs(elsewhere) do
    if command:find(pattern) then
      return true
    end
  end
end

-- A shell that stops at the first command that fails.
local function script (list)
  local lines = {
    "cp -r \"$EXAMPLES\" examples", "PATH=\"$TOOLS:.:$PATH\"",
    "chmod +x their-script",
    "tracegrip record -o prog.tgr prog.lua",
    "for f in app today yesterday; do cp prog.tgr $f.tgr; done",
  }
  for _, command in ipairs(list) do
    lines[#lines + 1] = ("echo %s >&2"):format(run.quote("$ " .. command))
    lines[#lines + 1] = command
  end
  return table.concat(lines, "\n")
end

local function try (list)
  return run.within(function (directory)
    assert(lfs.mkdir(directory .. "/spec"))
    assert(lfs.mkdir(directory .. "/src"))
    for name, text in pairs(files) do
      run.write(directory .. "/" .. name, text)
    end
    return run.command({"sh", "-ec", script(list)}, {
      cwd = directory, timeout = 900,
      env = {EXAMPLES = run.root .. "/examples", TOOLS = run.build .. "/bin"}
    })
  end)
end

describe("the commands of", function ()
  for _, path in ipairs(documents()) do
    local list = {}
    for _, command in ipairs(commands(run.read(path))) do
      list[#list + 1] = not is_run_elsewhere(command) and command or nil
    end
    if #list > 0 then
      it(path:match "[^/]*$" .. " work", function ()
        local result = try(list)
        assert.equal(0, result.status, result.stderr)
      end)
    end
  end
end)

-- A heading's anchor, as GitHub has it.
local function anchor_of (heading)
  return (heading:lower():gsub("[^%w%s_\x80-\xFF-]", ""):gsub("%s", "-"))
end

local function unfenced (text)
  return (("\n" .. text):gsub("\n *```.-\n *```", "\n"))
end

local function anchors (text)
  local set = {}
  for heading in unfenced(text):gmatch "\n#+ ([^\n]+)" do
    set[anchor_of(heading)] = true
  end
  for id in text:gmatch '<a id="([^"]+)">' do
    set[id] = true
  end
  return set
end

-- Where a document's links go in the tree, without what they have in it.
local function links (text)
  return unfenced(text):gmatch "%]%(([^)%s:]+)%)"
end

-- What is wrong with a link in a file of that directory; nil: nothing.
local function fault (link, path)
  local file, anchor = link:match "^([^#]*)#?(.*)$"
  local target = file == "" and path or path:gsub("[^/]*$", "") .. file
  if not lfs.attributes(target) then
    return link .. ": there is no such file"
  elseif anchor ~= "" and not anchors(run.read(target))[anchor] then
    return link .. ": there is no such heading"
  end
end

describe("the links of", function ()
  local list = documents()
  list[#list + 1] = run.root .. "/csrc/README.md"
  for _, path in ipairs(list) do
    it(path:match "[^/]*/[^/]*$" .. " lead somewhere", function ()
      local faults = {}
      for link in links(run.read(path)) do
        faults[#faults + 1] = fault(link, path)
      end
      assert.same({}, faults)
    end)
  end
end)
