-- output.lua FILE... - puts fresh output into documents.
--
-- A line "<!-- run: COMMAND -->" is followed by a block fenced with "```",
-- which becomes what the command prints now, on either stream. With "run 90:"
-- the command has a terminal of so many columns, without colours. A command
-- that fails, or prints nothing, leaves the document as it was.

local function quoted (text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- script, from util-linux, lends the terminal.
local function on_terminal (command, columns)
  return ("NO_COLOR=1 script -qec %s /dev/null </dev/null | tr -d '\\r'")
    :format(quoted("stty cols " .. columns .. " && " .. command))
end

local function output (command, columns)
  if columns ~= "" then
    command = on_terminal(command, columns)
  end
  local pipe = assert(io.popen("exec 2>&1; " .. command))
  local text = pipe:read "a"
  assert(pipe:close() and text ~= "", command)
  return text
end

for _, path in ipairs(arg) do
  local file <close> = assert(io.open(path))
  local text = file:read "a"
  text = text:gsub("(<!%-%- run ?(%d*): (.-) %-%->\n```%w*\n).-(```\n)",
                   function (head, columns, command, tail)
    return head .. output(command, columns) .. tail
  end)
  local new <close> = assert(io.open(path, "w"))
  new:write(text)
end
