/*
** test_samples.c - samples among calls, read back as one tree.
**
** A program is made up at random: its true stack is known at each moment. What
** packets say is open is compared with it after every sample.
*/
#include "capture.h"
#include "reader/reader.h"
#include "unit.h"

#define DEPTH 20
#define NAMES "abcdefgh"
#define FUNCTIONS 8
#define CHAIN 4

static const uint32_t main_chain[] = {1, 0};

/* A frame of the true stack, or of what packets say is open. */
typedef struct Shown {
  uint32_t function;
  uint32_t thread;
  bool traced;
  uint32_t line;        /* of what is told: as the latest tick has it */
} Shown;

typedef struct ShownList {
  Shown list[CHAIN * DEPTH];
  uint32_t n;
} ShownList;

/* What was sampled last: 'kept' refers to it. */
typedef struct Sampled {
  uint32_t pairs[2 * CHAIN * (DEPTH + 1)];
  uint32_t n;
} Sampled;

static ShownList told;
static uint64_t told_ns;
static uint32_t ticks;  /* told so far */

static Tape start (void) {
  Tape t = tape_new();
  for (const char *c = NAMES; *c != '\0'; c++) {
    char name[2] = {*c, '\0'};
    define(t.stream, name, 1);
  }
  e_context(&t, 1000, 1, main_chain);
  return t;
}

static tg_Reader *reader_of (const Tape *t, bool calls) {
  tg_Options o;
  tg_Selection d = {0};
  tg_options_init(&o);
  o.with_calls = calls;
  o.sample = 1000;
  tg_selection_add(&d, &o);
  tg_Reader *r = tg_reader_new(t->stream, 0, &d);
  tg_selection_clear(&d);
  return r;
}

/* ---- what packets say ---- */

static void take_tick (const tg_Packet *p) {
  UNIT_CHECK(p->depth == told.n && p->values.size == 4 * (size_t)told.n);
  for (uint32_t i = 0; i < told.n; i++)
    memcpy(&told.list[i].line, p->values.data + 4 * (size_t)i, 4);
  ticks++;
}

static void take (const tg_Packet *p) {
  UNIT_CHECK(p->time_ns >= told_ns);
  told_ns = p->time_ns;
  if (p->why == TG_WHY_TICK) {
    take_tick(p);
    return;
  }
  if (p->why == TG_WHY_ENTER) {
    UNIT_CHECK(p->depth == told.n);
    told.list[told.n++] = (Shown){p->function, p->thread, !p->sampled, 0};
    return;
  }
  UNIT_CHECK(told.n > 0);
  told.n--;
  UNIT_CHECK(p->depth == told.n);
  UNIT_CHECK(told.list[told.n].function == p->function
             && told.list[told.n].traced == !p->sampled);
}

static void read_on (tg_Reader *r) {
  tg_Packet p;
  while (tg_reader_next(r, UINT64_MAX, &p))
    take(&p);
  UNIT_CHECK(tg_reader_status(r) == TG_OK);
}

static uint32_t innermost_traced (const ShownList *s) {
  uint32_t i = s->n;
  while (i > 0 && !s->list[i - 1].traced)
    i--;
  return i;
}

/* Of the sample that e_sample makes of the truth; each differs from all others
   in its lines. */
static uint32_t line_of (const ShownList *truth, uint32_t i) {
  return 100 * (truth->n + 1) + i + 1;
}

/* Whether the tick has told a frame's line. A called one may have a frame above
   it that is not in the sample any more, behind which nothing is known. */
static bool is_line (const ShownList *truth, uint32_t i, uint32_t k) {
  uint32_t line = told.list[k].line;
  return line == line_of(truth, i)
         || (line == 0 && k < innermost_traced(&told) - 1);
}

/* What is above the innermost frame that a CALL tells of is as it is; such
   frames are told of in any case. */
static void compare (const ShownList *truth) {
  uint32_t i = innermost_traced(truth), k = innermost_traced(&told);
  UNIT_CHECK(truth->n - i == told.n - k);
  for (; i < truth->n && k < told.n; i++, k++)
    UNIT_CHECK(truth->list[i].function == told.list[k].function
               && truth->list[i].thread == told.list[k].thread
               && is_line(truth, i, k));
  for (i = 0, k = 0; i < truth->n; i++) {
    if (!truth->list[i].traced)
      continue;
    while (k < told.n && !told.list[k].traced)
      k++;
    UNIT_CHECK(k < told.n && told.list[k].function == truth->list[i].function);
    UNIT_CHECK(is_line(truth, i, k));
    k++;
  }
}

