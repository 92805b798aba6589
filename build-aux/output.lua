-- output.lua FILE... - puts fresh output into documents.
--
-- A line "<!-- run: COMMAND -->" is followed by a block fenced with "```",
-- which becomes what the command prints now, on either stream.

local function output (command)
  local pipe = assert(io.popen("exec 2>&1; " .. command))
  local text = pipe:read "a"
  assert(pipe:close(), command)
  return text
end

for _, path in ipairs(arg) do
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  text = text:gsub("(<!%-%- run: (.-) %-%->\n```%w*\n).-(```\n)",
                   function (head, command, tail)
    return head .. output(command) .. tail
  end)
  file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end
