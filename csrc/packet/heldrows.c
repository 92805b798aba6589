/*
** heldrows.c - see heldrows.h.
**
** Called by the log, on the traced thread inside the hook or wherever a
** recording is read. Without memory for a row the call stays and is shown as
** "..." or made anew; only a call for which there is no room ends the log.
*/
#include "packet/heldrows.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

#define HELD_MAX ((size_t)64 << 20)   /* bytes of rows held back */

/* A row that a call took along when it yielded. Its address is the tag of the
   parked call (suspended.h), whose owner this file is. */
typedef struct Kept {
  size_t size;
  char text[];
} Kept;

/* A suspended call will not go on, or does so now: its row is not needed any
   more. Called by tg_Suspended for the former. */
static void drop_kept (void *ud, const tg_SuspendedCall *call) {
  tg_HeldRows *h = ud;
  Kept *k = (Kept *)(uintptr_t)call->tag;
  if (k == NULL)
    return;
  tg_assert(k->size <= h->kept);
  h->kept -= k->size;
  tg_free(k);
}

void tg_heldrows_init (tg_HeldRows *h, uint64_t min_ns,
                       void (*show) (void *ud, tg_HeldCall *call,
                                     const char *s, size_t size),
                       void *ud) {
  memset(h, 0, sizeof *h);
  h->min_ns = min_ns;
  h->show = show;
  h->ud = ud;
  tg_suspended_init(&h->waiting, drop_kept, h);
}

/* Calls that are still parked go first: each gives its row back, so 'kept'
   must be 0 afterwards. */
void tg_heldrows_free (tg_HeldRows *h) {
  tg_suspended_finish(&h->waiting);
  tg_assert(h->kept == 0);
  tg_suspended_free(&h->waiting);
  tg_buf_free(&h->text);
  tg_free(h->calls);
  memset(h, 0, sizeof *h);
}

/* Borrowed until the next call is entered. */
static tg_HeldCall *innermost (const tg_HeldRows *h) {
  tg_assert(h->count > 0);
  return &h->calls[h->count - 1];
}

/*
** {==================================================================
** Calls that yield
** ===================================================================
*/

/* The row of the innermost call, which is held back, in memory of its own:
   what comes after it in 'text' is another coroutine's. NULL without memory. */
static Kept *keep_row (tg_HeldRows *h, const tg_HeldCall *c) {
  size_t size = h->text.size - c->start;
  if (size == 0 || size > HELD_MAX - h->kept)
    return NULL;
  Kept *k = tg_malloc(sizeof *k + size);
  if (k == NULL)
    return NULL;
  k->size = size;
  memcpy(k->text, h->text.data + c->start, size);
  h->kept += size;
  return k;
}

/* The innermost call yields. One that cannot be parked is not known when it is
   resumed: its time then counts from there. */
static void park (tg_HeldRows *h, tg_HeldCall *c, uint64_t now_ns) {
  bool shown = h->shown == h->count;
  c->call.ran_ns += now_ns - c->opened_ns;
  c->call.tag = shown ? 0 : (uint64_t)(uintptr_t)keep_row(h, c);
  if (!tg_suspended_park(&h->waiting, c->thread, &c->call))
    drop_kept(h, &c->call);
}

/* The innermost call has ended. With the outermost one of a coroutine the
   coroutine has, and what it may have parked will not go on. */
static void end_waiting (tg_HeldRows *h, const tg_HeldCall *c) {
  if (h->waiting.places.count > 0 && c == &h->calls[c->base])
    tg_suspended_end(&h->waiting, c->thread);
}

/* A coroutine was collected, or closed: its rows will not be asked for. */
void tg_heldrows_gone (tg_HeldRows *h, tg_ThreadId thread) {
  tg_suspended_end(&h->waiting, thread);
}

/* A call that is resumed goes on with its row, if it had one and it was not
   shown yet; false: the row is to be made. */
