/*
** test_trueclock.c - streams written by hand whose costs are known, and the
** times that a reader gives of them.
**
** What it gives is told packet by packet: "3>a" enters a at 3, "5<a" leaves it
** at 5. All events are ten ticks apart.
*/
#include "capture.h"
#include "reader/reader.h"
#include "unit.h"

enum { A = 1, B, SINE };

static const uint32_t main_chain[] = {1, 0};

static tg_Buf told;

static void add (Tape *t, const char *name, bool is_c) {
  tg_Function f = {.is_c = is_c, .file = true, .line = 1};
  f.name = strcpy(malloc(strlen(name) + 1), name);
  f.url = strcpy(malloc(8), "x.lua");
  UNIT_CHECK(tg_functions_add(t->stream->functions, &f) != 0);
}

/* A trace that begins at 1000, the time 0 of what is told. */
static Tape start (uint32_t call, uint32_t leave) {
  Tape t = tape_new();
  add(&t, "a", false);
  add(&t, "b", false);
  add(&t, "sin", true);
  t.stream->costs.ticks[TG_COST_CALL] = call;
  t.stream->costs.ticks[TG_COST_RETURN] = leave;
  e_context(&t, 1000, 1, main_chain);
  return t;
}

static tg_Reader *reader_of (const Tape *t, const tg_Filter *filter) {
  tg_Selection selection = {0};
  tg_Options o;
  tg_options_init(&o);
  UNIT_CHECK(tg_selection_add(&selection, &o));
  if (filter != NULL)
    UNIT_CHECK(tg_selection_narrow(&selection, filter));
  tg_Reader *r = tg_reader_new(t->stream, 0, &selection);
  tg_selection_clear(&selection);
  return r;
}

static void tell (const Tape *t, tg_Reader *r) {
  tg_Packet p;
  tg_buf_clear(&told);
  while (tg_reader_next(r, tape_pos(t), &p)) {
    const tg_Function *f = tg_functions_get(t->stream->functions, p.function);
    tg_buf_addfmt(&told, "%s%d%c%s", told.size > 0 ? " " : "",
                  (int)p.time_ns - 1000, p.why == TG_WHY_ENTER ? '>' : '<',
                  f->name);
  }
}

static void says (const Tape *t, const char *wanted) {
  tg_Reader *r = reader_of(t, NULL);
  tg_reader_correct(r);
  tell(t, r);
  UNIT_TEXT(&told, wanted);
  tg_reader_free(r);
}

static void end (Tape *t) {
  tg_stream_unpin(t->stream);
}

/* a, which calls b. */
static void nest (Tape *t) {
  e_call(t, A, 0, NULL);
  e_call(t, B, 0, NULL);
  e_return(t);
  e_return(t);
}

static void costs_are_taken_out (void) {
  Tape t = start(4, 3);
  nest(&t);
  says(&t, "10>a 16>b 22<b 29<a");
  end(&t);
}

static void nothing_is_known (void) {
  Tape t = start(0, 0);
  nest(&t);
  says(&t, "10>a 20>b 30<b 40<a");
  end(&t);
}

static void raw_stays_raw (void) {
  Tape t = start(4, 3);
  nest(&t);
  tg_Reader *r = reader_of(&t, NULL);
  tell(&t, r);
  UNIT_TEXT(&told, "10>a 20>b 30<b 40<a");
  UNIT_CHECK(tg_reader_spent(r) == 0);
  tg_reader_free(r);
  end(&t);
}

/* What a gap cannot bear is taken from the next; what differs in the recording
   differs by a nanosecond at least. */
static void owed (void) {
  Tape t = start(14, 3);
  nest(&t);
  says(&t, "10>a 11>b 12<b 13<a");
  e_call(&t, A, 0, NULL);
  says(&t, "10>a 11>b 12<b 13<a 17>a");
  end(&t);
}

/* Costs that are too high do not eat up all that comes later. */
static void owed_at_most (void) {
  Tape t = start(90, 1);
  nest(&t);
  e_time(&t, 2000);
  e_call(&t, A, 0, NULL);
  says(&t, "10>a 11>b 12<b 18<a 987>a");
  end(&t);
}

/* A return costs what its function's does, by the stack. */
static void c_functions (void) {
  Tape t = start(4, 3);
  t.stream->costs.ticks[TG_COST_CALL_C] = 7;
  t.stream->costs.ticks[TG_COST_RETURN_C] = 8;
  e_call(&t, A, 0, NULL);
  e_call(&t, SINE, 0, NULL);
  e_return(&t);
  e_return(&t);
  says(&t, "10>a 16>sin 19<sin 21<a");
  end(&t);
}

/* A list of one number, and one of an object with a property. */
static void values (void) {
  Tape t = start(1, 0);
  t.stream->costs.ticks[TG_COST_VALUES] = 1;
  t.stream->costs.ticks[TG_COST_TABLE] = 2;
  t.stream->costs.ticks[TG_COST_PROPERTY] = 4;
  e_call(&t, A, 0, "\x01\xc5");
  e_call(&t, B, 0, "\x01\x80\x03\x08\xc1\xc2\x3f");
  e_return(&t);
  says(&t, "10>a 18>b 20<b");
  end(&t);
}

static void e_overhead (Tape *t, uint64_t now, uint64_t ticks) {
  t->p = tg_put32(t->p, TG_EV_TIME | TG_EVF_OVERHEAD);
  t->p = tg_put64(tg_put64(t->p, now), ticks);
  e_end(t);
}

