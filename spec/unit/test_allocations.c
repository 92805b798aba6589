/*
** test_allocations.c - the meter before an allocator, and what is added up of
** what it tells, against slow ones that cannot be wrong.
*/
#include <stdlib.h>

#include "base/allocmeter.h"
#include "profile/usage.h"
#include "unit.h"

/* What the allocator behind the meter was asked last, and what it does. */
static struct {
  void *ud, *block;
  size_t osize, nsize;
  bool refuses;
} asked;

static char blocks[4096];

static void *allocator (void *ud, void *block, size_t osize, size_t nsize) {
  asked.ud = ud;
  asked.block = block;
  asked.osize = osize;
  asked.nsize = nsize;
  return nsize == 0 || asked.refuses ? NULL : blocks + nsize;
}

static bool passes (tg_AllocMeter *m, void *block, size_t osize,
                    size_t nsize) {
  void *result = tg_allocmeter_call(m, block, osize, nsize);
  bool none = nsize == 0 || asked.refuses;
  return asked.ud == &asked && asked.block == block && asked.osize == osize
         && asked.nsize == nsize && result == (none ? NULL : blocks + nsize);
}

static bool has (const tg_AllocCounts *c, uint64_t allocations,
                 uint64_t allocated, uint64_t freed) {
  return c->allocations == allocations && c->allocated == allocated
         && c->freed == freed;
}

static void passes_on_what_it_is_asked (void) {
  uint64_t alarm = 1;
  tg_AllocMeter *m = tg_allocmeter_new(allocator, &asked);
  UNIT_CHECK(passes(m, NULL, 5, 100) && has(&m->total, 0, 0, 0));
  tg_allocmeter_begin(m, &alarm, 0);
  tg_allocmeter_base(m, 1000);
  UNIT_CHECK(passes(m, NULL, 5, 100) && has(&m->total, 1, 100, 0));
  UNIT_CHECK(passes(m, blocks, 100, 130) && has(&m->total, 2, 130, 0));
  UNIT_CHECK(passes(m, blocks, 130, 50) && has(&m->total, 2, 130, 80));
  UNIT_CHECK(passes(m, blocks, 50, 50) && passes(m, NULL, 0, 0));
  UNIT_CHECK(has(&m->total, 2, 130, 80) && m->heap == 1050 && m->peak == 1130);
  asked.refuses = true;
  UNIT_CHECK(passes(m, NULL, 4, 70) && passes(m, blocks, 50, 500));
  UNIT_CHECK(has(&m->total, 2, 130, 80) && m->peak == 1130);
  asked.refuses = false;
  UNIT_CHECK(passes(m, blocks, 50, 0) && has(&m->total, 2, 130, 130));
  tg_allocmeter_end(m);
  UNIT_CHECK(passes(m, NULL, 5, 100) && has(&m->total, 2, 130, 130));
}

static void raises_the_alarm_once (void) {
  uint64_t alarm = 1;
  tg_AllocMeter *m = tg_allocmeter_new(allocator, &asked);
  tg_allocmeter_begin(m, &alarm, 0);
  UNIT_CHECK(passes(m, NULL, 5, 10) && alarm == 1 && !m->due);
  tg_allocmeter_base(m, 500);
  UNIT_CHECK(passes(m, NULL, 5, 10) && alarm == 0 && m->due);
  alarm = 1;
  UNIT_CHECK(passes(m, NULL, 5, 10) && alarm == 1);
  tg_allocmeter_asked(m);
  m->own = true;
  UNIT_CHECK(passes(m, NULL, 5, 10) && alarm == 1 && !m->due);
  UNIT_CHECK(has(&m->total, 3, 30, 0) && has(&m->aside, 1, 10, 0));
  UNIT_CHECK(m->heap == 530 && m->told_heap == 520 && m->peak == 530);
}

/* ---- adding up ---- */

#define ROWS 5
#define DEEPEST 20

typedef struct Model {
  uint32_t row[DEEPEST];
  uint64_t base[DEEPEST], high[DEEPEST];
  uint32_t n;
  uint64_t self[ROWS], total[ROWS], peak[ROWS], outside, heap;
} Model;

static bool is_open (const Model *k, uint32_t row) {
  for (uint32_t i = 0; i < k->n; i++) {
    if (k->row[i] == row)
      return true;
  }
  return false;
}

/* Each row that is open has it once, the innermost frame's to itself. */
static void allocate (Model *k, const tg_Allocations *a) {
  uint64_t high = (a->heap > k->heap ? a->heap : k->heap) + a->above;
  for (uint32_t row = 0; row < ROWS; row++)
    k->total[row] += is_open(k, row) ? a->allocated : 0;
  *(k->n > 0 ? &k->self[k->row[k->n - 1]] : &k->outside) += a->allocated;
  for (uint32_t i = 0; i < k->n; i++) {
    uint64_t above = high - k->base[i];
    if (high > k->base[i] && above > k->peak[k->row[i]])
      k->peak[k->row[i]] = above;
  }
  k->heap = a->heap;
}

static void enter (Model *k, tg_Usage *u, uint32_t row) {
  UNIT_CHECK(tg_usage_enter(u, row, 0, !is_open(k, row)));
  k->row[k->n] = row;
  k->base[k->n++] = k->heap;
}

static void leave (Model *k, tg_Usage *u) {
  uint32_t row = k->row[--k->n];
  tg_usage_leave(u, !is_open(k, row), false);
}

static void adds_up_by_rows (void) {
  uint64_t seed = 7;
  Model k = {.heap = 100000};
  tg_Usage u = {.on = true, .known = true, .heap = 100000};
  for (int i = 0; i < 20000; i++) {
    uint32_t what = unit_random(&seed) % 4;
    if (what == 0 && k.n < DEEPEST)
      enter(&k, &u, unit_random(&seed) % ROWS);
    else if (what == 1 && k.n > 0)
      leave(&k, &u);
    else {
      tg_Allocations a = {.count = 1, .allocated = unit_random(&seed) % 900,
                          .freed = unit_random(&seed) % 800};
      a.heap = k.heap + a.allocated - a.freed;
      a.above = unit_random(&seed) % 3 == 0 ? unit_random(&seed) % 500 : 0;
      allocate(&k, &a);
      tg_usage_add(&u, &a);
    }
  }
  while (k.n > 0)
    leave(&k, &u);
  uint64_t sum = u.outside.allocated;
  UNIT_CHECK(u.outside.allocated == k.outside);
  for (uint32_t row = 0; row < ROWS; row++) {
    tg_UsageTally t = tg_usage_row(&u, row);
    UNIT_CHECK(t.self.allocated == k.self[row]);
    UNIT_CHECK(t.total.allocated == k.total[row]);
    UNIT_CHECK(t.peak == k.peak[row]);
    sum += t.self.allocated;
  }
  UNIT_CHECK(sum == u.sum.allocated);
  tg_usage_free(&u);
}

int main (void) {
  UNIT_RUN(passes_on_what_it_is_asked);
  UNIT_RUN(raises_the_alarm_once);
  UNIT_RUN(adds_up_by_rows);
  return UNIT_END();
}
