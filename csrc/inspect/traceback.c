/*
** traceback.c - luaL_traceback's lines, less those of levels that are ours. On
** the thread that runs the state; only memory raises.
*/
#include "inspect/traceback.h"

#include <string.h>

#include "host/ownfunctions.h"

/* Levels that luaL_traceback shows of a deep stack. */
#define INNERMOST 10
#define OUTERMOST 11

static int depth_of (lua_State *co) {
  lua_Debug ar;
  int low = 0, high = 1;
  while (lua_getstack(co, high, &ar)) {
    low = high;
    high *= 2;
  }
  while (low < high) {                  /* the first that is not there */
    int middle = low + (high - low) / 2;
    if (lua_getstack(co, middle, &ar))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Also a level that cannot be looked at. */
static bool is_own (lua_State *co, int level) {
  lua_Debug ar;
  if (!lua_getstack(co, level, &ar) || !lua_checkstack(co, 1))
    return true;
  lua_getinfo(co, "Sf", &ar);
  bool own = tg_ownfunctions_function(co, &ar);
  lua_pop(co, 1);
  return own;
}

static bool begins (const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

/* The line that follows, with its newline; the text's end. A level has two of
   them where a tail call was. */
static const char *next_level (const char *line) {
  const char *next = strchr(line + 1, '\n');
  if (next != NULL && begins(next, "\n\t(...tail calls...)"))
    next = strchr(next + 1, '\n');
  return (next != NULL) ? next : line + strlen(line);
}

/* Appends to the text on top what 'lines' have of levels that are not ours.
   Where some are skipped they go on at the outermost ones. */
static void add_levels (lua_State *L, lua_State *co, const char *lines) {
  int pieces = 1, level = 0;
  for (const char *end; *lines != '\0'; lines = end) {
    end = next_level(lines);
    bool skips = begins(lines, "\n\t...\t");
    if (skips)
      level = depth_of(co) - OUTERMOST;
    if (skips || !is_own(co, level++)) {
      lua_pushlstring(L, lines, (size_t)(end - lines));
      pieces++;
    }
  }
  lua_concat(L, pieces);
}

/* The message is left out first: it may have lines of its own. */
void tg_traceback_push (lua_State *L, lua_State *co, const char *message) {
  luaL_checkstack(L, 2 * (INNERMOST + OUTERMOST), NULL);
  luaL_traceback(L, co, NULL, 0);
  const char *lines = strchr(lua_tostring(L, -1), '\n');
  lua_pushfstring(L, "%s\nstack traceback:", message);
  if (lines != NULL)
    add_levels(L, co, lines);
  lua_remove(L, -2);
}
