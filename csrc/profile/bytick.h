/*
** bytick.h - one tree of calls and samples: exact totals of calls, divided by
** ticks.
**
** A call's time is exact from its entry to its exit. What samples show inside
** of it is not: when such a frame began and ended nobody knows, and a call
** that is shorter than a period has hardly ever a tick. But all calls that
** came the same way have ticks enough together, and each tick stands for its
** own stack. So the time of a called node, without that of called nodes below
** it, is divided among the frames that samples have shown there, and the node
** itself, as their ticks say:
**
**     api (called) 100 ms ─┬─ inner (sampled)   60 ticks     60 ms
**                          ├─ other (sampled)   38 ticks     38 ms
**                          └─ its own            2 ticks      2 ms
**
** What is outside of all calls has the processor time of its ticks. The rest
** of the time there, and in a call the time beyond what ticks stand for, is
** that of a wait, or of other programs. In which calls that was is told by the
** longest gaps between two events since the tick before. What others had the
** processor for, as the kernel tells, is nobody's. Of the rest a C function
** that is called may have waited: the time is its own. In a Lua function, or
** one of Lua's that only compute, others had the processor all the same. Where
** samples have shown what is inside of a call, either may be: the time is a
** node of its own below the call.
**
** What tracing has cost is taken out of calls' times by estimates, which are
** off by a fifth (TG_BYTICK_DOUBT). Where many short calls are traced that is
** more than there is. Where ticks are told apart (sample/apart.h) they have
** measured the program's own time in a call as well, as well as chance allows.
** So such a call has the mean of both, each weighted by how sure it is: with
** few ticks the estimate, with many the ticks; and where little was taken out,
** the clock. What ticks meet too much in calls of Lua functions (LEANING,
** costs.h) is taken from them first. In windows (chain/window.h) there is no
** hook: ticks there are a third word, for the whole time, which has nothing but
** chance in it. The clock is believed less then.
**
** The owner tells time as its packets come, and settles once. Plain C, one
** thread.
*/
#ifndef TG_BYTICK_H
#define TG_BYTICK_H

#include "profile/calltree.h"
#include "profile/spots.h"
#include "reader/framer.h"

#define TG_BYTICK_GAPS 4u     /* in which a program may wait between ticks */

/* Less than this part of a call's own time is no wait, but the machine. */
#define TG_BYTICK_IDLE 50u

/* What ticks are to whoever adds up. */
typedef enum tg_Ticks {
  TG_TICKS_NONE,              /* not given: time is that of packets */
  TG_TICKS_ONLY,              /* all that there is: no other time passes */
  TG_TICKS_BESIDE             /* beside calls */
} tg_Ticks;

TG_INLINE tg_Ticks tg_bytick_kind (uint32_t sample, bool calls) {
  return sample == 0 ? TG_TICKS_NONE : calls ? TG_TICKS_BESIDE : TG_TICKS_ONLY;
}

/* The standard error of what is taken out of times, a part of it (measured:
   docs/truetimes.md). */
#define TG_BYTICK_DOUBT 0.2

/* The same where there are ticks in windows: they have met the program as it
   is, and the clock one that the hook has slowed down beyond its cost. */
#define TG_BYTICK_DOUBT_FREE 0.4

/* The same of what ticks meet outside of windows, as far as it is not chance,
   where there are ticks in windows... */
#define TG_BYTICK_LEANING 0.2

/* ...and where there are none, of what they meet too much in calls. */
#define TG_BYTICK_LEANING_DOUBT 0.5

/* So many ticks in windows tell something. */
#define TG_BYTICK_FREE 30u

typedef struct tg_Gap {
  uint32_t node;              /* innermost then */
  uint64_t ns;
} tg_Gap;

/* Zeroed but for 'ticks' and perhaps 'spots'. */
typedef struct tg_ByTick {
  tg_Ticks ticks;
  const tg_Spots *spots;      /* borrows; by row, whose it is; NULL: a row is a
                                 function */
  bool begun;
  bool weighs;                /* ticks are of the program alone, and of all
                                 calls */
  uint64_t now_ns;            /* of the latest packet... */
  uint64_t spent_ns;          /* ...and what tracing had taken by then... */
  uint64_t told_spent_ns;     /* ...and by the last tick */
  double leaning_ns;          /* of a call, that ticks meet too much */
  uint64_t passed_ns;         /* since the last tick... */
  tg_Gap gaps[TG_BYTICK_GAPS];  /* ...and where: longest first */
} tg_ByTick;

/* A frame of function 'f' is entered at 'node'. */
TG_INLINE void tg_bytick_enter (tg_CallTree *t, uint32_t node,
                                const tg_Packet *p, const tg_Function *f) {
  tg_Node *n = &t->nodes[node];
  if (p->sampled)
    n->pause = tg_function_is_pause(f);
  else if (!n->traced) {
    n->traced = true;
    n->waits = tg_function_may_wait(f);
    n->is_lua = !f->is_c;
  }
  n->lua_calls += n->is_lua && !p->sampled && !p->resumed;
}

/* It becomes a part of 'node', which is of a frame further out. */
TG_INLINE void tg_bytick_fold (tg_CallTree *t, uint32_t node,
                               const tg_Packet *p, const tg_Function *f) {
  t->nodes[node].lua_calls += !f->is_c && !p->sampled && !p->resumed;
}

/* The node whose own it is what is allocated while 'node' is innermost: samples
   show a pause up to the next one, and none allocates anything. */
TG_INLINE uint32_t tg_bytick_allocating (const tg_CallTree *t, uint32_t node) {
  const tg_Node *n = &t->nodes[node];
  return n->pause ? n->parent : node;
}

/* Up to a packet of that time (spent_ns: as its own) 'node' was innermost; 0:
   none was. */
void tg_bytick_pass (tg_ByTick *b, tg_CallTree *t, uint32_t node,
                     uint64_t now_ns, uint64_t spent_ns);

/* A tick has met 'node', or no frame that is open: 0; after tg_bytick_pass. Of
   ticks alone that one is nobody's. */
void tg_bytick_tick (tg_ByTick *b, tg_CallTree *t, uint32_t node,
                     const tg_Packet *tick);

/*
** All has been told. Beside calls each node's 'self_ns' is what has passed in
** it: from now on it is by ticks, and 'total_ns' the sum below. Waits in calls
** are nodes of the row 'idle'; node 0 has what was outside of all frames. Each
** node has its 'variance'. False without memory.
*/
bool tg_bytick_settle (const tg_ByTick *b, tg_CallTree *t, uint32_t idle);

/* The variance of what 'part' has, of ticks that stand for 'whole_ns' in
   all. */
double tg_bytick_variance (const tg_Ticked *part, uint64_t whole_ns);

#endif
