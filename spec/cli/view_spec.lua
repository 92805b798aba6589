-- tracegrip view: one file for one page, and nothing else for anybody.

local cjson = require "cjson"
local lfs = require "lfs"

local freeport = require "spec.support.freeport"
local run = require "spec.support.run"
local served = require "spec.support.served"

local it = run.needs("luv", it, pending)

local program = "for i = 1, 100 do math.abs(i) end"

-- Calls use(directory) in one with a recording "rec".
local function recorded (use)
  return run.within(function (directory)
    run.write(directory .. "/program.lua", program)
    lfs.mkdir(directory .. "/tmp")
    local result = run.command({run.build .. "/bin/tracegrip", "record", "-o",
                                "rec", "program.lua"}, {cwd = directory})
    assert.equal("", result.stderr)
    return use(directory)
  end)
end

local function decoded (text)
  return (text:gsub("%%(%x%x)", function (hex)
    return string.char(tonumber(hex, 16))
  end))
end

-- Calls use(command, place, directory) while the recording is viewed; the
-- place: port, path and address, the viewer's. 'env' as in served.start.
local function viewing (words, use, env)
  recorded(function (directory)
    env = env or {}
    env.TMPDIR = directory .. "/tmp"
    local command = served.start({"view", "rec", table.unpack(words)},
                                 directory, env)
    local address = command:until_says "^(https?://[^\n]+)\n"
    assert(address, command.err)
    local port, path = decoded(address):match "http://127.0.0.1:(%d+)(/.*)$"
    use(command, {port = tonumber(port), path = path, address = address},
        directory)
    if not command.status then
      command:kill()
      command:ended()
    end
  end)
end

