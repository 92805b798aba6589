/*
** test_replay.c - streams written by hand, gone through forwards and backwards.
**
** A moment is told in a line: "3 main f|" are the frames of the running
** coroutine, outermost first, behind the moment's number; then "+g(1)" what
** comes, if it is a call, "-r", "-x", "-y", "-t" if it is an end.
*/
#include "base/alloc.h"
#include "capture.h"
#include "replay/parting.h"
#include "replay/search.h"
#include "unit.h"

#define ONE "\x01\xc1"      /* one value, the integer 1 */
#define TWO "\x01\xc2"

static const uint32_t main_chain[] = {1, 0};

static tg_Buf told;

static Tape start (const char *names) {
  Tape t = tape_new();
  for (char name[2] = {0}; *names != '\0'; names++) {
    name[0] = *names;
    define(t.stream, name, 1);
  }
  e_context(&t, 1000, 1, main_chain);
  return t;
}

/* 'redact' may be NULL. */
static tg_Replay *hiding (const Tape *t, uint64_t every, size_t most,
                          const char *redact) {
  tg_Options o;
  tg_Selection d = {0};
  tg_options_init(&o);
  o.types = TG_TYPES_ALL;
  if (redact != NULL)
    tg_patterns_add(&o.redact, redact);
  tg_selection_add(&d, &o);
  tg_options_free(&o);
  const tg_ReplaySource source = {
    .stream = t->stream, .stop = tape_pos(t), .selection = &d,
    .every = every, .most = most
  };
  tg_Replay *r = tg_replay_new(&source);
  tg_selection_clear(&d);
  UNIT_CHECK(r != NULL);
  return r;
}

static tg_Replay *replay_of (const Tape *t, uint64_t every, size_t most) {
  return hiding(t, every, most, NULL);
}

static const char *name_of (const tg_Replay *r, tg_FunctionId f) {
  return tg_functions_get(r->stream->functions, f)->name;
}

static void tell (const tg_Replay *r) {
  static const char ends[] = "?rxyt";
  const tg_CallStack *s = tg_callstacks_find(&r->stacks,
                                             tg_replay_running(r));
  tg_buf_clear(&told);
  tg_buf_addu64(&told, r->number);
  for (uint32_t i = 0; s != NULL && i < s->count; i++)
    tg_buf_addfmt(&told, " %s", name_of(r, s->frames[i].function));
  tg_buf_addchar(&told, '|');
  const tg_Packet *p = &r->coming.packet;
  if (!r->over && p->why == TG_WHY_ENTER)
    tg_buf_addfmt(&told, "+%s", name_of(r, p->function));
  else if (!r->over)
    tg_buf_addfmt(&told, "-%c", ends[p->why]);
}

static tg_SearchState move (tg_Replay *r, tg_Move m, tg_ThreadId thread) {
  tg_Search s;
  tg_SearchState state;
  tg_search_begin(&s, r, m, thread, NULL);
  while ((state = tg_search_turn(&s, 2)) == TG_SEARCH_GOING)
    ;
  tell(r);
  return state;
}

static void done (Tape *t, tg_Replay *r) {
  tg_replay_free(r);
  tg_stream_unpin(t->stream);
}

