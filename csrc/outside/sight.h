/*
** sight.h - a Lua state in another process's memory, as one release has it: the
** layout's rows applied to the memory, and what was impossible, counted.
**
** Nothing here is trusted: whoever follows a pointer compares what is there
** with what must be, and says what was wrong (tg_sight_reject). Plain C.
*/
#ifndef TG_SIGHT_H
#define TG_SIGHT_H

#include "layout/jitlayout.h"
#include "layout/layout.h"
#include "outside/memory.h"

/* Why something was not taken for what it should be. */
#define TG_REASONS(X) \
  X(UNREADABLE, "unreadable", "memory that is not there") \
  X(STATE, "state", "no coroutine where one should be") \
  X(FRAMES, "frames", "a chain of frames that does not end") \
  X(SLOT, "slot", "a frame outside of its stack") \
  X(FUNCTION, "function", "a frame without a function") \
  X(CODE, "code", "an instruction that is not its function's") \
  X(STRING, "string", "a string of an impossible size") \
  X(TABLE, "table", "a table of an impossible size")

typedef enum tg_Reason {
#define X(name, word, text) TG_REASON_##name,
  TG_REASONS(X)
#undef X
  TG_NREASONS
} tg_Reason;

typedef struct tg_Sight {
  tg_Memory *memory;    /* borrows */
  const tg_Layout *layout;
  int release;          /* 50404: 5.4.4 */
  const struct tg_Dialect *dialect;     /* NULL: one of lua.org's */
  const tg_JitLayout *jit;      /* of LuaJIT */
  uint64_t rejected[TG_NREASONS];
} tg_Sight;

/* A row of the layout: an offset, a tag. */
#define tg_sight_row(s, row) ((s)->layout->at[TG_ROW_##row])

/* Whether the release has such a thing at all. */
#define tg_sight_has(s, row) (tg_sight_row(s, row) >= 0)

/* Fields of the object at an address. */
#define tg_sight_word(s, object, row) \
  tg_memory_word((s)->memory, (object) + (uint64_t)tg_sight_row(s, row))
#define tg_sight_half(s, object, row) \
  tg_memory_half((s)->memory, (object) + (uint64_t)tg_sight_row(s, row))
#define tg_sight_byte(s, object, row) \
  tg_memory_byte((s)->memory, (object) + (uint64_t)tg_sight_row(s, row))

/* False, for whoever says why. */
TG_INLINE bool tg_sight_reject (tg_Sight *s, tg_Reason reason) {
  s->rejected[reason]++;
  return false;
}

/* "5.4.4" */
#define TG_RELEASE_TEXT 16
void tg_sight_release (int release, char to[TG_RELEASE_TEXT]);

/* The word of a reason, for programs. */
const char *tg_sight_reason (tg_Reason reason);

#endif
