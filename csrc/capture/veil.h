/*
** veil.h - which values of a call or return are to be hidden, by the names of
** the parameters that get them, here or where they are passed on to.
**
**     login(user, password)               its own parameters
**     pcall(login, "ann", "...")          those of the function it will call;
**     xpcall, coroutine.resume and wrap   so do these, and __call
**     rawset(t, "password", "...")        the key that stands beside the value
**     rawget, next, os.getenv             the same of results;
**     __index, __newindex                 and functions of these names
**
** What is hidden is learned (text/secrets.h): from then on strings that hold it
** are hidden wherever they come up. Of a table its strings are learned.
**
** Called in the hook, on the traced thread, for functions with TG_FR_SECRETS,
** which none has where nothing is to be hidden. By the public API alone, since
** such calls are few. Nothing of the program runs and nothing is allocated in
** Lua.
*/
#ifndef TG_VEIL_H
#define TG_VEIL_H

#include "capture/call.h"
#include "state/session.h"

/* The call whose frame is on top: the session's veil is that of its arguments,
   and what they are is learned. A function on whose results a key has a say
   keeps TG_FR_SECRETS in its frame only if it has. */
void tg_veil_call (const tg_Call *c);

/* The results of such a function, from stack index 'first' on: the session's
   veil is theirs. */
void tg_veil_results (tg_Session *s, lua_State *L, int first, int count,
                      uint32_t what);

/* Whether something hidden is in a string, as far as it would be shown. */
TG_INLINE bool tg_veil_holds (tg_Session *s, const char *text, size_t n) {
  size_t limit = s->selection.limits.string;
  tg_Secrets *hidden = &s->capture.secrets;
  return tg_secrets_any(hidden)
         && tg_secrets_find(hidden, text, n, (n < limit) ? n : limit);
}

#endif
