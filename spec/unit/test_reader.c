/*
** test_reader.c - streams written by hand, read back as packets.
**
** A run of packets is told in a line: ">f" enters f, ">f*" enters it again,
** "<f" leaves it by a return, "<f:t" by a tail call, ":x" an exception, ":y" a
** yield, ":T" termination; values stand in parentheses as their bytes. Nesting,
** depth and sequence are checked on the way.
*/
#include "base/alloc.h"
#include "capture.h"
#include "reader/reader.h"
#include "unit.h"

#define VALUE "\x01\xc5"    /* one value, the integer 5 */
#define OTHER "\x01\xc6"
#define PAIR "\x02\xc5\xc6"

static const uint32_t main_chain[] = {1, 0};

static tg_Buf told;
static uint64_t sequence;
static tg_FunctionId open_frames[64];
static uint32_t depth;

static void tell_values (tg_Slice values) {
  if (values.data == NULL)
    return;
  tg_buf_addchar(&told, '(');
  for (size_t i = 0; i < values.size; i++)
    tg_buf_addfmt(&told, "%02x", values.data[i]);
  tg_buf_addchar(&told, ')');
}

static void check_nesting (const tg_Packet *p) {
  if (p->why == TG_WHY_ENTER) {
    UNIT_CHECK(p->depth == depth);
    open_frames[depth++] = p->function;
  }
  else {
    UNIT_CHECK(depth > 0 && open_frames[depth - 1] == p->function);
    depth--;
    UNIT_CHECK(p->depth == depth);
  }
  UNIT_CHECK(p->sequence == sequence++);
}

static void tell (const tg_Stream *s, const tg_Packet *p) {
  static const char *const ends[] = {"", "", ":x", ":y", ":T"};
  const tg_Function *f = tg_functions_get(s->functions, p->function);
  check_nesting(p);
  if (told.size > 0)
    tg_buf_addchar(&told, ' ');
  tg_buf_addfmt(&told, "%c%s%s%s", p->why == TG_WHY_ENTER ? '>' : '<',
                f->name, p->tail ? ":t" : ends[p->why],
                p->resumed ? "*" : "");
  tell_values(p->values);
}

static void start_telling (void) {
  tg_buf_clear(&told);
  sequence = 0;
  depth = 0;
}

static void tell_all (tg_Reader *r) {
  tg_Packet p;
  while (tg_reader_next(r, UINT64_MAX, &p))
    tell(tg_reader_stream(r), &p);
}

static tg_Selection everything (void) {
  tg_Options o;
  tg_Selection d = {0};
  tg_options_init(&o);
  o.types = TG_TYPES_ALL;
  tg_selection_add(&d, &o);
  return d;
}

/* Tells a stream from 'from' on, with a selection that is used up. */
static void read_with (Tape *t, tg_Pos from, tg_Selection d) {
  tg_Reader *r = tg_reader_new(t->stream, from, &d);
  start_telling();
  tell_all(r);
  UNIT_CHECK(tg_reader_status(r) == TG_OK);
  UNIT_CHECK(tg_reader_pos(r) == tape_pos(t)
             || d.max_events > 0);
  tg_reader_free(r);
  tg_selection_clear(&d);
}

#define READS(t, wanted) \
  (read_with((t), 0, everything()), UNIT_TEXT(&told, wanted))

static Tape start (const char *names) {
  Tape t = tape_new();
  for (char name[2] = {0}; *names != '\0'; names++) {
    name[0] = *names;
    define(t.stream, name, 1);
  }
  e_context(&t, 1000, 1, main_chain);
  return t;
}

enum { A = 1, B, C, D };    /* functions in order of definition */

/*
** {==================================================================
** One coroutine
** ===================================================================
*/

static void calls (void) {
  Tape t = start("ab");
  e_call(&t, A, 0, PAIR);
  e_call(&t, B, 0, NULL);
  e_plain(&t, TG_EV_RETURN, VALUE);
  e_return(&t);
  e_return(&t);   /* of a frame that nobody knows */
  READS(&t, ">a(02c5c6) >b <b(01c5) <a");
  tg_stream_unpin(t.stream);
}

static void tail_calls (void) {
  Tape t = start("abc");
  e_call(&t, A, TG_EVF_TAIL, NULL);
  e_call(&t, B, TG_EVF_TAIL, NULL);
  e_call(&t, C, TG_EVF_TAIL, NULL);
  e_return(&t);
  READS(&t, ">a <a:t >b <b:t >c <c");
  tg_stream_unpin(t.stream);
}

