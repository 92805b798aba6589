/*
** stackwalk.c - see stackwalk.h. On the thread that runs the state, in its hook
** or in one of our own functions. Frames are found as callee.h finds those of
** calls, so a function that was never seen is defined by the way.
*/
#include "sample/stackwalk.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "chain/callee.h"
#include "host/running.h"

#define CHAIN_MAX 250           /* Lua nests 200 resumes at most */
#define ROOM 12                 /* on the stack, for what asks about a function;
                                   a hook has no more when the stack is full */

static bool add (tg_StackWalk *w, const void *ci, uint32_t function,
                 uint32_t line) {
  if (!tg_grow(&w->list, &w->capacity, w->n + 1, sizeof *w->list))
    return false;
  w->list[w->n++] = (tg_WalkedFrame){ci, function, line};
  return true;
}

/* The record of a coroutine that runs; the record gives it its number. If the
   record at that address belongs to a dead coroutine, a new one is made. */
static tg_Coroutine *record_of (tg_Session *s, lua_State *co, lua_State *L) {
  tg_Coroutine *t = tg_coroutines_find(&s->threads, co);
  if (t != NULL && co != s->host.main && !tg_coroutine_alive(t, L)) {
    tg_coroutines_remove(&s->threads, t);
    t = NULL;
  }
  if (t != NULL)
    return t;
  t = tg_coroutines_add(&s->threads, s, co);
  if (t == NULL)
    return NULL;
  int mask = tg_running_mute(&s->host, L);
  tg_session_enlist(s, t, L);   /* which may call a function of ours */
  tg_running_unmute(&s->host, L, mask);
  t->id = (co == s->host.main) ? 1 : s->threads.next_id++;
  return t;
}

/* The line at which a frame is, 0 for a C function. */
static uint32_t line_of (lua_State *co, lua_Debug *ar, bool direct) {
  int line;
  if (direct)
    line = tg_frame_is_c(ar->i_ci) ? 0 : tg_frame_line(ar->i_ci);
  else {
    lua_getinfo(co, "l", ar);
    line = ar->currentline;
  }
  return line > 0 ? (uint32_t)line : 0;
}

/* What runs in the frame of 'ar'; our own functions are noted with function
   0 and taken out later, since what is above them has to be looked at first.
   False without memory. */
static bool add_frame (tg_StackWalk *w, tg_Coroutine *t, lua_Debug *ar) {
  const tg_Session *s = t->session;
  tg_Call c = {.t = t, .L = t->L, .ar = ar};
  TG_STACK_GUARD(t->L);
  tg_callee_find(&c, s->host.direct);
  if (!s->host.direct)
    lua_pop(t->L, 1);
  TG_STACK_CHECK(t->L);
  if (c.callee == NULL)
    return false;
  return add(w, ar->i_ci, tg_stackwalk_entry(c.callee->what),
             line_of(t->L, ar, s->host.direct));
}

/* From the innermost out, 'skip' of them not. */
static bool add_frames (tg_StackWalk *w, tg_Coroutine *t, int skip) {
  lua_Debug ar;
  if (!t->session->host.direct) {
    int most = TG_STACKWALK_FRAMES + skip;
    for (int i = skip; i < most && lua_getstack(t->L, i, &ar); i++) {
      if (!add_frame(w, t, &ar))
        return false;
    }
    return true;
  }
  const void *ci = tg_direct_running(t->L);
  if (tg_read_pointer(ci, TG_AT_FRAME_CALLER) == NULL)
    ci = NULL;                  /* the host's own: nothing runs */
  for (int i = 0; i < TG_STACKWALK_FRAMES + skip && ci != NULL; i++) {
    ar.i_ci = (struct CallInfo *)(uintptr_t)ci;
    if (i >= skip && !add_frame(w, t, &ar))
      return false;
    ci = tg_frame_caller(ci);
  }
  return true;
}

