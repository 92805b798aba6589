/*
** awaited.c - which calls that traces wait for are open, and what is recorded
** because of it. Called in the hook where frames of such functions come and go,
** and by wanted.c; on the traced thread. Nothing here is on the way of an event
** that is not special. Without memory a call is not noticed.
**
** Roots are few: lists, gone through from the start.
*/
#include <string.h>

#include "state/awaited.h"
#include "base/alloc.h"
#include "base/grow.h"

/* ---- roots ---- */

/* The index of that root in the list of 't'; its end if it is not there. */
static uint32_t find_root (const tg_Trace *t, const tg_Coroutine *co,
                           uint32_t at) {
  const tg_Root *roots = t->awaited.roots;
  uint32_t i = 0;
  while (i < t->awaited.n && (roots[i].t != co || roots[i].at != at))
    i++;
  return i;
}

/* Whether a call is open on the running chain: 't' sees what happens. */
static bool sees (const tg_Trace *t) {
  uint32_t i = 0;
  while (i < t->awaited.n && !t->awaited.roots[i].t->running)
    i++;
  return i < t->awaited.n;
}

/* A trace that has ended may still be counting what it lacks (wanted.h). */
static bool open_call (const tg_Session *s) {
  const tg_Trace *t = s->traces;
  while (t != NULL && !sees(t))
    t = t->next;
  return t != NULL;
}

/* Whether the frame at 'at' of 'co' is a root of 't', or becomes one. Calls
   within a call are a part of that. */
static bool take_root (tg_Trace *t, const tg_Coroutine *co, uint32_t at,
                       const tg_Function *f) {
  tg_AwaitedCalls *a = &t->awaited;
  if (find_root(t, co, at) < a->n)
    return true;                /* it was handed on */
  if (t->options.on.count == 0 || sees(t)
      || (t->options.calls != 0 && a->calls >= t->options.calls)
      || !tg_selection_names(&t->options.on, f, NULL)
      || !tg_grow(&a->roots, &a->capacity, a->n + 1, sizeof *a->roots))
    return false;
  a->roots[a->n++] = (tg_Root){co, at};
  a->calls++;
  return true;
}

/* Each trace may have its own reasons, so all are asked. */
static bool is_root (const tg_Coroutine *co, uint32_t at,
                     const tg_Function *f) {
  bool root = false;
  for (tg_Trace *t = co->session->traces; t != NULL; t = t->next)
    root = take_root(t, co, at, f) || root;
  return root;
}

bool tg_awaited_all (const tg_Trace *t) {
  return t->options.on.count > 0 && t->options.calls != 0
         && t->awaited.calls >= t->options.calls && t->awaited.n == 0;
}

void tg_awaited_exit (const tg_Coroutine *co, uint32_t at) {
  tg_Session *s = co->session;
  for (tg_Trace *t = s->traces; t != NULL; t = t->next) {
    uint32_t i = find_root(t, co, at);
    if (i == t->awaited.n)
      continue;
    t->awaited.roots[i] = t->awaited.roots[--t->awaited.n];
    if (tg_awaited_all(t))
      tg_session_request_attention(s);
  }
}

void tg_awaited_drop (const tg_Coroutine *co) {
  for (uint32_t i = 0; i < co->n; i++) {
    if (co->frames[i].what & TG_FR_TARGET)
      tg_awaited_exit(co, i);
  }
}

void tg_awaited_restart (tg_Trace *t) {
  t->awaited.calls = 0;
  t->awaited.n = 0;
}

void tg_awaited_free (tg_Trace *t) {
  tg_free(t->awaited.roots);
  t->awaited.roots = NULL;
  t->awaited.n = t->awaited.capacity = 0;
}

/* ---- what is recorded ---- */

static void exchange (tg_Session *s) {
  tg_Wanted now = {s->selection, s->depth_limit};
  tg_Closures closures = s->known.closures;
  tg_assert(s->await.any && s->await.closures.slots != NULL);
  s->selection = s->await.aside.selection;
  s->depth_limit = s->await.aside.depth_limit;
  s->known.closures = s->await.closures;
  s->await.aside = now;
  s->await.closures = closures;
  s->await.within = !s->await.within;
  tg_session_review(s);
}

void tg_awaited_look (tg_Session *s) {
  if (s->await.within != open_call(s))
    exchange(s);
}

/* What is known of the callee 'k', by the selection in force now. It is the
   same function, so what it is checked by is too. */
static const tg_Closure *know_again (tg_Session *s, const tg_Closure *k) {
  tg_FunctionId id = k->what & TG_FR_ID;
  tg_Closure *c = tg_closures_add(&s->known.closures, k->address);
  *c = *k;
  c->what = id | tg_catalog_flags(s, id) | (k->what & TG_FR_ROLE);
  return c;
}

/* A root is visible in any case: readers know the extent of a call by it. */
const tg_Closure *tg_awaited_enter (tg_Coroutine *co, const tg_Closure *k) {
  tg_Session *s = co->session;
  uint32_t at = co->n - 1;
  tg_Frame *frame = &co->frames[at];
  const tg_Function *f = tg_functions_get(s->writer.stream->functions,
                                          k->what & TG_FR_ID);
  tg_assert(s->await.any && (frame->what & TG_FR_HIDDEN));
  frame->what &= ~(uint32_t)TG_FR_TARGET;
  if (frame->what & TG_FR_OWN)
    return NULL;
  bool root = is_root(co, at, f);
  if (root && !s->await.within) {
    exchange(s);
    k = know_again(s, k);
  }
  if (root)
    frame->what |= TG_FR_TARGET;
  else if (!tg_selection_wants(&s->selection, f)
           || tg_coroutine_visible(co) >= s->depth_limit)
    return NULL;
  frame->what &= ~(uint32_t)TG_FR_HIDDEN;
  frame->what |= k->what & TG_FR_SECRETS;
  return k;
}

/* ---- traces come and go ---- */

/* The tables of functions are of the same size at first, and one of them is as
   good as the other when all in them is forgotten. */
static bool prepare (tg_Session *s, bool awaits) {
  if (awaits && s->await.closures.slots == NULL
      && !tg_closures_init(&s->await.closures)) {
    tg_closures_free(&s->await.closures);
    return false;
  }
  if (!awaits)
    tg_closures_free(&s->await.closures);
  return true;
}

/* Which functions are wanted is decided once for each (catalog.h), so all
   decisions are forgotten when what is wanted has changed; when it has not,
   which is the common case of many traces alike, they stand. */
bool tg_awaited_install (tg_Session *s, bool awaits, tg_Wanted *all,
                         tg_Wanted *outer) {
  if (!prepare(s, awaits))
    return false;
  bool alike = !awaits && !s->await.any
               && tg_selection_alike(&all->selection, &s->selection);
  s->await.any = awaits;
  s->await.within = awaits && open_call(s);
  tg_Wanted *now = (awaits && !s->await.within) ? outer : all;
  tg_Wanted *other = (now == all) ? outer : all;
  tg_selection_clear(&s->selection);
  tg_selection_clear(&s->await.aside.selection);
  s->selection = now->selection;
  s->depth_limit = now->depth_limit;
  s->await.aside = *other;
  memset(all, 0, sizeof *all);
  memset(outer, 0, sizeof *outer);
  tg_session_review(s);
  if (!alike) {         /* else each function is still wanted or not */
    tg_catalog_refresh(&s->known);
    tg_closures_clear(&s->await.closures);
  }
  return true;
}