static void throws (void) {
  Tape t = start("abc");
  e_call(&t, A, 0, NULL);
  e_call(&t, B, 0, NULL);
  e_call(&t, C, 0, NULL);
  e_throw(&t, 2, VALUE);
  e_return(&t);
  e_throw(&t, 0, NULL);
  e_call(&t, A, 0, NULL);
  e_throw(&t, 1000, NULL);
  READS(&t, ">a >b >c <c:x(01c5) <b:x(01c5) <a >a <a:x");
  tg_stream_unpin(t.stream);
}

/* b may be called at the point of the error, with what was thrown, or not. */
static void unknown_throws (void) {
  Tape t = start("ab");
  e_call(&t, A, 0, NULL);
  e_call(&t, B, 0, VALUE);
  e_plain(&t, TG_EV_RETURN, OTHER);
  e_throw(&t, 1, NULL);
  READS(&t, ">a >b(01c5) <b(01c6) <a:x");
  tg_stream_unpin(t.stream);
}

static void termination (void) {
  Tape t = start("abc");
  e_call(&t, A, 0, NULL);
  e_resume(&t, 2);
  e_call(&t, B, 0, NULL);
  e_call(&t, C, 0, NULL);
  e_plain(&t, TG_EV_TERMINATE, NULL);
  e_call(&t, A, 0, NULL);   /* beyond the end */
  READS(&t, ">a >b >c <c:T <b:T <a:T");
  tg_stream_unpin(t.stream);
}

/* }================================================================== */

/*
** {==================================================================
** Coroutines
** ===================================================================
*/

static void yields (void) {
  Tape t = start("abc");
  tg_FunctionId yield = define_c(t.stream, "yield", TG_ROLE_YIELD);
  e_call(&t, A, 0, NULL);
  e_resume(&t, 2);
  e_call(&t, B, 0, OTHER);
  e_call(&t, yield, 0, PAIR);
  e_plain(&t, TG_EV_YIELD, NULL);         /* what yield was called with */
  e_resume(&t, 2);
  e_plain(&t, TG_EV_RETURN, OTHER);
  e_plain(&t, TG_EV_YIELD, VALUE);        /* by lua_yieldk, from b */
  e_resume(&t, 2);
  e_return(&t);
  e_plain(&t, TG_EV_LEAVE, NULL);
  e_return(&t);
  READS(&t, ">a >b(01c6) >yield(02c5c6) <yield:y(02c5c6) <b:y(02c5c6) "
            ">b* >yield* <yield(01c6) <b:y(01c5) >b* <b <a");
  tg_stream_unpin(t.stream);
}

/* What is kept for later may refer to a chunk that the reader has left. */
static void kept_references (void) {
  tg_Cursor hold;
  Tape t = start("ab");
  tg_FunctionId yield = define_c(t.stream, "yield", TG_ROLE_YIELD);
  tg_cursor_first(&hold, &t.stream->store);
  const uint8_t *tag = e_call_long(&t, A, "xyz", NULL);
  e_resume(&t, 2);
  e_call_long(&t, yield, NULL, tag);
  tape_chunk(&t, 4);
  e_plain(&t, TG_EV_YIELD, NULL);
  read_with(&t, 0, everything());
  UNIT_TEXT(&told, ">a(0107030378797a) >yield(010a1b) "
            "<yield:y(0107030378797a)");
  tg_cursor_drop(&hold);
  tg_stream_unpin(t.stream);
}

static void yield_from_silence (void) {
  static const uint32_t chain[] = {1, 1, 2, 2};
  Tape t = start("a");
  tg_Pos from = tape_pos(&t);
  e_context(&t, 2000, 2, chain);
  e_plain(&t, TG_EV_YIELD, NULL);
  e_call(&t, A, 0, NULL);
  e_resume(&t, 2);
  e_return(&t);
  e_call(&t, A, 0, NULL);
  e_plain(&t, TG_EV_LEAVE, NULL);
  e_return(&t);
  read_with(&t, from, everything());
  UNIT_TEXT(&told, ">a >a <a:T <a");
  tg_stream_unpin(t.stream);
}

/* Frames that a RESUME is the first to tell of are a reader's who meets the
   coroutine there, and nobody else's. What was silent is still, when listed. */
