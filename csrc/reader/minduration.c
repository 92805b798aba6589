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
static bool has_bit (const uint8_t *bits, uint64_t number) {
  return (bits[number / 8] >> number % 8 & 1) != 0;
}

/* What is known of a call: that it is long, and perhaps that it is sure. */
static void set_bits (tg_Scout *c, uint64_t number, bool sure) {
  uint8_t bit = (uint8_t)(1u << number % 8);
  tg_assert(number < c->calls.count && number / 8 < c->size);
  c->longs[number / 8] |= bit;
  if (sure && c->sures != NULL)
    c->sures[number / 8] |= bit;
}

/* More zeros. In bytes and not by tg_grow, whose count has 32 bits: calls may
   be more. */
static bool extend (uint8_t **bits, size_t before, size_t size) {
  uint8_t *more = tg_realloc(*bits, size);
  if (more == NULL)
    return false;
  memset(more + before, 0, size - before);
  *bits = more;
  return true;
}

/* Makes room for the bits of all calls, those of new ones 0. */
static bool room (tg_Scout *c, bool sures) {
  if (c->calls.count / 8 < c->size)
    return true;
  size_t size = c->size > 0 ? c->size * 2 : FIRST_BYTES;
  if (!extend(&c->longs, c->size, size)
      || (sures && !extend(&c->sures, c->size, size)))
    return false;
  c->size = size;
  return true;
}

/* A call's end says how long it was; so may each of its yields. */
static bool scout_take (const tg_MinDuration *m, tg_Scout *c,
                        const tg_Packet *p) {
  if (p->why == TG_WHY_ENTER)
    return enter(&c->calls, p) != NULL && room(c, m->sure_ns > 0);
  const tg_Stay *s = leave(&c->calls, p);
  if (s != NULL && s->call.ran_ns >= m->min_ns)
    set_bits(c, s->call.tag, s->call.ran_ns >= m->sure_ns);
  return s != NULL;
}

/* Reads on to 'end'. Where bytes are damaged the other reader says so, when it
   comes there. Calls that are open now are given: nobody knows better. */
static tg_Status scout_to (tg_MinDuration *m, tg_Pos end) {
  tg_Scout *c = &m->scout;
  tg_Packet p;
  while (tg_reader_next(c->reader, end, &p)) {
    if (!scout_take(m, c, &p))
      return TG_ERR_MEMORY;
  }
  for (size_t i = 0; i < c->calls.nopen; i++)
    set_bits(c, c->calls.open[i].call.tag, m->sure_ns < UINT64_MAX);
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
  tg_free(s->scout.sures);
  free_calls(&s->scout.calls);
  free_calls(&s->calls);
  tg_free(s->lines);
  memset(s, 0, sizeof *s);
}

/* Its own failure first: the reader may be fine. */
tg_Status tg_minduration_status (const tg_MinDuration *s) {
  return s->status != TG_OK ? s->status : tg_reader_status(s->reader);
}

static bool is_off (const tg_MinDuration *s) {
  return s->min_ns == 0 && s->sure_ns == 0;
}

/* The reader tells one listener: with a minimum that is the filter, which
   passes it on. */
void tg_minduration_watch (tg_MinDuration *s,
                           void (*gone)(void *ud, tg_ThreadId thread),
                           void *ud) {
  s->gone = gone;
  s->gone_ud = ud;
  if (is_off(s))
    tg_reader_watch(s->reader, gone, ud);
}

/* Both hear of it: the filter's own calls, and whoever watches. */
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
  s->status = scout_to(s, end);
}

/* Whether there is enough of the quota left, which is less then. */
static bool use_quota (tg_MinDuration *s, tg_ThreadId thread) {
  uint32_t needed = thread == 1 ? 1 : s->others;
  if (s->quota < needed)
    return false;
  s->quota -= needed;
  return true;
}

/* Whether a call is long; there may be more of the stream by now. A scout that
   was short of memory may have counted a call for which it has no bit. */
static bool ask_scout (tg_MinDuration *s, const tg_Stay *stay, tg_Pos end) {
  const tg_Scout *c = &s->scout;
  uint64_t number = stay->call.tag;
  if (number >= c->calls.count)
    s->status = scout_to(s, end);
  if (s->status != TG_OK || number >= c->calls.count
      || !has_bit(c->longs, number))
    return false;
  return c->sures == NULL || has_bit(c->sures, number)
         || use_quota(s, stay->thread);
}

/* The time since the packet before was that of the innermost frame, which may
   be one that is not given. */
static void pass_time (tg_MinDuration *s, uint64_t time_ns) {
  if (s->calls.nopen > 0 && !s->calls.open[s->calls.nopen - 1].given)
    s->hidden_ns += time_ns - s->now_ns;
  s->now_ns = time_ns;
}

/* A tick has a line for each open frame: those of calls that are not given
   go. */
static bool keep_lines (tg_MinDuration *s, tg_Packet *p) {
  uint32_t n = 0;
  tg_assert(p->values.size == s->calls.nopen * sizeof *s->lines);
  if (!tg_grow(&s->lines, &s->clines, (uint32_t)s->calls.nopen,
               sizeof *s->lines))
    return false;
  for (size_t i = 0; i < s->calls.nopen; i++) {
    if (s->calls.open[i].given)
      memcpy(&s->lines[n++], p->values.data + i * sizeof *s->lines,
             sizeof *s->lines);
  }
  tg_assert(n == s->depth);
  p->values.data = (const uint8_t *)s->lines;
  p->values.size = n * sizeof *s->lines;
  return true;
}

