/*
** system.c - what the command line needs of the system and Lua's libraries do
** not have: programs that are run, the terminal, files. What changes the
** process (its environment, signals, what it runs) is for a process that is
** tracegrip's own; the rest only asks. What the system refuses is nil, message,
** errno.
*/
#include <errno.h>
#include <signal.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "binding/system.h"
#include "base/family.h"
#include "recording/claim.h"
#include "text/fdwriter.h"
#include "text/fileio.h"
#include "text/newfile.h"
#include "text/zstd.h"

#define CONTENTS_MOST ((size_t)1 << 30)

/* ---- other programs ---- */

/* Applies the table at index 3 to the environment. Of this process: it is
   about to become the command, or does nothing but wait for it. */
static void change_environment (lua_State *L) {
  if (!lua_istable(L, 3))
    return;
  lua_pushnil(L);
  while (lua_next(L, 3)) {
    const char *name = luaL_checkstring(L, -2);
    if (lua_toboolean(L, -1))
      setenv(name, luaL_checkstring(L, -1), 1);
    else
      unsetenv(name);
    lua_pop(L, 1);
  }
}

/* The words of the table at index 2, for execvp. Pushes the list. The strings
   stay the table's, which is on the stack while the list is used; so nothing
   is copied, and nothing is freed when something raises. */
static char **push_words (lua_State *L, const char *path) {
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_Integer n = luaL_len(L, 2);
  char **argv = lua_newuserdatauv(L, ((size_t)n + 2) * sizeof *argv, 0);
  lua_rawgeti(L, 2, 0);   /* what the program is told it is called */
  argv[0] = (char *)(uintptr_t)luaL_optstring(L, -1, path);
  lua_pop(L, 1);
  for (lua_Integer i = 1; i <= n; i++) {
    lua_rawgeti(L, 2, i);
    argv[i] = (char *)(uintptr_t)luaL_checkstring(L, -1);
    lua_pop(L, 1);        /* the table keeps it */
  }
  argv[n + 1] = NULL;
  return argv;
}

/* exec(path, words, environment): returns only if the system refuses. Lua's
   state is not closed, and files that it has open are not flushed: the caller
   has written nothing. */
int system_exec (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  char **argv = push_words(L, path);
  change_environment(L);
  execvp(path, argv);
  return luaL_fileresult(L, 0, path);
}

/* The signals that users send to a process which they have started. */
static const int passed[] = {
  SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH
};

#define NPASSED (sizeof passed / sizeof *passed)

/* Read by a signal handler. */
static volatile pid_t command;      /* the child that is waited for */

/* Signals of the kernel (si_code > 0), as a terminal's, reach the child by
   themselves. A signal that the command has sent to us is not sent back to it,
   or two such commands would go on for ever. */
static void pass_on (int signal, siginfo_t *info, void *context) {
  int error = errno;
  (void)context;
  if (info->si_code <= 0 && info->si_pid != command)
    kill(command, signal);
  errno = error;
}

/* In the child: the command, or its errno into the pipe. The pipe is closed by
   a successful execvp (O_CLOEXEC): that is how the parent knows. */
static void become (const char *path, char **argv, const sigset_t *mask,
                    int report) {
  sigprocmask(SIG_SETMASK, mask, NULL);
  execvp(path, argv);
  int error = errno;
  if (write(report, &error, sizeof error) < 0)
    _exit(126);
  _exit(127);
}

/* Starts a child, which becomes the command; -1 with errno. Signals are blocked
   meanwhile, so that none is lost before the child's id is known. The read ends
   when exec closes the pipe, or gives the errno of a failed exec: so a missing
   command is told apart from a command that failed with 127. */
static pid_t start_command (const char *path, char **argv,
                            const sigset_t *mask) {
  int report[2], error = 0;
  if (pipe2(report, O_CLOEXEC) != 0)
    return -1;
  pid_t pid = fork();
  if (pid == 0)
    become(path, argv, mask, report[1]);
  if (pid < 0)
    error = errno;
  close(report[1]);
  if (pid > 0 && read(report[0], &error, sizeof error) > 0) {
    waitpid(pid, NULL, 0);
    pid = -1;
  }
  close(report[0]);
  errno = error;
  return pid;
}

/* What is ignored, as under nohup, stays so: the command inherits that and
   would not be ended by it either. */