static void untold_frames (void) {
  static const uint32_t chain[] = {1, 0, 2, 1}, below[] = {1, 0};
  static const uint32_t less[] = {C, A};
  static const uint32_t list[] = {
    C | TG_RESUME_UNTOLD, A, B | TG_RESUME_UNTOLD, A
  };
  Tape t = start("abc");
  e_resume(&t, 2);
  e_call(&t, A, 0, NULL);
  tg_Pos within = tape_pos(&t);
  e_context(&t, 1000, 2, chain);
  e_call(&t, A, 0, VALUE);
  e_plain(&t, TG_EV_YIELD, NULL);
  tg_Pos between = tape_pos(&t);
  e_context(&t, 2000, 1, below);
  e_resume_list(&t, 2, 4, list);
  e_return(&t);
  e_return(&t);
  e_plain(&t, TG_EV_YIELD, NULL);
  e_resume_list(&t, 2, 2, less);
  e_call(&t, B, 0, NULL);
  e_return(&t);
  e_return(&t);
  e_return(&t);
  read_with(&t, 0, everything());
  UNIT_TEXT(&told, ">a >a(01c5) <a:y <a:y >a* >a* <a <a:y >a* >b <b <a");
  read_with(&t, within, everything());
  UNIT_TEXT(&told, ">a(01c5) <a:y >a* <a >b <b");
  read_with(&t, between, everything());
  UNIT_TEXT(&told, ">c* >a* >b* >a* <a <b <a:y <c:y >c* >a* >b <b <a <c");
  tg_stream_unpin(t.stream);
}

/* Reading begins where a chunk does, in the middle of an event: the chain is as
   after it. The silent frames are as before, which a RESUME's list shows. */
static void begins_ahead (void) {
  static const uint32_t chain[] = {1, 1, 2, 2}, cb[] = {C, B};
  Tape t = start("abc");
  tg_Pos from = tape_pos(&t);
  e_context_of(&t, 2000, TG_EVF_AHEAD, 2, chain, 0, NULL);
  e_resume(&t, 2);
  e_return(&t);
  e_plain(&t, TG_EV_LEAVE, NULL);
  e_call(&t, A, 0, NULL);
  read_with(&t, from, everything());
  UNIT_TEXT(&told, ">a");
  from = tape_pos(&t);
  e_context_of(&t, 3000, TG_EVF_AHEAD, 2, chain, 0, NULL);
  e_call(&t, B, 0, NULL);                 /* one of the two */
  e_plain(&t, TG_EV_YIELD, NULL);
  e_resume_list(&t, 2, 2, cb);
  read_with(&t, from, everything());
  UNIT_TEXT(&told, ">b <b:y >b*");
  tg_stream_unpin(t.stream);
}

/* What is open exits, and what is open where the stream goes on is entered
   again, also in the middle of an event. */
static void loses (void) {
  static const uint32_t chain[] = {1, 1, 2, 2}, abc[] = {A, B, C};
  Tape t = start("abc");
  e_call(&t, B, 0, NULL);
  e_lost(&t, 7);
  e_context_of(&t, 2000, TG_EVF_LIST, 2, chain, 3, abc);
  e_return(&t);
  e_lost(&t, 7);
  e_context_of(&t, 3000, TG_EVF_LIST | TG_EVF_AHEAD, 2, chain, 3, abc);
  e_call(&t, C, 0, VALUE);                /* there already */
  e_plain(&t, TG_EV_YIELD, NULL);
  e_lost(&t, 1);
  e_context_of(&t, 4000, TG_EVF_AHEAD, 2, chain, 0, NULL); /* too many */
  e_call(&t, C, 0, NULL);
  READS(&t, ">b <b:T >a* >b* >c* <c <b:T <a:T >a* >b* >c* <c:y <b:y <a:T >c");
  tg_stream_unpin(t.stream);
}

/* Coroutines older than the trace, and frames that came unseen. */
static void resume_lists (void) {
  static const uint32_t ab[] = {A, B}, cab[] = {C, A, B}, c[] = {C};
  static const uint32_t chain[] = {1, 0, 2, 1};
  Tape t = start("abc");
  e_resume_list(&t, 5, 2, ab);            /* never seen: both are shown */
  e_plain(&t, TG_EV_YIELD, VALUE);
  e_resume_list(&t, 5, 2, ab);
  e_plain(&t, TG_EV_YIELD, VALUE);
  e_resume_list(&t, 5, 1, c);             /* other frames than before */
  e_plain(&t, TG_EV_LEAVE, NULL);
  READS(&t, ">a* >b* <b:y(01c5) <a:y(01c5) >a* >b* <b:y(01c5) <a:y(01c5) "
            ">c* <c:T");
  tg_Pos from = tape_pos(&t);
  e_context(&t, 2000, 2, chain);
  e_plain(&t, TG_EV_YIELD, VALUE);
  e_resume_list(&t, 2, 3, cab);           /* c is the silent one */
  e_plain(&t, TG_EV_YIELD, NULL);
  e_resume_list(&t, 2, 0, NULL);
  e_plain(&t, TG_EV_LEAVE, NULL);
  read_with(&t, from, everything());
  UNIT_TEXT(&told, ">a* >b* <b:y <a:y");
  tg_stream_unpin(t.stream);
}