static bool take_moment (tg_MinDuration *s, tg_Packet *p) {
  p->sequence = s->sequence;
  p->depth = s->depth;
  if (p->why != TG_WHY_TICK || keep_lines(s, p))
    return true;
  s->status = TG_ERR_MEMORY;
  return false;
}

/* Whether the packet is given, with its sequence and depth. */
static bool filter_take (tg_MinDuration *s, tg_Pos end, tg_Packet *p) {
  pass_time(s, p->time_ns);
  if (tg_packet_is_moment(p))
    return take_moment(s, p);
  bool entry = p->why == TG_WHY_ENTER;
  tg_Stay *stay = entry ? enter(&s->calls, p) : leave(&s->calls, p);
  if (stay == NULL) {
    s->status = TG_ERR_MEMORY;
    return false;
  }
  if (entry)
    stay->given = ask_scout(s, stay, end);
  if (!stay->given || s->status != TG_OK)
    return false;
  p->sequence = s->sequence++;
  tg_assert(entry || s->depth > 0);
  p->depth = entry ? s->depth++ : --s->depth;
  return true;
}

/* Without a minimum it is the reader and nothing else. */
bool tg_minduration_next (tg_MinDuration *s, tg_Pos end, tg_Packet *out) {
  if (is_off(s))
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

/*
** {==================================================================
** The survey
** ===================================================================
*/

/* The lower bits of a call's tag count its entries, the highest tells whether
   it is in the main coroutine. */
#define IN_MAIN (UINT64_C(1) << 63)

static void survey_over (void *owner, const tg_SuspendedCall *call) {
  const tg_Survey *v = owner;
  if (call->ran_ns >= v->filter->min_ns)
    v->over(v->ud, call->ran_ns, call->tag & ~IN_MAIN,
            (call->tag & IN_MAIN) != 0);
}

static void survey_gone (void *ud, tg_ThreadId thread) {
  tg_suspended_end(&((tg_Survey *)ud)->calls.waiting, thread);
}

/* 'count' is what a new call gets as its tag (enter): here that says where it
   runs, and no number. A call that goes on keeps its tag, and counts one entry
   more. */
static bool survey_take (tg_Survey *v, const tg_Packet *p) {
  if (p->why != TG_WHY_ENTER) {
    const tg_Stay *s = leave(&v->calls, p);
    if (s != NULL && p->why != TG_WHY_YIELD)
      survey_over(v, &s->call);
    return s != NULL;
  }
  v->calls.count = p->thread == 1 ? IN_MAIN : 0;  /* the tag of a new call */
  tg_Stay *s = enter(&v->calls, p);
  if (s != NULL)
    s->call.tag++;
  return s != NULL;
}

/* What is open is given, however short. */
static void survey_end (tg_Survey *v) {
  for (uint32_t i = 0; i < v->calls.nopen; i++) {
    v->calls.open[i].call.ran_ns = UINT64_MAX;
    survey_over(v, &v->calls.open[i].call);
  }
  tg_suspended_finish(&v->calls.waiting);
}

static tg_Status survey_all (tg_Survey *v, tg_Reader *reader, tg_Pos end) {
  const uint32_t every = 1u << 13;
  tg_Packet p;
  for (uint32_t n = 1; tg_reader_next(reader, end, &p); n++) {
    if (!survey_take(v, &p))
      return TG_ERR_MEMORY;
    if (n % every == 0 && !v->go_on(v->ud, p.time_ns))
      return TG_ERR_IO;
  }
  survey_end(v);
  tg_Status status = tg_reader_status(reader);
  return status == TG_ERR_FORMAT ? TG_OK : status;
}

/* By a reader of its own, from where the filter's stands: that is not moved. */
tg_Status tg_minduration_survey (const tg_MinDuration *s, tg_Pos end,
                                 tg_Survey *survey) {
  tg_Reader *reader = tg_reader_again(s->reader);
  if (reader == NULL)
    return TG_ERR_MEMORY;
  memset(&survey->calls, 0, sizeof survey->calls);
  survey->filter = s;
  tg_suspended_init(&survey->calls.waiting, survey_over, survey);
  tg_reader_watch(reader, survey_gone, survey);
  tg_Status status = survey_all(survey, reader, end);
  free_calls(&survey->calls);
  tg_reader_free(reader);
  return status;
}

/* Before the scout has begun, which notes a call's bits by these lengths. A
   user's own minimum stays if it is larger. */
void tg_minduration_most (tg_MinDuration *s, uint64_t min_ns, uint64_t sure_ns,
                          uint64_t quota, uint32_t others) {
  tg_assert(s->scout.reader == NULL && min_ns < sure_ns);
  s->min_ns = min_ns > s->min_ns ? min_ns : s->min_ns;
  s->sure_ns = sure_ns;
  s->quota = quota;
  s->others = others;
}

/* }================================================================== */
