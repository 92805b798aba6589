-- The front end that people use, Chromium's own: what its panels show of a
-- program, and what its buttons do. Each script here (stage.mjs) leads it
-- through a program and waits for what has to be seen; its error says what was
-- seen instead.

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
  {"clients", "are several for one program"},
}

describe("Chrome DevTools", function ()
  for _, one in ipairs(scripts) do
    it(one[2], function ()
      run.within(function (where)
        local result = run.command({
          "timeout", tostring(PATIENCE), "node", "--experimental-websocket",
          "--no-warnings", ("%s/spec/inspect/%s.mjs"):format(run.root, one[1]),
          run.build, where
        }, {cwd = where})
        assert.equal("", result.stderr)
        assert.equal(0, result.status)
      end)
    end)
  end
end)