static void nested_chain (void) {
  Tape t = start("abcd");
  e_call(&t, A, 0, NULL);
  e_resume(&t, 2);
  e_call(&t, B, 0, NULL);
  e_resume(&t, 3);
  e_call(&t, C, 0, NULL);
  e_throw(&t, 1, VALUE);
  e_plain(&t, TG_EV_LEAVE, NULL);
  e_call(&t, D, 0, NULL);
  e_plain(&t, TG_EV_YIELD, VALUE);
  e_resume(&t, 3);                        /* the id of one that has ended */
  e_plain(&t, TG_EV_LEAVE, NULL);
  e_return(&t);
  READS(&t, ">a >b >c <c:x(01c5) >d <d:y(01c5) <b:y(01c5) <a");
  tg_stream_unpin(t.stream);
}

/* Thread ids far apart; a third of them end, the others are resumed. */
static void many_coroutines (void) {
  enum { N = 40 };
  Tape t = start("a");
  for (uint32_t i = 0; i < N; i++) {
    e_resume(&t, 2 + i * 16);
    e_call(&t, A, 0, NULL);
    e_plain(&t, i % 3 == 0 ? TG_EV_LEAVE : TG_EV_YIELD, NULL);
  }
  for (uint32_t i = 0; i < N; i++) {
    e_resume(&t, 2 + i * 16);
    e_plain(&t, TG_EV_LEAVE, NULL);
  }
  read_with(&t, 0, everything());
  UNIT_CHECK(sequence == 2 * N + 2 * (N - N / 3 - 1));
  tg_buf_clear(&told);
  tg_stream_unpin(t.stream);
}

/* }================================================================== */

/*
** {==================================================================
** Where a reader begins and ends
** ===================================================================
*/

static void silent_frames (void) {
  static const uint32_t chain[] = {1, 2, 4, 1};
  Tape t = start("abc");
  e_call(&t, A, 0, NULL);
  e_call(&t, B, 0, NULL);
  e_resume(&t, 4);
  e_call(&t, C, 0, NULL);
  tg_Pos from = tape_pos(&t);
  e_context(&t, 2000, 2, chain);
  e_call(&t, A, TG_EVF_TAIL, NULL);       /* c's frame is a's now */
  e_return(&t);
  e_return(&t);
  e_call(&t, B, 0, NULL);
  e_plain(&t, TG_EV_YIELD, VALUE);
  e_return(&t);
  e_throw(&t, 1, VALUE);
  e_call(&t, C, 0, NULL);
  e_return(&t);
  e_return(&t);
  e_call(&t, C, 0, NULL);
  e_return(&t);
  read_with(&t, from, everything());
  UNIT_TEXT(&told, ">a <a >b <b:y(01c5) >c <c >c <c");
  read_with(&t, 0, everything());
  UNIT_TEXT(&told, ">a >b >c <c:t >a <a >b <b:y(01c5) <b <a:x(01c5) "
                   ">c <c >c <c");
  tg_stream_unpin(t.stream);
}

static void several_chunks (void) {
  static const uint32_t one[] = {1, 1};
  Tape t = start("ab");
  tg_Cursor hold;
  tg_cursor_place(&hold, &t.stream->store, 0);
  e_call(&t, A, 0, VALUE);
  tape_chunk(&t, 1);
  e_context(&t, 5000, 1, one);
  e_time(&t, 9000);
  e_call(&t, B, 0, NULL);
  tape_chunk(&t, 2);
  tape_chunk(&t, 2);
  e_return(&t);
  e_return(&t);
  READS(&t, ">a(01c5) >b <b <a");
  tg_cursor_drop(&hold);
  tg_stream_unpin(t.stream);
}

/* A ring has dropped the chunk that the trace began in. */
static void ring_loss (void) {
  static const uint32_t one[] = {1, 1};
  Tape t = start("ab");
  e_call(&t, A, 0, NULL);
  tape_chunk(&t, 41);
  e_context(&t, 5000, 1, one);
  e_call(&t, B, 0, NULL);
  e_return(&t);
  e_return(&t);
  tg_Selection d = everything();
  tg_Reader *r = tg_reader_new(t.stream, 0, &d);
  UNIT_CHECK(tg_reader_lost(r) == 41);
  start_telling();
  tell_all(r);
  UNIT_TEXT(&told, ">b <b");
  tg_reader_free(r);
  tg_selection_clear(&d);
  tg_stream_unpin(t.stream);
}

