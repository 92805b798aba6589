/*
** jitlayout.h - where things stand in the memory of LuaJIT 2.1, on x86-64 with
** GC64.
**
** All that was made in these years calls itself 2.1, and moved fields all the
** same; so which layout holds cannot be told by name. Whoever uses one proves
** it (jit/proof.h). Plain C, constant; any thread.
*/
#ifndef TG_JITLAYOUT_H
#define TG_JITLAYOUT_H

#include "base/base.h"

typedef enum tg_JitRow {
#define JIT(name, ...) TG_JIT_##name,
#include "layout/jitrows.h"
#undef JIT
  TG_JIT_ROWS
} tg_JitRow;

typedef struct tg_JitLayout {
  const char *since;    /* "2020-09", or whose branch it is */
  int32_t at[TG_JIT_ROWS];      /* -1: that one has none */
} tg_JitLayout;

#define TG_JIT_LAYOUTS 6

extern const tg_JitLayout tg_jitlayouts[TG_JIT_LAYOUTS];

#endif