local function request (place, method, headers, path)
  local lines = {("%s %s HTTP/1.1"):format(method, path or place.path)}
  headers.Host = headers.Host or "127.0.0.1:" .. place.port
  for name, value in pairs(headers) do
    lines[#lines + 1] = name .. ": " .. value
  end
  return served.parse(served.exchange(
    place.port, table.concat(lines, "\r\n") .. "\r\n\r\n"))
end

local firefox = "https://profiler.firefox.com"

local function files_in (directory)
  local n = 0
  for name in lfs.dir(directory) do
    n = n + (name:sub(1, 1) == "." and 0 or 1)
  end
  return n
end

describe("tracegrip view", function ()
  it("serves the export once and ends", function ()
    viewing({}, function (command, place, directory)
      assert.equal(0, files_in(directory .. "/tmp"))
      local status, headers, body = request(place, "GET", {Origin = firefox})
      assert.equal(200, status)
      assert.equal(firefox, headers["access-control-allow-origin"])
      assert.equal("application/json", headers["content-type"])
      assert.equal(#body, tonumber(headers["content-length"]))
      local document = cjson.decode(body)
      assert.equal(66, document.meta.preprocessedProfileVersion)
      assert.equal(0, command:ended())
      assert.matches("^tracegrip: 10%d calls, [^\n]*\n"
                     .. "tracegrip: waiting for a browser[^\n]*\n$",
                     command.err)
      assert.is_nil(served.exchange(place.port, "GET / HTTP/1.1\r\n\r\n"))
    end)
  end)

  it("can be fetched again for a moment", function ()
    viewing({}, function (command, place)
      for _ = 1, 3 do
        assert.equal(200, (request(place, "GET", {Origin = firefox})))
      end
      assert.equal(0, command:ended())
    end)
  end)

  it("gives each viewer its address and its format", function ()
    local origins = {
      firefox = "^https://profiler%.firefox%.com/from%-url/http%%3A%%2F%%2F127",
      speedscope = "^https://www%.speedscope%.app/#profileURL=http%%3A%%2F%%2F",
    }
    local contents = {firefox = '"preprocessedProfileVersion"',
                      speedscope = "speedscope.app/file%-format%-schema"}
    for viewer, pattern in pairs(origins) do
      viewing({"--with", viewer}, function (_, place)
        assert.matches(pattern, place.address)
        local _, _, body = request(place, "GET", {})
        assert.matches(contents[viewer], body)
      end)
    end
  end)

  it("offers to Perfetto what and where Perfetto fetches", function ()
    recorded(function (directory)
      local command = served.start({"view", "--with", "perfetto", "rec"},
                                   directory, {TMPDIR = directory .. "/tmp"})
      local said = command:until_says "([^\n]+)\n"
      if said:find "^/" then     -- the port is taken: the file is kept
        assert.equal(0, command:ended())
        assert.matches("9001", command.err)
        assert.is_table(lfs.attributes(said))
        return
      end
      assert.matches("^https://ui%.perfetto%.dev/#!/%?url="
                     .. "http://127%.0%.0%.1:9001/", said)
      local place = {port = 9001, path = said:match ":9001(/.*)$"}
      local second = served.start({"view", "--with", "perfetto", "rec"},
                                  directory, {TMPDIR = directory .. "/tmp"})
      assert.matches("^/.*%.json", second:until_says "([^\n]+)\n")
      assert.equal(0, second:ended())
      assert.matches("9001", second.err)
      local _, headers, body = request(place, "GET",
                                       {Origin = "https://ui.perfetto.dev"})
      assert.equal("https://ui.perfetto.dev",
                   headers["access-control-allow-origin"])
      assert.matches('"traceEvents"', body)
      assert.equal(0, command:ended())
    end)
  end)

  it("shows tracegrip's own page, which needs no network", function ()
    viewing({"--with", "html"}, function (command, place, directory)
      assert.matches("^http://127%.0%.0%.1:%d+/%x+/program%.lua%.html$",
                     place.address)
      local status, headers, body = request(place, "GET", {})
      assert.equal(200, status)
      assert.equal("text/html; charset=utf-8", headers["content-type"])
      assert.matches("^<!DOCTYPE html>.*</html>\n$", body)
      assert.is_nil(headers["access-control-allow-origin"])
      assert.equal(404, (request(place, "GET", {Origin = firefox})))
      assert.equal(0, command:ended())
      assert.equal(0, files_in(directory .. "/tmp"))
      assert.not_matches("network", command.err)
    end)
  end)

  it("gives up when nobody comes, and says what needs no network", function ()
    viewing({"--wait", "300ms"}, function (command, _, directory)
      assert.equal(1, command:ended())
      assert.matches("nobody has fetched it within 0.3 s", command.err)
      assert.equal(0, files_in(directory .. "/tmp"))
      assert.matches("waiting for a browser [^\n]*without a network: "
                     .. "%-%-with html", command.err)
      assert.matches("nobody has fetched it [^\n]*%-%-with html needs no "
                     .. "network\n$", command.err)
    end)
    local help = run.command({run.build .. "/bin/tracegrip", "view", "--help"})
    assert.matches("needs no network", (help.stdout:gsub("%s+", " ")))
  end)

  it("leaves a file for DevTools and tells how to open it", function ()
    recorded(function (directory)
      local result = run.command(
        {run.build .. "/bin/tracegrip", "view", "--with", "devtools", "rec"},
        {cwd = directory, env = {TMPDIR = directory .. "/tmp"}})
      assert.equal(0, result.status)
      assert.matches('"traceEvents"', run.read(result.stdout:match "^[^\n]+"))
      assert.matches("F12", result.stderr)
      assert.matches("triangle", result.stderr)
    end)
  end)

  it("takes the filters, the limit and the port", function ()
    local port = freeport()
    viewing({"--exclude", "math%.abs", "--with", "speedscope", "--port",
             tostring(port)}, function (_, place)
      assert.equal(port, place.port)
      local _, _, body = request(place, "GET", {})
      assert.not_matches("math%.abs", body)
    end)
    viewing({"--limit", "5"}, function (command)
      assert.matches(": 5 calls, [^\n]*left out", command.err)
    end)
  end)

  it("ends on Ctrl-C and leaves nothing behind", function ()
    for _, signal in ipairs {"sigint", "sigterm"} do
      viewing({}, function (command, _, directory)
        command:kill(signal)
        assert.equal(0, command:ended())
        assert.equal(0, files_in(directory .. "/tmp"))
      end)
    end
  end)

  it("opens a browser where there is a display", function ()
    run.within(function (bin)
      run.write(bin .. "/xdg-open",
                "#!/bin/sh\necho \"$1\" >opened.new; mv opened.new opened\n")
      os.execute("chmod +x " .. run.quote(bin .. "/xdg-open"))
      recorded(function (directory)
        local command = served.start({"view", "rec"}, directory, {
          TMPDIR = directory .. "/tmp", DISPLAY = ":0",
          PATH = bin .. ":" .. os.getenv "PATH"
        })
        local opened = directory .. "/opened"
        command:until_ready(function () return lfs.attributes(opened) end)
        local address = run.read(opened)
        assert.matches("^" .. firefox:gsub("%p", "%%%0"), address)
        assert.equal("", command.out)
        local port, path = decoded(address):match "127.0.0.1:(%d+)(/[^\n]*)"
        request({port = tonumber(port), path = path}, "GET", {})
        assert.equal(0, command:ended())
      end)
    end)
  end)

  it("prints the address if no browser can be opened", function ()
    local env = {DISPLAY = ":0", PATH = "/nowhere:/usr/bin:/bin"}
    viewing({"--no-open"}, function (_, place)
      assert.matches("^https://", place.address)
    end, env)
  end)

  it("fails in one line", function ()
    local function refused (status, words, pattern)
      local result = run.command(
        {run.build .. "/bin/tracegrip", "view", table.unpack(words)})
      assert.equal(status, result.status)
      assert.matches("^tracegrip: [^\n]+\n$", result.stderr)
      assert.matches(pattern, result.stderr)
    end
    refused(1, {"nix"}, "nix: No such file")
    refused(2, {"--with", "lynx", "nix"}, "'firefox'")
    refused(2, {"--port", "70000", "nix"}, "%-%-port")
    refused(2, {"--sources", "nix"}, "%-%-sources")
  end)

  it("tells which port is taken", function ()
    viewing({}, function (_, place, directory)
      local result = run.command(
        {run.build .. "/bin/tracegrip", "view", "--port",
         tostring(place.port), "rec"},
        {cwd = directory, env = {TMPDIR = directory .. "/tmp"}})
      assert.equal(1, result.status)
      assert.matches("port " .. place.port .. ": [^\n]*address already in use",
                     result.stderr)
    end)
  end)

  it("tells what the browser may ask", function ()
    viewing({}, function (command)
      command:until_ready(function () return command.err:find "Ctrl" end)
      assert.matches("this machine or local network, allow that", command.err)
    end)
  end)

  it("says that there is nothing to be seen", function ()
    viewing({"--include", "^nothing$"}, function (command)
      assert.matches(": 0 calls, [^\n]*there is nothing to be seen",
                     command.err)
    end)
  end)

  it("has the program's text, if the recording has it", function ()
    recorded(function (directory)
      local tracegrip = run.build .. "/bin/tracegrip"
      run.command({tracegrip, "record", "--sources", "-o", "rec",
                   "program.lua"}, {cwd = directory})
      local command = served.start({"view", "rec"}, directory,
                                   {TMPDIR = directory .. "/tmp"})
      local port, path = decoded(command:until_says "^(https://[^\n]+)\n")
                         :match "http://127.0.0.1:(%d+)(/.*)$"
      local _, _, body = request({port = tonumber(port), path = path}, "GET",
                                 {})
      assert.matches("for i = 1, 100 do math.abs%(i%) end", body)
      assert.equal(0, command:ended())
    end)
  end)

  it("gives the file to speedscope's own command, which needs no network",
  function ()
    run.within(function (bin)
      run.write(bin .. "/speedscope", "#!/bin/sh\ncat \"$1\" >opened\n")
      os.execute("chmod +x " .. run.quote(bin .. "/speedscope"))
      recorded(function (directory)
        local result = run.command(
          {run.build .. "/bin/tracegrip", "view", "--with", "speedscope",
           "rec"},
          {cwd = directory, env = {
            TMPDIR = directory .. "/tmp", DISPLAY = ":0",
            PATH = bin .. ":" .. os.getenv "PATH"
          }})
        assert.equal(0, result.status)
        assert.matches("speedscope.app/file%-format%-schema",
                       run.read(directory .. "/opened"))
        assert.equal(0, files_in(directory .. "/tmp"))
      end)
    end)
  end)
end)

describe("what view serves", function ()
  it("is for one page only", function ()
    viewing({}, function (_, place)
      for _, origin in ipairs {"https://example.org", "null", "*",
                               firefox .. ".example.org"} do
        local status, headers = request(place, "GET", {Origin = origin})
        assert.equal(404, status)
        assert.is_nil(headers["access-control-allow-origin"])
      end
      local _, headers = request(place, "HEAD", {})
      assert.is_nil(headers["access-control-allow-origin"])
    end)
  end)

  it("is not for names that lead here from elsewhere", function ()
    viewing({}, function (_, place)
      assert.equal(404, (request(place, "GET", {Host = "example.org"})))
      local port = ":" .. place.port
      assert.equal(200, (request(place, "HEAD", {Host = "localhost" .. port})))
    end)
  end)

  it("is one file", function ()
    viewing({}, function (_, place)
      for _, path in ipairs {"/", "/rec", place.path .. "x", place.path .. "?x",
                             place.path:match "^/[^/]*/", "/etc/passwd",
                             "//" .. place.path, "/../../etc/passwd"} do
        assert.equal(404, (request(place, "GET", {}, path)))
      end
      for _, method in ipairs {"POST", "PUT", "DELETE", "TRACE", "CONNECT"} do
        assert.equal(404, (request(place, method, {Origin = firefox})))
      end
    end)
  end)

  it("cannot be guessed", function ()
    local seen = {}
    for _ = 1, 2 do
      viewing({}, function (_, place)
        local secret = place.path:match "^/(%x+)/"
        assert.equal(32, #secret)
        assert.is_nil(seen[secret])
        seen[secret] = true
      end)
    end
  end)

  it("answers what browsers ask before a page may fetch", function ()
    viewing({}, function (_, place)
      local status, headers, body = request(place, "OPTIONS", {
        Origin = firefox, ["Access-Control-Request-Method"] = "GET",
        ["Access-Control-Request-Private-Network"] = "true"
      })
      assert.equal(204, status)
      assert.equal("", body)
      assert.equal(firefox, headers["access-control-allow-origin"])
      assert.equal("true", headers["access-control-allow-private-network"])
      assert.matches("GET", headers["access-control-allow-methods"])
      assert.equal(404, (request(place, "OPTIONS", {})))
    end)
  end)

  it("is described by HEAD, which does not fetch it", function ()
    viewing({}, function (command, place)
      local _, headers, body = request(place, "HEAD", {})
      assert.equal("", body)
      assert.is_true(tonumber(headers["content-length"]) > 1000)
      os.execute "sleep 1.5"
      assert.equal(200, (request(place, "GET", {})))
      assert.equal(0, command:ended())
    end)
  end)

  it("survives requests that are none", function ()
    viewing({}, function (command, place)
      for _, text in ipairs {"\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9\r\n\r\n",
                             "\0\xff\r\n\r\n", "GET / HTTP/1.1\r\nx\r\n\r\n",
                             ("get %s HTTP/1.1\r\n\r\n"):format(place.path)} do
        assert.equal(404, (served.parse(served.exchange(place.port, text))))
      end
      assert.equal("", served.exchange(place.port, ("x"):rep(8193)))
      assert.equal("", served.exchange(place.port, "GET / HTTP/1.1\r\nx: "
                                       .. ("y"):rep(20000) .. "\r\n\r\n"))
      assert.equal(200, (request(place, "GET", {})))
      assert.equal(0, command:ended())
      assert.not_matches("stack traceback", command.err)
    end)
  end)

  it("is not kept from anybody by connections that ask for nothing", function ()
    viewing({}, function (command, place)
      local idle <close> = served.connect(place.port, 40)
      assert.equal(200, (request(place, "GET", {Origin = firefox})))
      assert.equal(0, command:ended())
      assert.is_table(idle)
    end)
  end)
end)