static void test_steps (void) {
  Tape t = start("mfg");
  e_call(&t, 1, 0, NULL);                   /* 0: m */
  for (int i = 0; i < 3; i++) {             /* 1, 5, 9: f calls g */
    e_site(&t, 2, 0, 7, 0);
    e_call(&t, 3, 0, ONE);
    e_plain(&t, TG_EV_RETURN, TWO);
    e_return(&t);
  }
  e_return(&t);                             /* 13 */
  tg_Replay *r = replay_of(&t, 3, 0);
  tell(r);
  UNIT_TEXT(&told, "0|+m");
  UNIT_CHECK(move(r, TG_MOVE_IN, 1) == TG_SEARCH_FOUND);
  UNIT_TEXT(&told, "1 m|+f");
  move(r, TG_MOVE_OVER, 1);
  UNIT_TEXT(&told, "5 m|+f");
  UNIT_CHECK(r->stacks.list[0]->frames[0].reached == 7);
  move(r, TG_MOVE_IN, 1);
  move(r, TG_MOVE_IN, 1);
  UNIT_TEXT(&told, "7 m f g|-r");
  move(r, TG_MOVE_BACK_OVER, 1);
  UNIT_TEXT(&told, "6 m f|+g");
  move(r, TG_MOVE_OUT, 1);
  UNIT_TEXT(&told, "9 m|+f");
  UNIT_CHECK(move(r, TG_MOVE_OUT, 1) == TG_SEARCH_FOUND);
  UNIT_TEXT(&told, "14|");
  UNIT_CHECK(move(r, TG_MOVE_IN, 1) == TG_SEARCH_EDGE);
  UNIT_CHECK(r->total == 14);
  move(r, TG_MOVE_BACK_IN, 1);
  UNIT_TEXT(&told, "13 m|-r");
  move(r, TG_MOVE_BACK_OVER, 1);
  UNIT_TEXT(&told, "9 m|+f");
  move(r, TG_MOVE_BACK_OUT, 1);
  UNIT_TEXT(&told, "0|+m");
  UNIT_CHECK(move(r, TG_MOVE_BACK_IN, 1) == TG_SEARCH_EDGE);
  done(&t, r);
}

/* A tail call takes the place of the call that makes it; an error is one
   step. */
/* What comes stays what it is while values of others are asked for. */
static void test_hidden (void) {
  Tape t = start("mf");
  e_call(&t, 1, 0, NULL);
  e_call(&t, 2, 0, ONE);
  e_plain(&t, TG_EV_RETURN, TWO);
  tg_Replay *r = hiding(&t, 0, 0, "^x$");
  tg_Packet last;
  UNIT_CHECK(r->selection.redacts && tg_replay_go(r, 2, 100));
  last = r->last.packet;
  UNIT_CHECK(tg_replay_recall(r, r->last.at, &last)
             && last.values.data[1] == 0xc1);
  UNIT_CHECK(r->coming.packet.values.size == 2
             && r->coming.packet.values.data[1] == 0xc2);
  done(&t, r);
}

/* A call of f with a string, or with the one at '*tag', which is behind the
   CONTEXT at 'context'; where it is. */
static tg_Pos call_with (Tape *t, const char *s, const uint8_t *context,
                         const uint8_t **tag) {
  tg_Buf b = {0};
  tg_Pos at = tape_pos(t);
  e_head(t, TG_EV_CALL | TG_EVF_VALUES);
  e_u32(t, 2);
  v_var(&b, 1);
  if (s != NULL) {
    *tag = t->p + 5;
    v_str(&b, s);
  }
  else {
    size_t place = (size_t)(*tag - context);
    v_tag(&b, TG_GRIP_SMALLAGAIN);
    v_tag(&b, (int)(place & 0xff));
    v_tag(&b, (int)(place >> 8));
  }
  e_u32(t, (uint32_t)b.size | TG_VALUES_REFERS);
  memcpy(t->p, b.data, b.size);
  t->p += b.size;
  e_return(t);
  tg_buf_free(&b);
  return at;
}

/* Places count from the last CONTEXT, wherever the replay is when a value is
   asked for. */
static void test_contexts (void) {
  static const char *const words[] = {"a word", "another", "the last"};
  static const uint32_t chain[] = {1, 1};
  Tape t = start("mf");
  tg_Pos at[6];
  const uint8_t *tag;
  e_call(&t, 1, 0, NULL);
  for (uint32_t i = 0; i < 6; i += 2) {
    const uint8_t *context = t.p;
    e_context_of(&t, 2000 * (i + 1), TG_EVF_PLACES, 1, chain, 0, NULL);
    at[i] = call_with(&t, words[i / 2], context, &tag);
    at[i + 1] = call_with(&t, NULL, context, &tag);
  }
  e_return(&t);
  tg_Replay *r = replay_of(&t, 2, 0);
  for (uint64_t moment = 14; moment-- > 0;) {
    UNIT_CHECK(tg_replay_go(r, moment, 100));
    for (uint32_t i = 6; i-- > 0;) {
      tg_Packet p = {.why = TG_WHY_ENTER, .function = 2};
      tg_ValueCursor c;
      tg_Grip g;
      UNIT_CHECK(tg_replay_recall(r, at[i], &p));
      tg_values_open(&c, p.values);
      tg_values_var(&c);
      tg_values_grip(&c, &g);
      UNIT_CHECK(g.type == TG_STRING
                 && memcmp(g.u.s.data, words[i / 2], g.u.s.size) == 0);
    }
  }
  done(&t, r);
}

