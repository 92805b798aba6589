/*
** test_moves.c - the same stream by packets alone, and by moves where there are
** some: the same frames at the same times, and the reader comes to the same
** place. The events are drawn by chance: all that moves are made of, in both
** lengths and with values, among all that they are not.
*/
#include "base/alloc.h"
#include "capture.h"
#include "reader/moves.h"
#include "unit.h"

#define MOST 7u           /* moves at once: few, so that it ends everywhere */

enum { A = 1, B, C, YIELD, FUNCTIONS = YIELD };

static const uint32_t main_chain[] = {1, 0};

/* ---- streams ---- */

/* A call or return that is written shorter. */
static void e_short (Tape *t, uint32_t first, tg_FunctionId f, uint32_t ticks,
                     const char *values) {
  bool call = (first & TG_EV_KINDMASK) == TG_EV_NONE;
  *t->p++ = (uint8_t)(first | (values != NULL ? TG_EVF_VALUES : 0u));
  t->p = tg_put16(t->p, ticks);
  if (call)
    t->p = tg_put16(t->p, f);
  if (call && (first & TG_EVF_SITE) != 0)
    t->p = tg_put16(t->p, 12);
  if (call && (first & TG_EVF_SITE) != 0 && (first & TG_EVF_FAR) != 0)
    t->p = tg_put16(t->p, B);
  if (values != NULL) {
    t->p = tg_putvar(t->p, strlen(values));
    memcpy(t->p, values, strlen(values));
    t->p += strlen(values);
  }
  e_end(t);
}

static const char *values_of (uint32_t x) {
  static const char *const lists[] = {
    NULL, "\x01\xc5", "\x02\xc5\xc6", "\x01\x80\x40\x42hi\xc1\x3f",
    "\x01\x4b" "abcdefghijk"
  };
  return lists[x % (sizeof lists / sizeof *lists)];
}

static void random_call (Tape *t, uint32_t x) {
  static const uint32_t shorts[] = {TG_EVF_FAR, TG_EVF_SITE,
                                    TG_EVF_SITE | TG_EVF_FAR, TG_EVF_SITE};
  tg_FunctionId f = 1 + x / 4 % FUNCTIONS;
  uint32_t tail = x % 9 == 0 ? TG_EVF_TAIL : 0;
  if (x & 4096)
    e_short(t, shorts[x % 4] | tail, f, x >> 20, values_of(x / 16));
  else if (x & 8192)
    e_site(t, f, tail, 3, x % 3 == 0 ? C : 0);
  else
    e_call(t, f, tail, values_of(x / 16));
}

static void random_return (Tape *t, uint32_t x) {
  uint32_t nothing = (x & 1) != 0 ? TG_EVF_NOTHING : 0;
  uint32_t tail = x % 7 == 0 ? TG_EVF_TAIL : 0;
  const char *values = nothing != 0 ? NULL : values_of(x / 16);
  if (x & 4096)
    e_short(t, TG_EV_RETURN | TG_EVF_SHORT | nothing | tail, 0, x >> 20,
            values);
  else
    e_plain(t, TG_EV_RETURN | nothing | tail, values);
}

static void gauge (Tape *t) {
  e_head(t, TG_EV_TIME | TG_EVF_GAUGE);
  e_end(t);
}

/* Another coroutine runs, or, in one, the main one goes on. */
static void random_switch (Tape *t, uint32_t x, bool *inside) {
  static const uint32_t list[] = {A, B, C};
  if (*inside)
    e_plain(t, x % 3 > 0 ? TG_EV_YIELD : TG_EV_LEAVE, NULL);
  else if (x % 2 == 0)
    e_resume(t, 2 + x / 8 % 2);
  else
    e_resume_list(t, 2 + x / 8 % 4, x / 64 % 4, list);
  *inside = !*inside;
}

/* What is no move, and comes seldom. */
static void random_other (Tape *t, uint32_t x, uint64_t *ticks,
                          bool *inside) {
  *ticks += 100000;
  switch (x % 8) {
    case 0: e_throw(t, x / 8 % 3, values_of(x / 32)); break;
    case 1: case 2: random_switch(t, x / 8, inside); break;
    case 3: e_time(t, *ticks); break;
    case 4: e_wait(t, *ticks, x / 8 % 1000); break;
    default: gauge(t); break;
  }
}

/* As it is now, or already after the next event; perhaps after a loss, and then
   with all frames. */