static void listen_for (const sigset_t *mask) {
  struct sigaction ours = {.sa_sigaction = pass_on,
                           .sa_flags = SA_SIGINFO | SA_RESTART};
  sigemptyset(&ours.sa_mask);
  for (size_t i = 0; i < NPASSED; i++) {
    struct sigaction before;
    if (sigaction(passed[i], NULL, &before) == 0
        && before.sa_handler != SIG_IGN)
      sigaction(passed[i], &ours, NULL);
  }
  sigprocmask(SIG_SETMASK, mask, NULL);
}

/* All signals are blocked until the command's process id is known. Signals of
   the terminal reach the command by themselves, since it is in the same
   group. */
static bool launch (lua_State *L, const char *path) {
  char **argv = push_words(L, path);
  sigset_t all, before;
  change_environment(L);
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  command = start_command(path, argv, &before);
  int error = errno;
  if (command < 0)
    sigprocmask(SIG_SETMASK, &before, NULL);
  else
    listen_for(&before);
  errno = error;
  return command >= 0;
}

/* A stop is for who has asked for it (outside/halt.c). */
static bool has_ended (int flags) {
  siginfo_t info = {0};
  int result;
  do
    result = waitid(P_PID, (id_t)command, &info, WEXITED | WNOWAIT | flags);
  while (result != 0 && errno == EINTR);
  return result != 0 || info.si_code == CLD_EXITED
         || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
}

/* How it has ended; nothing, if it has not and 'flags' say not to wait. What
   nobody knows, since the system keeps no ends for us (SIGCHLD is ignored), is
   no success. */
static int reap (lua_State *L, int flags) {
  int status = EXIT_FAILURE << 8;
  if (!has_ended(flags))
    return 0;
  waitpid(command, &status, WNOHANG);
  bool exited = WIFEXITED(status);
  lua_pushstring(L, exited ? "exit" : "signal");
  lua_pushinteger(L, exited ? WEXITSTATUS(status) : WTERMSIG(status));
  return 2;
}

int system_spawn (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  return launch(L, path) ? reap(L, 0) : luaL_fileresult(L, 0, path);
}

int system_launch (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  if (!launch(L, path))
    return luaL_fileresult(L, 0, path);
  lua_pushinteger(L, (lua_Integer)command);
  return 1;
}

int system_ended (lua_State *L) {
  return reap(L, WNOHANG);
}

/* The shell that started us is to see what the command died of, as if we had
   not been there. Without a core: the command has left one if there was to be
   any. */
int system_die (lua_State *L) {
  int number = (int)luaL_checkinteger(L, 1);
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(number, SIG_DFL);
  raise(number);
  return 0;
}

/* ---- this one ---- */

static int contents__gc (lua_State *L) {
  tg_buf_free(lua_touserdata(L, 1));
  return 0;
}

/* The file that runs, not its name: that may be found elsewhere or not at all
   by now. Where there is no /proc, as in a container of one file, the path by
   which the kernel has started it. */
int system_interpreter (lua_State *L) {
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  if (n > 0)
    lua_pushlstring(L, path, (size_t)n);
  else
    lua_pushstring(L, (const char *)(uintptr_t)getauxval(AT_EXECFN));
  return 1;
}

/* What the system tells, since a host of Lua may keep no "arg". Each word ends
   with a zero. */
int system_commandline (lua_State *L) {
  tg_Buf *text = lx_owner(L, sizeof *text, 0, "tracegrip.contents",
                          contents__gc);
  lua_newtable(L);
  if (!tg_fileio_text("/proc/self/cmdline", CONTENTS_MOST, text))
    return 1;
  lua_Integer n = 0;
  for (size_t at = 0; at < text->size; n++) {
    size_t size = strnlen(text->data + at, text->size - at);
    lua_pushlstring(L, text->data + at, size);
    lua_rawseti(L, -2, n);
    at += size + 1;
  }
  tg_buf_free(text);
  return 1;
}

/* setenv(name, value); nil takes it away. */
int system_setenv (lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  if (lua_isnoneornil(L, 2))
    unsetenv(name);
  else
    setenv(name, luaL_checkstring(L, 2), 1);
  return 0;
}

/* isatty(fd): whether a person may be looking at it. */
int system_isatty (lua_State *L) {
  lua_pushboolean(L, isatty((int)luaL_checkinteger(L, 1)));
  return 1;
}