/* Reading goes on when the stream has grown, and stops before 'end'. */
static void in_steps (void) {
  Tape t = start("abc");
  tg_Selection d = everything();
  tg_Reader *r = tg_reader_new(t.stream, 0, &d);
  tg_Packet p;
  start_telling();
  e_call(&t, A, 0, NULL);
  tg_Pos end = tape_pos(&t);
  e_call(&t, B, 0, NULL);
  UNIT_CHECK(tg_reader_next(r, end, &p) && !tg_reader_next(r, end, &p));
  UNIT_CHECK(tg_reader_pos(r) == end);
  UNIT_CHECK(tg_reader_next(r, UINT64_MAX, &p) && p.function == B);
  UNIT_CHECK(!tg_reader_next(r, UINT64_MAX, &p));
  tape_chunk(&t, 2);
  e_throw(&t, 2, VALUE);
  UNIT_CHECK(tg_reader_next(r, tape_pos(&t), &p) && p.function == B);
  UNIT_CHECK(tg_reader_next(r, tape_pos(&t), &p) && p.function == A);
  UNIT_CHECK(p.values.size == 2 && p.sequence == 3);
  UNIT_CHECK(!tg_reader_next(r, tape_pos(&t), &p));
  tg_reader_free(r);
  tg_selection_clear(&d);
  tg_stream_unpin(t.stream);
}

/* The reader may come before the first chunk. */
static void before_all (void) {
  tg_Stream *s = tg_stream_new();
  tg_Selection d = everything();
  tg_Reader *r = tg_reader_new(s, 0, &d);
  tg_Packet p;
  UNIT_CHECK(!tg_reader_next(r, UINT64_MAX, &p));
  Tape t = {s, NULL, NULL};
  tape_chunk(&t, 0);
  define(s, "a", 1);
  e_context(&t, 1000, 1, main_chain);
  e_call(&t, A, 0, NULL);
  UNIT_CHECK(tg_reader_next(r, UINT64_MAX, &p) && p.function == A);
  tg_reader_free(r);
  tg_selection_clear(&d);
  tg_stream_unpin(s);
}

/* }================================================================== */

static void times (void) {
  Tape t = start("ab");
  tg_Selection d = everything();
  tg_Packet p;
  e_call(&t, A, 0, NULL);                 /* 1010 */
  e_resume(&t, 2);
  e_call(&t, B, 0, NULL);                 /* 1030 */
  e_plain(&t, TG_EV_YIELD, VALUE);        /* 1040 */
  e_time(&t, 50000);
  e_resume(&t, 2);                        /* 50010 */
  e_return(&t);                           /* 50020 */
  tg_Reader *r = tg_reader_new(t.stream, 0, &d);
  static const struct { uint64_t time, entered, opened; } wanted[] = {
    {1010, 0, 0}, {1030, 0, 0}, {1040, 1030, 1030}, {50010, 0, 0},
    {50020, 1030, 50010}
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    UNIT_CHECK(tg_reader_next(r, UINT64_MAX, &p));
    UNIT_CHECK(p.time_ns == wanted[i].time);
    UNIT_CHECK(p.entered_ns == wanted[i].entered);
    UNIT_CHECK(p.opened_ns == wanted[i].opened);
    UNIT_CHECK(p.thread == (i == 0 ? 1u : 2u));
  }
  tg_reader_free(r);
  tg_selection_clear(&d);
  tg_stream_unpin(t.stream);
}

/* Time stands still in a wait, which is not longer than it can be. */
static void waits (void) {
  static const uint64_t wanted[] = {1010, 1120, 1130};
  Tape t = start("ab");
  tg_Selection d = everything();
  tg_Packet p;
  e_call(&t, A, 0, NULL);                 /* 1010 */
  e_wait(&t, 9110, 8000);
  e_call(&t, B, 0, NULL);                 /* 9120 */
  e_return(&t);                           /* 9130 */
  e_wait(&t, 9230, 500);                  /* 100 at most */
  e_time(&t, 9230);
  e_resume(&t, 2);
  e_plain(&t, TG_EV_LEAVE, NULL);
  e_return(&t);
  tg_Reader *r = tg_reader_new(t.stream, 0, &d);
  for (int i = 0; i < 3; i++)
    UNIT_CHECK(tg_reader_next(r, UINT64_MAX, &p) && p.time_ns == wanted[i]);
  UNIT_CHECK(tg_reader_next(r, UINT64_MAX, &p) && p.time_ns == 1160
             && tg_reader_waited(r) == 8100);
  UNIT_CHECK(!tg_reader_next(r, UINT64_MAX, &p));
  UNIT_CHECK(tg_reader_until(r, 9260) == 1160
             && tg_reader_until(r, 10000) == 1900);
  tg_reader_free(r);
  tg_selection_clear(&d);
  tg_stream_unpin(t.stream);
}

