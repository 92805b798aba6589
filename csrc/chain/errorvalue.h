/*
** errorvalue.h - which value an error threw, found out afterwards.
**
** Lua tells nobody when an error unwinds frames. Its value is right or absent:
** only what can be nothing else is taken for it.
**
** At its beginning, told of the frame that raised it, as it is on top
** (stash.h):
**
**   - what was given to error() or assert();
**   - the argument of a message handler called from that frame, if nothing else
**     has been called from there since. xpcall's handler is known; a function
**     called by error or by coroutine.wrap's is one; of C hosts those that
**     tg_funcname_handler finds.
**
** At its end, told of the frames next to what caught it:
**
**   - the results of pcall, coroutine.resume or coroutine.close: false, value;
**   - the second argument of a __close metamethod, called by pcall, or in a
**     coroutine that coroutine.close or wrap closes; nil is an error as others,
**     since a block that ends without one calls the method itself;
**   - what arrived beyond coroutine.wrap, less the position it put before it.
**
** One holds for all frames if none of them can have caught the error and thrown
** another: Lua functions cannot, nor those of Lua's own libraries. A C function
** of others can, with lua_pcall: what is below it knows nothing of what is
** above. xpcall gives what its handler made, so there the handler must tell;
** so do other C functions that return false or nil and something.
**
** What catches may be older than the trace: it is in the shadow stack all the
** same (unseen.h), but where tracing began in the main coroutine. There a pcall
** is known by its place ('floor'), and of an xpcall nothing.
*/
#ifndef TG_ERRORVALUE_H
#define TG_ERRORVALUE_H

#include "state/session.h"

/* Where the value of an error is. */
typedef struct tg_ErrorValue {
  lua_State *L;         /* whose stack */
  int index;            /* on it; 0: not there */
  size_t skip;          /* leading bytes of a string that were added on the way
                           (by coroutine.wrap) */
  tg_Slice stash;       /* or bytes (values.h); NULL: not there either */
} tg_ErrorValue;

/* Frames from index 'keep' up that one value unwound. */
typedef struct tg_Unwound {
  uint32_t keep;
  tg_ErrorValue value;
} tg_Unwound;

#define TG_UNWOUND_PARTS 3

/* Looks for a pcall among the frames of 't', which runs and has none yet, from
   'level' down. */
void tg_errorvalue_floor (tg_Coroutine *t, int level);

/* Whether errors of __close methods may go to a message handler that belongs to
   one of the frames of 't', which is suspended and being closed: before Lua
   5.4.8 it was not forgotten. */
bool tg_errorvalue_unsure (const tg_Coroutine *t);

/* For frames of 't' from index 'keep' up, unwound as event 'ar' on 'L' shows;
   'catcher' is the role of the frame that caught it. Returns how many parts
   they make, innermost first. */
int tg_errorvalue_find (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                        uint32_t keep, tg_Role catcher,
                        tg_Unwound part[TG_UNWOUND_PARTS]);

#endif
