-- Templates: gsub with functions that look up, escape and format.
local turns = tonumber(arg[1])
local template = ("<li class=$class>$name: $price &amp; $note</li>\n"):rep(20)
local values = {class = "item", name = "tea \"Assam\"", price = 3.5,
                note = "a < b"}
local entities = {["<"] = "&lt;", ['"'] = "&quot;"}
local function escape (text)
  return (text:gsub('[<"]', entities))
end
local function shown (value)
  if type(value) == "number" then
    return ("%.2f"):format(value)
  end
  return escape(value)
end
local function look_up (name)
  return shown(values[name])
end
local function expand ()
  return (template:gsub("%$(%a+)", look_up))
end
local function words (text)
  local count = 0
  text:gsub("%a+", function ()
    count = count + 1
  end)
  return count
end
for _ = 1, turns do
  words(expand())
end
