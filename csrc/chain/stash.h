/*
** stash.h - values that are on their way to be thrown.
**
** A stack of them for each coroutine, since what a message handler calls may
** throw too. The last one is what frame number t->stashed - 1 throws, if that
** is on top, and nothing but a handler has been called from there since.
*/
#ifndef TG_STASH_H
#define TG_STASH_H

#include "state/session.h"

/* Whether anybody asks for what is thrown. */
bool tg_stash_wanted (const tg_Coroutine *t);

/* At the call of error or assert with 'n' arguments, whose frame is on top:
   keep its value. */
void tg_stash_error (tg_Coroutine *t, lua_State *L, tg_Role role, int n);

/* At the call of a message handler, whose frame is on top: keep its argument.
   'ar' has "S"; 'keep' is 1 + the index of its xpcall, 0 if it is a host's. */
void tg_stash_handler (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                       uint32_t keep);

/* Keeps the value at 'index', which frame 'n' - 1 throws; 'sure': whatever
   handler it has. */
void tg_stash_value (tg_Coroutine *t, lua_State *L, int index, uint32_t n,
                     bool sure);

/* The bytes (values.h) of the last value, NULL if there is none; and 1 + the
   index of the xpcall whose handler got it, or 0. */
tg_Slice tg_stash_top (const tg_Coroutine *t, bool *sure, uint32_t *caught);

/* The frame on top calls a function, or one takes the place of the frame above
   it ('replaces'): what was to be thrown from there has not been. */
void tg_stash_deny (tg_Coroutine *t, bool replaces);

/* Frames from index 'keep' up are gone, and what they threw. */
void tg_stash_drop (tg_Coroutine *t, uint32_t keep);

/* The position that error() puts before a message, as luaL_where does. */
void tg_stash_where (lua_State *L, int level, char *out, size_t size);

/*
** Where argument 'i' of the call 'ar' stands ('ar' has "S"; 'above' values
** stand on top of a C function's arguments). May push it.
*/
int tg_stash_argument (lua_State *L, lua_Debug *ar, int i, int above);

#endif
