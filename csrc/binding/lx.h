/*
** lx.h - small helpers of the skin, and the keys of what it keeps in Lua.
**
** Registry keys are the addresses of these constants, never strings.
*/
#ifndef TG_LX_H
#define TG_LX_H

#include <lua.h>
#include <lauxlib.h>

#include "base/base.h"

#define TG_TRACE "tracegrip.trace"      /* metatables */
#define TG_FEED "tracegrip.feed"

extern const char tg_key_core;      /* registry: the module "tracegrip.core" */
extern const char tg_key_host;      /* registry: the state's tg_Host */
extern const char tg_key_threads;   /* registry: list of coroutines, weak */
extern const char tg_key_strings;   /* registry: the string "__name" */
extern const char tg_key_traces;    /* registry: Trace objects by address */

/* tg_key_strings as an integer, which the registry finds sooner. */
#define TG_KEY_NAME ((lua_Integer)(intptr_t)&tg_key_strings)

/* What must be true on leaving the hook: the stack as it was found. LEFT: the
   same of a function that leaves 'n' values more, or takes some (n < 0). */
#ifdef TG_DEBUG
#define TG_STACK_GUARD(L) int tg_guard_top = lua_gettop(L)
#define TG_STACK_LEFT(L, n) tg_assert(lua_gettop(L) == tg_guard_top + (n))
#else
#define TG_STACK_GUARD(L) ((void)0)
#define TG_STACK_LEFT(L, n) ((void)0)
#endif
#define TG_STACK_CHECK(L) TG_STACK_LEFT(L, 0)

/* The mask under which Lua calls a hook for that event. lua.h makes each mask
   of its event's number; a tail call alone has none of its own. */
TG_INLINE int lx_event_mask (int event) {
  return (event == LUA_HOOKTAILCALL) ? LUA_MASKCALL : 1 << event;
}

/*
** Calls 'f' with light userdata 'ud' so that no error leaves and no step of
** the collector runs (so no finalizer of the program's): for the few things
** the hook must allocate in Lua, for which the collector does not come sooner.
** Returns whether it went well.
*/
bool lx_quietly (lua_State *L, lua_CFunction f, void *ud);   /* [-0, +0, -] */

/* The same when traces come and go, which hold much more memory than Lua knows:
   the collector goes on with the program's next allocation. */
bool lx_quietly_due (lua_State *L, lua_CFunction f,
                     void *ud);                              /* [-0, +0, -] */

/* Pushes what package.loaded has by that name, and returns its type; nil where
   no library was ever opened. By raw access. */
int lx_loaded (lua_State *L, const char *name);                /* [-0, +1, m] */

/* Puts 'with' in the place of 'what', if that is there, in one of Lua's
   libraries. By raw access. */
void lx_replace (lua_State *L, const char *library, const char *name,
                 lua_CFunction what, lua_CFunction with);    /* [-0, +0, m] */

/* From now on this state finds modules there, as another state does: these are
   its package.path and package.cpath. */
void lx_set_package (lua_State *L, const char *path,
                     const char *cpath);                     /* [-0, +0, m] */

/* Sets a field of the table on top. NULL is nil: there is no such field. */
void lx_set_string (lua_State *L, const char *key,
                    const char *value);                      /* [-0, +0, m] */
void lx_set_integer (lua_State *L, const char *key,
                     lua_Integer value);                     /* [-0, +0, m] */
void lx_set_number (lua_State *L, const char *key,
                    lua_Number value);                       /* [-0, +0, m] */

/* Pushes a table that keeps none of its values, with 'n' slots of a list. */
void lx_weak_list (lua_State *L, int n);                     /* [-0, +1, m] */

/* The string that is argument 'arg', a name or a path: one with a zero byte
   would be another one in C. */
const char *lx_checkword (lua_State *L, int arg);            /* [-0, +0, v] */
bool lx_isword (lua_State *L, int index);                    /* [-0, +0, -] */

/* Makes the metatable of that name, if the state does not have it yet. The
   metatable is its own __index, unless 'methods' has an __index. */
void lx_class (lua_State *L, const char *name,
               const luaL_Reg *methods);                     /* [-0, +0, m] */

/* Pushes a userdata of zeros, with a finalizer, for memory that Lua does not
   free by itself: so an error frees all that the userdata owns. */
void *lx_owner (lua_State *L, size_t size, int nuvalues, const char *name,
                lua_CFunction gc);                           /* [-0, +1, m] */

/* nil, "PATH: why", errno, as luaL_fileresult, where a file could not be
   written (newfile.h has the words); 'path' may be NULL. The number of
   values. */
int lx_failure (lua_State *L, const char *path);             /* [-0, +3, m] */

/* The main thread of the state. */
lua_State *lx_mainthread (lua_State *L);                     /* [-0, +0, -] */

#endif
