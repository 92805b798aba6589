/*
** test_longest.c - the longest calls, compared with sorting a list of all.
**
** Each event is 10 ns after the last, so in a short tape all lengths are told
** apart.
*/
#include "capture.h"
#include "export/longest.h"
#include "unit.h"

enum { EVENTS = 40, TAPES = 200, OPEN = 1000000 };

/* A call of the tape, by order of entry; functions are numbered likewise. */
typedef struct Call {
  uint32_t length;      /* OPEN if it does not end */
  bool given;
} Call;

typedef struct Tale {
  Tape tape;
  Call calls[EVENTS];
  uint32_t count;
} Tale;

/* Calls and returns as they come; some stay open. */
static Tale random_tale (uint64_t *seed) {
  static const uint32_t chain[] = {1, 0};
  Tale t = {.tape = tape_new()};
  uint32_t open[EVENTS], entered[EVENTS], depth = 0;
  e_context(&t.tape, 1000, 1, chain);
  for (uint32_t i = 0; i < EVENTS; i++) {
    if (depth == 0 || unit_random(seed) % 5 < 2) {
      char name[16];
      snprintf(name, sizeof name, "f%u", (unsigned)t.count);
      e_call(&t.tape, define(t.tape.stream, name, 1), 0, NULL);
      entered[depth] = i;
      open[depth++] = t.count;
      t.calls[t.count++].length = OPEN;
    }
    else {
      e_return(&t.tape);
      depth--;
      t.calls[open[depth]].length = 10 * (i - entered[depth]);
    }
  }
  return t;
}

/* How many calls come before this one: longer ones, and those as long that were
   entered before. */
static uint32_t rank_of (const Tale *t, uint32_t call) {
  uint32_t rank = 0;
  for (uint32_t i = 0; i < t->count; i++) {
    rank += t->calls[i].length > t->calls[call].length
            || (t->calls[i].length == t->calls[call].length && i < call);
  }
  return rank;
}

/* Whether the filter gives the calls that are in front, and no others. */
static void check_given (const Tale *t, tg_MinDuration *m, uint32_t most) {
  tg_Packet p;
  bool given[EVENTS] = {false};
  while (tg_minduration_next(m, UINT64_MAX, &p)) {
    if (p.why == TG_WHY_ENTER)
      given[p.function - 1] = true;
  }
  for (uint32_t i = 0; i < t->count; i++)
    UNIT_CHECK(given[i] == (rank_of(t, i) < most));
}

static void check_limit (const Tale *t, uint32_t most) {
  tg_Options o;
  tg_Selection d = {0};
  tg_MinDuration m;
  tg_Longest l;
  tg_options_init(&o);
  tg_selection_add(&d, &o);
  tg_Reader *r = tg_reader_new(t->tape.stream, 0, &d);
  tg_minduration_init(&m, r, 0);
  UNIT_CHECK(tg_longest_find(&l, &m, UINT64_MAX, most, 1, false, NULL,
                             NULL)
             == TG_OK);
  UNIT_CHECK(l.entries == t->count);
  UNIT_CHECK((l.sure_ns == 0) == (most >= t->count));
  for (uint32_t i = 0; i < t->count; i++) {
    UNIT_CHECK(rank_of(t, i) < most || t->calls[i].length < l.sure_ns);
  }
  check_given(t, &m, most);
  UNIT_CHECK(tg_minduration_status(&m) == TG_OK);
  tg_minduration_free(&m);
  tg_reader_free(r);
  tg_selection_clear(&d);
}

static void longest_of_many (void) {
  uint64_t seed = 1;
  for (int i = 0; i < TAPES; i++) {
    Tale t = random_tale(&seed);
    for (uint32_t most = 1; most <= t.count + 1; most++)
      check_limit(&t, most);
    tg_stream_unpin(t.tape.stream);
  }
}

/* What a document with boxes is: packets nest, boxes are as long as what is
   left out, and both together are within the limit; or all is there, if that is
   little too much. */
static void check_boxes (const Tale *t, uint32_t most) {
  tg_Options o;
  tg_Selection d = {0};
  tg_MinDuration m;
  tg_Longest l;
  tg_Packet p;
  uint64_t now_ns = 0, entry_ns = 0, boxed_ns = 0;
  uint32_t entries = 0, depth = 0;
  tg_options_init(&o);
  tg_selection_add(&d, &o);
  tg_Reader *r = tg_reader_new(t->tape.stream, 0, &d);
  tg_minduration_init(&m, r, 0);
  m.left.wanted = true;
  UNIT_CHECK(tg_longest_find(&l, &m, UINT64_MAX, most, 1, true, NULL, NULL)
             == TG_OK);
  for (uint64_t i = 0; tg_minduration_next(&m, UINT64_MAX, &p); i++) {
    UNIT_CHECK(p.sequence == i && p.time_ns >= now_ns);
    now_ns = p.time_ns;
    bool enters = p.why == TG_WHY_ENTER;
    UNIT_CHECK(p.depth == (enters ? depth++ : --depth));
    entries += enters;
    if (p.function != TG_FUNCTION_LEFT)
      continue;
    if (enters)
      entry_ns = p.time_ns;
    else {
      UNIT_CHECK(p.opened_ns == entry_ns && p.time_ns > entry_ns);
      boxed_ns += p.time_ns - entry_ns;
    }
  }
  UNIT_CHECK(tg_minduration_status(&m) == TG_OK);
  UNIT_CHECK(boxed_ns == m.hidden_ns);
  bool bears = t->count <= most + most / 16;    /* a sixteenth too much */
  UNIT_CHECK((l.sure_ns == 0) == bears);
  UNIT_CHECK(!bears || entries == t->count);
  UNIT_CHECK(l.sure_ns == UINT64_MAX || bears || entries <= most);
  tg_minduration_free(&m);
  tg_reader_free(r);
  tg_selection_clear(&d);
}