/* 0 columns is what some terminals say that do not know. */
int system_columns (lua_State *L) {
  struct winsize w;
  int fd = (int)luaL_checkinteger(L, 1);
  if (isatty(fd) != 1 || ioctl(fd, TIOCGWINSZ, &w) != 0 || w.ws_col == 0)
    return 0;
  lua_pushinteger(L, w.ws_col);
  return 1;
}

/* Lua has no other way to tell it. */
int system_pid (lua_State *L) {
  lua_pushinteger(L, getpid());
  return 1;
}

/* family([variable]): the number of the family that this process is of, by a
   variable of its environment (family.h). */
int system_family (lua_State *L) {
  lua_pushinteger(L, tg_family(luaL_optstring(L, 1, NULL)));
  return 1;
}

/* compresses(): whether this machine has what recordings are compressed
   with. */
int system_compresses (lua_State *L) {
  lua_pushboolean(L, tg_zstd_there());
  return 1;
}

/* Whether the file may be written, or another process records on it now
   (claim.h). */
int system_claimable (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  return tg_claim_try(path) ? luaL_fileresult(L, 1, path)
                            : lx_failure(L, path);
}

/* Longer paths than this are not told: the system itself takes none that are
   longer. */
int system_directory (lua_State *L) {
  char path[4096];
  if (getcwd(path, sizeof path) == NULL)
    return luaL_fileresult(L, 0, NULL);
  lua_pushstring(L, path);
  return 1;
}

/* Whether nothing is to be written to that name, as it is a link's. */
int system_islink (lua_State *L) {
  lua_pushboolean(L, tg_newfile_is_link(luaL_checkstring(L, 1)));
  return 1;
}

/* filetype(path) -> "file", "directory" or "other", and its permissions. Of
   what a link leads to. */
int system_filetype (lua_State *L) {
  struct stat st;
  const char *path = luaL_checkstring(L, 1);
  if (stat(path, &st) != 0)
    return luaL_fileresult(L, 0, path);
  lua_pushstring(L, S_ISREG(st.st_mode) ? "file"
                    : S_ISDIR(st.st_mode) ? "directory" : "other");
  lua_pushinteger(L, st.st_mode & 07777);
  return 2;
}

/* As the kernel decides it when the program is started (AT_SECURE). */
int system_privileged (lua_State *L) {
  struct stat st;
  const char *path = luaL_checkstring(L, 1);
  if (stat(path, &st) != 0)
    return luaL_fileresult(L, 0, path);
  if ((st.st_mode & S_ISUID) && st.st_uid != geteuid())
    lua_pushliteral(L, "setuid");
  else if ((st.st_mode & S_ISGID) && st.st_gid != getegid())
    lua_pushliteral(L, "setgid");
  else if (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
    lua_pushliteral(L, "capabilities");
  else
    lua_pushnil(L);
  return 1;
}

/* By device and number: names differ by links and by dots. Two that are not
   there are not the same. */
int system_samefile (lua_State *L) {
  struct stat a, b;
  bool both = stat(luaL_checkstring(L, 1), &a) == 0
              && stat(luaL_checkstring(L, 2), &b) == 0;
  lua_pushboolean(L, both && a.st_dev == b.st_dev && a.st_ino == b.st_ino);
  return 1;
}

/* What io.stderr:write does, whatever the program has put in its place. */
int system_tell (lua_State *L) {
  fputs(luaL_checkstring(L, 1), stderr);
  return 0;
}

/* Not by the library of files, whose metatable is the program's. The text is
   freed whatever Lua raises. */
int system_contents (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  tg_Buf *text = lx_owner(L, sizeof *text, 0, "tracegrip.contents",
                          contents__gc);
  if (!tg_fileio_text(path, CONTENTS_MOST, text))
    return 0;
  lua_pushlstring(L, text->data != NULL ? text->data : "", text->size);
  tg_buf_free(text);
  return 1;
}

/* See fdwriter.h: descriptors 0 to 2 must not become files of ours. */
int system_occupy (lua_State *L) {
  (void)L;
  tg_fdwriter_occupy();
  return 0;
}

/* Lua's own interpreter catches SIGINT while it runs a script, and raises an
   error: for a command that only writes lines the plain end is right. */
int system_interruptible (lua_State *L) {
  (void)L;
  signal(SIGINT, SIG_DFL);
  return 0;
}

int system_ignores (lua_State *L) {
  struct sigaction now;
  int number = (int)luaL_checkinteger(L, 1);
  lua_pushboolean(L, sigaction(number, NULL, &now) == 0
                     && now.sa_handler == SIG_IGN);
  return 1;
}