static void callsites (void) {
  Tape t = start("abc");
  tg_Selection d = everything();
  tg_Packet p;
  e_call(&t, A, 0, NULL);
  e_site(&t, B, 0, 7, 0);
  e_site(&t, C, 0, 8, A);
  e_site(&t, A, TG_EVF_TAIL, 9, 0);
  tg_Reader *r = tg_reader_new(t.stream, 0, &d);
  static const uint32_t wanted[][2] = {{0, 0}, {A, 7}, {A, 8}, {0, 0}, {B, 9}};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    UNIT_CHECK(tg_reader_next(r, UINT64_MAX, &p));
    UNIT_CHECK(p.caller == wanted[i][0] && p.line == wanted[i][1]);
  }
  tg_reader_free(r);
  tg_selection_clear(&d);
  tg_stream_unpin(t.stream);
}

/*
** {==================================================================
** Demands
** ===================================================================
*/

static tg_Options all_types (void) {
  tg_Options o;
  tg_options_init(&o);
  o.types = TG_TYPES_ALL;
  return o;
}

static tg_Selection demand_of (tg_Options *o) {
  tg_Selection d = {0};
  UNIT_CHECK(tg_selection_add(&d, o));
  tg_options_free(o);
  return d;
}

/* a calls b calls c, twice; the second time c throws. */
static Tape sample (void) {
  Tape t = start("abc");
  for (int i = 0; i < 2; i++) {
    e_call(&t, A, 0, NULL);
    e_call(&t, B, 0, NULL);
    e_call(&t, C, 0, NULL);
    if (i == 0) {
      e_return(&t);
      e_return(&t);
    }
    else
      e_throw(&t, 2, VALUE);
    e_return(&t);
  }
  return t;
}

static void filters (void) {
  Tape t = sample();
  tg_Options o = all_types();
  tg_patterns_add(&o.exclude, "^b$");
  read_with(&t, 0, demand_of(&o));
  UNIT_TEXT(&told, ">a >c <c <a >a >c <c:x(01c5) <a");
  o = all_types();
  tg_patterns_add(&o.include, "^c%.lua$");    /* by source */
  tg_patterns_add(&o.include, "^b$");         /* by name */
  tg_patterns_add(&o.exclude, "c");
  read_with(&t, 0, demand_of(&o));
  UNIT_TEXT(&told, ">b <b >b <b:x(01c5)");
  tg_stream_unpin(t.stream);
}

static void c_functions (void) {
  Tape t = start("a");
  tg_Options o = all_types();
  e_call(&t, define_c(t.stream, "print", TG_ROLE_NONE), 0, NULL);
  e_call(&t, A, 0, NULL);
  o.c = false;
  read_with(&t, 0, demand_of(&o));
  UNIT_TEXT(&told, ">a");
  tg_stream_unpin(t.stream);
}

static void max_depth (void) {
  Tape t = sample();
  tg_Options o = all_types();
  o.max_depth = 2;
  read_with(&t, 0, demand_of(&o));
  UNIT_TEXT(&told, ">a >b <b <a >a >b <b:x(01c5) <a");
  o = all_types();
  o.max_depth = 1;
  tg_patterns_add(&o.exclude, "^a$");
  read_with(&t, 0, demand_of(&o));
  UNIT_TEXT(&told, ">b <b >b <b:x(01c5)");
  o = all_types();
  o.max_depth = 0;
  read_with(&t, 0, demand_of(&o));
  UNIT_TEXT(&told, "");
  tg_stream_unpin(t.stream);
}

static void max_events (void) {
  Tape t = sample();
  tg_Options o = all_types();
  o.max_events = 4;
  read_with(&t, 0, demand_of(&o));
  UNIT_TEXT(&told, ">a >b >c <c");
  tg_stream_unpin(t.stream);
}