/* It is taken out besides the cost of the event before. */
static void overhead (void) {
  Tape t = start(4, 3);
  e_call(&t, A, 0, NULL);
  e_overhead(&t, 1500, 480);
  e_return(&t);
  says(&t, "10>a 26<a");
  tg_Reader *r = reader_of(&t, NULL);
  tell(&t, r);
  UNIT_TEXT(&told, "10>a 510<a");
  tg_reader_free(r);
  end(&t);
}

/* As a damaged file may say; the cost is still owed. */
static void overhead_of_more_than_there_was (void) {
  Tape t = start(4, 3);
  e_call(&t, A, 0, NULL);
  e_overhead(&t, 1500, UINT64_MAX);
  e_return(&t);
  says(&t, "10>a 16<a");
  end(&t);
}

/* The hook's work on the last event took so long. */
static void e_gauge (Tape *t, uint32_t ticks) {
  t->p = tg_put32(t->p, TG_EV_TIME | TG_EVF_GAUGE | ticks << TG_EV_DELTASHIFT);
  e_end(t);
}

/* What it shows is of the event's cost, and a packet of its own it is not. */
static void gauge (void) {
  Tape t = start(4, 3);
  t.stream->costs.ticks[TG_COST_WORK_CALL] = 2;
  e_call(&t, A, 0, NULL);
  e_gauge(&t, 2);
  e_return(&t);
  says(&t, "10>a 18<a");
  tg_Reader *r = reader_of(&t, NULL);
  tell(&t, r);
  UNIT_TEXT(&told, "10>a 22<a");
  tg_reader_free(r);
  end(&t);
}

/* The hook has become twice as slow, and so has all that it costs. */
static void gauges_scale (void) {
  Tape t = start(2, 1);
  t.stream->costs.ticks[TG_COST_WORK_CALL] = 2;
  e_call(&t, A, 0, NULL);
  e_gauge(&t, 4);
  e_call(&t, A, 0, NULL);
  e_return(&t);
  e_return(&t);
  says(&t, "10>a 22>a 28<a 36<a");
  end(&t);
}

/* One alone moves the mean of many by little, however long it is. */
static void a_gauge_that_was_interrupted (void) {
  Tape t = start(2, 0);
  t.stream->costs.ticks[TG_COST_WORK_CALL] = 2;
  for (int i = 0; i < 64; i++) {
    e_call(&t, A, 0, NULL);
    e_gauge(&t, 2);
  }
  e_call(&t, A, 0, NULL);
  e_gauge(&t, 1000000);
  e_call(&t, A, 0, NULL);
  tg_Reader *r = reader_of(&t, NULL);
  tg_reader_correct(r);
  tell(&t, r);
  UNIT_CHECK(tg_reader_spent(r) == 65 * 2);
  e_return(&t);
  tell(&t, r);
  UNIT_TEXT(&told, "1000666<a");
  tg_reader_free(r);
  end(&t);
}

/* Of an event whose work is not known it shows nothing. */
static void gauge_of_what_is_not_gauged (void) {
  Tape t = start(4, 3);
  e_call(&t, A, 0, NULL);
  e_gauge(&t, 9);
  e_return(&t);
  says(&t, "10>a 25<a");
  end(&t);
}

/* An error's unwinding, dated by the event before, has no time of its own in
   the recording, and gets none. */
static void one_moment (void) {
  Tape t = start(4, 3);
  e_call(&t, A, 0, NULL);
  e_call(&t, B, 0, NULL);
  e_throw(&t, 2, NULL);
  says(&t, "10>a 16>b 22<b 22<a");
  end(&t);
}

/* A wait is no time either, and is not taken out twice. */
static void waits (void) {
  Tape t = start(4, 3);
  e_call(&t, A, 0, NULL);
  e_wait(&t, 1110, 90);
  e_return(&t);
  says(&t, "10>a 26<a");
  end(&t);
}

/* Filters hide frames and no costs; their times are corrected ones. */
static void filtered (void) {
  Tape t = start(4, 3);
  tg_Filter filter;
  nest(&t);
  tg_filter_init(&filter);
  filter.from_ns = 1012;
  filter.to_ns = 1025;
  tg_Reader *r = reader_of(&t, &filter);
  tg_reader_correct(r);
  tell(&t, r);
  UNIT_TEXT(&told, "16>b 22<b");
  UNIT_CHECK(tg_reader_spent(r) == 8);
  tg_reader_free(r);
  tg_filter_free(&filter);
  end(&t);
}

/* The end of a trace comes after the last cost. */
static void until (void) {
  Tape t = start(4, 3);
  nest(&t);
  tg_Reader *r = reader_of(&t, NULL);
  tg_reader_correct(r);
  tell(&t, r);
  UNIT_CHECK(tg_reader_spent(r) == 11);
  UNIT_CHECK(tg_reader_until(r, 1100) == 1086);
  UNIT_CHECK(tg_reader_until(r, 1041) == 1029);
  tg_reader_free(r);
  end(&t);
}

int main (void) {
  UNIT_RUN(costs_are_taken_out);
  UNIT_RUN(nothing_is_known);
  UNIT_RUN(raw_stays_raw);
  UNIT_RUN(owed);
  UNIT_RUN(owed_at_most);
  UNIT_RUN(c_functions);
  UNIT_RUN(values);
  UNIT_RUN(overhead);
  UNIT_RUN(overhead_of_more_than_there_was);
  UNIT_RUN(gauge);
  UNIT_RUN(gauges_scale);
  UNIT_RUN(a_gauge_that_was_interrupted);
  UNIT_RUN(gauge_of_what_is_not_gauged);
  UNIT_RUN(one_moment);
  UNIT_RUN(waits);
  UNIT_RUN(filtered);
  UNIT_RUN(until);
  tg_buf_free(&told);
  return UNIT_END();
}
