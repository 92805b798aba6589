/*
** minduration.c - see minduration.h.
**
** Called as its reader is, on that thread. Scout and filter see the same
** packets in the same order, so a call has the same number with both. Memory
** that is refused is told by 'status', and no packet is given after it.
*/
#include "reader/minduration.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

#define FIRST_BYTES 4096

/*
** {==================================================================
** Calls over their stays, alike for scout and filter
** ===================================================================
*/

/* A call that will not go on: all that is to be known of it is. */
static void forget (void *owner, const tg_SuspendedCall *call) {
  (void)owner;
  (void)call;
}

/* What is parked is not told to anybody: it is only memory here. */
static void free_calls (tg_Calls *c) {
  tg_free(c->open);
  tg_suspended_free(&c->waiting);
}

/* The call that a packet enters or goes on with; NULL without memory. */
static tg_Stay *enter (tg_Calls *c, const tg_Packet *p) {
  if (!tg_grow(&c->open, &c->copen, c->nopen + 1, sizeof *c->open))
    return NULL;
  tg_Stay *s = &c->open[c->nopen++];
  *s = (tg_Stay){.call = {.row = p->function}, .opened_ns = p->time_ns,
                 .thread = p->thread};
  tg_suspended_pass(&c->waiting);
  if (!p->resumed || !tg_suspended_resume(&c->waiting, p->thread, p->function,
                                          &s->call))
    s->call.tag = c->count++;
  return s;
}

/* Whether a frame that was just closed was its coroutine's outermost. */
static bool was_last (const tg_Calls *c, const tg_Stay *s) {
  return c->nopen == 0 || c->open[c->nopen - 1].thread != s->thread;
}

/* The call that a packet ends or interrupts, until the next one is entered;
   NULL without memory. */
static tg_Stay *leave (tg_Calls *c, const tg_Packet *p) {
  tg_assert(c->nopen > 0);
  tg_Stay *s = &c->open[--c->nopen];
  s->call.ran_ns += p->time_ns - s->opened_ns;
  if (p->why == TG_WHY_YIELD)
    return tg_suspended_park(&c->waiting, s->thread, &s->call) ? s : NULL;
  tg_suspended_pass(&c->waiting);
  if (c->waiting.places.count > 0 && was_last(c, s))
    tg_suspended_end(&c->waiting, s->thread);
  return s;
}

/* }================================================================== */

/*
** {==================================================================
** The scout
** ===================================================================
*/

/* A coroutine was collected, or closed: its calls are over, and what they ran
   is all there is. */
static void scout_gone (void *ud, tg_ThreadId thread) {
  tg_suspended_end(&((tg_Scout *)ud)->calls.waiting, thread);
}

/* A second reader of the same stream, from where the first one stands. False
   without memory. */
static bool start_scout (tg_Scout *c, const tg_Reader *reader) {
  c->reader = tg_reader_again(reader);
  if (c->reader == NULL)
    return false;
  tg_suspended_init(&c->calls.waiting, forget, NULL);
  tg_reader_watch(c->reader, scout_gone, c);
  return true;
}

/* A bit for each call, in the order of entries; eight of them to a byte. */
static bool is_long (const tg_Scout *c, uint64_t number) {
  tg_assert(number < c->calls.count && number / 8 < c->size);
  return (c->longs[number / 8] >> number % 8 & 1) != 0;
}

static void set_long (tg_Scout *c, uint64_t number) {
  tg_assert(number < c->calls.count && number / 8 < c->size);
  c->longs[number / 8] |= (uint8_t)(1u << number % 8);
}

/* Makes room for the bits of all calls, those of new ones 0. In bytes and not
   by tg_grow, whose count has 32 bits: calls may be more. */
static bool room (tg_Scout *c) {
  if (c->calls.count / 8 < c->size)
    return true;
  size_t size = c->size > 0 ? c->size * 2 : FIRST_BYTES;
  uint8_t *longs = tg_realloc(c->longs, size);
  if (longs == NULL)
    return false;
  memset(longs + c->size, 0, size - c->size);
  c->longs = longs;
  c->size = size;
  return true;
}

/* A call's end says how long it was; so may each of its yields. */
static bool scout_take (tg_Scout *c, const tg_Packet *p, uint64_t min_ns) {
  if (p->why == TG_WHY_ENTER)
    return enter(&c->calls, p) != NULL && room(c);
  const tg_Stay *s = leave(&c->calls, p);
  if (s != NULL && s->call.ran_ns >= min_ns)
    set_long(c, s->call.tag);
  return s != NULL;
}

/* Reads on to 'end'. Where bytes are damaged the other reader says so, when it
   comes there. Calls that are open now are given: nobody knows better. */
