-- The front end that people use, Chromium's own: what its panels show of a
-- program, and what its buttons do. Each script here (stage.mjs) leads it
-- through a program and waits for what has to be seen; its error says what was
-- seen instead. All of them open their pages in one browser: it takes longer to
-- start than most scripts.

local lfs = require "lfs"

local debugger = require "spec.support.debugger"
local run = require "spec.support.run"

local PATIENCE = 300            -- seconds, for a machine that is very busy

-- A browser and a Node that knows WebSocket are not everywhere; and a browser
-- does not start under a sanitizer (make asan).
local function is_missing ()
  return os.getenv "LD_PRELOAD"
         or not os.execute "command -v chromium >/dev/null 2>&1"
         or not os.execute("node --experimental-websocket -e 'WebSocket' "
                           .. ">/dev/null 2>&1")
end

local it = not is_missing() and debugger.needed(it, pending) or function (name)
  pending(name .. ": no chromium or no Node.js with WebSocket here")
end

local scripts = {
  {"opening", "open by the address that is printed, and answer when idle"},
  {"stepping", "show frames and scopes, and step by their buttons"},
  {"breakpoints", "set breakpoints of all kinds, and ignore files"},
  {"errors", "stop at errors and assertions as their boxes say"},
  {"looking", "show values as Lua has them, and change them"},
  {"acting", "run code, complete it, and pause by what people do"},
  {"panels", "show the console, coverage and a profile in their panels"},
  {"memory", "show who has made what is alive, and when"},
  {"makers", "show who has made an object, and where that is"},
  {"mapped", "show the files that Lua was made of, by their maps"},
  {"replayed", "walk through a recording, and back"},
  {"clients", "are several for one program"},
}

local node = {"node", "--experimental-websocket", "--no-warnings"}

local function script (name, ...)
  local words = table.move(node, 1, #node, 1, {})
  words[#words + 1] = ("%s/spec/inspect/%s.mjs"):format(run.root, name)
  return table.move({...}, 1, select("#", ...), #words + 1, words)
end

-- The browser's profile, a new directory, and the process that ends the browser
-- when it has nothing more to read: when this one has gone, at the latest.
local function open ()
  local name = os.tmpname()
  local browser = {name = name, profile = name .. ".d"}
  assert(lfs.mkdir(browser.profile))
  local words = script("keeper", browser.profile)
  for i, word in ipairs(words) do
    words[i] = run.quote(word)
  end
  browser.keeper = assert(io.popen("exec " .. table.concat(words, " "), "w"))
  return browser
end

local function close (browser)
  browser.keeper:close()
  os.execute("rm -rf " .. run.quote(browser.profile))
  os.remove(browser.name)
end

describe("Chrome DevTools", function ()
  local browser

  teardown(function ()
    if browser then
      close(browser)
    end
  end)

  for _, one in ipairs(scripts) do
    it(one[2], function ()
      browser = browser or open()
      run.within(function (where)
        local words = script(one[1], run.build, where, browser.profile)
        local result = run.command({"timeout", tostring(PATIENCE),
                                    table.unpack(words)}, {cwd = where})
        assert.equal("", result.stderr)
        assert.equal(0, result.status)
      end)
    end)
  end
end)
