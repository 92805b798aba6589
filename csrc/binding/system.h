/*
** system.h - what the command line needs of the process it runs in.
*/
#ifndef TG_SYSTEM_H
#define TG_SYSTEM_H

#include "binding/lx.h"

/* exec(path, args, env) -> nil, message, code: replaces the process. 'env' has
   variables to set, or to remove (false). */
int system_exec (lua_State *L);

/*
** spawn(path, args, env) -> "exit" or "signal", number | nil, message, code:
** runs a command as exec does, but in a child, and waits for its end. Signals
** that were sent to this process alone are passed on; those of the terminal
** reach the command by themselves.
*/
int system_spawn (lua_State *L);

/* launch(path, args, env) -> its number | nil, message, code: the same without
   waiting; ended() -> what spawn gives, or nothing as long as it runs. One at a
   time. */
int system_launch (lua_State *L);
int system_ended (lua_State *L);

/* interpreter() -> path of the running program. */
int system_interpreter (lua_State *L);

/* commandline() -> the words that started the process, from 0 on, as "arg". */
int system_commandline (lua_State *L);

/* setenv(name, value or nil). */
int system_setenv (lua_State *L);

/* isatty(fd) -> boolean. */
int system_isatty (lua_State *L);

/* columns(fd) -> the terminal's columns; nothing if 'fd' is no terminal. */
int system_columns (lua_State *L);

/* pid() -> integer. */
int system_pid (lua_State *L);

/* family(name) -> integer: tg_family. */
int system_family (lua_State *L);

/* claimable(path) -> true | nil, message, code: tg_claim_try. */
int system_claimable (lua_State *L);
int system_compresses (lua_State *L);

/* die(signal): ends as a command did that was waited for. */
int system_die (lua_State *L);

/* directory() -> the current one | nil, message, code. */
int system_directory (lua_State *L);

/* privileged(path) -> what gives a program more rights than who starts it has:
   "setuid", "setgid" or "capabilities"; nil. */
int system_privileged (lua_State *L);

/* filetype(path) -> "file", "directory" or "other", permissions: an integer
   | nil, message, code. */
int system_filetype (lua_State *L);

/* tell(text): on standard error. */
int system_tell (lua_State *L);

/* contents(path) -> what a file has; nil: it cannot be read, or has more than a
   source has. */
int system_contents (lua_State *L);

/* islink(path) -> boolean: whether it is a symbolic link that no output follows
   (newfile.h). */
int system_islink (lua_State *L);

/* samefile(path1, path2) -> boolean: whether both are there and the same. */
int system_samefile (lua_State *L);

/* occupy(): no file gets the number of a standard descriptor that is closed;
   libuv would not close it again. */
int system_occupy (lua_State *L);

/* interruptible(): SIGINT ends the process at once. The interpreter would wait
   for the next Lua instruction, and reading a recording is C. */
int system_interruptible (lua_State *L);

/* ignores(number) -> boolean: whether that signal is ignored, as nohup has
   it. */
int system_ignores (lua_State *L);

#endif