static void reverse (tg_WalkedFrame *list, uint32_t n) {
  for (uint32_t i = 0; i < n / 2; i++) {
    tg_WalkedFrame x = list[i];
    list[i] = list[n - 1 - i];
    list[n - 1 - i] = x;
  }
}

/* Without our own functions and the C functions that they call to run the
   program (pcall, xpcall): what those call is the program's. On the main
   coroutine the host's come first, as that of lua.c does. Returns how many are
   left. */
static uint32_t strip (tg_WalkedFrame *list, uint32_t n, bool ours) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t id = list[i].function & TG_FR_ID;
    ours = id == 0 || (ours && (list[i].function & TG_FR_C));
    list[i].function = id;
    if (!ours)
      list[left++] = list[i];
  }
  return left;
}

void tg_stackwalk_turn (tg_StackWalk *w, uint32_t first, bool main) {
  reverse(w->list + first, w->n - first);
  w->n = first + strip(w->list + first, w->n - first, main);
}

/* Whether outermost frames may have been left out. Ours were seen, and are none
   of the 'n' that are left. */
static bool is_cut (uint32_t n) {
  return n > TG_STACKWALK_FRAMES / 2;
}

/* Where the shadow stack of a coroutine begins whose outermost frames were left
   out; at its own beginning, if it is older than all of that. One search, since
   both may have 200,000 frames. */
static uint32_t first_seen (const tg_Coroutine *t, const tg_WalkedFrame *list,
                            uint32_t n) {
  int64_t k = is_cut(n) ? tg_coroutine_frame(t, list[0].ci) : -1;
  return k >= 0 ? (uint32_t)k : 0;
}

/* Marks those that the stream has CALLs of. False: the shadow stack has frames
   that are not there any more. */
static bool mark_traced (const tg_Coroutine *t, tg_WalkedFrame *list,
                         uint32_t n) {
  uint32_t k = first_seen(t, list, n);
  for (uint32_t i = 0; i < n; i++) {
    while (k < t->n && (t->frames[k].what & TG_FR_OWN))
      k++;
    if (k < t->n && t->frames[k].ci == list[i].ci) {
      if (!(t->frames[k].what & TG_FR_HIDDEN))
        list[i].function |= TG_SAMPLE_TRACED;
      k++;
    }
  }
  while (k < t->n && (t->frames[k].what & TG_FR_OWN))
    k++;
  return k == t->n;
}

static uint32_t pass_own (const tg_Coroutine *t, uint32_t k) {
  while (k < t->n && (t->frames[k].what & TG_FR_OWN))
    k++;
  return k;
}

/* How many frames of the shadow stack, outermost first, are what the list has:
   in the same place, of the same function. These are marked; '*newer' are the
   others from the first that is not so. What stands below the shadow stack is
   older than the trace. -1: none of it is in what was seen of a deep stack. */
static int64_t match (const tg_Coroutine *t, tg_WalkedFrame *list, uint32_t n,
                      uint32_t *newer) {
  uint32_t k = first_seen(t, list, n);
  uint32_t first = pass_own(t, k), i = 0;
  *newer = 0;
  while (i < n && (first == t->n || t->frames[first].ci != list[i].ci))
    i++;
  if (i == n && is_cut(n) && t->n > 0)
    return -1;
  for (; i < n; i++) {
    uint32_t at = pass_own(t, k);
    if (at == t->n || t->frames[at].ci != list[i].ci
        || ((t->frames[at].what ^ list[i].function) & TG_FR_ID) != 0)
      break;
    if (!(t->frames[at].what & TG_FR_HIDDEN))
      list[i].function |= TG_SAMPLE_TRACED;
    k = at + 1;
  }
  *newer = n - i;
  return k;
}

/* How many frames are inside of 'ci'; -1: it is not one of the coroutine's. */
static int64_t count_inside (const tg_Coroutine *t, const void *ci) {
  int64_t n = 0;
  const void *at = tg_direct_running(t->L);
  for (; at != NULL && at != ci; at = tg_read_pointer(at, TG_AT_FRAME_CALLER))
    n++;
  return at != NULL ? n : -1;
}

