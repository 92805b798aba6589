-- launching.lua - programs that the debug adapter starts: a script or tests,
-- with standard output and error as pipes, or in the client's terminal.
--
-- What is started gets boot.lua by its environment, as programs of "record --"
-- do, and opens itself to debuggers at a port that is free. Where that is it
-- writes into a book of ours (book.lua). Then it waits until a debugger lets it
-- begin.
--
--   launching.new(told)    -> Launched, which has yet to be started; raises a
--                      problem. told(launched, place) is called for each
--                      process in the book: {pid, where, path, title}
--   launched:start(arguments, port)
--                      raises a problem. Waits for the interpreter to tell what
--                      it is (interpreter.lua), and for the client's terminal
--   launching.path(arguments)
--                      the absolute path of the file to run
--   launched.held      set of the places of those that nobody has let begin:
--                      the caller's
--   launched.output    set by the caller: function (category, bytes), nil at
--                      the end of a stream
--   launched.ended     the same: function (code, signal), when the process that
--                      was started is over
--   launched:read(on)  whether output is read; at first it is not
--   launched:kill(signal)    all that was started, and what it has started; it
--                      is not started any more, if it has not been yet
--   launched:leave()   it goes on without us, and so does all that has come to
--                      the book, which is told now: what it prints is read by
--                      processes of their own as long as anybody writes, since
--                      one that writes to nobody is ended (SIGPIPE). Raises a
--                      problem
--   launched:close()   nothing more is told; once or often
--
-- Failure: what cannot be started is a problem that the user is shown.

local book = require "tracegrip.dap.book"
local core = require "tracegrip.core"
local interpreter = require "tracegrip.dap.interpreter"
local listen = require "tracegrip.listen"
local problem = require "tracegrip.dap.problem"
local program = require "tracegrip.cli.program"
local task = require "tracegrip.dap.task"
local uv = require "luv"
local wire = require "tracegrip.wire"
core.own()

local READER = "while io.read(1 << 16) do end"

local launching = {}

local Launched = {__name = "tracegrip.dap.launched"}
Launched.__index = Launched

local function shut (handle)
  if handle and not handle:is_closing() then
    handle:close()
  end
end

---------------------------------------------------------------------------
-- What is started
---------------------------------------------------------------------------

local function strings (list, what)
  for i, one in ipairs(list) do
    if type(one) ~= "string" then
      problem.show("'%s' has to be a list of strings (number %d is none)", what,
                   i)
    end
  end
  return list
end

-- A pattern that finds this text and no other.
local function plain (text)
  return (string.gsub(text, "[%^$()%%.%[%]*+%-?]", "%%%0"))
end

-- Where a shell finds a command; nil: nowhere.
local function find_command (name)
  for directory in string.gmatch(os.getenv "PATH" or "", "[^:]+") do
    local path = directory .. "/" .. name
    if uv.fs_access(path, "X") then
      return path
    end
  end
end

