-- A program may be started without standard input and output, as daemons are.
-- Files of the server, or of a client's loop, must not get their numbers: libuv
-- aborts when it is to close one of these.

local run = require "spec.support.run"

local it = run.needs("luv", it, pending)

local program = [[
  local listening = assert(require "tracegrip".listen())
  local line, _, code = io.read()
  io.stderr:write("read ", tostring(line or code), "\n")
  local ok, _, errno = io.write "x"
  if ok then
    ok, _, errno = io.stdout:flush()
  end
  io.stderr:write("written ", ok and "all" or errno, "\n")
  os.execute "test -e /proc/self/fd/0 && echo input >&2"
  os.exit(7, true)
]]

-- By a shell, which closes them.
local function without (closed, words)
  return run.command({"sh", "-c", 'exec "$@" ' .. closed, "sh",
                      table.unpack(words)}, {files = {["p.lua"] = program}})
end

describe("a program without standard input and output", function ()
  for _, closed in ipairs {"<&- >&-", "<&-", ">&-"} do
    it("listens and ends as it would, with " .. closed, function ()
      for _, words in ipairs {{run.lua, "p.lua"},
                              {run.build .. "/bin/tracegrip", "serve",
                               "p.lua"}} do
        local result = without(closed, words)
        assert.equal(7, result.status, result.stderr)
        local input, output = closed:find "<", closed:find ">"
        assert.equal(("read %s\nwritten %s\n%s"):format(
          input and "9" or "nil", output and "9" or "all",   -- EBADF
          input and "" or "input\n"),
          (result.stderr:gsub("tracegrip: listening [^\n]*\n", "")))
      end
    end)
  end

  it("can be a client", function ()
    local result = without("<&- >&-", {run.build .. "/bin/tracegrip", "attach",
                                       "127.0.0.1:1"})
    assert.equal(1, result.status)
    assert.matches("^tracegrip: cannot connect[^\n]*\n$", result.stderr)
  end)
end)
