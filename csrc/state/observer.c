/*
** observer.c - the list of a session's observers, and telling them one after
** the other. Whatever fails is the observer's own: an error that one raises
** goes through here to whoever starts or stops a trace.
*/
#include "state/observer.h"

/* ---- the list ---- */

/* Numbers only grow, so one that is taken off and comes again is told before
   those that stayed. In front of the list, which 'after' goes through by
   falling numbers. */
void tg_observers_add (tg_Session *s, tg_Observer *o) {
  tg_assert(o->session == NULL && o->methods != NULL);
  o->session = s;
  o->order = ++s->observers_added;
  tg_assert(s->observers == NULL || s->observers->order < o->order);
  o->next = s->observers;
  s->observers = o;
}

/* One of a session: two with the order 0 could not be told apart by
   'after'. */
void tg_observers_add_last (tg_Session *s, tg_Observer *o) {
  tg_Observer **p = &s->observers;
  tg_assert(o->session == NULL && o->methods != NULL);
  while (*p != NULL)
    p = &(*p)->next;
  tg_assert(s->observers == NULL || s->observers->order > 0);
  o->session = s;
  o->order = 0;
  o->next = NULL;
  *p = o;
}

/* The orders along the list only fall, so one that is not met in time is not
   there. */
void tg_observers_remove (tg_Observer *o) {
  tg_Observer **p = &o->session->observers;
  while (*p != o) {
    tg_assert(*p != NULL && (*p)->order > o->order);
    p = &(*p)->next;
  }
  *p = o->next;
  o->session = NULL;
}

/* The observer to be told after the one of that order, which may have gone;
   notes its own order. To go from one to the next by 'next' would do only if
   nobody ever left while being told. */
static tg_Observer *after (const tg_Session *s, uint64_t *order) {
  tg_Observer *o = (s != NULL) ? s->observers : NULL;
  while (o != NULL && o->order >= *order)
    o = o->next;
  if (o != NULL)
    *order = o->order;
  return o;
}

/* ---- telling ---- */

/* More than any order that is given out: where telling begins. */
#define FIRST UINT64_MAX

/* Calls 'method' of all observers that have one; 'o' is the observer in
   'arguments'. A macro, since the methods have no type in common. */
#define TELL(s, method, arguments) do { \
    tg_Observer *o; \
    for (uint64_t order = FIRST; (o = after(s, &order)) != NULL; ) { \
      if (o->methods->method != NULL) \
        o->methods->method arguments; \
    } \
  } while (0)

/* What each word means is told in observer.h. A session that is NULL, before
   the first trace of a state, has no observers. */

void tg_observers_turn (tg_Session *s, lua_State *L) {
  TELL(s, turn, (o, L));
}

/* Nothing of the program's runs here, so the list can be gone through. */
bool tg_observers_watch (const tg_Session *s, const tg_Trace *t) {
  const tg_Observer *o = (s != NULL) ? s->observers : NULL;
  while (o != NULL
         && (o->methods->watches == NULL || !o->methods->watches(o, t)))
    o = o->next;
  return o != NULL;
}

void tg_observers_flush (tg_Session *s, lua_State *L) {
  TELL(s, flush, (o, L));
}

void tg_observers_started (tg_Session *s, lua_State *L, tg_Trace *t) {
  TELL(s, started, (o, L, t));
}

void tg_observers_stopped (tg_Session *s, lua_State *L, tg_Trace *t) {
  TELL(s, stopped, (o, L, t));
}

/* Without listeners, so that 'heir' is what it was when the trace was
   started. */
void tg_observers_replaced (tg_Session *s, lua_State *L, tg_Trace *t, bool all,
                            const tg_Observer *heir) {
  TELL(s, replaced, (o, L, t, all || o == heir));
}

void tg_observers_attend (tg_Session *s, lua_State *L) {
  TELL(s, attend, (o, L));
}

void tg_observers_publish (tg_Session *s) {
  TELL(s, publish, (o));
}
