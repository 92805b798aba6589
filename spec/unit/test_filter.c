/*
** test_filter.c - a selection that is narrowed, and what a reader gives of it.
**
** Packets are told as in test_reader.c, with their depth. Each event is 10 ns
** after the last; the first is at 1010 ns.
*/
#include "base/alloc.h"
#include "capture.h"
#include "reader/reader.h"
#include "unit.h"

enum { A = 1, B, C };       /* functions in order of definition */

static tg_Buf told;

static void tell (const tg_Packet *p) {
  static const char *const ends[] = {"", "", ":x", ":y", ":T"};
  tg_buf_addstr(&told, told.size > 0 ? " " : "");
  tg_buf_addfmt(&told, "%c%c%s%s%u", p->why == TG_WHY_ENTER ? '>' : '<',
                (int)('a' + p->function - 1), ends[p->why],
                p->resumed ? "*" : "", (unsigned)p->depth);
}

/* a calls b calls c, which throws; then a calls b in coroutine 2, which yields
   and goes on. */
static Tape sample (void) {
  static const uint32_t chain[] = {1, 0};
  Tape t = tape_new();
  define(t.stream, "a", 1);
  define(t.stream, "b", 1);
  define(t.stream, "c", 1);
  e_context(&t, 1000, 1, chain);
  e_call(&t, A, 0, NULL);         /* 1010 */
  e_call(&t, B, 0, NULL);
  e_call(&t, C, 0, NULL);         /* 1030 */
  e_throw(&t, 2, NULL);
  e_resume(&t, 2);                /* 1050 */
  e_call(&t, B, 0, NULL);
  e_plain(&t, TG_EV_YIELD, NULL); /* 1070 */
  e_resume(&t, 2);
  e_return(&t);                   /* 1090 */
  e_plain(&t, TG_EV_LEAVE, NULL);
  e_return(&t);                   /* 1110 */
  return t;
}

#define ALL ">a0 >b1 >c2 <c:x2 <b:x1 >b1 <b:y1 >b*1 <b1 <a0"

/* A selection of a trace with these options, narrowed; takes what both own. */
static tg_Selection demand_of (tg_Options *o, tg_Filter *f) {
  tg_Selection d = {0};
  UNIT_CHECK(tg_selection_add(&d, o) && tg_selection_narrow(&d, f));
  tg_options_free(o);
  tg_filter_free(f);
  return d;
}

static void read_with (tg_Options *o, tg_Filter *f) {
  Tape t = sample();
  tg_Selection d = demand_of(o, f);
  tg_Reader *r = tg_reader_new(t.stream, 0, &d);
  tg_Packet p;
  uint64_t sequence = 0, begun;
  UNIT_CHECK(!tg_reader_begun(r, &begun));
  while (tg_reader_next(r, UINT64_MAX, &p)) {
    UNIT_CHECK(p.sequence == sequence++);
    tell(&p);
  }
  UNIT_CHECK(tg_reader_begun(r, &begun) && begun == 1000);
  UNIT_CHECK(!tg_reader_next(r, UINT64_MAX, &p));
  UNIT_CHECK(tg_reader_status(r) == TG_OK);
  tg_reader_free(r);
  tg_selection_clear(&d);
  tg_stream_unpin(t.stream);
}

static tg_Options options (void) {
  tg_Options o;
  tg_options_init(&o);
  return o;
}

static tg_Filter filter (void) {
  tg_Filter f;
  tg_filter_init(&f);
  return f;
}

/* Reads the sample with 'o' and 'f', which it starts anew. */
#define GIVES(o, f, wanted) \
  (read_with(&(o), &(f)), UNIT_TEXT(&told, wanted), (o) = options(), \
   (f) = filter())

static void functions (void) {
  tg_Options o = options();
  tg_Filter f = filter();
  GIVES(o, f, ALL);
  tg_patterns_add(&f.options.include, "^b$");
  GIVES(o, f, ">b0 <b:x0 >b0 <b:y0 >b*0 <b0");
  tg_patterns_add(&f.options.exclude, "^b$");
  GIVES(o, f, ">a0 >c1 <c:x1 <a0");
  tg_patterns_add(&o.exclude, "^a$");
  tg_patterns_add(&f.options.include, "^[ac]$");
  GIVES(o, f, ">c0 <c:x0");
}

