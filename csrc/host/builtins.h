/*
** builtins.h - which C functions mean something to the tracer.
**
** The functions of Lua's own libraries that start, end or cross frames, found
** by address: what a program did to its globals does not matter.
*/
#ifndef TG_BUILTINS_H
#define TG_BUILTINS_H

#include "binding/lx.h"
#include "stream/functions.h"

/* debug.sethook, debug.gethook, collectgarbage as Lua made them; what resumes
   and closes: coroutine.resume, what coroutine.wrap returns, and
   coroutine.close. */
extern lua_CFunction tg_real_sethook, tg_real_gethook, tg_real_collectgarbage;
extern lua_CFunction tg_real_resume, tg_real_wrapped, tg_real_close;

/* Learns the addresses from a pristine state, once per process. False when
   no state could be made. */
bool tg_builtins_setup (void);

/* The role of a C function. */
tg_Role tg_builtins_role (lua_CFunction f);

/* Whether it is Lua's own function that resumes a coroutine or closes it. */
TG_INLINE bool tg_builtins_resumes (lua_CFunction f) {
  return f == tg_real_resume || f == tg_real_wrapped || f == tg_real_close;
}

/* Whether a function of that role goes on as soon as its callee is over. */
TG_INLINE bool tg_builtins_goes_on (tg_Role role) {
  return role == TG_ROLE_PCALL || role == TG_ROLE_XPCALL
         || role == TG_ROLE_RESUME || role == TG_ROLE_WRAPPED
         || role == TG_ROLE_CLOSE;
}

/* Whether a function of that role says by its results how a coroutine died:
   false and the error (auxresume and luaB_close in lcorolib.c). */
TG_INLINE bool tg_builtins_tells (tg_Role role) {
  return role == TG_ROLE_RESUME || role == TG_ROLE_CLOSE;
}

/* How a function's arguments and results have a key and its value. */
typedef enum tg_Keyed {
  TG_KEYED_NOT,
  TG_KEYED_SETS,        /* f(table, key, value): rawset, __newindex */
  TG_KEYED_GETS,        /* value = f(table, key): rawget, __index */
  TG_KEYED_NAMED,       /* value = f(key): os.getenv */
  TG_KEYED_WALKS        /* key, value = f(...): next */
} tg_Keyed;

tg_Keyed tg_builtins_keyed (lua_CFunction f);

/* Whether a C function lets every error pass: true of functions of Lua's own
   libraries, but for those that catch errors. */
bool tg_builtins_harmless (lua_CFunction f);

/* The name of a C function of Lua's own libraries, "string.find"; NULL: 'f' is
   not one of these. */
const char *tg_builtins_name (lua_CFunction f);

/* The name of function number 'n' of all these, from 0, NULL: there are no
   more; and the function. */
const char *tg_builtins_member (size_t n);
lua_CFunction tg_builtins_function (size_t n);

/* Whether an error in a __close method replaces the error that unwinds the
   stack; before Lua 5.4.3 the method's error was dropped. */
bool tg_builtins_close_replaces (void);

/* The string that Lua throws instead of nil; NULL: nil, as before Lua 5.5. */
const char *tg_builtins_error_for_nil (void);

/* Lua's own function of that role; if there are several, the first. */
lua_CFunction tg_builtins_real (tg_Role role);

/* Notes a function of ours as a stand-in for Lua's function of that role. At
   most a few, before the first trace. */
void tg_builtins_standin (lua_CFunction f, tg_Role role);

/* The hook that debug.sethook installs, which calls the Lua function. */
extern lua_Hook tg_lua_hook;

/* Whether closing a coroutine that died loses its error: Lua before 5.4.3. */
extern bool tg_close_forgets;

#endif
