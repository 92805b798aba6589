-- A client: attaches to a program that runs elsewhere, watches a few calls, and
-- lets it go on.
--
--   lua5.4 examples/08-attach.lua [PORT]
--
-- Without a port it starts a program for itself (served.lua).

local client = require "tracegrip.client"

local port, program = arg[1], nil
if not port then
  local directory = arg[0]:match "^(.*/)" or ""
  program = io.popen(arg[-1] .. " " .. directory .. "served.lua 2>&1")
  local line = program:read "l"
  port = line:match ":(%d+)$" or error(line)
end

local connection = assert(client.connect {port = tonumber(port)})
for i, tab in ipairs(assert(connection:listTabs()).tabs) do
  print("tab " .. i, tab.title:match "[^/]*$")
end

local tracer = assert(connection:attach())
local trace = assert(tracer:startTrace {
  name = "orders", trace = {"name", "arguments", "return", "throw"},
  include = {"^serve$", "^price$"}, maxEvents = 60
})

-- One whole order: from the call of serve with number 1 to that with number 1.
local depth, shown = 0, false
for packet in trace:packets() do
  local entry = packet.type == "enteredFrame"
  if not entry then
    depth = depth - 1
  elseif packet.name == "serve" and packet.arguments.values[1] == 1 then
    if shown then
      break
    end
    shown = true
  end
  if shown and entry then
    print(("  "):rep(depth) .. packet.name, packet.arguments.values[1])
  elseif shown then
    local value = (packet["return"] or packet.throw).value
    print(("  "):rep(depth) .. packet.why,
          type(value) == "table" and value.type or value)
  end
  depth = depth + (entry and 1 or 0)
end

assert(tracer:detach())
print("detached", trace.why)
connection:close()
if program then
  program:close()
end

--[[ prints
tab 1	served.lua
serve	1
  price	1
  return	10
return	10
serve	2
  price	2
  return	20
return	20
serve	3
  price	3
  exception	order 3 is unknown
return	undefined
detached	detached
--]]