static bool is_there (const tg_Coroutine *t, const void *ci) {
  return count_inside(t, ci) >= 0;
}

/* Whether frame 'ci' runs what the shadow stack has there, if that is known. */
static bool is_function (tg_Coroutine *t, const void *ci, uint32_t what) {
  lua_Debug ar = {.i_ci = (struct CallInfo *)(uintptr_t)ci};
  tg_Call c = {.t = t, .L = t->L, .ar = &ar};
  if ((what & TG_FR_ID) == 0)
    return true;
  tg_callee_read(&c);
  return c.callee == NULL || ((c.callee->what ^ what) & TG_FR_ID) == 0;
}

/* How many of the 'n' outermost frames of a shadow stack are there. All are
   looked at, and not only those that a list has which is cut: a recursion that
   has come back, and another one that has gone as deep, have the same frames in
   memory. Each is as far inside of the outermost one as in the shadow stack. */
static uint32_t count_there (tg_Coroutine *t, uint32_t n) {
  int64_t i = n > 0 ? count_inside(t, t->frames[0].ci) : -1;
  const void *ci = tg_direct_running(t->L);
  uint32_t there = i < n ? (uint32_t)(i + 1) : n;
  for (; i >= 0; i--, ci = tg_frame_caller(ci)) {
    if (i < there && (t->frames[i].ci != ci
                      || !is_function(t, ci, t->frames[i].what)))
      there = (uint32_t)i;
  }
  return there;
}

bool tg_stackwalk_compare (tg_StackWalk *w, tg_Coroutine *t, int skip,
                           tg_Standing *standing) {
  uint32_t newer;
  w->n = 0;
  if (!lua_checkstack(t->L, ROOM) || !add_frames(w, t, skip))
    return false;
  tg_stackwalk_turn(w, 0, t->id == 1);
  int64_t seen = match(t, w->list, w->n, &newer);
  uint32_t k = seen >= 0 ? (uint32_t)seen : t->n;
  if (is_cut(w->n))
    k = count_there(t, k);
  uint32_t own = pass_own(t, k);
  while (own > k && !is_there(t, t->frames[own - 1].ci))
    own--;
  *standing = (tg_Standing){own, seen < 0 || newer > 0};
  return true;
}

/* One coroutine, outermost frame first. */
static bool add_coroutine (tg_StackWalk *w, tg_Coroutine *t, int skip) {
  if (!lua_checkstack(t->L, ROOM) || !add(w, NULL, 0, t->id))
    return false;
  uint32_t first = w->n;
  if (!add_frames(w, t, skip))
    return false;
  tg_stackwalk_turn(w, first, t->id == 1);
  return !t->session->hooked
         || mark_traced(t, w->list + first, w->n - first);
}

/* What runs, innermost first. */
static int chain_of (const tg_Session *s, tg_Coroutine *chain[CHAIN_MAX]) {
  int n = 0;
  for (tg_Coroutine *t = s->current; t != NULL && n < CHAIN_MAX;
       t = t->resumer)
    chain[n++] = t;
  return n;
}

bool tg_stackwalk_chain (tg_StackWalk *w, tg_Session *s, lua_State *L,
                         int skip) {
  tg_Coroutine *chain[CHAIN_MAX];
  int n = chain_of(s, chain);
  w->n = 0;
  if (n == 0 || chain[0]->L != L)
    return false;
  while (n-- > 0) {
    if (!add_coroutine(w, chain[n], n == 0 ? skip : 0))
      return false;
  }
  return true;
}

/* The number of the coroutine whose frames begin at 'i', 0 behind the last,
   where the collector may be; and where they end. */