static void random_context (Tape *t, uint32_t x, uint64_t ticks,
                            bool inside) {
  static const uint32_t frames[] = {A, B};
  uint32_t chain[] = {1, x / 128 % 3, 2, 0};
  bool lost = x % 16384 < 2048 && t->p > t->chunk->block->data;
  uint32_t flags = (x & 1024 ? TG_EVF_AHEAD : 0) | (lost ? TG_EVF_LIST : 0);
  if (lost)
    e_lost(t, 3);
  e_context_of(t, ticks, flags, inside ? 2 : 1, chain, lost ? chain[1] : 0,
               frames);
}

/* Each chunk begins with a CONTEXT; now and then one is in the midst. */
static void random_events (Tape *t, uint64_t *seed, int n) {
  uint64_t ticks = 1000;
  bool inside = false;
  for (int i = 0; i < n; i++) {
    uint32_t x = unit_random(seed);
    if (t->p - t->chunk->block->data > 3800)
      tape_chunk(t, 0);
    if (t->p == t->chunk->block->data || x % 61 == 0) {
      random_context(t, x, ticks += 5000, inside);
    }
    x = unit_random(seed);
    if (x % 16 == 0)
      random_other(t, x / 16, &ticks, &inside);
    else if (x % 16 < 10)
      random_call(t, x / 16);
    else
      random_return(t, x / 16);
  }
}

static tg_Cursor first;   /* of the stream, which keeps all of it */

static Tape random_stream (uint64_t *seed) {
  Tape t = tape_new();
  define(t.stream, "a", 1);
  define(t.stream, "b", 1);
  define_c(t.stream, "c", TG_ROLE_NONE);
  define_c(t.stream, "yield", TG_ROLE_YIELD);
  for (int i = 0; i < TG_NCOSTS; i++)
    t.stream->costs.ticks[i] = (uint32_t)(1 + i);
  e_context(&t, 1000, 1, main_chain);
  tg_cursor_first(&first, &t.stream->store);
  random_events(&t, seed, 1000);
  return t;
}

static void free_stream (Tape *t) {
  tg_cursor_drop(&first);
  tg_stream_unpin(t->stream);
}

/* ---- readings ---- */

static uint64_t moved;    /* in all readings */

static void tell (tg_Buf *told, tg_Why why, tg_FunctionId function,
                  tg_ThreadId thread, uint64_t time_ns, uint64_t spent_ns) {
  tg_buf_addfmt(told, "%d %u %u %llu %llu\n", (int)why, function, thread,
                (unsigned long long)time_ns, (unsigned long long)spent_ns);
}

static bool tell_moves (tg_Buf *told, tg_Reader *r, tg_Pos end) {
  tg_FrameMove list[MOST];
  uint32_t n = tg_reader_moves(r, end, list, MOST);
  for (uint32_t i = 0; i < n; i++)
    tell(told, list[i].enters ? TG_WHY_ENTER : TG_WHY_RETURN,
         list[i].function, list[i].thread, list[i].time_ns, list[i].spent_ns);
  moved += n;
  return n > 0;
}

/* Hits, depth, sequence and what is yielded are told where there is a packet:
   they go on with what moves have left. */
static void tell_packet (tg_Buf *told, const tg_Packet *p, tg_Buf *rest) {
  tell(told, p->why, p->function, p->thread, p->time_ns, p->spent_ns);
  size_t yielded = p->why == TG_WHY_YIELD ? p->values.size : 0;
  tg_buf_addfmt(rest, "%llu: %u %zu %llu %llu %llu\n",
                (unsigned long long)p->sequence, p->depth, yielded,
                (unsigned long long)p->hits,
                (unsigned long long)p->entered_ns,
                (unsigned long long)p->opened_ns);
}

/* Where it ended: place, time, status. */
static void tell_end (tg_Buf *told, const tg_Reader *r) {
  tg_buf_addfmt(told, "%llu %llu %llu %llu %d\n",
                (unsigned long long)tg_reader_pos(r),
                (unsigned long long)tg_reader_latest(r),
                (unsigned long long)tg_reader_time(r),
                (unsigned long long)tg_reader_spent(r),
                (int)tg_reader_status(r));
}

static tg_Reader *reader_of (Tape *t, const tg_Options *o, tg_Pos from,
                             bool corrects) {
  tg_Selection d = {0};
  tg_selection_add(&d, o);
  tg_Reader *r = tg_reader_new(t->stream, from, &d);
  if (r != NULL && corrects)
    tg_reader_correct(r);
  tg_selection_clear(&d);
  return r;
}

/* In two parts, of which the first ends at 'half'. */
static void by_packets (tg_Reader *r, tg_Pos half, tg_Buf *told,
                        tg_Buf *rest) {
  tg_Packet p;
  while (tg_reader_next(r, half, &p))
    tell_packet(told, &p, rest);
  tell_end(told, r);
  while (tg_reader_next(r, UINT64_MAX, &p))
    tell_packet(told, &p, rest);
  tell_end(told, r);
}

