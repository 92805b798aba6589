/*
** handovers.c - the traces that the server keeps for a profiler session, by
** number. On the server's thread. Want of memory raises, and nothing has
** changed.
**
** A Trace that is taken is one like any other, in the server's own state: it is
** read there, by the same code, while the program goes on.
*/
#include <string.h>

#include "server/handovers.h"
#include "base/alloc.h"
#include "channel/handover.h"
#include "trace/trace.h"

/* A trace that has been asked for, until it is taken or dropped. The options
   are for the Trace that it will be. */
struct tg_HandoverEntry {
  tg_HandoverEntry *next;
  uint64_t id;
  tg_Handover *handover;      /* pins */
  tg_Options options;         /* owns */
};

/* Where the entry of that number is linked; the end of the list if there is
   none. */
static tg_HandoverEntry **find (tg_Handovers *k, uint64_t id) {
  tg_HandoverEntry **p = &k->first;
  while (*p != NULL && (*p)->id != id)
    p = &(*p)->next;
  return p;
}

/* Its trace may still be recorded: then the command that ends it is on its
   way, or the state is gone. */
static void free_entry (tg_HandoverEntry *e) {
  if (e != NULL) {
    tg_options_free(&e->options);
    tg_handover_unpin(e->handover);
    tg_free(e);
  }
}

/* ---- asking ---- */

/* NULL without memory. */
static tg_HandoverEntry *new_entry (uint64_t id, const tg_Options *o) {
  tg_HandoverEntry *e = tg_calloc(1, sizeof *e);
  if (e == NULL)
    return NULL;
  e->id = id;
  e->handover = tg_handover_new();
  if (e->handover != NULL && tg_options_copy(&e->options, o))
    return e;
  tg_handover_unpin(e->handover);
  tg_free(e);
  return NULL;
}

/* Copies the options: the entry needs its own for the Trace, the traced thread
   needs the copy for recording. */
static tg_Command *new_command (const tg_HandoverEntry *e) {
  tg_Command *c = tg_command_new(TG_COMMAND_KEEP, e->id);
  if (c == NULL || !tg_options_copy(&c->options, &e->options)) {
    tg_command_free(c);
    return NULL;
  }
  c->handover = tg_handover_pin(e->handover);
  return c;
}

/* All that can fail is done before the command is sent. */
void tg_handovers_ask (lua_State *L, tg_Handovers *k, tg_Channel *l,
                       uint64_t id, const tg_Options *o) {
  tg_HandoverEntry *e = new_entry(id, o);
  tg_Command *c = (e != NULL) ? new_command(e) : NULL;
  if (c == NULL) {
    free_entry(e);
    luaL_error(L, "not enough memory");
    return;
  }
  e->next = k->first;
  k->first = e;
  tg_channel_post(l, c);
}

/* ---- taking ---- */

/* Ends a trace at its duration. A program that sleeps has not looked at its
   clock, so its own end may be later. */
static void end_in_time (tg_Trace *t) {
  double ticks = (double)t->options.duration_ns
                 / t->stream->clock.ns_per_tick;
  if (t->options.duration_ns == 0 || ticks > 9e18
      || t->ticks_end - t->ticks_start <= (uint64_t)ticks)
    return;
  t->ticks_end = t->ticks_start + (uint64_t)ticks;
  t->end = TG_END_DURATION;
}

/* The Trace owns the part from here on. Its packets are not counted yet
   (tg_tracefields_packets counts them). A trace that was ended by a limit of
   its own keeps the limit as its reason. */
static void fill (tg_Trace *t, const tg_Excerpt *p) {
  tg_assert(p->stream != NULL && p->end != TG_END_NOT);
  t->stream = p->stream;
  t->hold = p->hold;
  t->start = p->start;
  t->stop = p->stop;
  t->packets_start = p->packets_start;
  t->packets_end = TG_PACKETS_UNKNOWN;
  t->ticks_start = p->ticks_start;
  t->ticks_end = p->ticks_end;
  t->end = p->end;
  memcpy(t->lost, p->lost, sizeof t->lost);
  if (t->end == TG_END_STOPPED)
    end_in_time(t);
}

/* Pushes a Trace without its part. */
static tg_Trace *push_trace (lua_State *L, const tg_Options *o) {
  static const char name[] = "profiler";
  tg_Trace *t = tg_trace_new(L);
  t->origin = TG_ORIGIN_WATCH;
  t->name = tg_strdup(name, sizeof name - 1);
  if (t->name == NULL || !tg_options_copy(&t->options, o))
    luaL_error(L, "not enough memory");
  return t;
}

/* The Trace and the command are made before the part is taken: after that
   nothing may fail, or the part would be lost. STOP tells the traced thread
   to end the recording of the trace. */
void tg_handovers_take (lua_State *L, tg_Handovers *k, tg_Channel *l,
                        uint64_t id) {
  tg_HandoverEntry **p = find(k, id), *e = *p;
  tg_Excerpt part;
  if (e == NULL) {
    luaL_error(L, "there is no trace %I", (LUAI_UACINT)id);
    return;
  }
  tg_Trace *t = push_trace(L, &e->options);
  tg_Command *c = tg_command_new(TG_COMMAND_STOP, id);
  if (c == NULL) {
    luaL_error(L, "not enough memory");
    return;
  }
  if (tg_handover_take(l, e->handover, &part))
    fill(t, &part);
  else
    lua_pushnil(L);
  tg_channel_post(l, c);
  *p = e->next;
  free_entry(e);
}

/* Sends no STOP: the caller does, unless it knows that the program is gone. */
void tg_handovers_drop (tg_Handovers *k, tg_Channel *l, uint64_t id) {
  tg_HandoverEntry **p = find(k, id), *e = *p;
  tg_Excerpt part;
  if (e == NULL)
    return;
  tg_handover_take(l, e->handover, &part);
  tg_excerpt_free(&part);
  *p = e->next;
  free_entry(e);
}

/* The server's end closes: what nobody has taken goes. */
void tg_handovers_clear (tg_Handovers *k, tg_Channel *l) {
  while (k->first != NULL)
    tg_handovers_drop(k, l, k->first->id);
}
