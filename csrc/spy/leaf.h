/*
** leaf.h - what ran when a tick came, of a stack that was looked at a little
** later.
**
** A tick has the thread's registers and the top of its C stack: the interpreter
** keeps there which instruction it is at, so the function that ran is known to
** the instruction. The look at the stack comes when we have a processor for it,
** up to some milliseconds later on a busy machine, and mostly at a system call
** of the program's: so what is looked at alone would be what the program does
** around these. Therefore the tick says which function is the innermost:
**
**     tick: g     look: main > f > g         that is it
**                 main > f > g > h           h was called later: main > f > g
**                 main > f > h               f is known to call g: main > f > g
**                 main > i                   nobody knows: given up as late
**
** Who calls whom is learned from looks that agree with their ticks. A look at
** LuaJIT has asked the tick already, and may lack the innermost function alone
** (stack.h). Plain C, one thread.
*/
#ifndef TG_SPY_LEAF_H
#define TG_SPY_LEAF_H

#include "base/intmap.h"
#include "spy/stack.h"
#include "spy/ticks.h"

/* A function whose code was seen; of LuaJIT, also one in machine code, or C. */
typedef struct tg_SpyCode {
  uint64_t start, end;  /* of its instructions, */
  uint64_t constants;   /* and where its constants are */
  tg_SeenFrame frame;   /* as it was when it was seen */
} tg_SpyCode;

typedef struct tg_SpyLeaves {
  tg_SpyCode *list;     /* owns; by address */
  uint32_t count, capacity;
  tg_IntMap constants;  /* owns; places in the list */
  tg_IntMap calls;      /* owns; who has called whom */
} tg_SpyLeaves;

/* The code of a stack's functions is known from then on. */
void tg_spyleaves_meet (tg_SpyLeaves *l, tg_Sight *s, const tg_SpyStack *k);

/* The function whose instruction is the next one; NULL: it is not known. */
const tg_SpyCode *tg_spyleaves_owner (const tg_SpyLeaves *l, tg_Sight *s,
                                      uint64_t next);

/* The stack becomes what it was at the tick. False: that is not known. */
bool tg_spyleaves_settle (tg_SpyLeaves *l, tg_Sight *s, tg_SpyStack *k,
                          const tg_SpyTick *tick);

/* Whether one function is known to have called another, by their code. */
bool tg_spyleaves_calls (const tg_SpyLeaves *l, uint64_t caller,
                         uint64_t callee);

/* It is known from then on; true: it was not before. */
bool tg_spyleaves_learn (tg_SpyLeaves *l, uint64_t caller, uint64_t callee);

void tg_spyleaves_free (tg_SpyLeaves *l);

#endif