bool tg_heldrows_resume (tg_HeldRows *h, const tg_Packet *p, tg_Buf *row) {
  tg_HeldCall *c = innermost(h);
  if (h->min_ns == 0
      || !tg_suspended_resume(&h->waiting, p->thread, p->function, &c->call))
    return false;
  /* It has run for some time before, so it is due that much earlier. */
  c->due_ns -= c->call.ran_ns < h->min_ns ? c->call.ran_ns : h->min_ns;
  const Kept *k = (const Kept *)(uintptr_t)c->call.tag;
  if (k == NULL)
    return false;
  tg_buf_clear(row);
  tg_buf_add(row, k->text, k->size);
  drop_kept(h, &c->call);
  c->resumed = false;
  return true;
}

/* }================================================================== */

/* The outermost call of a coroutine is the first of its thread above another's:
   packets nest as one stack over all coroutines. */
bool tg_heldrows_enter (tg_HeldRows *h, const tg_Packet *p) {
  if (!tg_grow(&h->calls, &h->capacity, h->count + 1, sizeof *h->calls))
    return false;
  const tg_HeldCall *outer = h->count > 0 ? innermost(h) : NULL;
  bool first = outer == NULL || outer->thread != p->thread;
  h->calls[h->count] = (tg_HeldCall){
    .call = {.row = p->function}, .opened_ns = p->time_ns,
    .due_ns = p->time_ns + h->min_ns, .start = h->text.size,
    .depth = p->depth, .thread = p->thread, .resumed = p->resumed,
    .base = first ? h->count : outer->base
  };
  h->count++;
  return true;
}

/* What is too much is cut; the row itself is there, so numbers are right. */
void tg_heldrows_add (tg_HeldRows *h, const tg_Buf *row) {
  tg_assert(innermost(h)->start == h->text.size);
  if (row->size > HELD_MAX - h->text.size)
    tg_buf_addstr(&h->text, "...");
  else
    tg_buf_add(&h->text, row->data, row->size);
}

/* The call's own row is on top of the text: what was not shown by now goes
   with it. True: its row is shown, and its end is to be as well. */
bool tg_heldrows_leave (tg_HeldRows *h, const tg_Packet *p,
                        tg_HeldCall *call) {
  tg_HeldCall *c = innermost(h);
  tg_assert(h->shown <= h->count);
  if (h->min_ns > 0 && p->why == TG_WHY_YIELD)
    park(h, c, p->time_ns);
  else
    end_waiting(h, c);
  *call = *c;
  h->count--;
  if (h->count >= h->shown) {   /* was too short to be shown */
    h->text.size = c->start;
    return false;
  }
  h->shown = h->count;
  return true;
}

/* The outermost call held back is shown. */
static void show_one (tg_HeldRows *h) {
  tg_HeldCall *c = &h->calls[h->shown++];
  size_t end = h->shown < h->count ? h->calls[h->shown].start : h->text.size;
  const char *s = end > c->start ? h->text.data + c->start : "";
  h->show(h->ud, c, s, end - c->start);
  if (h->shown == h->count)
    tg_buf_clear(&h->text);
}

/* How many calls there are up to one that is held back and has lasted long
   enough; 0 if none has. Of one coroutine's the outermost was entered first, so
   it is the only one to be looked at; of two coroutines' the inner ones may
   have run before their yield, so either may be due first. */
static uint32_t count_old (const tg_HeldRows *h, uint64_t now_ns) {
  uint32_t end = h->count;
  while (end > h->shown) {
    uint32_t base = h->calls[end - 1].base;
    uint32_t first = base > h->shown ? base : h->shown;
    if (h->calls[first].due_ns <= now_ns)
      return first + 1;
    end = base;
  }
  return 0;
}

void tg_heldrows_release (tg_HeldRows *h, uint64_t now_ns) {
  uint32_t old;
  while ((old = count_old(h, now_ns)) > 0) {
    while (h->shown < old)
      show_one(h);
  }
}