/* ---- what the hook writes ---- */

static void e_sample (Tape *t, const ShownList *truth, Sampled *before,
                      uint64_t used_ns) {
  Sampled now = {.n = 0};
  uint32_t thread = 0, kept = 0;
  for (uint32_t i = 0; i < truth->n || (i == 0 && now.n == 0); i++) {
    const Shown *f = &truth->list[i];
    if (truth->n == 0 || f->thread != thread) {
      thread = (truth->n == 0) ? 1 : f->thread;
      now.pairs[2 * now.n] = 0;
      now.pairs[2 * now.n++ + 1] = thread;
    }
    if (truth->n == 0)
      break;
    now.pairs[2 * now.n] = f->function | (f->traced ? TG_SAMPLE_TRACED : 0);
    now.pairs[2 * now.n++ + 1] = line_of(truth, i);
  }
  while (kept < now.n && kept < before->n
         && memcmp(&now.pairs[2 * kept], &before->pairs[2 * kept], 8) == 0)
    kept++;
  e_head(t, TG_EV_SAMPLE);
  t->p = tg_put64(t->p, used_ns);
  e_u32(t, 1);
  e_u32(t, kept);
  e_u32(t, now.n - kept);
  for (uint32_t i = 2 * kept; i < 2 * now.n; i++)
    e_u32(t, now.pairs[i]);
  e_end(t);
  *before = now;
}

static void begin (void) {
  told.n = ticks = 0;
  told_ns = 0;
}

/* ---- tests ---- */

/* One coroutine, functions up to 'traced' of which calls tell. */
static void run_calls (uint64_t seed, uint32_t traced) {
  Tape t = start();
  tg_Reader *r = reader_of(&t, true);
  tg_reader_tick(r);
  ShownList truth = {.n = 0};
  Sampled before = {.n = 0};
  begin();
  for (int i = 0; i < 40; i++) {
    uint32_t what = unit_random(&seed) % 5;
    uint32_t f = unit_random(&seed) % FUNCTIONS + 1;
    if (what < 2 && truth.n < DEPTH) {
      uint32_t caller = truth.n > 0 ? truth.list[truth.n - 1].function : 0;
      truth.list[truth.n++] = (Shown){f, 1, f <= traced, 0};
      if (f <= traced)
        e_site(&t, f, 0, 1, caller);
    }
    else if (what < 4 && truth.n > 0) {
      if (truth.list[--truth.n].traced)
        e_return(&t);
    }
    else {
      e_sample(&t, &truth, &before, unit_random(&seed) % 12);
      read_on(r);
      compare(&truth);
    }
  }
  tg_reader_free(r);
  tg_stream_unpin(t.stream);
}

static void calls_and_samples_are_one_tree (void) {
  for (uint64_t seed = 1; seed <= 400; seed++)
    run_calls(seed, (uint32_t)(seed % 5));
}

/* What runs and what it has resumed, changed at random. */
static void change (ShownList *truth, uint64_t *seed) {
  uint32_t keep = unit_random(seed) % (truth->n + 1);
  uint32_t more = unit_random(seed) % 6;
  uint32_t thread = keep > 0 ? truth->list[keep - 1].thread : 1;
  truth->n = keep;
  while (more-- > 0 && truth->n < DEPTH) {
    if (thread < CHAIN && truth->n > 0 && unit_random(seed) % 4 == 0)
      thread++;
    truth->list[truth->n++] = (Shown){
      unit_random(seed) % FUNCTIONS + 1, thread, false, 0
    };
  }
}

static void samples_alone_tell_the_whole_chain (void) {
  for (uint64_t seed = 1; seed <= 200; seed++) {
    uint64_t random = seed;
    Tape t = start();
    tg_Reader *r = reader_of(&t, false);
    tg_reader_tick(r);
    ShownList truth = {.n = 0};
    Sampled before = {.n = 0};
    begin();
    for (int i = 0; i < 12; i++) {
      change(&truth, &random);
      e_sample(&t, &truth, &before, unit_random(&random) % 12);
      read_on(r);
      compare(&truth);
    }
    UNIT_CHECK(tg_reader_samples(r) == 12);
    UNIT_CHECK(ticks <= 12 && (told_ns == 0 || ticks > 0));
    tg_reader_free(r);
    tg_stream_unpin(t.stream);
  }
}

