/*
** frames.h - one frame of LuaJIT: how it leads to the one below.
**
** A frame's slot is the word below its variables, its link; the function is in
** the slot below that. A link is the caller's next instruction, or a distance
** in bytes with the kind of the frame in its lowest bits (lj_frame.h):
**
**       function  link  variables ...  function  link  variables ...
**                  ^                              │
**                  └──────── the frame below ─────┘
**
** Nothing here is trusted: a frame below is below, and on the stack. Plain C.
*/
#ifndef TG_JIT_FRAMES_H
#define TG_JIT_FRAMES_H

#include "jit/reading.h"

typedef enum tg_JitLink {
  TG_JIT_LINK_LUA = 0,          /* the caller's next instruction */
  TG_JIT_LINK_C = 1,            /* called by C */
  TG_JIT_LINK_CONTINUED = 2,    /* a metamethod */
  TG_JIT_LINK_EXTRA = 3,        /* a frame below holds extra arguments */
  TG_JIT_LINK_CPCALL = 5, TG_JIT_LINK_PCALL = 6,
  TG_JIT_LINK_PCALL_HOOKED = 7
} tg_JitLink;

typedef struct tg_JitFrame {
  uint64_t at;          /* the link's slot */
  uint64_t link;
  tg_JitLink kind;
  uint64_t below;       /* the slot of the frame below */
} tg_JitFrame;

/* The frame at a slot of that coroutine, by its link; false: none can be
   there. */
bool tg_jitframes_take (tg_Sight *s, const tg_SeenState *state, uint64_t at,
                        uint64_t link, tg_JitFrame *f);

/* The same with the link that is in memory. */
bool tg_jitframes_read (tg_Sight *s, const tg_SeenState *state, uint64_t at,
                        tg_JitFrame *f);

/* The function of a frame. */
tg_SeenValue tg_jitframes_function (tg_Sight *s, uint64_t at);

/* Whether a frame could be the innermost one: it leads to one below, and has a
   function. */
bool tg_jitframes_may_run (tg_Sight *s, const tg_SeenState *state,
                           uint64_t at);

/* Whether a link of Lua's is behind an instruction that calls. */
bool tg_jitframes_by_call (tg_Sight *s, const tg_JitFrame *f);

/* Whether C has made the call. */
TG_INLINE bool tg_jitframes_by_c (const tg_JitFrame *f) {
  return f->kind == TG_JIT_LINK_C || f->kind == TG_JIT_LINK_CPCALL;
}

/* Where the variables of the frame below end: a metamethod's has two slots
   more, for what is to be done with its result. */
TG_INLINE uint64_t tg_jitframes_limit (const tg_JitFrame *f) {
  uint64_t slots = (f->kind == TG_JIT_LINK_CONTINUED) ? 3 : 1;
  return f->at - slots * TG_JIT_SLOT;
}

#endif