static void unions (void) {
  tg_Options o = all_types(), q = all_types();
  tg_Selection d = {0}, e;
  o.limits.string = 10;
  o.max_events = 5;
  o.min_duration_ns = 7;
  o.types = TG_TYPE_NAME;
  o.max_depth = 3;
  tg_patterns_add(&o.redact, "pass");
  tg_patterns_add(&o.include, "x");
  q.limits.string = TG_NOLIMIT;
  q.max_events = 9;
  q.types = TG_TYPE_TIME;
  q.max_depth = 2;
  tg_selection_add(&d, &o);
  UNIT_CHECK(d.redacts && tg_selection_secret(&d, "password"));
  UNIT_CHECK(!tg_selection_secret(&d, "name"));
  tg_selection_add(&d, &q);
  UNIT_CHECK(!d.redacts && !tg_selection_secret(&d, "password"));
  UNIT_CHECK(d.types == (TG_TYPE_NAME | TG_TYPE_TIME) && d.max_depth == 3);
  UNIT_CHECK(d.limits.string == TG_NOLIMIT && d.max_events == 9);
  UNIT_CHECK(d.min_duration_ns == 0);
  q.max_events = 0;
  tg_selection_add(&d, &q);
  UNIT_CHECK(d.max_events == 0 && tg_selection_copy(&e, &d) && e.count == 3);
  UNIT_CHECK(e.limits.string == TG_NOLIMIT && e.max_events == 0);
  tg_options_free(&o);
  tg_selection_clear(&d);
  tg_selection_clear(&e);
}

static uint64_t hits_of_last (tg_Reader *r) {
  tg_Packet p;
  uint64_t hits = 0;
  while (tg_reader_next(r, UINT64_MAX, &p)) {
    if (p.why == TG_WHY_ENTER)
      hits = p.hits;
  }
  return hits;
}

static void hit_counts (void) {
  Tape t = start("a");
  tg_Options o = all_types(), q = all_types();
  q.types = TG_TYPE_NAME;
  tg_Selection with = demand_of(&o), without = demand_of(&q);
  tg_Reader *r = tg_reader_new(t.stream, 0, &without);
  e_call(&t, A, 0, NULL);
  UNIT_CHECK(hits_of_last(r) == 0);
  tg_reader_reselect(r, &with);
  e_call(&t, A, 0, NULL);
  e_call(&t, A, 0, NULL);
  UNIT_CHECK(hits_of_last(r) == 2);
  tg_reader_reselect(r, &with);
  e_resume(&t, 2);
  e_call(&t, A, 0, NULL);
  e_plain(&t, TG_EV_YIELD, NULL);
  e_resume(&t, 2);                  /* entered again, not counted */
  UNIT_CHECK(hits_of_last(r) == 3);
  tg_reader_reselect(r, &without);
  tg_reader_reselect(r, &with);
  e_call(&t, A, 0, NULL);
  UNIT_CHECK(hits_of_last(r) == 1);
  tg_reader_free(r);
  tg_selection_clear(&with);
  tg_selection_clear(&without);
  tg_stream_unpin(t.stream);
}

static void reselect (void) {
  Tape t = start("abc");
  tg_Options o = all_types(), q = all_types();
  tg_patterns_add(&o.exclude, "b");
  tg_patterns_add(&q.exclude, "^a$");
  tg_Selection no_b = demand_of(&o), no_a = demand_of(&q), none = {0};
  tg_Reader *r = tg_reader_new(t.stream, 0, &no_b);
  start_telling();
  e_call(&t, A, 0, NULL);
  e_call(&t, B, 0, NULL);
  tell_all(r);
  UNIT_TEXT(&told, ">a");
  tg_reader_reselect(r, &no_a);
  e_call(&t, A, 0, NULL);
  e_call(&t, B, 0, NULL);
  for (int i = 0; i < 4; i++)
    e_return(&t);
  tell_all(r);
  UNIT_TEXT(&told, ">b <b <a");     /* what was entered is left */
  tg_reader_reselect(r, &none);
  e_call(&t, A, 0, NULL);
  e_call(&t, B, 0, NULL);
  tell_all(r);
  UNIT_TEXT(&told, "");
  tg_reader_free(r);
  tg_selection_clear(&no_a);
  tg_selection_clear(&no_b);
  tg_stream_unpin(t.stream);
}

/* }================================================================== */

/*
** {==================================================================
** Bytes that are no stream
** ===================================================================
*/

static tg_Status status_after (const Tape *t) {
  tg_Selection d = everything();
  tg_Reader *r = tg_reader_new(t->stream, 0, &d);
  tg_Packet p;
  while (tg_reader_next(r, UINT64_MAX, &p))
    continue;
  tg_Status status = tg_reader_status(r);
  tg_reader_free(r);
  tg_selection_clear(&d);
  return status;
}

static void malformed (void) {
  Tape t = start("a");
  e_call(&t, 12345, 0, NULL);             /* nobody's */
  e_return(&t);
  UNIT_CHECK(status_after(&t) == TG_ERR_FORMAT);
  tg_stream_unpin(t.stream);
  t = start("a");
  e_call(&t, A, 0, NULL);
  e_resume(&t, 1);                        /* runs already */
  UNIT_CHECK(status_after(&t) == TG_ERR_FORMAT);
  tg_stream_unpin(t.stream);
  t = start("a");
  e_head(&t, TG_EV_RETURN | TG_EVF_VALUES);
  e_u32(&t, 0xfffffff0);                  /* more values than bytes */
  e_end(&t);
  UNIT_CHECK(status_after(&t) == TG_ERR_FORMAT);
  tg_stream_unpin(t.stream);
}