-- busted is a script of Lua, or one of the shell that knows its interpreter.
-- (Its option --lua does not quote what it hands on.)
local function busted_words (arguments, lua)
  local path = find_command "busted"
               or problem.show("there is no command busted in PATH")
  local first = string.match(core.contents(path) or "", "^#![^\n]*")
  local words = first and string.find(first, "lua") and {lua, path} or {path}
  words[#words + 1] = arguments.program
  words[#words + 1] = arguments.test and "--filter=" .. plain(arguments.test)
                      or nil
  return words
end

-- The command line.
local function words_of (arguments)
  local lua = arguments.lua or core.interpreter()
  local rest = strings(arguments.args or {}, "args")
  local words = arguments.busted and busted_words(arguments, lua)
                or {lua, arguments.program}
  return table.move(rest, 1, #rest, #words + 1, words)
end

-- The variables that are to be other than the adapter's own: false, none.
local function changes (self, arguments, client)
  local env = program.environment("listen", listen.debugger_plan {inspect = 0},
    {breaks = true, tell = self.book.path,
     alone = arguments.subprocesses == false or arguments.noDebug
             or not client.supportsStartDebuggingRequest or nil})
  for name, value in pairs(arguments.env or {}) do
    if type(value) ~= "string" and value ~= wire.null then
      problem.show("'env' has to be an object of strings (%s is none)", name)
    end
    env[name] = value ~= wire.null and value
  end
  return env
end

-- All that the program has, as names with their values.
local function environment (env)
  local all = uv.os_environ()
  for name, value in pairs(env) do
    all[name] = value or nil
  end
  return all
end

local function listed (env)
  local list = {}
  for name, value in pairs(env) do
    list[#list + 1] = name .. "=" .. value
  end
  return list
end

local function directory_of (arguments)
  local path = arguments.cwd
  if not path then
    return uv.cwd()
  end
  local stat = uv.fs_stat(path)
  if not stat or stat.type ~= "directory" then
    problem.show("'cwd': there is no directory %s", path)
  end
  return path
end

-- A relative path of a program is one in its directory, as a shell has it.
function launching.path (arguments)
  local path = arguments.program
  if not path then
    problem.show("'program' is missing: the file to run")
  end
  return string.sub(path, 1, 1) == "/" and path
         or directory_of(arguments) .. "/" .. path
end

local function check_program (arguments)
  local path = launching.path(arguments)
  if not uv.fs_stat(path) then
    problem.show("'program': there is no file %s", path)
  end
end

---------------------------------------------------------------------------
-- Its own pipes
---------------------------------------------------------------------------

function Launched:read (on)
  for category, pipe in pairs(self.pipes) do
    if not on then
      pipe:read_stop()
    elseif not pipe:is_closing() then
      pipe:read_start(function (err, bytes)
        if err or not bytes then
          shut(pipe)
          self.pipes[category] = nil
        end
        self.output(category, not err and bytes or nil)
      end)
    end
  end
end

-- In a group of its own, so that all of it can be ended.
local function spawn (self, words, cwd, env)
  self.pipes = {stdout = uv.new_pipe(false), stderr = uv.new_pipe(false)}
  local process, pid = uv.spawn(words[1], {
    args = table.move(words, 2, #words, 1, {}), cwd = cwd, env = env,
    stdio = {nil, self.pipes.stdout, self.pipes.stderr}, detached = true
  }, function (code, signal)
    shut(self.process)
    self.over = true
    if self.ended then
      self.ended(code, signal)
    end
  end)
  if not process then
    interpreter.refuse(words[1], pid)
  end
  self.process, self.pid = process, pid
end

-- In a session of its own: an editor may end the adapter and its group as soon
-- as it has its answer. The reader's standard input is a stream that waits.
local function hand_over (pipe)
  pipe:read_stop()
  local process, err
  process, err = uv.spawn(core.interpreter(), {
    args = {"-E", "-e", READER}, stdio = {pipe, nil, nil}, detached = true
  }, function () shut(process) end)
  if not process then
    problem.raise("the program cannot be left: nobody would read what it "
                  .. "prints: %s", err)
  end
  process:unref()
end

---------------------------------------------------------------------------
-- The client's terminal
---------------------------------------------------------------------------

local kinds = {integratedTerminal = "integrated", externalTerminal = "external"}

local function run_in_terminal (port, kind, words, cwd, env)
  local given = {}
  for name, value in pairs(env) do
    given[name] = value or wire.null
  end
  local body, message = task.await(function (done)
    port.ask("runInTerminal", {
      kind = kind, title = "Lua: " .. words[2], cwd = cwd,
      args = wire.array(words), env = given
    }, done)
  end)
  if not body then
    problem.show("the editor could not run the program in a terminal: %s",
                 message)
  end
  return body.processId
end

---------------------------------------------------------------------------
-- Both
---------------------------------------------------------------------------

-- The kind of a terminal; nil: none.
local function terminal_of (arguments, client)
  local console = arguments.console or "internalConsole"
  if console == "internalConsole" then
    return nil
  elseif not kinds[console] then
    problem.show("'console' has to be internalConsole, integratedTerminal or "
                 .. "externalTerminal, not %s", console)
  elseif not client.supportsRunInTerminalRequest then
    problem.show("this editor has no terminal for programs: 'console' has to "
                 .. "be internalConsole")
  end
  return kinds[console]
end

-- Meanwhile the client may have gone.
local function check_interpreter (self, path, how)
  interpreter.check(path, how, function (stop) self.stop_asking = stop end)
  if self.unwanted then
    problem.cancel()
  end
end

-- Whoever started nothing leaves nothing behind.
local function start (self, arguments, port)
  local cwd = directory_of(arguments)
  check_program(arguments)
  local words, env = words_of(arguments), changes(self, arguments, port.client)
  local terminal, all = terminal_of(arguments, port.client), environment(env)
  check_interpreter(self, words[1], {cwd = cwd, env = all,
                                     elsewhere = terminal ~= nil})
  if terminal then
    self.pid = run_in_terminal(port, terminal, words, cwd, env)
    self.in_terminal = true
  else
    spawn(self, words, cwd, listed(all))
  end
end

function launching.new (told)
  local self = setmetatable({pipes = {}, held = {}, over = false,
                             closed = false}, Launched)
  self.book = book.open(function (place) told(self, place) end)
  return self
end

function Launched:start (arguments, port)
  local ok, err = pcall(start, self, arguments, port)
  if not ok then
    self.over = true
    self:close()
    error(err, 0)
  end
end

-- It has not begun, and will not.
local function give_up (self)
  self.unwanted = true
  if self.stop_asking then
    self.stop_asking()
  end
end

-- In a terminal the group is the terminal's: the process alone.
function Launched:kill (signal)
  if self.over then
    return
  elseif not self.pid then
    give_up(self)
  elseif self.in_terminal then
    if self.main then
      uv.kill(self.main, signal)
    end
  else
    uv.kill(-self.pid, signal)
  end
end

function Launched:leave ()
  if not self.pid then
    give_up(self)
  end
  for category, pipe in pairs(self.pipes) do
    hand_over(pipe)
    shut(pipe)
    self.pipes[category] = nil
  end
  self.book:close(true)
end

function Launched:close ()
  for _, pipe in pairs(self.pipes) do
    shut(pipe)
  end
  self.book:close()
  self.closed = true
end

return launching
