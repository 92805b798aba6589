/*
** thrown.h - which value an error threw, found out afterwards.
**
** Lua tells nobody when an error unwinds frames. Its value shows in one of
** these places, and the first that holds is used:
**
**   - the results of pcall, coroutine.resume or coroutine.close: false, value;
**   - the argument of xpcall's message handler, or what was given to error() or
**     assert(), stashed when that was called;
**   - the results of any other C function that catches errors, if they look
**     like nil-or-false, value;
**   - the second argument of a __close metamethod that runs while unwinding.
*/
#ifndef TG_THROWN_H
#define TG_THROWN_H

#include "state.h"

/* Where the value of an error is. */
typedef struct tg_Thrown {
  lua_State *L;         /* whose stack */
  int index;            /* on it; 0: not there */
  const tg_Buf *stash;  /* or bytes (values.h); NULL: not there either */
  size_t skip;          /* leading bytes of a string that were added on the way
                           (by coroutine.wrap) */
} tg_Thrown;

/* At the call of error or assert, whose frame is on top: keep its value. */
void tg_thrown_stash_error (tg_Thread *t, lua_State *L, tg_Role role);

/* At the call of a message handler: keep its argument. */
void tg_thrown_stash_handler (tg_Thread *t, lua_State *L, lua_Debug *ar);

/* For frames of 't' from index 'keep' up, unwound as event 'ar' on 'L' shows;
   'catcher' is the role of the frame that caught it. */
tg_Thrown tg_thrown_find (const tg_Thread *t, lua_State *L, lua_Debug *ar,
                          uint32_t keep, tg_Role catcher);

#endif
