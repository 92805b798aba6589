/*
** lefttime.c - see lefttime.h. For minduration.c, which numbers the packets and
** knows what is left out. Nothing here fails.
*/
#include "reader/lefttime.h"

#include <string.h>

void tg_lefttime_add (tg_LeftTime *l, uint64_t now_ns, uint64_t length_ns,
                      tg_ThreadId thread, tg_FunctionId body) {
  if (l->length_ns == 0) {
    l->from_ns = now_ns;
    l->thread = thread;
    l->body = body;
  }
  l->length_ns += length_ns;
}

/* The box lies before the packet: it begins where the first call did, and is no
   longer than the time since then. */
bool tg_lefttime_before (tg_LeftTime *l, const tg_Packet *p, tg_Packet *out) {
  if (l->length_ns == 0)
    return false;
  tg_assert(l->stage == TG_LEFT_NONE);
  tg_assert(p == NULL || l->from_ns + l->length_ns <= p->time_ns);
  l->held = p != NULL;
  if (p != NULL)
    l->packet = *p;
  *out = (tg_Packet){
    .why = TG_WHY_ENTER, .function = TG_FUNCTION_LEFT, .thread = l->thread,
    .body = l->body, .time_ns = l->from_ns, .opened_ns = l->from_ns,
    .entered_ns = l->from_ns
  };
  l->stage = TG_LEFT_OPENED;
  return true;
}

static void close_box (tg_LeftTime *l, tg_Packet *out) {
  *out = (tg_Packet){
    .why = TG_WHY_RETURN, .function = TG_FUNCTION_LEFT, .thread = l->thread,
    .time_ns = l->from_ns + l->length_ns, .opened_ns = l->from_ns,
    .entered_ns = l->from_ns
  };
  l->length_ns = 0;
  l->stage = l->held ? TG_LEFT_CLOSED : TG_LEFT_NONE;
}

bool tg_lefttime_next (tg_LeftTime *l, tg_Packet *out) {
  if (l->stage == TG_LEFT_NONE)
    return false;
  if (l->stage == TG_LEFT_OPENED)
    close_box(l, out);
  else {
    *out = l->packet;
    l->stage = TG_LEFT_NONE;
  }
  return true;
}
