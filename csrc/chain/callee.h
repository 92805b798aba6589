/*
** callee.h - which function is being called: the look-up of every call.
*/
#ifndef TG_CALLEE_H
#define TG_CALLEE_H

#include "capture/call.h"
#include "state/session.h"

/* By the public API: fills in the call's function and what is known of it. The
   function's value stays on the Lua stack: luaD_hook drops it. */
void tg_callee_ask (tg_Call *c);

/* The call of function 'f', whose prototype is not, or not simply, the one that
   was 'seen' at its address, with what is known of it. At first sight its
   source may have to be read: that time is ours, so the call begins later. */
tg_Call tg_callee_meet (tg_Call c, tg_Slot f, const tg_Closure *seen);

/* Whether what is known at the address of 'f' is certainly true of it. */
TG_INLINE bool tg_callee_known (const tg_Closure *k, tg_Slot f,
                                const void *key) {
  if (tg_unlikely(k->address != key))
    return false;
  if (tg_likely(tg_slot_variant(f) == TG_TAG_LUA))
    return tg_closure_is_proto(k, key);
  return k->source == tg_slot_cfunction(f);
}

/* From memory, in a signal handler too: what is known of a function that is
   called, by its slot; NULL: nothing. */
const tg_Closure *tg_callee_seen (const tg_Session *s, tg_Slot f);

/* From memory: the function of the frame that begins. */
TG_INLINE void tg_callee_read (tg_Call *c) {
  tg_Slot f = tg_frame_function(c->ar->i_ci);
  const void *key = tg_slot_key(f);
  c->function = f.u.p;
  c->callee = tg_closures_find(&c->t->session->known.closures, key);
  if (tg_unlikely(!tg_callee_known(c->callee, f, key)))
    *c = tg_callee_meet(*c, f, c->callee);
}

/* What is known of it: NULL without memory. */
TG_INLINE void tg_callee_find (tg_Call *c, bool direct) {
  if (direct)
    tg_callee_read(c);
  else
    tg_callee_ask(c);
}

#endif
