/*
** stack.h - one look at what a Lua state of another process runs: the chain of
** its coroutines that have resumed each other, each with its frames.
**
** The process is not stopped for it, so what is read may be of two moments.
** What changes all the time (frames, slots) is read twice in one call of the
** system. The outermost caller that is not the same both times has been there
** all the time, and has called somebody else meanwhile: what is above it is
** open. Of a tick what ran is known, and there the look is worth nothing. By
** the clock it counts as it was read once (mend.h): if it counted where nothing
** has changed alone, it would count long calls alone.
**
**     renew ─> main ─> frames ─> resumed? ─> frames ... ─> are all fresh?
**       ^                                                   no │    │ yes
**       └──────────────────────────────────────────────────────┘  what is open?
**
** Of LuaJIT what ran is in the tick alone (jit/tick.h), and the look is for the
** frames below.
**
** Plain C, one thread. Allocates where stacks become deeper than before.
*/
#ifndef TG_SPY_STACK_H
#define TG_SPY_STACK_H

#include "jit/tick.h"
#include "outside/walk.h"

#define TG_SPY_COROUTINES 64u   /* that have resumed each other, */
#define TG_SPY_FRAMES 1024u     /* and the innermost frames of each */

/* One coroutine of the chain. */
typedef struct tg_SpySpan {
  tg_SeenState state;
  uint32_t first, count;        /* of its frames, innermost first */
} tg_SpySpan;

typedef struct tg_SpyStack {
  tg_SpySpan spans[TG_SPY_COROUTINES];  /* outermost first */
  uint32_t nspans;
  tg_SeenFrame *frames; /* owns */
  uint32_t count, capacity;
  uint32_t open;        /* frames of the last span above the last certain one,
                           of a look without a tick */
  bool lacks_leaf;      /* LuaJIT: the innermost frame has called a function, */
  uint64_t called;      /* whose next instruction this is; 0: one in C */
  tg_JitMachine machine;        /* owns; of LuaJIT, as the next one */
  tg_IntMap resumed;    /* owns; which coroutine has resumed which */
} tg_SpyStack;

/* What a tick tells of where to look; zeroes: nothing. */
typedef struct tg_SpyHint {
  const tg_Registers *registers;        /* NULL: not known */
  const uint8_t *top;   /* LuaJIT: of the C stack, from where 'registers' */
  size_t top_size;      /* have its end */
  bool still;                   /* nothing runs meanwhile */
} tg_SpyHint;

typedef enum tg_Look {
  TG_LOOK_GOOD,
  TG_LOOK_TORN,                 /* it changed meanwhile: once more */
  TG_LOOK_LATE,                 /* LuaJIT: what ran is known to nobody now */
  TG_LOOK_NONE                  /* there is no such state any more */
} tg_Look;

/* Looks at one of these states. '*why' is the reason if it is
   torn. */
tg_Look tg_spystack_look (tg_SpyStack *k, tg_Sight *s, const tg_Finds *states,
                          uint32_t state, const tg_SpyHint *hint,
                          tg_Reason *why);

/* Whether a caller's instruction says that it has called a function: in which
   slot that is (ldebug.c of each release, funcnamefromcode). */
typedef enum tg_SpyLink {
  TG_LINK_SAID,
  TG_LINK_OTHER,                /* it calls one in another slot */
  TG_LINK_UNSAID                /* it does not call by itself */
} tg_SpyLink;

tg_SpyLink tg_spystack_link (tg_Sight *s, const tg_SeenFrame *caller,
                             const tg_SeenFrame *f);

void tg_spystack_free (tg_SpyStack *k);

#endif
