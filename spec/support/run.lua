--- run.lua - runs Lua programs in a child interpreter, for specs.
--
-- What installs hooks, exits or crashes does so in a process of its own, so
-- busted itself is never traced. Each child starts in a fresh directory, which
-- is its current one, so a program kept there as "program.lua" has that url in
-- its packets on every machine. Nothing of the directory is left afterwards.

local dkjson = require "dkjson"   -- keeps 1 and 1.0 apart, which cjson does not
local lfs = require "lfs"

local run = {}

local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
if here:sub(1, 1) ~= "/" then
  here = lfs.currentdir() .. "/" .. here
end

--- The tree's directory, and that of the build under test.
run.root = here:match "^(.*)/spec/support$"
run.build = os.getenv "TG_BUILD" or run.root .. "/build"
run.lua = os.getenv "LUA" or "lua5.4"

--- How long something is waited for that must come, in ms: on a machine with
-- other work to do, and under a sanitizer (make asan), all takes several times
-- as long. Nobody waits so long but for what is wrong.
run.patience = 60000

--- What is slow and repeats one thing, with other seeds or releases of Lua: a
-- few of these, or all of them where that is asked for (make thorough).
run.thorough = os.getenv "THOROUGH" == "1"

function run.some (few, all)
  return run.thorough and all or few
end

local function versions ()
  local pipe = io.popen(run.lua .. " -v 2>&1")
  local text = pipe:read "a"
  pipe:close()
  local version, release = text:match "^Lua (5%.%d+)%.(%d+)"
  return version, tonumber(release)
end

--- Which version of Lua that is, "5.4" of "Lua 5.4.6".
local release
run.version, release = versions()

--- Whether it is older than this release: "5.4.3" or "5.5".
function run.older (than)
  local version, number = than:match "^(5%.%d+)%.?(%d*)$"
  if version ~= run.version then
    return run.version < version
  end
  return release < (tonumber(number) or 0)
end

--- The name of a variable that only this version heeds.
function run.variable (name)
  return name .. "_" .. run.version:gsub("%.", "_")
end

if run.build:sub(1, 1) ~= "/" then
  run.build = lfs.currentdir() .. "/" .. run.build
end

-- Where an interpreter that is for another C library or processor than the
-- suite's finds C modules.
local foreign = os.getenv "TG_FOREIGN"

-- What interpreters have for defaults differs: `make matrix` names it all.
local function search (tree, variable)
  return tree .. ";" .. (os.getenv(run.variable(variable)) or ";")
end

--- The interpreter of the suite itself, and where modules are that are written
-- in Lua for its version and serve another as well.
run.host = os.getenv "HOST" or run.lua
run.borrowed = (foreign or "Lua " .. run.version ~= _VERSION)
               and ";" .. package.path or ""

--- Where programs find modules: in the tree, then where the suite does.
run.path = search(run.root .. "/lua/?.lua;" .. run.root .. "/lua/?/init.lua",
                  "LUA_PATH") .. run.borrowed
run.lib = run.build .. "/lib/lua/" .. run.version
run.cpath = foreign and run.lib .. "/?.so;" .. foreign
            or search(run.lib .. "/?.so", "LUA_CPATH")

--- The environment of programs that also load the suite's own C modules.
run.modules = {
  [run.variable "LUA_CPATH"] = run.build .. "/spec/?.so;" .. run.cpath
}

--- Whether programs are recorded on a file beside what else is done to them.
run.taped = false

--- `text` as one word of a shell command.
function run.quote (text)
  return "'" .. tostring(text):gsub("'", [['\'']]) .. "'"
end

local function isident (key)
  return type(key) == "string" and key:find "^[%a_][%w_]*$"
end