static tg_Status scout_to (tg_Scout *c, tg_Pos end, uint64_t min_ns) {
  tg_Packet p;
  while (tg_reader_next(c->reader, end, &p)) {
    if (!scout_take(c, &p, min_ns))
      return TG_ERR_MEMORY;
  }
  for (size_t i = 0; i < c->calls.nopen; i++)
    set_long(c, c->calls.open[i].call.tag);
  tg_Status status = tg_reader_status(c->reader);
  return status == TG_ERR_FORMAT ? TG_OK : status;
}

/* }================================================================== */

/*
** {==================================================================
** The filter
** ===================================================================
*/

/* Nothing is read yet: the scout begins with the first packet that is asked
   for, when all that is to be read is there. */
void tg_minduration_init (tg_MinDuration *s, tg_Reader *reader,
                          uint64_t min_ns) {
  memset(s, 0, sizeof *s);
  s->reader = reader;
  s->min_ns = min_ns;
}

void tg_minduration_free (tg_MinDuration *s) {
  tg_reader_free(s->scout.reader);
  tg_free(s->scout.longs);
  free_calls(&s->scout.calls);
  free_calls(&s->calls);
  memset(s, 0, sizeof *s);
}

/* Its own failure first: the reader may be fine. */
tg_Status tg_minduration_status (const tg_MinDuration *s) {
  return s->status != TG_OK ? s->status : tg_reader_status(s->reader);
}

/* The reader tells one listener: with a minimum that is the filter, which
   passes it on. */
void tg_minduration_watch (tg_MinDuration *s,
                           void (*gone)(void *ud, tg_ThreadId thread),
                           void *ud) {
  s->gone = gone;
  s->gone_ud = ud;
  if (s->min_ns == 0)
    tg_reader_watch(s->reader, gone, ud);
}

static void filter_gone (void *ud, tg_ThreadId thread) {
  tg_MinDuration *s = ud;
  tg_suspended_end(&s->calls.waiting, thread);
  if (s->gone != NULL)
    s->gone(s->gone_ud, thread);
}

void tg_minduration_pace (tg_MinDuration *s, void (*pace)(void *ud), void *ud) {
  s->pace = pace;
  s->pace_ud = ud;
  tg_reader_pace(s->reader, pace, ud);
}

/* For whoever shows how far it is: both readings are a half of the work. */
tg_Pos tg_minduration_pos (const tg_MinDuration *s) {
  tg_Pos pos = tg_reader_pos(s->reader);
  if (s->scout.reader == NULL)
    return pos;
  return pos + (tg_reader_pos(s->scout.reader) - pos) / 2;
}

/* Before anything is read: what a ring may drop is read by neither. */
static void start (tg_MinDuration *s, tg_Pos end) {
  tg_suspended_init(&s->calls.waiting, forget, NULL);
  tg_reader_watch(s->reader, filter_gone, s);
  if (!start_scout(&s->scout, s->reader)) {
    s->status = TG_ERR_MEMORY;
    return;
  }
  tg_reader_pace(s->scout.reader, s->pace, s->pace_ud);
  s->status = scout_to(&s->scout, end, s->min_ns);
}

/* Whether a call is long; there may be more of the stream by now. A scout that
   was short of memory may have counted a call for which it has no bit. */
static bool ask_scout (tg_MinDuration *s, uint64_t number, tg_Pos end) {
  if (number >= s->scout.calls.count)
    s->status = scout_to(&s->scout, end, s->min_ns);
  return s->status == TG_OK && number < s->scout.calls.count
         && is_long(&s->scout, number);
}

/* Whether the packet is given, with its sequence and depth. */
static bool filter_take (tg_MinDuration *s, tg_Pos end, tg_Packet *p) {
  bool entry = p->why == TG_WHY_ENTER;
  tg_Stay *stay = entry ? enter(&s->calls, p) : leave(&s->calls, p);
  if (stay == NULL) {
    s->status = TG_ERR_MEMORY;
    return false;
  }
  if (entry)
    stay->given = ask_scout(s, stay->call.tag, end);
  if (!stay->given || s->status != TG_OK)
    return false;
  p->sequence = s->sequence++;
  tg_assert(entry || s->depth > 0);
  p->depth = entry ? s->depth++ : --s->depth;
  return true;
}

/* Without a minimum it is the reader and nothing else. */
bool tg_minduration_next (tg_MinDuration *s, tg_Pos end, tg_Packet *out) {
  if (s->min_ns == 0)
    return tg_reader_next(s->reader, end, out);
  if (s->scout.reader == NULL)
    start(s, end);
  while (s->status == TG_OK && tg_reader_next(s->reader, end, out)) {
    if (filter_take(s, end, out))
      return true;
  }
  return false;
}

/* }================================================================== */
