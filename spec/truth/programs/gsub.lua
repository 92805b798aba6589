-- C calls Lua for each match, which makes strings.
local turns = tonumber(arg[1])
local text = ("a bc def ghij "):rep(10)
local function replace (word)
  return word .. "!"
end
local function run ()
  return string.gsub(text, "%a+", replace)
end
for _ = 1, turns * 4 do
  run()
end