static void depths (void) {
  tg_Options o = options();
  tg_Filter f = filter();
  f.options.max_depth = 2;
  GIVES(o, f, ">a0 >b1 <b:x1 >b1 <b:y1 >b*1 <b1 <a0");
  /* the trace has no c at all, so hiding a does not bring it */
  o.max_depth = 2;
  tg_patterns_add(&f.options.exclude, "^a$");
  GIVES(o, f, ">b0 <b:x0 >b0 <b:y0 >b*0 <b0");
}

static void threads (void) {
  tg_Options o = options();
  tg_Filter f = filter();
  f.thread = 2;
  GIVES(o, f, ">b0 <b:y0 >b*0 <b0");
  f.thread = 1;
  GIVES(o, f, ">a0 >b1 >c2 <c:x2 <b:x1 <a0");
  f.thread = 3;
  GIVES(o, f, "");
}

static void windows (void) {
  tg_Options o = options();
  tg_Filter f = filter();
  f.from_ns = 1020;
  GIVES(o, f, ">b0 >c1 <c:x1 <b:x0 >b0 <b:y0 >b*0 <b0");
  f.from_ns = 1021;
  GIVES(o, f, ">c0 <c:x0 >b0 <b:y0 >b*0 <b0");
  f.from_ns = 1070;
  GIVES(o, f, ">b*0 <b0");
  f.to_ns = 1040;
  GIVES(o, f, ">a0 >b1 >c2 <c:x2 <b:x1");
  f.to_ns = 1039;
  GIVES(o, f, ">a0 >b1 >c2");
  f.from_ns = 1030;
  f.to_ns = 1065;
  GIVES(o, f, ">c0 <c:x0 >b0");
  f.from_ns = 1200;
  GIVES(o, f, "");
}

/* The limit of the trace counts what the filter hides, in the middle of a
   throw too. */
static void events (void) {
  tg_Options o = options();
  tg_Filter f = filter();
  o.max_events = 4;
  GIVES(o, f, ">a0 >b1 >c2 <c:x2");
  o.max_events = 4;
  tg_patterns_add(&f.options.exclude, "^c$");
  GIVES(o, f, ">a0 >b1");
  o.max_events = 5;
  tg_patterns_add(&f.options.exclude, "^c$");
  GIVES(o, f, ">a0 >b1 <b:x1");
}

/* The smaller of both; what either hides. A copy is the same. */
static void limits (void) {
  tg_Options o = options();
  tg_Filter f = filter();
  tg_Selection copy;
  o.types = TG_TYPE_NAME | TG_TYPE_TIME;
  o.limits = (tg_Limits){2, 16, 256, 64};
  o.min_duration_ns = 5;
  tg_patterns_add(&o.redact, "^pass");
  f.options.types = TG_TYPE_NAME | TG_TYPE_ARGUMENTS;
  f.options.limits = (tg_Limits){TG_NOLIMIT, 3, 1000, 0};
  f.options.min_duration_ns = 7;
  tg_patterns_add(&f.options.redact, "^token");
  tg_Selection d = demand_of(&o, &f);
  UNIT_CHECK(tg_selection_copy(&copy, &d));
  UNIT_CHECK(copy.types == TG_TYPE_NAME && copy.min_duration_ns == 7);
  UNIT_CHECK(copy.limits.depth == 2 && copy.limits.properties == 3);
  UNIT_CHECK(copy.limits.string == 256 && copy.limits.objects == 0);
  UNIT_CHECK(tg_selection_secret(&copy, "password"));
  UNIT_CHECK(tg_selection_secret(&copy, "token"));
  UNIT_CHECK(!tg_selection_secret(&copy, "name"));
  tg_selection_clear(&d);
  tg_selection_clear(&copy);
}