static void random_bytes (void) {
  uint64_t seed = 4711;
  for (int round = 0; round < 2000; round++) {
    Tape t = start("abcd");
    uint32_t n = unit_random(&seed) % 2000;
    for (uint32_t i = 0; i < n; i++) {
      uint32_t x = unit_random(&seed);
      *t.p++ = (uint8_t)(x % 3 == 0 ? x >> 8 : x >> 8 & 7);
    }
    e_end(&t);
    status_after(&t);
    tg_stream_unpin(t.stream);
  }
}

/* Random but lawful events: packets nest whatever the selection. */
static void random_event (Tape *t, uint64_t *seed) {
  static const uint32_t list[] = {A, B, C, D};
  uint32_t x = unit_random(seed);
  switch (x % 8) {
    case 0: case 1: case 2:
      e_call(t, 1 + x / 8 % 4, x & 1024 ? TG_EVF_TAIL : 0,
             x & 2048 ? VALUE : NULL);
      break;
    case 3: case 4: e_plain(t, TG_EV_RETURN, x & 1024 ? VALUE : NULL); break;
    case 5: e_throw(t, x / 8 % 4, x & 1024 ? VALUE : NULL); break;
    case 6: e_resume_list(t, x, x / 8 % 5, list); break;
    default:
      e_plain(t, x & 1024 ? TG_EV_YIELD : TG_EV_LEAVE, NULL);
      break;
  }
}

static void random_events (void) {
  uint64_t seed = 815;
  for (int round = 0; round < 500; round++) {
    Tape t = start("abcd");
    tg_Options o = all_types();
    for (int i = 0; i < 60; i++)
      random_event(&t, &seed);
    if (round % 2 == 0)
      tg_patterns_add(&o.exclude, "[bd]");
    if (round % 3 == 0)
      o.max_depth = 3;
    read_with(&t, 0, demand_of(&o));
    tg_stream_unpin(t.stream);
  }
  tg_buf_clear(&told);
}

#ifdef TG_TEST

/* Refused memory ends the reading, or goes unnoticed; it never crashes. */
static void refusals (void) {
  Tape t = sample();
  e_resume(&t, 9);
  e_call(&t, A, 0, VALUE);
  e_plain(&t, TG_EV_YIELD, NULL);
  tg_Selection d = everything();
  for (uint64_t n = 1; n < 30; n++) {
    tg_Packet p;
    tg_alloc_fail(n);
    tg_Reader *r = tg_reader_new(t.stream, 0, &d);
    while (r != NULL && tg_reader_next(r, UINT64_MAX, &p))
      continue;
    UNIT_CHECK(r == NULL || tg_reader_status(r) == TG_OK
               || tg_reader_status(r) == TG_ERR_MEMORY);
    tg_reader_free(r);
  }
  tg_alloc_fail(0);
  tg_selection_clear(&d);
  tg_stream_unpin(t.stream);
}

#endif

/* }================================================================== */

int main (void) {
  UNIT_RUN(calls);
  UNIT_RUN(tail_calls);
  UNIT_RUN(throws);
  UNIT_RUN(unknown_throws);
  UNIT_RUN(termination);
  UNIT_RUN(yields);
  UNIT_RUN(kept_references);
  UNIT_RUN(yield_from_silence);
  UNIT_RUN(untold_frames);
  UNIT_RUN(begins_ahead);
  UNIT_RUN(loses);
  UNIT_RUN(resume_lists);
  UNIT_RUN(nested_chain);
  UNIT_RUN(many_coroutines);
  UNIT_RUN(silent_frames);
  UNIT_RUN(several_chunks);
  UNIT_RUN(ring_loss);
  UNIT_RUN(in_steps);
  UNIT_RUN(before_all);
  UNIT_RUN(times);
  UNIT_RUN(waits);
  UNIT_RUN(callsites);
  UNIT_RUN(filters);
  UNIT_RUN(c_functions);
  UNIT_RUN(max_depth);
  UNIT_RUN(max_events);
  UNIT_RUN(unions);
  UNIT_RUN(hit_counts);
  UNIT_RUN(reselect);
  UNIT_RUN(malformed);
  UNIT_RUN(random_bytes);
  UNIT_RUN(random_events);
#ifdef TG_TEST
  UNIT_RUN(refusals);
#endif
  tg_buf_free(&told);
  return UNIT_END();
}