static void test_places (void) {
  Tape t = start("mfg");
  e_call(&t, 1, 0, NULL);
  e_call(&t, 2, 0, NULL);
  e_call(&t, 3, TG_EVF_TAIL, NULL);         /* f exits, g enters */
  e_call(&t, 2, 0, NULL);
  e_throw(&t, 2, ONE);                      /* f and g */
  e_return(&t);
  tg_Replay *r = replay_of(&t, 2, 0);
  tg_replay_go(r, 1, 100);
  move(r, TG_MOVE_OVER, 1);
  UNIT_TEXT(&told, "7 m|-r");
  move(r, TG_MOVE_BACK_OVER, 1);
  UNIT_TEXT(&told, "1 m|+f");
  move(r, TG_MOVE_IN, 1);
  move(r, TG_MOVE_IN, 1);
  UNIT_TEXT(&told, "4 m g|+f");
  move(r, TG_MOVE_IN, 1);
  UNIT_TEXT(&told, "5 m g f|-x");
  UNIT_CHECK(tg_replay_unwinds(r) == 2);
  move(r, TG_MOVE_IN, 1);
  UNIT_TEXT(&told, "7 m|-r");
  done(&t, r);
}

/* Over a call that yields: to its end, not to the yield. */
static void test_coroutines (void) {
  Tape t = start("mbf");
  tg_FunctionId y = define_c(t.stream, "y", TG_ROLE_YIELD);
  e_call(&t, 1, 0, NULL);
  e_resume(&t, 2);
  e_call(&t, 2, 0, NULL);                   /* 1: b in 2 */
  e_call(&t, 3, 0, NULL);                   /* 2: f */
  e_call(&t, y, 0, TWO);                    /* 3 */
  e_plain(&t, TG_EV_YIELD, NULL);           /* 4, 5, 6 */
  e_call(&t, 3, 0, NULL);                   /* 7, 8: f in 1 */
  e_return(&t);
  e_resume(&t, 2);                          /* 9, 10, 11 */
  e_return(&t);                             /* 12: y */
  e_return(&t);                             /* 13: f */
  tg_Replay *r = replay_of(&t, 1, 0);
  tg_replay_go(r, 2, 100);
  move(r, TG_MOVE_OVER, 2);
  UNIT_TEXT(&told, "14 b|");
  move(r, TG_MOVE_BACK_OVER, 2);
  UNIT_TEXT(&told, "2 b|+f");
  tg_replay_go(r, 8, 100);
  UNIT_CHECK(tg_callstacks_find(&r->stacks, 2)->open == 0);
  UNIT_CHECK(tg_callstacks_find(&r->stacks, 2)->count == 3);
  tg_replay_go(r, 4, 100);                  /* what is yielded is known again */
  UNIT_CHECK(r->coming.packet.values.size == 2);
  done(&t, r);
}

/* ---- random ones ---- */

/* What a moment looks like, as a number. */
static uint64_t sign (const tg_Replay *r) {
  uint64_t sum = r->number * 31 + r->stacks.frames;
  for (uint32_t i = 0; i < r->stacks.count; i++) {
    const tg_CallStack *s = r->stacks.list[i];
    uint64_t one = s->thread * 77u + s->open;
    for (uint32_t k = 0; k < s->count; k++)
      one = one * 131 + s->frames[k].entry * 7 + s->frames[k].slot
            + s->frames[k].at;
    sum += one;
  }
  if (!r->over)
    sum += r->coming.packet.function * 1000003u + r->coming.packet.why
           + r->coming.packet.time_ns * 17 + r->coming.packet.values.size;
  return sum + r->last.packet.function + r->last.frame.slot * 5;
}

