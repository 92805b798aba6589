/*
** folder.c - see folder.h. A folder that is open is a userdata's: it is closed
** whatever Lua raises.
*/
#include "binding/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A relative TMPDIR would be another folder for each process. */
int folder_scratch (lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  const char *place = getenv("TMPDIR");
  if (place == NULL || *place != '/')
    place = "/tmp";
  const char *form = lua_pushfstring(L, "%s/%s-XXXXXX", place, name);
  size_t size = strlen(form) + 1;
  char *path = lua_newuserdatauv(L, size, 0);
  memcpy(path, form, size);
  if (mkdtemp(path) == NULL)
    return luaL_fileresult(L, 0, place);
  lua_pushstring(L, path);
  return 1;
}

static int folder__gc (lua_State *L) {
  DIR **dir = lua_touserdata(L, 1);
  if (*dir != NULL)
    closedir(*dir);
  *dir = NULL;
  return 0;
}

static bool is_name (const char *name) {
  return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

int folder_entries (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  DIR **dir = lx_owner(L, sizeof *dir, 0, "tracegrip.folder", folder__gc);
  const struct dirent *entry;
  lua_Integer n = 0;
  *dir = opendir(path);
  if (*dir == NULL)
    return luaL_fileresult(L, 0, path);
  lua_newtable(L);
  while ((entry = readdir(*dir)) != NULL) {
    if (is_name(entry->d_name)) {
      lua_pushstring(L, entry->d_name);
      lua_rawseti(L, -2, ++n);
    }
  }
  closedir(*dir);
  *dir = NULL;
  return 1;
}
