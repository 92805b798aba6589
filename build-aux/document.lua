-- document.lua BYTES OUT.json - a list of orders as JSON, at least BYTES long.
--
-- The same on every machine: the numbers come from a small generator of its
-- own, since Lua's random numbers differ between versions.

local bytes, path = tonumber(arg[1]), arg[2]

local state = 12345
local function pick (n)
  state = (state * 1103515245 + 12345) % 2147483648
  return state // 65536 % n + 1
end

local names = {"Ada Lovelace", "Barbara Liskov", "Grace Hopper", "Zoë Müller",
               "Katherine Johnson", "Margaret Hamilton", "李明", "Sofia K."}
local things = {"abacus", "difference engine", "punched card", "relay",
                "core memory, 4 KiB", "paper tape", "teletype", "plugboard"}
local notes = {"", "leave at the door", "gift, no bill please",
               "call \\\"the lab\\\" first", "fragile\\nthis side up"}

local remarks = {
  "Restored by hand, with all original parts and the manual of its time; a "
  .. "second manual, in German, is enclosed as a scan.",
  "Used, but well kept: stored dry, away from magnets, and tried out twice a "
  .. "year since it was taken out of service.",
  "New old stock in its crate. The crate has been opened once, for photographs "
  .. "(see the catalogue), and nailed shut again.",
}

local function item ()
  return string.format(
    '{"what": "%s", "price": %d.%02d, "count": %d, "remark": "%s"}',
    things[pick(#things)], pick(400), pick(99), pick(5),
    remarks[pick(#remarks)])
end

local function order (id)
  local items = {}
  for i = 1, pick(6) do
    items[i] = item()
  end
  return string.format(
    '{"id": %d, "customer": {"name": "%s", "since": %d, "vip": %s}, '
    .. '"note": "%s", "coupon": null, "items": [%s]}',
    id, names[pick(#names)], 1990 + pick(35), pick(4) == 1,
    notes[pick(#notes)], table.concat(items, ", "))
end

local list, size = {}, 0
while size < bytes do
  list[#list + 1] = order(#list + 1)
  size = size + #list[#list] + 2
end
local file = assert(io.open(path, "wb"))
assert(file:write("[", table.concat(list, ",\n"), "]\n"))
assert(file:close())
