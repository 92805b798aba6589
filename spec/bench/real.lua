-- real.lua - what tracing costs real programs, which pass around what such
-- programs do: syntax trees, parser states, objects.
--
--   make bench, or: eval "$(make -s env)"; lua5.4 spec/bench/real.lua build
--                   [-n RUNS] [PROGRAM...]
--
-- Each program is a package of Debian's (lua-check, lua-ldoc with lua-penlight,
-- lua-dkjson) or, of fennel, a checkout of its sources in the folder that
-- FENNEL names. What is not there is said, and left out. Each runs untraced and
-- recorded in turn, all ways in each round, so that a ratio is of one time; it
-- is of processor time, of which the least of all rounds counts. What the
-- program writes must be the same each time. 'clock' is a C hook that does
-- nothing but read the time: no tracer costs less.

local MODES = {
  {"untraced"},
  {"clock"},
  {"name,time", "--trace", "name,time"},
  {"depth 0", "--value-depth", "0"},
  {"default"},
}
local CLOCK = 2                 -- what comes behind it is recorded

local build = assert(arg[1], "usage: real.lua BUILD [-n RUNS] [PROGRAM...]")
local runs, wanted = 3, {}
do
  local i = 2
  while arg[i] do
    if arg[i] == "-n" then
      runs = assert(tonumber(arg[i + 1]), "-n is a number of runs")
      i = i + 1
    else
      wanted[#wanted + 1] = arg[i]
    end
    i = i + 1
  end
end

local lua = arg[-1]

local function quote (text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

local function output_of (command)
  local pipe = assert(io.popen(command))
  local text = pipe:read "a"
  pipe:close()
  return text
end

local function exists (path)
  local file = io.open(path)
  return file ~= nil and file:close()
end

local function absolute (path)
  return path:find "^/" and path
         or output_of("pwd"):match "[^\n]+" .. "/" .. path
end

local tool = absolute(build) .. "/bin/tracegrip"
local room = output_of("mktemp -d"):match "[^\n]+"

local function write (name, text)
  local path = room .. "/" .. name
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  return path
end

-- A list of ten megabytes of JSON, read and written again.
local DKJSON = [[
  local json = require "dkjson"
  local rows = {}
  for i = 1, 60000 do
    rows[i] = {id = i, name = "user " .. i, tags = {"a", "b", i % 7},
               place = {x = i / 8, y = -i, known = i % 2 == 0},
               text = ("some words that are the same each time "):rep(2)}
  end
  local text = json.encode(rows)
  local again = json.decode(text)
  assert(#again == #rows and again[7].place.y == -7)
  print(#text)
]]

-- All modules of the compiler, by the compiler that is in the checkout.
local FENNEL = [[
  local root = ...
  package.path = root .. "/bootstrap/?.lua;" .. root .. "/?.lua;"
                 .. package.path
  local fennel = require "fennel"
  for _, name in ipairs {"compiler", "specials", "parser", "utils", "view",
                         "friend"} do
    local file = assert(io.open(root .. "/src/fennel/" .. name .. ".fnl"))
    print(fennel.compileString(file:read "a", {
      filename = name, allowedGlobals = false}))
  end
]]

--- Programs: what they need, where they run, and their command line.
local programs = {
  {name = "luacheck", needs = "/usr/bin/luacheck", package = "lua-check",
   at = "/usr/share/lua/5.1",
   command = {"/usr/bin/luacheck", "--no-cache", "--no-config", "luacheck"}},
  {name = "fennel", at = room,
   needs = (os.getenv "FENNEL" or "") .. "/src/fennel/compiler.fnl",
   package = "a checkout of fennel, in the folder FENNEL",
   command = {write("fennel.lua", FENNEL), os.getenv "FENNEL" or ""}},
  {name = "ldoc", needs = "/usr/bin/ldoc", package = "lua-ldoc", at = room,
   command = {"/usr/bin/ldoc", "--date", "today", "-d", room .. "/doc",
              "/usr/share/lua/5.4/pl"},
   writes = room .. "/doc"},
  {name = "dkjson", needs = "/usr/share/lua/5.4/dkjson.lua",
   package = "lua-dkjson", at = room, command = {write("dkjson.lua", DKJSON)}},
}

--- Processor seconds of a command, and what it has written. The shell's own
-- word: it waits for nothing else.
local function measured (program, words)
  for i, word in ipairs(words) do
    words[i] = quote(word)
  end
  local script = ("cd %s && %s > %s/out 2> %s/err; times")
                 :format(quote(program.at), table.concat(words, " "), room,
                         room)
  local text = output_of("sh -c " .. quote(script))
  local user, system = text:match "\n(%S+) (%S+)"
  local seconds = 0
  for minutes, rest in (user .. " " .. system):gmatch "(%d+)m([%d.]+)s" do
    seconds = seconds + 60 * tonumber(minutes) + tonumber(rest)
  end
  local written = program.writes
                  and output_of("find " .. quote(program.writes)
                                .. " -type f -exec cksum {} + | sort") or ""
  return seconds, output_of("cat " .. room .. "/out") .. written
end

local set_clock = ("package.cpath = %q .. package.cpath "
                   .. "require 'bench_hook'.hook 'clock'")
                  :format(absolute(build) .. "/spec/?.so;")

local function words_of (program, mode)
  local words = mode[1] == "untraced" and {lua}
                or mode[1] == "clock" and {lua, "-e", set_clock}
                or {tool, "record", "-o", room .. "/p.tgr",
                    table.unpack(mode, 2)}
  return table.move(program.command, 1, #program.command, #words + 1, words)
end

local function bytes_of_event ()
  return output_of(tool .. " info " .. room .. "/p.tgr")
         :match "events:%s+[%d,]+, ([%d.]+) bytes each"
end

local function bench (program)
  local least, bytes, expected = {}, {}, nil
  for _ = 1, runs do
    for i, mode in ipairs(MODES) do
      local seconds, output = measured(program, words_of(program, mode))
      expected = expected or output
      assert(output == expected, program.name .. " writes something else: "
                                 .. mode[1])
      least[i] = math.min(least[i] or math.huge, seconds)
      bytes[i] = i > CLOCK and bytes_of_event()
    end
  end
  return least, bytes
end

local function row (program)
  local least, bytes = bench(program)
  io.write(("%-10s%9.2f%8.2f"):format(program.name, least[1],
                                      least[CLOCK] / least[1]))
  for i = CLOCK + 1, #MODES do
    io.write(("%8.2f%6s"):format(least[i] / least[1], bytes[i] or "?"))
  end
  print(("%12.2f"):format(least[#MODES] / least[#MODES - 1]))
end

local function is_wanted (name)
  for _, word in ipairs(wanted) do
    if word == name then
      return true
    end
  end
  return #wanted == 0
end

print("# processor time, in times of the untraced program, and bytes an event")
print(("%-10s%9s%8s%14s%14s%14s%12s"):format("program", "seconds", "clock",
      "name,time", "depth 0", "default", "of depth 0"))
for _, program in ipairs(programs) do
  if is_wanted(program.name) then
    if exists(program.needs) then
      row(program)
    else
      print(("%-10s needs %s"):format(program.name, program.package))
    end
  end
end
os.execute("rm -rf " .. quote(room))
