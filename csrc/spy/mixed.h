/*
** mixed.h - C frames between Lua frames: one order of what was seen of a thread
** on its C stack and in its Lua state.
**
**     C stack                       Lua                 mixed
**     main                          ..................  main
**     lua_pcallk, luaD_call, ...    main chunk          main chunk
**     luaV_execute, precallC        compress            compress
**     lzlib_deflate        <── anchor: same code ──┘
**     deflate                                           deflate
**
** A C function that Lua has called stands on both: where its code begins is the
** anchor. C frames right inside of it are what it has called, up to the first
** that is the interpreter's own (native/ccode.h): there Lua goes on, with its
** frames up to the next anchor. The interpreter's frames are left out. What is
** not certain: C that the interpreter calls back (an allocator, a hook) comes
** behind the Lua frames that run there; a C function that ends by a jump to
** another one (a tail call) has no frame in C, and shows as Lua has it.
**
** A look at Lua may be of a little later than the C stack. Then the innermost C
** functions that have no anchor are not what ran, and go. Plain C, one thread.
*/
#ifndef TG_MIXED_H
#define TG_MIXED_H

#include "native/cstack.h"
#include "spy/stack.h"

typedef enum tg_SpyStepKind {
  TG_STEP_SPAN,         /* a coroutine: its place in the stack's spans */
  TG_STEP_FRAME,        /* a Lua frame: in its frames */
  TG_STEP_C             /* a C frame: in the C stack's list */
} tg_SpyStepKind;

typedef struct tg_SpyStep {
  tg_SpyStepKind kind;
  uint32_t at;
} tg_SpyStep;

typedef struct tg_SpyMix {
  tg_SpyStep *list;     /* owns; outermost first */
  uint32_t n, capacity;
  uint32_t *anchors;    /* owns; by Lua frame, places in the C stack, counted
                           from the outermost */
  uint32_t anchors_capacity;
  uint64_t caller, callee;      /* code: a C function that Lua has called and
                                   that has no anchor, and the Lua frame below;
                                   0: there is none */
} tg_SpyMix;

/* 'exact': both are of one moment. C frames whose code Lua calls (code->lua)
   are Lua's, whatever file they are in. False: the two do not go together, or
   no memory. */
bool tg_spymix_make (tg_SpyMix *m, const tg_SpyStack *k, const tg_CStack *c,
                     bool exact);

void tg_spymix_free (tg_SpyMix *m);

#endif