/* What is between two samples belongs to the second; what it slept, to
   nobody. */
static void times_are_those_of_the_tick (void) {
  Tape t = start();
  ShownList truth = {.list = {{1, 1, false, 0}}, .n = 1};
  Sampled before = {.n = 0};
  tg_Packet p;
  e_sample(&t, &truth, &before, 10);            /* at 1010 */
  truth.list[0].function = 2;
  e_sample(&t, &truth, &before, 10);            /* at 1020 */
  truth.list[0].function = 3;
  e_sample(&t, &truth, &before, 3);             /* at 1030: it slept 7 */
  tg_Reader *r = reader_of(&t, false);
  static const uint64_t times[] = {1000, 1010, 1010, 1020, 1027};
  for (int i = 0; i < 5; i++)
    UNIT_CHECK(tg_reader_next(r, UINT64_MAX, &p) && p.time_ns == times[i]);
  UNIT_CHECK(!tg_reader_next(r, UINT64_MAX, &p));
  tg_reader_free(r);
  tg_stream_unpin(t.stream);
}

/* After the frames that it shows; before the first there is none. */
static void a_tick_is_told_to_who_asks (void) {
  Tape t = start();
  ShownList truth = {.n = 0};
  Sampled before = {.n = 0};
  tg_Packet p;
  e_sample(&t, &truth, &before, 10);            /* at 1010: nothing ran */
  truth = (ShownList){.list = {{1, 1, false, 0}}, .n = 1};
  e_sample(&t, &truth, &before, 9);             /* at 1020 */
  tg_Reader *r = reader_of(&t, false);
  tg_reader_tick(r);
  UNIT_CHECK(tg_reader_next(r, UINT64_MAX, &p) && p.why == TG_WHY_ENTER);
  UNIT_CHECK(tg_reader_next(r, UINT64_MAX, &p) && p.why == TG_WHY_TICK);
  UNIT_CHECK(p.time_ns == 1020 && p.hits == 9 && p.sequence == 1);
  UNIT_CHECK(!tg_reader_next(r, UINT64_MAX, &p));
  tg_reader_free(r);
  tg_stream_unpin(t.stream);
}

/* A frame of which nothing says where it runs is passed over. */
static void a_frame_without_a_coroutine_is_none (void) {
  Tape t = start();
  tg_Packet p;
  e_head(&t, TG_EV_SAMPLE);
  t.p = tg_put64(t.p, 10);
  e_u32(&t, 1);
  e_u32(&t, 0);
  e_u32(&t, 1);
  e_u32(&t, 1);
  e_u32(&t, 7);
  e_end(&t);
  tg_Reader *r = reader_of(&t, false);
  UNIT_CHECK(!tg_reader_next(r, UINT64_MAX, &p));
  UNIT_CHECK(tg_reader_status(r) == TG_OK);
  tg_reader_free(r);
  tg_stream_unpin(t.stream);
}

/* Entries that refer to more than there was. */
static void what_cannot_be_ends_the_reading (void) {
  Tape t = start();
  tg_Packet p;
  e_head(&t, TG_EV_SAMPLE);
  t.p = tg_put64(t.p, 1);
  e_u32(&t, 1);
  e_u32(&t, 3);
  e_u32(&t, 0);
  e_end(&t);
  tg_Reader *r = reader_of(&t, false);
  UNIT_CHECK(!tg_reader_next(r, UINT64_MAX, &p));
  UNIT_CHECK(tg_reader_status(r) == TG_ERR_FORMAT);
  tg_reader_free(r);
  tg_stream_unpin(t.stream);
}

int main (void) {
  UNIT_RUN(calls_and_samples_are_one_tree);
  UNIT_RUN(samples_alone_tell_the_whole_chain);
  UNIT_RUN(times_are_those_of_the_tick);
  UNIT_RUN(a_tick_is_told_to_who_asks);
  UNIT_RUN(a_frame_without_a_coroutine_is_none);
  UNIT_RUN(what_cannot_be_ends_the_reading);
  return UNIT_END();
}
