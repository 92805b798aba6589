std = "lua54"
max_line_length = 80
self = false
exclude_files = {"build", "csrc"}
files["spec/**/*_spec.lua"] = {std = "+busted"}
files["examples/busted/*_spec.lua"] = {std = "+busted"}
files["spec/support/child.lua"] = {globals = {"tracegrip", "start"}}

-- What runs in the program's state takes Lua's libraries from core.lua.
for _, name in ipairs {"listen", "wire", "jsontext", "console", "init",
                       "target"} do
  files["lua/tracegrip/" .. name .. ".lua"] = {
    std = "none", read_globals = {"require", "arg"}
  }
end
