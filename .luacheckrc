std = "lua54"
max_line_length = 80
self = false
exclude_files = {"build", "csrc"}
files["spec/**/*_spec.lua"] = {std = "+busted"}
files["examples/busted/*_spec.lua"] = {std = "+busted"}
files["spec/support/child.lua"] = {globals = {"tracegrip", "start"}}