static uint32_t section (const tg_StackWalk *w, uint32_t i, uint32_t *end) {
  if (i == w->n || w->list[i].function != 0)
    return 0;
  for (*end = i + 1; *end < w->n && w->list[*end].ci != NULL;)
    ++*end;
  return w->list[i].line;
}

/* The innermost frame of the program's ('end': behind it) has to be the one on
   top of the shadow stack, or one more. What is about to begin by a tail call
   has the frame of its caller. */
static bool mark_last (const tg_Coroutine *t, tg_WalkedFrame *list,
                       uint32_t end, bool traced) {
  const tg_Frame *top = tg_coroutine_top(t);
  tg_WalkedFrame *last = (end > 1) ? &list[end - 1] : NULL;
  if (top == NULL || last == NULL)
    return false;
  if (last->ci == top->ci)
    return ((last->function ^ top->what) & TG_FR_ID) == 0;
  if (end < 3 || list[end - 2].ci != top->ci)
    return false;
  if (traced)
    last->function |= TG_SAMPLE_PASSING;
  return true;
}

bool tg_stackwalk_mark (tg_StackWalk *w, const tg_Session *s, bool traced) {
  tg_Coroutine *chain[CHAIN_MAX];
  int n = chain_of(s, chain);
  uint32_t i = 0, end = 0;
  if (n == 0)
    return false;
  while (n-- > 0) {
    if (section(w, i, &end) != chain[n]->id
        || !mark_traced(chain[n], w->list + i + 1, end - i - 1))
      return false;
    if (n == 0 && !mark_last(chain[0], w->list + i, end - i, traced))
      return false;
    i = end;
  }
  return i == w->n || w->list[i].function != 0;   /* the collector */
}

/* Of all but the innermost coroutine nothing may have changed: it has resumed
   another one all the time. */
bool tg_stackwalk_match (tg_StackWalk *w, const tg_Session *s,
                         uint32_t *standing) {
  tg_Coroutine *chain[CHAIN_MAX];
  int n = chain_of(s, chain);
  uint32_t i = 0, end = 0, newer = 0;
  if (n == 0)
    return false;
  while (n-- > 0) {
    if (section(w, i, &end) != chain[n]->id)
      return false;
    int64_t seen = match(chain[n], w->list + i + 1, end - i - 1, &newer);
    if (seen < 0)
      return false;
    *standing = (uint32_t)seen;
    if (n > 0 && (newer > 0 || pass_own(chain[n], *standing) != chain[n]->n))
      return false;
    i = end;
  }
  return i == w->n || w->list[i].function != 0;
}

/* 'L' itself may be a coroutine that the stand-ins do not know. */
bool tg_stackwalk_running (tg_StackWalk *w, tg_Session *s, lua_State *L,
                           int skip) {
  lua_State *co = NULL, *next;
  w->n = 0;
  for (int i = 0; co != L; i++) {
    next = tg_running_at(&s->host, i);
    co = (next != NULL) ? next : L;
    tg_Coroutine *t = record_of(s, co, L);
    if (t == NULL || !add_coroutine(w, t, co == L ? skip : 0))
      return false;
  }
  return true;
}

uint32_t tg_stackwalk_shared (const tg_StackWalk *w,
                              const tg_StackWalk *other) {
  uint32_t k = 0;
  while (k < w->n && k < other->n
         && w->list[k].function == other->list[k].function
         && w->list[k].line == other->list[k].line)
    k++;
  return k;
}

bool tg_stackwalk_reserve (tg_StackWalk *w, uint32_t n) {
  return tg_grow(&w->list, &w->capacity, n, sizeof *w->list);
}

bool tg_stackwalk_copy (tg_StackWalk *w, const tg_StackWalk *from) {
  if (!tg_stackwalk_reserve(w, from->n))
    return false;
  if (from->n > 0)
    memcpy(w->list, from->list, from->n * sizeof *w->list);
  w->n = from->n;
  return true;
}

void tg_stackwalk_free (tg_StackWalk *w) {
  tg_free(w->list);
}
