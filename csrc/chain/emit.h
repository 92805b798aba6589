/*
** emit.h - the hook's events as bytes.
**
** Each function writes one event, or counts its packets as lost. An event
** whose values find too little room is begun again with more.
*/
#ifndef TG_EMIT_H
#define TG_EMIT_H

#include "capture/call.h"
#include "capture/capture.h"
#include "chain/errorvalue.h"
#include "state/session.h"

/* Calls and returns, the slow way: the whole event, or its values at 'p', whose
   end they give, NULL if there is too little room. emitcall.h is the quick
   one. */
void tg_emit_call_again (tg_Call c);
void tg_emit_return_again (tg_Session *s, lua_State *L, lua_Debug *ar,
                           uint32_t what, uint64_t now);
uint8_t *tg_emit_arguments (tg_Call c, uint8_t *p);
uint8_t *tg_emit_results (tg_Session *s, lua_State *L, lua_Debug *ar,
                          uint32_t what, uint8_t *p);

/* A tail call, where memory is read, written shorter (stream/event.h) from
   'head' on: the end; NULL: it does not fit that, and is to be written as
   others are. 'values': with its arguments. */
uint8_t *tg_emit_tail (const tg_Call *c, uint8_t *head, bool values);

/* Where the arguments of a call of 'k' stand. */
tg_ValueList tg_emit_argument_list (const tg_Coroutine *t, lua_Debug *ar,
                                    const tg_Closure *k);

/* The function of a caller that is older than the trace. */
tg_FunctionId tg_emit_base_function (tg_Call c);

/* Ticks of the last event of the program, recorded or of a hidden frame. */
TG_INLINE uint64_t tg_emit_latest (const tg_Session *s) {
  return (s->hidden_at > s->writer.last) ? s->hidden_at : s->writer.last;
}

/* The hook has waited for a reader since the last event: s->after.waited. */
void tg_emit_wait (tg_Session *s);

/* A visible caller makes way for a hidden callee: it exits by a tail call. */
void tg_emit_tail_exit (tg_Session *s, uint64_t now);

/* 'count' visible frames of 't' are gone. */
void tg_emit_throw (tg_Session *s, uint32_t count, const tg_ErrorValue *value,
                    uint64_t now);

/* 't' is suspended. 'values' may be NULL: they are its last arguments. */
void tg_emit_yield (tg_Session *s, tg_Coroutine *t, lua_State *L,
                    const tg_ValueList *values, uint64_t now);

/* 't' runs now, above what ran. */
void tg_emit_resume (tg_Session *s, tg_Coroutine *t, uint64_t now);

/* 't', which is suspended, will not come back. */
void tg_emit_gone (tg_Session *s, const tg_Coroutine *t, uint64_t now);

/* A marker of the program's; its values stand on the stack. */
typedef struct tg_Marker {
  uint32_t what;            /* sort and groups, as in event.h */
  bool numbered;
  uint64_t number;
  int first, count;         /* its values */
} tg_Marker;

/* Outside of the hook, in a C function of ours that the program has called. */
void tg_emit_mark (tg_Session *s, lua_State *L, const tg_Marker *mark,
                   uint64_t now);                              /* [-0, +0, -] */

/* The locals of a frame (locals.h), which is at 'line' of 'function'. */
void tg_emit_locals (tg_Session *s, lua_State *L, const tg_ValueList *list,
                     tg_FunctionId function, int line, uint64_t now);

/* For so many nanoseconds, up to 'now', calls were not seen (window.h). */
void tg_emit_untraced (tg_Session *s, uint64_t ns, uint64_t now);
#define TG_UNTRACED_SIZE 16u

/* A LEAVE or a TERMINATE standing for 'packets' packets. */
void tg_emit_plain (tg_Session *s, uint32_t kind, uint32_t packets,
                    uint64_t now);

#endif
