/*
** newmakers.c - see newmakers.h.
*/
#include "sample/newmakers.h"

#include "direct/frame.h"
#include "host/running.h"

#define CALLS_MOST 100u     /* between two samples: a function whose hook comes
                               when it is gone would call for each block */

void tg_newmakers_call (tg_Session *s) {
  if (s->memory.strangers.waits || s->memory.strangers.calls >= CALLS_MOST)
    return;
  s->memory.strangers.waits = true;
  s->memory.strangers.calls++;
  tg_running_call(&s->host, TG_CALLER_SAMPLER);
}

/* A Lua function's frame; coroutines are entries too, and what is none of the
   interpreter's. */
static const void *proto_of (const tg_WalkedFrame *f) {
  bool lua = f->function != 0 && f->ci != NULL && !tg_frame_is_c(f->ci);
  return lua ? tg_function_proto(tg_frame_function(f->ci)) : NULL;
}

/* An address is enough: the hook comes before a function that is gone could
   have given its place to another one that has run. */
static void name (tg_AllocLines *lines, const void *proto,
                  tg_FunctionId function) {
  for (uint32_t i = 0; i < lines->count; i++) {
    if (lines->list[i].stranger == proto) {
      lines->list[i].stranger = NULL;
      lines->list[i].function = function;
    }
  }
}

void tg_newmakers_know (tg_Session *s, const tg_StackWalk *w) {
  s->memory.strangers.waits = false;
  if (s->memory.strangers.calls == 0)
    return;
  for (uint32_t i = w->n; i-- > 0;) {
    const void *proto = proto_of(&w->list[i]);
    if (proto != NULL)
      name(&s->memory.lines, proto, w->list[i].function & TG_FR_ID);
  }
}