static bool tell_next (tg_Reader *r, tg_Pos end, tg_Buf *told, tg_Buf *rest) {
  tg_Packet p;
  if (tell_moves(told, r, end))
    return true;
  bool given = tg_reader_next(r, end, &p);
  if (given)
    tell_packet(told, &p, rest);
  return given;
}

static void by_moves (tg_Reader *r, tg_Pos half, tg_Buf *told, tg_Buf *rest) {
  while (tell_next(r, half, told, rest))
    continue;
  tell_end(told, r);
  while (tell_next(r, UINT64_MAX, told, rest))
    continue;
  tell_end(told, r);
}

/* Each line of the second is one of the first, in its order. */
static bool is_part (const tg_Buf *all, const tg_Buf *part) {
  const char *a = all->data, *end = a + all->size;
  const char *p = part->data, *last = p + part->size;
  while (p < last && a < end) {
    const char *line = memchr(a, '\n', (size_t)(end - a));
    size_t n = (size_t)(line - a) + 1;
    if ((size_t)(last - p) >= n && memcmp(a, p, n) == 0)
      p += n;
    a += n;
  }
  return p >= last;
}

static bool equal (const tg_Buf *a, const tg_Buf *b) {
  return a->size == b->size
         && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static void compare (Tape *t, const tg_Options *o, bool corrects,
                     tg_Pos from, tg_Pos half) {
  tg_Buf packets = {0}, moves = {0}, all = {0}, rest = {0};
  tg_Reader *r = reader_of(t, o, from, corrects);
  tg_Reader *m = reader_of(t, o, from, corrects);
  by_packets(r, half, &packets, &all);
  by_moves(m, half, &moves, &rest);
  UNIT_CHECK(equal(&packets, &moves));
  UNIT_CHECK(is_part(&all, &rest));
  tg_reader_free(r);
  tg_reader_free(m);
  tg_buf_free(&packets);
  tg_buf_free(&moves);
  tg_buf_free(&all);
  tg_buf_free(&rest);
}

static tg_Options options (int round) {
  tg_Options o;
  tg_options_init(&o);
  o.types = round % 2 == 0 ? TG_TYPES_ALL : TG_TYPE_NAME;
  if (round % 5 == 1)
    tg_patterns_add(&o.exclude, "[b]");
  if (round % 5 == 2)
    o.max_depth = 3;
  if (round % 5 == 3)
    o.max_events = 20;
  return o;
}

static void as_packets_tell (void) {
  uint64_t seed = 1;
  for (int round = 0; round < 600; round++) {
    Tape t = random_stream(&seed);
    tg_Options o = options(round);
    tg_Pos from = round % 4 < 3 ? 0 : first.chunk->next->base;
    compare(&t, &o, round % 3 > 0, from,
            from + (tg_Pos)round * 20 % (tape_pos(&t) - from));
    tg_options_free(&o);
    free_stream(&t);
  }
  UNIT_CHECK(moved > 50000);
}

/* Bytes that are no event are left to tg_reader_next, which says so. */
static void damage_is_where_it_is (void) {
  uint64_t seed = 2;
  for (int round = 0; round < 600; round++) {
    Tape t = random_stream(&seed);
    tg_Options o = options(round);
    uint8_t *data = t.stream->store.first->block->data;
    for (int i = 0; i < 3; i++)
      data[100 + unit_random(&seed) % 2000] = (uint8_t)unit_random(&seed);
    compare(&t, &o, true, 0, UINT64_MAX);
    tg_options_free(&o);
    free_stream(&t);
  }
}

#ifdef TG_TEST
static void memory_is_refused (void) {
  uint64_t seed = 3;
  Tape t = random_stream(&seed);
  tg_Options o = options(0);
  for (uint64_t n = 1; n < 60; n++) {
    tg_Buf told = {0}, rest = {0};
    tg_alloc_fail(n);
    tg_Reader *r = reader_of(&t, &o, 0, true);
    while (r != NULL && tell_next(r, UINT64_MAX, &told, &rest))
      continue;
    tg_alloc_fail(0);
    UNIT_CHECK(r == NULL || tg_reader_status(r) == TG_OK
               || tg_reader_status(r) == TG_ERR_MEMORY);
    tg_reader_free(r);
    tg_buf_free(&told);
    tg_buf_free(&rest);
  }
  tg_options_free(&o);
  free_stream(&t);
}
#endif

int main (void) {
  UNIT_RUN(as_packets_tell);
  UNIT_RUN(damage_is_where_it_is);
#ifdef TG_TEST
  UNIT_RUN(memory_is_refused);
#endif
  return UNIT_END();
}
