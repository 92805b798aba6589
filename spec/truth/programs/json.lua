-- A document written as JSON and read again.
local turns = tonumber(arg[1])
local escapes = {['"'] = '\\"', ["\\"] = "\\\\", ["\n"] = "\\n"}
local write, read
local function write_string (out, text)
  out[#out + 1] = '"' .. text:gsub('["\\\n]', escapes) .. '"'
end
local function write_list (out, list)
  for i = 1, #list do
    out[#out + 1] = i == 1 and "[" or ","
    write(out, list[i])
  end
  out[#out + 1] = "]"
end
local function write_object (out, object)
  local before = "{"
  for key, value in pairs(object) do
    out[#out + 1] = before
    write_string(out, key)
    out[#out + 1] = ":"
    write(out, value)
    before = ","
  end
  out[#out + 1] = "}"
end
function write (out, value)
  if type(value) == "string" then
    write_string(out, value)
  elseif type(value) ~= "table" then
    out[#out + 1] = tostring(value)
  elseif value[1] then
    write_list(out, value)
  else
    write_object(out, value)
  end
end
local function read_string (text, at)
  local from, to = text:find('[^\\]"', at)
  return text:sub(at + 1, from), to + 1
end
local function read_list (text, at)
  local list = {}
  repeat
    list[#list + 1], at = read(text, at + 1)
  until text:sub(at, at) == "]"
  return list, at + 1
end
local function read_object (text, at)
  local object = {}
  repeat
    local key, past = read_string(text, at + 1)
    object[key], at = read(text, past + 1)
  until text:sub(at, at) == "}"
  return object, at + 1
end
function read (text, at)
  local first = text:byte(at)
  if first == 34 then
    return read_string(text, at)
  elseif first == 91 then
    return read_list(text, at)
  elseif first == 123 then
    return read_object(text, at)
  end
  local word, to = text:match("^([%w.-]+)()", at)
  return tonumber(word) or word == "true", to
end
local list = {}
for i = 1, 12 do
  list[i] = {id = i, name = 'item "' .. i .. '" of it', tags = {"a1", "b2"},
             price = i * 1.25, there = true}
end
for _ = 1, turns do
  local out = {}
  write(out, list)
  read(table.concat(out), 1)
end
