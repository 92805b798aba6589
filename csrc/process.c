#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process.h"

/* Applies the table at index 3 to the environment. */
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

int process_exec (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
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
  change_environment(L);
  execvp(path, argv);
  return luaL_fileresult(L, 0, path);
}

int process_interpreter (lua_State *L) {
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  if (n <= 0)
    return luaL_fileresult(L, 0, "/proc/self/exe");
  lua_pushlstring(L, path, (size_t)n);
  return 1;
}

int process_setenv (lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  if (lua_isnoneornil(L, 2))
    unsetenv(name);
  else
    setenv(name, luaL_checkstring(L, 2), 1);
  return 0;
}

int process_isatty (lua_State *L) {
  lua_pushboolean(L, isatty((int)luaL_checkinteger(L, 1)));
  return 1;
}

int process_columns (lua_State *L) {
  struct winsize w;
  int fd = (int)luaL_checkinteger(L, 1);
  if (isatty(fd) != 1 || ioctl(fd, TIOCGWINSZ, &w) != 0 || w.ws_col == 0)
    return 0;
  lua_pushinteger(L, w.ws_col);
  return 1;
}

int process_pid (lua_State *L) {
  lua_pushinteger(L, getpid());
  return 1;
}

int process_directory (lua_State *L) {
  char path[4096];
  if (getcwd(path, sizeof path) == NULL)
    return luaL_fileresult(L, 0, NULL);
  lua_pushstring(L, path);
  return 1;
}

int process_filetype (lua_State *L) {
  struct stat st;
  const char *path = luaL_checkstring(L, 1);
  if (stat(path, &st) != 0)
    return luaL_fileresult(L, 0, path);
  lua_pushstring(L, S_ISREG(st.st_mode) ? "file"
                    : S_ISDIR(st.st_mode) ? "directory" : "other");
  return 1;
}

int process_samefile (lua_State *L) {
  struct stat a, b;
  bool both = stat(luaL_checkstring(L, 1), &a) == 0
              && stat(luaL_checkstring(L, 2), &b) == 0;
  lua_pushboolean(L, both && a.st_dev == b.st_dev && a.st_ino == b.st_ino);
  return 1;
}

int process_interruptible (lua_State *L) {
  (void)L;
  signal(SIGINT, SIG_DFL);
  return 0;
}
