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
  tg_suspended_init(&c->calls.waiting, tg_stays_forget, NULL);
  tg_reader_watch(c->reader, scout_gone, c);
  return true;
}

/* A bit for each call, in the order of entries; eight of them to a byte. */
static bool has_bit (const uint8_t *bits, uint64_t number) {
  return (bits[number / 8] >> number % 8 & 1) != 0;
}

/* What is known of a call that is as long as the user wants calls to be:
   perhaps that it is long, and sure. */
static void set_bits (tg_Scout *c, uint64_t number, bool is_long,
                      bool sure) {
  uint8_t bit = (uint8_t)(1u << number % 8);
  tg_assert(number < c->calls.count && number / 8 < c->size);
  if (c->asked != NULL)
    c->asked[number / 8] |= bit;
  if (is_long)
    c->longs[number / 8] |= bit;
  if (is_long && sure && c->sures != NULL)
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
static bool room (tg_Scout *c, bool sures, bool asked) {
  if (c->calls.count / 8 < c->size)
    return true;
  size_t size = c->size > 0 ? c->size * 2 : FIRST_BYTES;
  if (!extend(&c->longs, c->size, size)
      || (sures && !extend(&c->sures, c->size, size))
      || (asked && !extend(&c->asked, c->size, size)))
    return false;
  c->size = size;
  return true;
}

/* A call's end says how long it was; so may each of its yields. */
static bool scout_take (const tg_MinDuration *m, tg_Scout *c,
                        const tg_Packet *p) {
  if (p->why == TG_WHY_ENTER)
    return tg_stays_enter(&c->calls, p) != NULL
           && room(c, m->sure_ns > 0, m->asked_ns > 0);
  const tg_Stay *s = tg_stays_leave(&c->calls, p);
  uint64_t ran_ns = s != NULL ? s->call.ran_ns : 0;
  if (s != NULL && ran_ns >= (m->asked_ns > 0 ? m->asked_ns : m->min_ns))
    set_bits(c, s->call.tag, ran_ns >= m->min_ns, ran_ns >= m->sure_ns);
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
    set_bits(c, c->calls.open[i].call.tag, true, m->sure_ns < UINT64_MAX);
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
  tg_free(s->scout.asked);
  tg_stays_free(&s->scout.calls);
  tg_stays_free(&s->calls);
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

uint32_t tg_minduration_moves (tg_MinDuration *s, tg_Pos end,
                               tg_FrameMove *list, uint32_t most) {
  return is_off(s) ? tg_reader_moves(s->reader, end, list, most) : 0;
}

/* The reader tells one listener: with a minimum duration it tells the filter,
   which passes the news on. */
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

/* Before the scout has begun, which notes a call's bits by these lengths. A
   user's own minimum stays if it is larger. */
void tg_minduration_most (tg_MinDuration *s, uint64_t min_ns, uint64_t sure_ns,
                          uint64_t quota, uint32_t others) {
  tg_assert(s->scout.reader == NULL && min_ns < sure_ns);
  s->asked_ns = s->min_ns;
  s->min_ns = min_ns > s->min_ns ? min_ns : s->min_ns;
  s->sure_ns = sure_ns;
  s->quota = quota;
  s->others = others;
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
  tg_suspended_init(&s->calls.waiting, tg_stays_forget, NULL);
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

/* Whether the time of a call that is not given goes into a box. A user who
   leaves out short calls wants their time to count as their callers'. */
static bool is_left (const tg_MinDuration *s) {
  const tg_Stay *stay = &s->calls.open[s->calls.nopen - 1];
  const tg_Scout *c = &s->scout;
  if (stay->given || !s->left.wanted || s->sure_ns == 0)
    return false;
  if (s->calls.nopen > 1 && !stay[-1].given)
    return stay[-1].left;
  uint64_t number = stay->call.tag;
  return c->asked == NULL
         || (number < c->calls.count && has_bit(c->asked, number));
}

/* The box is in the innermost frame that is given; where there is none, in the
   coroutine of the call. */
static void add_left (tg_MinDuration *s, uint64_t length_ns) {
  const tg_Stay *stay = &s->calls.open[s->calls.nopen - 1];
  tg_FunctionId body = stay->call.row;
  while (stay > s->calls.open && !stay->given) {
    if (stay->thread == stay[-1].thread)
      body = stay[-1].call.row;
    stay--;
  }
  tg_lefttime_add(&s->left, s->now_ns, length_ns, stay->thread,
                  stay->given ? 0 : body);
}

/* The time since the packet before was that of the innermost frame, which may
   be one that is not given. */
static void pass_time (tg_MinDuration *s, uint64_t time_ns) {
  uint64_t length_ns = time_ns - s->now_ns;
  const tg_Stay *stay = s->calls.nopen > 0
                        ? &s->calls.open[s->calls.nopen - 1] : NULL;
  if (stay != NULL && !stay->given)
    s->hidden_ns += length_ns;
  if (stay != NULL && stay->left && length_ns > 0)
    add_left(s, length_ns);
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

/* A function that is between its events may be too short. A call is given the
   sooner the more ticks have struck it, for these take time: what they tell of
   the calls that are given is not what they tell of all, so who adds up is not
   to weigh them against the clock. */
static void number_tick (tg_MinDuration *s, tg_Packet *p) {
  if (p->function != TG_FUNCTION_HIDDEN)
    p->function = 0;
  p->chosen = true;
  if (!keep_lines(s, p))
    s->status = TG_ERR_MEMORY;
}

static void number_moment (tg_MinDuration *s, tg_Packet *p) {
  p->sequence = s->sequence;
  p->depth = s->depth;
  if (p->why == TG_WHY_TICK)
    number_tick(s, p);
}

/* The packet gets its sequence and depth; false without memory. */
static bool number (tg_MinDuration *s, tg_Packet *p) {
  bool entry = p->why == TG_WHY_ENTER;
  if (tg_packet_is_moment(p))
    number_moment(s, p);
  else {
    p->sequence = s->sequence++;
    tg_assert(entry || s->depth > 0);
    p->depth = entry ? s->depth++ : --s->depth;
  }
  return s->status == TG_OK;
}

/* Whether the packet is given. */
static bool filter_take (tg_MinDuration *s, tg_Pos end, tg_Packet *p) {
  pass_time(s, p->time_ns);
  if (tg_packet_is_moment(p))
    return true;
  bool entry = p->why == TG_WHY_ENTER;
  tg_Stay *stay = entry ? tg_stays_enter(&s->calls, p)
                        : tg_stays_leave(&s->calls, p);
  if (stay == NULL) {
    s->status = TG_ERR_MEMORY;
    return false;
  }
  if (entry) {
    stay->given = ask_scout(s, stay, end);
    stay->left = is_left(s);
  }
  return stay->given && s->status == TG_OK;
}

/* The next packet that is given, or a box before it. */
static bool read_on (tg_MinDuration *s, tg_Pos end, tg_Packet *out) {
  while (s->status == TG_OK && tg_reader_next(s->reader, end, out)) {
    if (!filter_take(s, end, out))
      continue;
    tg_lefttime_before(&s->left, out, out);
    return number(s, out);
  }
  return s->status == TG_OK && tg_lefttime_before(&s->left, NULL, out)
         && number(s, out);
}

static TG_NOINLINE bool filter_next (tg_MinDuration *s, tg_Pos end,
                                     tg_Packet *out) {
  if (s->scout.reader == NULL)
    start(s, end);
  if (tg_lefttime_next(&s->left, out))
    return number(s, out);
  return read_on(s, end, out);
}

/* Without a minimum it is the reader and nothing else: that way saves no
   registers for the other one. */
bool tg_minduration_next (tg_MinDuration *s, tg_Pos end, tg_Packet *out) {
  return tg_likely(is_off(s)) ? tg_reader_next(s->reader, end, out)
                              : filter_next(s, end, out);
}

/* }================================================================== */
