/*
** test_births.c - objects by the order of their birth, against a model that
** knows when each was born: two lists, the newest last, from which objects go
** and whose addresses are used again.
*/
#include "heap/births.h"
#include "unit.h"

#define MOST 4000u

typedef struct Object {
  uint64_t at;
  uint32_t stretch;
} Object;

typedef struct List {
  Object of[MOST];
  uint32_t n;
} List;

typedef struct Model {
  List plain, final;    /* without and with a finalizer */
  List pending;         /* waits for that */
  uint64_t unused[MOST];        /* addresses of what has gone */
  uint32_t nunused;
  uint64_t next;
  uint32_t stretch;
} Model;

static uint64_t address (Model *m, uint64_t *seed) {
  if (m->nunused > 0 && unit_random(seed) % 3 > 0)
    return m->unused[--m->nunused];
  return m->next += 16;
}

static uint64_t bear (Model *m, List *list, uint64_t *seed) {
  uint64_t at = address(m, seed);
  list->of[list->n++] = (Object){at, m->stretch};
  return at;
}

static bool is_anchor (const tg_Births *b, uint64_t at) {
  for (uint32_t i = 0; i < b->nmarks; i++) {
    if (b->marks[i].plain == at || b->marks[i].final == at)
      return true;
  }
  return false;
}

/* Takes out a part of a list; 'to' gets it, or it is gone. */
static void thin (Model *m, const tg_Births *b, List *list, List *to,
                  uint64_t *seed) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < list->n; i++) {
    Object o = list->of[i];
    if (is_anchor(b, o.at) || unit_random(seed) % 4 > 0)
      list->of[left++] = o;
    else if (to != NULL)
      to->of[to->n++] = o;
    else
      m->unused[m->nunused++] = o.at;
  }
  list->n = left;
}

static void add_list (tg_Heap *h, const List *list) {
  for (uint32_t i = 0; i < list->n; i++)
    h->at[h->count++] = list->of[i].at;
}

/* As a census has it, of objects without sizes. */
static void make_heap (const Model *m, tg_Heap *h, uint64_t *at,
                       uint8_t *kinds) {
  *h = (tg_Heap){.at = at, .kinds = kinds};
  at[h->count++] = 8;           /* the main thread */
  h->pending = h->count;
  add_list(h, &m->pending);
  h->finalized = h->count;
  add_list(h, &m->final);
  h->recent = h->count;
  add_list(h, &m->plain);
}

static uint32_t count_of (const Model *m, uint32_t stretch) {
  uint32_t n = stretch == 0;    /* the main thread */
  for (uint32_t i = 0; i < m->plain.n; i++)
    n += m->plain.of[i].stretch == stretch;
  for (uint32_t i = 0; i < m->final.n; i++)
    n += m->final.of[i].stretch == stretch;
  return n;
}

static void check_marks (const Model *m, const tg_Births *b) {
  for (uint32_t i = 0; i < b->nmarks; i++)
    UNIT_CHECK(b->marks[i].count == count_of(m, i));
}

static void check_list (const List *list, const tg_Births *b) {
  for (uint32_t i = 0; i < list->n; i++) {
    const Object *o = &list->of[i];
    uint64_t id = tg_births_find(b, o->at);
    UNIT_CHECK(id % 2 == 1 && id <= UINT32_MAX);
    UNIT_CHECK(tg_births_address(b, id) == o->at);
    UNIT_CHECK(o->stretch == 0
               || id > tg_births_last(b, &b->marks[o->stretch - 1]));
    UNIT_CHECK(o->stretch == b->nmarks
               || id <= tg_births_last(b, &b->marks[o->stretch]));
  }
}

static void live_on (Model *m, tg_Births *b, uint64_t *seed) {
  for (uint32_t i = unit_random(seed) % 40; i > 0; i--)
    bear(m, unit_random(seed) % 4 > 0 ? &m->plain : &m->final, seed);
  thin(m, b, &m->plain, NULL, seed);
  thin(m, b, &m->final, &m->pending, seed);
  thin(m, b, &m->pending, NULL, seed);
}

static void check_model (uint64_t seed) {
  static Model m;
  static uint64_t at[3 * MOST];
  static uint8_t kinds[3 * MOST];
  tg_Heap h;
  tg_Births b;
  m = (Model){.next = 16};
  tg_births_begin(&b, NULL);
  for (m.stretch = 0; m.stretch < 20; m.stretch++) {
    live_on(&m, &b, &seed);
    tg_BirthMark mark = {.plain = bear(&m, &m.plain, &seed)};
    mark.final = bear(&m, &m.final, &seed);
    make_heap(&m, &h, at, kinds);
    UNIT_CHECK(tg_births_mark(&b, &h, mark));
    check_marks(&m, &b);
  }
  live_on(&m, &b, &seed);
  make_heap(&m, &h, at, kinds);
  UNIT_CHECK(tg_births_number(&b, &h));
  check_list(&m.plain, &b);
  check_list(&m.final, &b);
  tg_Births next;
  tg_births_begin(&next, &b);
  UNIT_CHECK(tg_births_id(&next, 0) > tg_births_id(&b, b.most - 1));
  tg_births_free(&b);
}

static void numbers_are_in_the_order_of_birth (void) {
  for (uint64_t seed = 1; seed <= 50; seed++)
    check_model(seed);
}

static void ids_have_32_bits (void) {
  tg_Births b = {.base = TG_BIRTH_ORDERED - 1};
  UNIT_CHECK(tg_births_id(&b, 0) == UINT32_MAX);
  UNIT_CHECK(tg_births_find(&b, 16) == 0);
  UNIT_CHECK(tg_births_address(&b, UINT32_MAX) == 0);
}

int main (void) {
  UNIT_RUN(numbers_are_in_the_order_of_birth);
  UNIT_RUN(ids_have_32_bits);
  return UNIT_END();
}