static void boxes_within_the_limit (void) {
  uint64_t seed = 2;
  for (int i = 0; i < TAPES; i++) {
    Tale t = random_tale(&seed);
    for (uint32_t most = 1; most <= t.count + 1; most++)
      check_boxes(&t, most);
    tg_stream_unpin(t.tape.stream);
  }
}

/* Calls that the user does not want are no part of a box. */
static void not_asked_for (void) {
  static const uint32_t chain[] = {1, 0};
  tg_Options o;
  tg_Selection d = {0};
  tg_MinDuration m;
  tg_Longest l;
  tg_Packet p;
  uint64_t boxed_ns = 0;
  Tape t = tape_new();
  e_context(&t, 1000, 1, chain);
  tg_FunctionId f = define(t.stream, "f", 1);
  e_call(&t, f, 0, NULL);
  for (int i = 0; i < 6; i++) {       /* each of 30 ns, with one of 10 in it */
    e_call(&t, f, 0, NULL);
    e_call(&t, f, 0, NULL);
    e_return(&t);
    e_return(&t);
    e_call(&t, f, 0, NULL);           /* one of 10 */
    e_return(&t);
  }
  e_return(&t);
  tg_options_init(&o);
  tg_selection_add(&d, &o);
  tg_Reader *r = tg_reader_new(t.stream, 0, &d);
  tg_minduration_init(&m, r, 20);
  m.left.wanted = true;
  UNIT_CHECK(tg_longest_find(&l, &m, UINT64_MAX, 3, 1, false, NULL, NULL)
             == TG_OK);
  while (tg_minduration_next(&m, UINT64_MAX, &p)) {
    if (p.function == TG_FUNCTION_LEFT && p.why != TG_WHY_ENTER)
      boxed_ns += p.time_ns - p.opened_ns;
  }
  UNIT_CHECK(boxed_ns == 4 * 30);       /* of six, two are given */
  tg_minduration_free(&m);
  tg_reader_free(r);
  tg_selection_clear(&d);
  tg_stream_unpin(t.stream);
}

/* A call in another coroutine counts twice, whatever it is worth. */
static void others_count_twice (void) {
  static const uint32_t chain[] = {1, 0};
  tg_Options o;
  tg_Selection d = {0};
  tg_MinDuration m;
  tg_Longest l;
  tg_Packet p;
  uint32_t entries = 0;
  Tape t = tape_new();
  e_context(&t, 1000, 1, chain);
  tg_FunctionId f = define(t.stream, "f", 1);
  e_call(&t, f, 0, NULL);
  e_resume(&t, 2);
  for (int i = 0; i < 10; i++) {
    e_call(&t, f, 0, NULL);
    e_return(&t);
  }
  e_plain(&t, TG_EV_LEAVE, NULL);
  e_return(&t);
  tg_options_init(&o);
  tg_selection_add(&d, &o);
  tg_Reader *r = tg_reader_new(t.stream, 0, &d);
  tg_minduration_init(&m, r, 0);
  UNIT_CHECK(tg_longest_find(&l, &m, UINT64_MAX, 8, 2, false, NULL, NULL)
             == TG_OK);
  UNIT_CHECK(l.entries == 11);
  while (tg_minduration_next(&m, UINT64_MAX, &p))
    entries += p.why == TG_WHY_ENTER;
  UNIT_CHECK(entries == 1 + 3);         /* 1 + 3 * 2 <= 8 */
  UNIT_CHECK(m.hidden_ns == 7 * 10);
  tg_minduration_free(&m);
  tg_reader_free(r);
  tg_selection_clear(&d);
  tg_stream_unpin(t.stream);
}

/* Who is told ends it. */
static bool refuse (void *ud, uint64_t reached_ns) {
  UNIT_CHECK(reached_ns > 0);
  ++*(int *)ud;
  return false;
}

static void can_be_ended (void) {
  static const uint32_t chain[] = {1, 0};
  tg_Options o;
  tg_Selection d = {0};
  tg_MinDuration m;
  tg_Longest l;
  int told = 0;
  Tape t = tape_new();
  e_context(&t, 1000, 1, chain);
  tg_FunctionId f = define(t.stream, "f", 1);
  for (int i = 0; i < 5000; i++) {
    if ((const uint8_t *)t.chunk->block + t.chunk->size - t.p < 256)
      tape_chunk(&t, 0);
    e_call(&t, f, 0, NULL);
    e_return(&t);
  }
  tg_options_init(&o);
  tg_selection_add(&d, &o);
  tg_Reader *r = tg_reader_new(t.stream, 0, &d);
  tg_minduration_init(&m, r, 0);
  UNIT_CHECK(tg_longest_find(&l, &m, UINT64_MAX, 5, 1, false, refuse, &told)
             == TG_ERR_IO);
  UNIT_CHECK(told == 1 && l.sure_ns == 0 && m.sure_ns == 0);
  tg_minduration_free(&m);
  tg_reader_free(r);
  tg_selection_clear(&d);
  tg_stream_unpin(t.stream);
}

int main (void) {
  UNIT_RUN(longest_of_many);
  UNIT_RUN(boxes_within_the_limit);
  UNIT_RUN(not_asked_for);
  UNIT_RUN(others_count_twice);
  UNIT_RUN(can_be_ended);
  return UNIT_END();
}