/* A filter alone redacts; a selection of nobody hides nothing. */
static void secrets (void) {
  tg_Options o = options();
  tg_Filter f = filter();
  tg_Selection nobody = {0};
  tg_patterns_add(&f.options.redact, "^token");
  UNIT_CHECK(tg_selection_narrow(&nobody, &f));
  tg_Selection d = demand_of(&o, &f);
  UNIT_CHECK(tg_selection_secret(&d, "token") && !tg_selection_secret(&d, "x"));
  UNIT_CHECK(!tg_selection_secret(&nobody, "x"));
  tg_selection_clear(&d);
  tg_selection_clear(&nobody);
}

/* Twice and in any order: what is remembered of a name is that name's. The
   length is a part of it, and long ones are asked anew. */
static void remembered (void) {
  tg_Options o = options();
  tg_Filter f = filter();
  char name[80];
  tg_patterns_add(&o.redact, "7");
  tg_Selection d = demand_of(&o, &f);
  for (int i = 0; i < 20000; i++) {
    int n = i * 7919 % 5000;
    size_t size = (size_t)snprintf(name, sizeof name, "key%0*d", n % 60, n);
    UNIT_CHECK(tg_selection_hides(&d, name, size)
               == (strchr(name, '7') != NULL));
  }
  UNIT_CHECK(!tg_selection_hides(&d, "", 0) && !tg_selection_secret(&d, "a"));
  UNIT_CHECK(tg_selection_hides(&d, "a\0" "7", 3));
  UNIT_CHECK(!tg_selection_hides(&d, "a\0" "8", 3));
  tg_selection_clear(&d);
}

static const char *const bomb = ".-.-.-.-.-.-.-.-.-.-.-.-.-.-.-.-!!";

/* Functions are not matched and names are secret, and both are counted. */
static void undecided (void) {
  tg_Options o = options();
  tg_Filter f = filter();
  tg_Function function = {
    .name = (char *)(uintptr_t)"a_name_that_is_long_enough_for_it"
  };
  tg_Undecided count = 0;
  tg_patterns_add(&o.include, bomb);
  tg_patterns_add(&o.redact, bomb);
  tg_options_bound(&o, TG_BOUND_STRANGER);
  tg_Selection d = demand_of(&o, &f), copy;
  d.undecided = &count;
  UNIT_CHECK(!tg_selection_wants(&d, &function) && count == 1);
  UNIT_CHECK(tg_selection_copy(&copy, &d));
  UNIT_CHECK(!tg_selection_secret(&copy, "a") && count == 1);
  UNIT_CHECK(tg_selection_secret(&copy, function.name) && count == 2);
  UNIT_CHECK(tg_selection_secret(&copy, function.name) && count == 2);
  UNIT_CHECK(!tg_selection_secret(&copy, "a") && count == 2);
  UNIT_CHECK(tg_selection_secret(&copy, "b") && count == 3);
  tg_selection_clear(&d);
  tg_selection_clear(&copy);
}

static void refused (void) {
  tg_Options o = options();
  tg_Filter f = filter();
  tg_Selection d = {0};
  tg_patterns_add(&f.options.include, "a");
  tg_selection_add(&d, &o);
  for (uint64_t n = 1; d.filter == NULL && n < 20; n++) {
    tg_alloc_fail(n);
    UNIT_CHECK(tg_selection_narrow(&d, &f) == (d.filter != NULL));
  }
  tg_alloc_fail(0);
  UNIT_CHECK(d.filter != NULL);
  tg_filter_free(&f);
  tg_selection_clear(&d);
}

int main (void) {
  UNIT_RUN(functions);
  UNIT_RUN(depths);
  UNIT_RUN(threads);
  UNIT_RUN(windows);
  UNIT_RUN(events);
  UNIT_RUN(limits);
  UNIT_RUN(secrets);
  UNIT_RUN(remembered);
  UNIT_RUN(undecided);
  UNIT_RUN(refused);
  tg_buf_free(&told);
  return UNIT_END();
}
