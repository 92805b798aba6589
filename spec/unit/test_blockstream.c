/*
** test_blockstream.c - what a client of blocks is told of the time: never more
** than it was given events for, and not beyond the end of the trace.
*/
#include <string.h>

#include "capture.h"
#include "channel/blockstream.h"
#include "unit.h"

#define ENDED UINT64_C(77)
#define ALL ((size_t)1 << 20)
#define PROCESS ((size_t)8 + 24 + 8 * TG_TICKING_FIGURES)

enum { F = 1 };

static const uint32_t chain[] = {1, 0};

/* A stream with a call, a follower of bytes that one trace feeds, and what its
   client gets. */
typedef struct Sent {
  Tape tape;
  tg_Follower *follower;
  tg_BlockStream blocks;
  tg_Buf out;
} Sent;

static Sent sent_new (void) {
  Sent s = {.tape = tape_new()};
  define(s.tape.stream, "f", 1);
  e_context(&s.tape, 0, 1, chain);
  s.follower = tg_follower_new_bytes(s.tape.stream, 0, false, 0);
  tg_follower_join(s.follower);
  tg_blockstream_begin(&s.blocks, 0, 0, &(tg_LacksFrom){.counts = {false}});
  e_call(&s.tape, F, 0, NULL);
  e_return(&s.tape);
  return s;
}

static void sent_free (Sent *s) {
  tg_follower_unpin(s->follower);
  tg_stream_unpin(s->tape.stream);
  tg_buf_free(&s->out);
}

static void read (Sent *s, size_t bytes, uint64_t until) {
  tg_buf_clear(&s->out);
  tg_blockstream_read(&s->blocks, s->follower, bytes, until, &s->out);
}

/* The time that the last entry tells; 0 if that is another one. */
static uint64_t told (const Sent *s) {
  uint32_t kind;
  uint64_t ticks;
  if (s->out.size < 16)
    return 0;
  memcpy(&kind, s->out.data + s->out.size - 16, sizeof kind);
  memcpy(&ticks, s->out.data + s->out.size - 8, sizeof ticks);
  return kind == TG_BLOCKENTRY_NOW ? ticks : 0;
}

static void tells_the_time_once_all_is_given (void) {
  Sent s = sent_new();
  read(&s, 1, UINT64_MAX);
  UNIT_CHECK(s.out.size > 0 && told(&s) == 0);
  read(&s, ALL, UINT64_MAX);
  UNIT_CHECK(s.out.size == PROCESS + 16 && told(&s) > ENDED);
  read(&s, ALL, UINT64_MAX);
  UNIT_CHECK(s.out.size == 0);
  sent_free(&s);
}

static void tells_when_the_trace_ended (void) {
  Sent s = sent_new();
  tg_follower_part(s.follower, tape_pos(&s.tape), ENDED);
  read(&s, ALL, UINT64_MAX);
  UNIT_CHECK(told(&s) == ENDED);
  sent_free(&s);
}

static void tells_when_the_client_s_time_was_over (void) {
  Sent s = sent_new();
  read(&s, ALL, ENDED);
  UNIT_CHECK(told(&s) == ENDED);
  sent_free(&s);
}

/* The figures of a LACKS that is all there is; NULL: it is something else. */
static const uint64_t *lacked (const Sent *s, uint64_t n[TG_NLACKS]) {
  uint32_t kind;
  if (s->out.size != 8 + sizeof(uint64_t) * TG_NLACKS)
    return NULL;
  memcpy(&kind, s->out.data, sizeof kind);
  memcpy(n, s->out.data + 8, sizeof(uint64_t) * TG_NLACKS);
  return kind == TG_BLOCKENTRY_LACKS ? n : NULL;
}

/* Also where no event comes any more, and nothing that its trace cannot lose,
   or that was lost before it began. */
static void tells_what_no_event_tells (void) {
  Sent s = sent_new();
  uint64_t n[TG_NLACKS];
  tg_Lacks *lacks = &s.tape.stream->lacks;
  tg_lacks_count(lacks, TG_LACK_SAMPLES);
  tg_lacks_from(lacks, &s.blocks.from);
  s.blocks.from.counts[TG_LACK_SAMPLES] = true;
  read(&s, ALL, UINT64_MAX);
  UNIT_CHECK(told(&s) > 0);
  tg_lacks_count(lacks, TG_LACK_NAMES);
  read(&s, ALL, UINT64_MAX);
  UNIT_CHECK(s.out.size == 0);
  tg_lacks_count(lacks, TG_LACK_SAMPLES);
  read(&s, ALL, UINT64_MAX);
  UNIT_CHECK(lacked(&s, n) != NULL && n[TG_LACK_SAMPLES] == 1
             && n[TG_LACK_FUNCTIONS] == 0 && n[TG_LACK_NAMES] == 0);
  read(&s, ALL, UINT64_MAX);
  UNIT_CHECK(s.out.size == 0);
  sent_free(&s);
}

int main (void) {
  UNIT_RUN(tells_the_time_once_all_is_given);
  UNIT_RUN(tells_when_the_trace_ended);
  UNIT_RUN(tells_when_the_client_s_time_was_over);
  UNIT_RUN(tells_what_no_event_tells);
  return UNIT_END();
}