--- A value made of tables, strings, numbers and booleans as Lua source.
function run.literal (value)
  if type(value) ~= "table" then
    return string.format("%q", value)
  end
  local parts = {}
  for key, item in pairs(value) do
    local left = isident(key) and '["' .. key .. '"]'
                 or "[" .. run.literal(key) .. "]"
    parts[#parts + 1] = left .. " = " .. run.literal(item)
  end
  table.sort(parts)
  return "{" .. table.concat(parts, ", ") .. "}"
end

--- The content of a file, nil if it is not there.
function run.read (path)
  local file = io.open(path, "rb")
  if not file then
    return nil
  end
  local text = file:read "a"
  file:close()
  return text
end

function run.write (path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  assert(file:close())
end

-- False where a part of it does not let itself be removed.
local function remove (path)
  if lfs.symlinkattributes(path, "mode") == "directory" then
    for name in lfs.dir(path) do
      if name ~= "." and name ~= ".." and not remove(path .. "/" .. name) then
        return false
      end
    end
  end
  return os.remove(path) ~= nil
end

--- Removes a directory with all that is in it: by a command only where that
-- takes more, since there are thousands of them.
function run.remove (directory)
  local ok, removed = pcall(remove, directory)
  if not ok or not removed then
    os.execute("rm -rf " .. run.quote(directory))
  end
end

--- Calls `use(directory, ...)` with a fresh directory, which is removed then.
function run.within (use, ...)
  local name = os.tmpname()
  local directory = name .. ".d"
  assert(lfs.mkdir(directory))
  local results = table.pack(pcall(use, directory, ...))
  os.remove(name)
  run.remove(directory)
  if not results[1] then
    error(results[2], 0)
  end
  return table.unpack(results, 2, results.n)
end

-- By the shell's own commands: env would be one program more to start.
local function environment (how)
  local words = {
    "unset LUA_INIT " .. run.variable "LUA_INIT" .. "; export",
    run.variable "LUA_PATH" .. "=" .. run.quote(run.path),
    run.variable "LUA_CPATH" .. "=" .. run.quote(run.cpath),
  }
  if run.taped then
    words[#words + 1] = "TG_TAPE=1"
  end
  for name, value in pairs(how.env or {}) do
    words[#words + 1] = name .. "=" .. run.quote(value)
  end
  return table.concat(words, " ") .. ";"
end

local function shell (directory, words, how)
  local quoted = {}
  for i, word in ipairs(words) do
    quoted[i] = run.quote(word)
  end
  return table.concat({
    "cd", run.quote(how.cwd or directory), "|| exit;",
    environment(how), "exec timeout", how.timeout or 120,
    table.concat(quoted, " "),
    "<" .. run.quote(directory .. "/.stdin"),
    ">" .. run.quote(directory .. "/.stdout"),
    "2>" .. run.quote(directory .. "/.stderr"),
  }, " ")
end

local function execute (directory, words, how)
  run.write(directory .. "/.stdin", how.stdin or "")
  local _, kind, number = os.execute(shell(directory, words, how))
  return {
    stdout = run.read(directory .. "/.stdout") or "",
    stderr = run.read(directory .. "/.stderr") or "",
    status = kind == "signal" and 128 + number or number,
  }
end

local function extend (words, more)
  return table.move(more or {}, 1, #(more or {}), #words + 1, words)
end

--- Runs a command, a list of words. `how`, optional: `env` (table), `stdin`,
-- `cwd`, `timeout` (seconds), `files` (name -> content, beside the program).
-- Returns {stdout, stderr, status}; a signal n gives the status 128 + n.
function run.command (words, how)
  return run.within(function (directory)
    for name, content in pairs(how and how.files or {}) do
      run.write(directory .. "/" .. name, content)
    end
    return execute(directory, words, how or {})
  end)
end

--- What gzip has made smaller, as it was.
function run.unzip (bytes)
  local result = run.command({"gzip", "-dc"}, {stdin = bytes})
  assert(result.status == 0, result.stderr)
  return result.stdout
end

--- What declares tests whose programs need a module: `declare`, which is `it`
-- or `describe`; or what tells that they are left out, if this Lua has no such
-- module here.
function run.needs (name, declare, pending)
  local code = ("require %q"):format(name)
  if run.command({run.lua, "-e", code}).status == 0 then
    return declare
  end
  return function (sentence)
    pending(("%s needs %s for Lua %s"):format(sentence, name, run.version))
  end
end

--- Whether this Lua's C library is musl, which never unloads a module.
function run.keeps ()
  local code = 'for l in io.lines "/proc/self/maps" do print(l) end'
  local maps = run.command({run.lua, "-e", code}).stdout
  return maps:find "/ld%-musl%-" ~= nil or maps:find "%-musl/libc%.so" ~= nil
end

--- Runs a Lua file; `how` as above, and `args` (list), `flags` (list, of the
-- interpreter).
function run.file (path, how)
  how = how or {}
  local words = extend({run.lua}, how.flags)
  words[#words + 1] = path
  return run.command(extend(words, how.args), how)
end

--- Runs `code` as the file `how.name`, by default "program.lua".
function run.code (code, how)
  local mine = {}
  for key, value in pairs(how or {}) do
    mine[key] = value
  end
  local name = mine.name or "program.lua"
  mine.files = setmetatable({[name] = code}, {__index = mine.files})
  for key, value in pairs(how and how.files or {}) do
    mine.files[key] = value
  end
  return run.file(name, mine)
end

--- JSON Lines as a list of tables; integers and floats stay what they were.
function run.decode (text)
  local list = {}
  for line in text:gmatch "[^\n]+" do
    local value, _, message = dkjson.decode(line)
    if message then
      error("not JSON: " .. message .. ": " .. line, 2)
    end
    list[#list + 1] = value
  end
  return list
end

--- Runs `code` as "program.lua" with a trace around it that starts with
-- `options` (those of tracegrip.start; nil = the defaults) before its main
-- chunk is called and stops when the interpreter closes, or exits without.
-- Returns what run.code returns, with the fields `text` (the packets' JSON
-- Lines), `lost`, `bytes` and `events` of the trace.
function run.traced (code, options, how)
  return run.within(function (directory)
    local mine = {}
    for key, value in pairs(how or {}) do
      mine[key] = value
    end
    run.write(directory .. "/options.lua",
              "return " .. run.literal(options or {}))
    local support = run.root .. "/spec/support/"
    local start = string.format("loadfile(%q)(%q, %q)",
                                support .. "around.lua", directory, support)
    mine.flags = extend({"-e", start}, mine.flags)
    mine.env = mine.env or {}
    local result = run.code(code, mine)
    result.text = run.read(directory .. "/packets.jsonl")
    if not result.text then
      error("no packets: status " .. tostring(result.status) .. "\n"
            .. result.stderr, 3)
    end
    local state = run.read(directory .. "/state.lua")
    if not state then
      error(result.stderr, 3)
    end
    for key, value in pairs(load(state)()) do
      result[key] = value
    end
    return result
  end)
end

--- The same, but returns the trace's packets and then the rest.
function run.packets (code, options, how)
  local result = run.traced(code, options, how)
  return run.decode(result.text), result
end

return run
