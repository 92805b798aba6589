/*
** longest.c - see longest.h. For export.c, once for each document that may have
** more calls than it can bear. Without memory the status says so, and nothing
** is set.
*/
#include "export/longest.h"

#include <string.h>

#include "base/alloc.h"
#include "reader/survey.h"

/* Classes of lengths: up to EXACT one for each nanosecond, then STEPS for each
   power of two. */
#define EXACT_BITS 9u
#define EXACT (1u << EXACT_BITS)
#define STEP_BITS (EXACT_BITS - 1)
#define STEPS (1u << STEP_BITS)
#define CLASSES (EXACT + (64 - EXACT_BITS) * STEPS)

typedef struct Counts {
  uint64_t of[CLASSES];       /* entries of calls of a class, by their weight */
  int64_t boxes[CLASSES + 1]; /* how many more there are if a class is the
                                 shortest that is given, and not the one before
                                 it */
  uint64_t entries;
  uint32_t others;            /* the weight of one into a coroutine but main */
  bool (*tell) (void *ud, uint64_t reached_ns);
  void *ud;
} Counts;

/* The highest nine bits of a length decide: so a class spans less than half a
   percent of its lengths, whatever they are. */
static uint32_t class_of (uint64_t ns) {
  if (ns < EXACT)
    return (uint32_t)ns;
  uint32_t power = 63 - (uint32_t)__builtin_clzll(ns);
  uint32_t step = (uint32_t)(ns >> (power - STEP_BITS)) - STEPS;
  tg_assert(power >= EXACT_BITS && step < STEPS);
  return EXACT + (power - EXACT_BITS) * STEPS + step;
}

/* The shortest length of a class; of the one after the last there is none. The
   reverse of class_of: shortest_of(class_of(ns)) is at most ns. */
static uint64_t shortest_of (uint32_t c) {
  if (c < EXACT)
    return c;
  if (c >= CLASSES)
    return UINT64_MAX;
  uint32_t power = EXACT_BITS + (c - EXACT) / STEPS;
  uint64_t step = STEPS + (c - EXACT) % STEPS;
  return step << (power - STEP_BITS);
}

/* ---- what survey.h calls with each call ---- */

/* An entry counts, not a call: each resume of a coroutine's frame is one more
   event of a document. */
static void count (void *ud, uint64_t ran_ns, uint64_t entries, bool main) {
  Counts *n = ud;
  uint32_t c = class_of(ran_ns);
  tg_assert(c < CLASSES && shortest_of(c) <= ran_ns);
  n->entries += entries;
  n->of[c] += entries * (main ? 1 : n->others);
}

/* Boxes of calls that are left out are drawn like calls, so they count, too. */
static void count_box (void *ud, uint64_t ran_ns, uint64_t most_ns,
                       bool main) {
  Counts *n = ud;
  int64_t weight = main ? 1 : n->others;
  n->boxes[class_of(ran_ns) + 1] += weight;
  n->boxes[class_of(most_ns) + 1] -= weight;
}

static void ignore_box (void *ud, uint64_t ran_ns, uint64_t most_ns,
                        bool main) {
  (void)ud;
  (void)ran_ns;
  (void)most_ns;
  (void)main;
}

static bool go_on (void *ud, uint64_t reached_ns) {
  Counts *n = ud;
  return n->tell == NULL || n->tell(n->ud, reached_ns);
}

/* ---- what comes of it ---- */

/* The class of which only a part fits, CLASSES if all calls do; '*left' is how
   much of it. One call more may be three: itself, and what is left out before
   it and in it is in boxes of its own. */
static uint32_t find_band (const Counts *n, bool boxes, uint64_t most,
                           uint64_t *left) {
  uint64_t calls = 0, drawn = 0;
  int64_t boxed = 0;
  for (uint32_t c = 0; c < CLASSES; c++)
    boxed += n->boxes[c];
  uint32_t c = CLASSES;
  for (; c > 0; c--) {
    boxed -= c < CLASSES ? n->boxes[c] : 0;
    tg_assert(boxed >= 0);
    if (calls + n->of[c - 1] + (uint64_t)boxed > most)
      break;
    calls += n->of[c - 1];
    drawn = calls + (uint64_t)boxed;
  }
  *left = (most - drawn) / (boxes ? 3 : 1);
  return c > 0 ? c - 1 : CLASSES;
}

/* Whether a document may be left as it is. A call that is left out needs a box
   for its time, so to have a few calls less takes as many boxes: what is too
   much by no more than that is no better then. */
static bool bears_all (const Counts *n, uint64_t most) {
  const uint64_t part = 16;
  uint64_t all = 0;
  for (uint32_t c = 0; c < CLASSES; c++)
    all += n->of[c];
  return all <= most + most / part;
}

/* All calls of longer classes are sure to be there; of the band itself the
   first that come, as long as the quota lasts. Where all fit nothing is set. */
static void set_limit (tg_Longest *l, tg_MinDuration *m, const Counts *n,
                       bool boxes, uint64_t most) {
  uint64_t quota;
  l->entries = n->entries;
  if (boxes && bears_all(n, most))
    return;
  uint32_t band = find_band(n, boxes, most, &quota);
  if (band == CLASSES)
    return;
  l->sure_ns = shortest_of(band + 1);
  tg_minduration_most(m, shortest_of(band), l->sure_ns, quota, n->others);
}

tg_Status tg_longest_find (tg_Longest *l, tg_MinDuration *m, tg_Pos stop,
                           uint64_t most, uint32_t others, bool boxes,
                           bool (*tell) (void *ud, uint64_t reached_ns),
                           void *ud) {
  *l = (tg_Longest){0};
  Counts *n = tg_calloc(1, sizeof *n);
  if (n == NULL)
    return TG_ERR_MEMORY;
  n->others = others;
  n->tell = tell;
  n->ud = ud;
  tg_Survey survey = {
    .over = count, .box = boxes ? count_box : ignore_box, .go_on = go_on,
    .ud = n
  };
  tg_Status status = tg_survey_run(&survey, m, stop);
  if (status == TG_OK)
    set_limit(l, m, n, boxes, most);
  tg_free(n);
  return status;
}
