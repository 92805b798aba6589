/*
** test_handover.c - a trace that one thread begins and another takes: its part
** of the stream has one owner at any time. Run under the thread sanitizer too.
*/
#include <pthread.h>

#include "capture.h"
#include "channel/handover.h"
#include "unit.h"

static const uint32_t chain[] = {1, 0};

static tg_Channel *channel_new (void) {
  tg_Options host;
  tg_options_init(&host);
  return tg_channel_new(NULL, 0, 0, &host, -1);
}

/* A stream of a CONTEXT and a call, and the part that begins with it. */
static tg_Excerpt part_new (Tape *t) {
  *t = tape_new();
  define(t->stream, "f", 1);
  e_context(t, 0, 1, chain);
  tg_Excerpt p = {.stream = t->stream, .packets_start = 7, .ticks_start = 5};
  tg_cursor_first(&p.hold, &t->stream->store);
  e_call(t, 1, 0, NULL);
  return p;
}

static void runs_on_and_is_taken_as_far_as_it_is (void) {
  Tape t;
  tg_Channel *l = channel_new();
  tg_Handover *k = tg_handover_new();
  tg_Excerpt from = part_new(&t), to;
  UNIT_CHECK(tg_handover_begin(l, k, &from) && from.stream == NULL);
  tg_Pos here = tape_pos(&t);
  UNIT_CHECK(tg_handover_take(l, k, &to));
  UNIT_CHECK(to.end == TG_END_STOPPED && to.stop == here);
  UNIT_CHECK(to.packets_start == 7 && to.ticks_start == 5);
  tg_excerpt_free(&to);
  tg_handover_unpin(k);
  tg_channel_unpin(l);
}

static void ends_by_itself_and_is_taken_as_it_was (void) {
  Tape t;
  tg_Channel *l = channel_new();
  tg_Handover *k = tg_handover_new();
  tg_Excerpt from = part_new(&t), to;
  tg_Excerpt facts = {.end = TG_END_EVENTS, .stop = tape_pos(&t),
                   .ticks_end = 9, .lost = {3}};
  tg_handover_begin(l, k, &from);
  tg_handover_end(l, k, &facts);
  facts.end = TG_END_DURATION;
  tg_handover_end(l, k, &facts);    /* it has ended already */
  e_return(&t);                     /* others record on */
  UNIT_CHECK(tg_handover_take(l, k, &to));
  UNIT_CHECK(to.end == TG_END_EVENTS && to.stop == facts.stop);
  UNIT_CHECK(to.ticks_end == 9 && to.lost[0] == 3);
  tg_excerpt_free(&to);
  tg_handover_unpin(k);
  tg_channel_unpin(l);
}

static void given_up_before_it_begins (void) {
  Tape t;
  tg_Channel *l = channel_new();
  tg_Handover *k = tg_handover_new();
  tg_Excerpt from = part_new(&t), to;
  UNIT_CHECK(!tg_handover_take(l, k, &to) && to.stream == NULL);
  UNIT_CHECK(!tg_handover_begin(l, k, &from));
  UNIT_CHECK(from.stream == t.stream);
  tg_handover_end(l, k, &from);     /* nothing is there: nothing happens */
  tg_excerpt_free(&from);
  tg_handover_unpin(k);
  tg_channel_unpin(l);
}

static void never_taken_goes_with_the_last_pin (void) {
  Tape t;
  tg_Channel *l = channel_new();
  tg_Handover *k = tg_handover_new();
  tg_Excerpt from = part_new(&t);
  tg_Handover *other = tg_handover_pin(k);
  tg_handover_begin(l, k, &from);
  tg_handover_unpin(k);
  tg_handover_unpin(other);         /* the leak sanitizer looks */
  tg_channel_unpin(l);
}

/* ---- in two threads ---- */

typedef struct Taking {
  tg_Channel *channel;
  tg_Handover *handover;            /* pins */
  bool taken;
} Taking;

static void *take (void *ud) {
  Taking *g = ud;
  tg_Excerpt part;
  g->taken = tg_handover_take(g->channel, g->handover, &part);
  tg_excerpt_free(&part);
  tg_handover_unpin(g->handover);
  return NULL;
}

/* Whoever comes first: the part is taken, or it stays with who would have begun
   it. */
static void has_one_owner (void) {
  uint32_t differ = 0;
  for (int i = 0; i < 500; i++) {
    Tape t;
    tg_Channel *l = channel_new();
    tg_Handover *k = tg_handover_new();
    Taking g = {l, tg_handover_pin(k), false};
    tg_Excerpt from = part_new(&t);
    tg_Excerpt facts = {.end = TG_END_EVENTS, .stop = tape_pos(&t)};
    pthread_t server;
    pthread_create(&server, NULL, take, &g);
    bool begun = tg_handover_begin(l, k, &from);
    tg_handover_end(l, k, &facts);
    tg_handover_unpin(k);
    pthread_join(server, NULL);
    differ += begun != g.taken || begun != (from.stream == NULL);
    tg_excerpt_free(&from);
    tg_channel_unpin(l);
  }
  UNIT_CHECK(differ == 0);
}

int main (void) {
  UNIT_RUN(runs_on_and_is_taken_as_far_as_it_is);
  UNIT_RUN(ends_by_itself_and_is_taken_as_it_was);
  UNIT_RUN(given_up_before_it_begins);
  UNIT_RUN(never_taken_goes_with_the_last_pin);
  UNIT_RUN(has_one_owner);
  return UNIT_END();
}