enum { THREADS = 4 };

/* Calls, ends and switches between coroutines, some of which go. */
static void write_random (Tape *t, uint64_t *seed, int events) {
  uint32_t depth[THREADS + 1] = {0}, running = 1, next = 2, resumed[64];
  uint32_t chain = 0;
  for (int i = 0; i < events; i++) {
    if ((size_t)(t->chunk->block->data + 3000 - t->p) > 4000u) {
      tape_chunk(t, (uint64_t)i);
      continue;
    }
    uint32_t what = unit_random(seed) % 12, *mine = &depth[running % 5];
    if (what < 5 && *mine < 20) {
      e_call(t, 1 + unit_random(seed) % 3, 0, what == 0 ? ONE : NULL);
      ++*mine;
    }
    else if (what < 8 && *mine > 0) {
      e_plain(t, TG_EV_RETURN, what == 7 ? TWO : NULL);
      --*mine;
    }
    else if (what == 8 && *mine > 2) {
      e_throw(t, 2, ONE);
      *mine -= 2;
    }
    else if (what == 9 && *mine > 0)
      e_call(t, 2, TG_EVF_TAIL, NULL);
    else if (what == 10 && chain < 3 && next <= THREADS + 60) {
      resumed[chain++] = running;
      running = 2 + (next++ - 2) % (THREADS - 1);
      for (uint32_t k = 0; k < chain; k++)
        if (resumed[k] == running)
          running = 0;
      if (running == 0)
        running = resumed[--chain];
      else
        e_resume(t, running);
    }
    else if (what == 11 && chain > 0) {
      e_plain(t, TG_EV_YIELD, TWO);
      running = resumed[--chain];
    }
  }
}

static void check_random (uint64_t seed, uint64_t every, size_t most) {
  Tape t = start("abc");
  write_random(&t, &seed, 150);
  tg_Replay *plain = replay_of(&t, UINT32_MAX, 0);
  tg_Replay *r = replay_of(&t, every, most);
  uint64_t *signs = calloc(4096, sizeof *signs);
  do
    signs[plain->number] = sign(plain);
  while (tg_replay_advance(plain) && plain->number < 4095);
  for (int i = 0; i < 200; i++) {
    uint64_t to = unit_random(&seed) % (plain->total + 1);
    while (!tg_replay_go(r, to, 5))
      ;
    UNIT_CHECK(r->number == to && (to == 0 || sign(r) == signs[to]));
  }
  tg_replay_go(r, plain->total + 5, UINT64_MAX);
  UNIT_CHECK(r->over && r->total == plain->total);
  UNIT_CHECK(most == 0 || r->ways.count <= 3 || r->ways.bytes <= most);
  free(signs);
  tg_replay_free(plain);
  done(&t, r);
}

static void test_random (void) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    check_random(seed, 1 + seed % 9, 0);
    check_random(seed, 2, 30000);
  }
}

/* ---- two runs ---- */

static tg_Difference parted (const Tape *a, const Tape *b, uint64_t *number) {
  tg_Parting p;
  tg_Difference d;
  tg_Replay *ra = replay_of(a, 0, 0), *rb = replay_of(b, 0, 0);
  tg_parting_begin(&p, ra, rb);
  while ((d = tg_parting_turn(&p, 1)) == TG_DIFFER_GOING)
    ;
  *number = ra->number;
  UNIT_CHECK(ra->number == rb->number);
  tg_parting_free(&p);
  tg_replay_free(ra);
  tg_replay_free(rb);
  return d;
}

