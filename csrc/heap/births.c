/* births.c - see births.h. */
#include "heap/births.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

void tg_births_free (tg_Births *b) {
  tg_free(b->marks);
  tg_free(b->numbers);
  tg_free(b->at);
  memset(b, 0, sizeof *b);
}

void tg_births_begin (tg_Births *b, const tg_Births *before) {
  uint64_t base = before != NULL ? (uint64_t)before->base + before->most : 0;
  *b = (tg_Births){
    .base = base < TG_BIRTH_ORDERED / 2 ? (uint32_t)base : 0
  };
}

/* ---- stretches ---- */

/* Goes through a census in its order. */
typedef struct Walk {
  const tg_Births *b;
  const tg_Heap *h;
  uint32_t stretch;
} Walk;

static bool is_mark (const tg_BirthMark *m, uint64_t at) {
  return at == m->plain || at == m->final;
}

/* The stretch of the next object, 'i'; a mark ends its own. */
static uint32_t stretch_of (Walk *w, uint32_t i) {
  const tg_Heap *h = w->h;
  if (i == h->finalized || i == h->recent)
    w->stretch = 0;
  if (i >= h->pending && i < h->finalized)
    return w->b->nmarks;
  uint32_t stretch = w->stretch;
  if (stretch < w->b->nmarks && is_mark(&w->b->marks[stretch], h->at[i]))
    w->stretch++;
  return stretch;
}

/* ---- marks ---- */

typedef struct Sum {
  uint32_t count;
  uint64_t bytes;
} Sum;

static void add_up (const tg_Births *b, const tg_Heap *h, Sum *sums) {
  Walk w = {.b = b, .h = h};
  for (uint32_t i = 0; i < h->count; i++) {
    Sum *sum = &sums[stretch_of(&w, i)];
    sum->count++;
    sum->bytes += tg_heap_size(h, i);
  }
}

/* How many numbers are given away before a stretch. */
static uint32_t born_before (const tg_Births *b, uint32_t stretch) {
  return stretch > 0 ? b->marks[stretch - 1].born : 0;
}

bool tg_births_mark (tg_Births *b, const tg_Heap *h, tg_BirthMark mark) {
  if (!tg_grow(&b->marks, &b->cmarks, b->nmarks + 1, sizeof *b->marks))
    return false;
  Sum *sums = tg_calloc(b->nmarks + 2u, sizeof *sums);
  if (sums == NULL)
    return false;
  mark.count = UINT32_MAX;      /* as none has: it has changed */
  b->marks[b->nmarks++] = mark;
  add_up(b, h, sums);
  for (uint32_t i = 0; i < b->nmarks; i++) {
    tg_BirthMark *m = &b->marks[i];
    m->changed = m->count != sums[i].count || m->bytes != sums[i].bytes;
    m->count = sums[i].count;
    m->bytes = sums[i].bytes;
  }
  tg_BirthMark *last = &b->marks[b->nmarks - 1];
  last->born = born_before(b, b->nmarks - 1) + last->count;
  tg_free(sums);
  return true;
}

/* ---- numbers ---- */

static void number_all (tg_Births *b, const tg_Heap *h, uint32_t *next) {
  Walk w = {.b = b, .h = h};
  for (uint32_t i = 0; i <= b->nmarks; i++)
    next[i] = born_before(b, i);
  for (uint32_t i = 0; i < h->count; i++) {
    uint32_t number = next[stretch_of(&w, i)]++;
    tg_assert(number < b->most);
    b->numbers[i] = number;
    b->at[number] = h->at[i];
  }
}

bool tg_births_number (tg_Births *b, const tg_Heap *h) {
  tg_free(b->numbers);
  tg_free(b->at);
  b->count = h->count;
  b->most = born_before(b, b->nmarks) + h->count;
  b->numbers = tg_calloc(b->count + 1u, sizeof *b->numbers);
  b->at = tg_calloc(b->most + 1u, sizeof *b->at);
  uint32_t *next = tg_calloc(b->nmarks + 1u, sizeof *next);
  bool ok = b->numbers != NULL && b->at != NULL && next != NULL;
  if (ok)
    number_all(b, h, next);
  else
    b->count = b->most = 0;
  tg_free(next);
  return ok;
}

uint64_t tg_births_address (const tg_Births *b, uint64_t id) {
  uint64_t first = tg_births_id(b, 0);
  uint64_t number = (id - first) / 2;
  return id >= first && id % 2 == 1 && number < b->most ? b->at[number] : 0;
}

uint64_t tg_births_find (const tg_Births *b, uint64_t at) {
  for (uint32_t i = 0; i < b->most; i++) {
    if (b->at[i] == at)
      return tg_births_id(b, i);
  }
  return 0;
}
