/*
** stackweights.h - what the stacks of a track weigh, where samples were taken
** beside calls.
**
** The viewer draws boxes from the times of a thread's samples, and makes sums
** of their weights. Of calls both are the same: a sample weighs as much as its
** span is long. What samples have shown inside of calls is not: a span says
** where something was seen, and the ticks of all calls on a path say how long
** it took (profile/bytick.h). So a span keeps its time, and all spans of one
** stack weigh together what the report has for it:
**
**     drawn     | api |inner| api |     | api         |inner| api |
**     weights   |  0  | 30  |  0  |     |  0          | 30  |  0  |
**
** A node of the tree is a way of functions, and a stack has lines besides: of a
** node's time each of its stacks has the part that its ticks say, or without a
** tick the part that its spans have. What has time and no span (a wait in a
** call, what a filter hides) is for the owner to add.
**
** It goes with the first track, which is the whole program's. Plain C, one
** thread; settled, on any. Memory: the distinct stacks.
*/
#ifndef TG_STACKWEIGHTS_H
#define TG_STACKWEIGHTS_H

#include "export/export.h"
#include "formats/firefox/stacktables.h"
#include "profile/bytick.h"

typedef struct tg_StackWeight {
  uint64_t length_ns;         /* of all its spans */
  uint64_t ticked_ns;         /* of the ticks that have met it */
  uint64_t spans;             /* their number */
  uint64_t ns;                /* what they weigh together, once settled */
  uint32_t node;
} tg_StackWeight;

/* Zeroed, everything weighs as much as it is long. */
typedef struct tg_StackWeights {
  bool on;
  tg_ByTick bytick;
  tg_CallTree tree;           /* owns; a row is a func */
  uint32_t *open;             /* owns; nodes of the open frames */
  uint32_t nopen, copen;
  tg_StackWeight *list;       /* owns; by stack */
  uint32_t capacity;
  uint32_t *stacks;           /* owns; by node, one of its stacks, once
                                 settled */
} tg_StackWeights;

/* 'on' if there are both calls and samples. False without memory. */
bool tg_stackweights_init (tg_StackWeights *w, const tg_Export *x);
void tg_stackweights_free (tg_StackWeights *w);   /* zeroed memory is fine */

/* ---- while packets come; nothing is done unless 'on' ---- */

/* Before what a packet changes. */
void tg_stackweights_pass (tg_StackWeights *w, const tg_Packet *p);

/* A frame of 'func' is entered, a frame is left. False without memory. */
bool tg_stackweights_enter (tg_StackWeights *w, const tg_Packet *p,
                            uint32_t func, const tg_Function *f);
void tg_stackweights_leave (tg_StackWeights *w);

/* A span of the innermost frame is over. False without memory. */
bool tg_stackweights_span (tg_StackWeights *w, uint32_t stack,
                           uint64_t length_ns);

/* A tick has met 'stack'; or 'func', which is in no frame that is open, if that
   is not TG_STACK_NONE. False without memory. */
bool tg_stackweights_tick (tg_StackWeights *w, const tg_Packet *tick,
                           uint32_t stack, uint32_t func);

/* ---- when they are all in ---- */

/* 'idle': the func of waits. False without memory. */
bool tg_stackweights_settle (tg_StackWeights *w, uint64_t end_ns,
                             uint32_t idle);

/* The next node from 'i' on that has time and no span, 0 if there is none:
   'stack' is that of a sample that is to be put for it. */
uint32_t tg_stackweights_rest (tg_StackWeights *w, tg_StackTables *c,
                               uint32_t i, uint32_t *stack);

/* What a span of 'stack' weighs. */
uint64_t tg_stackweights_of (const tg_StackWeights *w, uint32_t stack,
                             uint64_t length_ns);

#endif
