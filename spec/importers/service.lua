-- service.lua - a service of three processes, recorded: "front" asks "prices"
-- and then "stock", each a program of its own that runs inside a call of the
-- front.

local run = require "spec.support.run"

local service = {}

local programs = {
  front = [[
    local function ask (name)
      local command = ("$T record -o %s.tgr %s.lua"):format(name, name)
      return os.execute(command)
    end
    local function handle ()
      ask "prices"
      ask "stock"
    end
    handle()
  ]],
  prices = [[
    local rounds = os.getenv "VERSION" == "1.5.0" and 4000 or 500
    local function discount (n)
      local x = 0
      for i = 1, rounds do x = x + i % n end
      return x
    end
    local function price_of (item)
      return discount(7) + #item
    end
    local function quote ()
      for i = 1, 20 do price_of("item " .. i) end
    end
    quote()
  ]],
  stock = [[
    local function reserve (item)
      if item % 3 == 0 then error("sold out: item " .. item, 0) end
      return item
    end
    local function order (item)
      return (reserve(item))
    end
    local function serve ()
      for item = 1, 10 do pcall(order, item) end
    end
    serve()
  ]]
}

-- In the order in which they can be exported: a parent first.
service.names = {"front", "prices", "stock"}

--- Handles one request in the directory, which has the recordings then, of
--- NAME.tgr each. 'request': {version, host}.
function service.handle (directory, request)
  for name, code in pairs(programs) do
    run.write(("%s/%s.lua"):format(directory, name), code)
  end
  local result = run.command(
    {"sh", "-c", "$T record -o front.tgr front.lua"},
    {cwd = directory, timeout = 60,
     env = {T = run.build .. "/bin/tracegrip", LUA = run.lua,
            VERSION = request.version}})
  assert(result.status == 0 and result.stderr == "", result.stderr)
end

--- Exports a recording as spans. 'parent': a traceparent, or nil.
function service.export (directory, name, request, parent)
  local words = {
    run.build .. "/bin/tracegrip", "export", "otlp", "-o",
    name .. ".otlp.jsonl", "--resource", "service.name=" .. name,
    "--resource", "service.version=" .. request.version, "--resource",
    "host.name=" .. request.host, name .. ".tgr"
  }
  if parent then
    table.move({"--traceparent", parent}, 1, 2, #words + 1, words)
  end
  local result = run.command(words, {cwd = directory, timeout = 60})
  assert(result.status == 0, result.stderr)
  return ("%s/%s.otlp.jsonl"):format(directory, name)
end

return service