/* Functions have other ids, coroutines other numbers. */
static void test_parting (void) {
  Tape a = start("mf"), b = start("xfm");
  uint64_t number;
  e_call(&a, 1, 0, ONE);
  e_call(&b, 3, 0, ONE);
  e_resume(&a, 2);
  e_resume(&b, 9);
  e_call(&a, 2, 0, TWO);
  e_call(&b, 2, 0, TWO);
  UNIT_CHECK(parted(&a, &b, &number) == TG_DIFFER_NOT && number == 2);
  e_return(&a);
  UNIT_CHECK(parted(&a, &b, &number) == TG_DIFFER_END && number == 2);
  e_call(&b, 2, 0, TWO);
  UNIT_CHECK(parted(&a, &b, &number) == TG_DIFFER_KIND && number == 2);
  tg_stream_unpin(a.stream);
  tg_stream_unpin(b.stream);
}

/* {x = 1, y = {}} and its fields the other way round: objects have other
   ids. */
static void put_table (tg_Buf *b, const char *first, bool cut) {
  bool x = *first == 'x';
  v_var(b, 1);
  v_obj(b, 0);
  v_desc(b, TG_OBJ_TABLE, TG_DESC_PROPS | (cut ? (int)TG_DESC_TRUNCATED : 0));
  v_str(b, x ? "x" : "y");
  if (x)
    v_int(b, 1);
  else
    v_obj(b, 1);
  v_str(b, x ? "y" : "x");
  if (x)
    v_obj(b, 1);
  else
    v_int(b, 1);
  v_tag(b, TG_GRIP_END);
  v_desc(b, TG_OBJ_TABLE, 0);
}

/* Two empty tables, the second of which is object 'second'. */
static void put_two (tg_Buf *b, uint32_t objects) {
  v_var(b, 2);
  v_obj(b, 0);
  v_obj(b, objects);
  for (uint32_t i = 0; i <= objects; i++)
    v_desc(b, TG_OBJ_TABLE, 0);
}

static void test_alike (void) {
  Tape t = start("m");
  tg_Alike x = {.a.stream = t.stream, .b.stream = t.stream};
  tg_Buf a = {0}, b = {0}, c = {0};
  put_table(&a, "x", false);
  put_table(&b, "y", false);
  UNIT_CHECK(tg_alike_values(&x, v_slice(&a), v_slice(&b)));
  v_var(&c, 1);                 /* {x = 1} */
  v_obj(&c, 0);
  v_desc(&c, TG_OBJ_TABLE, TG_DESC_PROPS);
  v_str(&c, "x");
  v_int(&c, 1);
  v_tag(&c, TG_GRIP_END);
  UNIT_CHECK(!tg_alike_values(&x, v_slice(&a), v_slice(&c)));
  tg_buf_clear(&b);
  put_table(&b, "y", true);     /* not all of it is listed */
  UNIT_CHECK(tg_alike_values(&x, v_slice(&b), v_slice(&c)));
  tg_buf_clear(&a);
  tg_buf_clear(&b);
  put_two(&a, 1);               /* two that are alike, and one twice */
  put_two(&b, 0);
  UNIT_CHECK(!tg_alike_values(&x, v_slice(&a), v_slice(&b)));
  UNIT_CHECK(!tg_alike_values(&x, v_slice(&b), v_slice(&a)));
  UNIT_CHECK(tg_alike_texts("t: 0x55d0c8a7f2b0.", 18, "t: 0x7ffe1234567.",
                            17));
  UNIT_CHECK(!tg_alike_texts("t: 0x12", 7, "t: 0x13", 7));
  UNIT_CHECK(!tg_alike_texts("ab", 2, "abc", 3));
  UNIT_CHECK(!x.failed);
  tg_alike_free(&x);
  tg_buf_free(&a);
  tg_buf_free(&b);
  tg_buf_free(&c);
  tg_stream_unpin(t.stream);
}

int main (void) {
  UNIT_RUN(test_steps);
  UNIT_RUN(test_contexts);
  UNIT_RUN(test_places);
  UNIT_RUN(test_hidden);
  UNIT_RUN(test_coroutines);
  UNIT_RUN(test_random);
  UNIT_RUN(test_parting);
  UNIT_RUN(test_alike);
  tg_buf_free(&told);
  return UNIT_END();
}
