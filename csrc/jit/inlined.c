/* inlined.c - see inlined.h. As lj_snap_restore of lj_snap.c does it. */
#include "jit/inlined.h"

#define OPERATION 8u            /* bytes of one, and of a constant behind */
#define FIRST_OPERATION 0x8000u /* below are constants (REF_BIAS) */
#define ENTRY 4u                /* bytes of a snapshot's */
#define PLACE 2u                /* entries that say where it goes on */

typedef struct Snap {
  uint64_t entries;     /* the first one */
  uint32_t count;
} Snap;

static uint64_t snap_at (tg_Sight *s, uint64_t trace, uint32_t i) {
  return tg_jit_word(s, trace, AT_TRACE_SNAPS)
         + i * (uint64_t)tg_jit_row(s, SIZE_SNAP);
}

static uint32_t offset_of (tg_Sight *s, uint64_t trace, uint32_t i) {
  return tg_jit_half(s, snap_at(s, trace, i), AT_SNAP_MACHINE) & 0xffff;
}

/* The last one that begins there or before (lj_trace_unwind). The first begins
   at 0; of an older LuaJIT there is another number, above 0. */
static bool find_snap (tg_Sight *s, uint64_t trace, uint64_t offset,
                       uint32_t *found) {
  uint32_t low = 0, high = tg_jit_half(s, trace, AT_TRACE_NSNAPS) & 0xffff;
  if (tg_jit_row(s, AT_SNAP_MACHINE) < 0 || high == 0
      || offset_of(s, trace, 0) != 0)
    return false;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (offset_of(s, trace, middle) <= offset)
      low = middle + 1;
    else
      high = middle;
  }
  *found = low - 1;
  return true;
}

static bool read_snap (tg_Sight *s, uint64_t trace, uint64_t offset,
                       Snap *snap) {
  uint32_t i;
  if (!find_snap(s, trace, offset, &i))
    return false;
  uint64_t at = snap_at(s, trace, i);
  uint64_t first = tg_jit_half(s, at, AT_SNAP_FIRST);
  snap->count = tg_jit_byte(s, at, AT_SNAP_COUNT);
  snap->entries = tg_jit_word(s, trace, AT_TRACE_ENTRIES) + first * ENTRY;
  return first + snap->count + PLACE
         <= tg_jit_half(s, trace, AT_TRACE_NENTRIES);
}

/* What an entry stands for, where that is a constant: a link, or a function. */
static uint64_t word_of (tg_Sight *s, uint64_t trace, uint32_t entry) {
  uint32_t n = entry & 0xffff;
  uint64_t at = tg_jit_word(s, trace, AT_TRACE_CONSTANTS)
                + n * (uint64_t)OPERATION;
  if (n >= FIRST_OPERATION)
    return 0;
  int32_t kind = tg_jit_byte(s, at, AT_OPERATION_KIND);
  uint64_t word = tg_memory_word(s->memory, at + OPERATION);
  if (kind == tg_jit_row(s, CONSTANT_FLOAT))
    return word;
  if (kind == tg_jit_row(s, CONSTANT_OBJECT)
      && tg_jit_is(s, word, TG_JIT_FUNCTION))
    return tg_jit_tagged(word, TG_JIT_FUNCTION);
  return 0;
}

bool tg_jitinlined_read (tg_Sight *s, uint64_t trace, uint64_t offset,
                         tg_JitInlined *x) {
  Snap snap;
  x->count = 0;
  if (!read_snap(s, trace, offset, &snap))
    return false;
  for (uint32_t i = 0; i < snap.count; i++) {
    uint32_t entry = tg_memory_half(s->memory, snap.entries + i * ENTRY);
    uint32_t slot = entry >> 24;
    if (slot != 1)              /* the link of the frame below is in memory */
      x->list[x->count++] = (tg_JitInlinedSlot){word_of(s, trace, entry),
                                                slot};
  }
  uint64_t place = tg_memory_word(s->memory,
                                  snap.entries + snap.count * ENTRY);
  x->innermost = place & 0xff;
  x->next = (place >> 8) + 4;
  return true;
}

bool tg_jitinlined_word (const tg_JitInlined *x, uint64_t at, uint64_t *word) {
  uint64_t slot = (at + 2 * TG_JIT_SLOT - x->base) / TG_JIT_SLOT;
  if (at + 2 * TG_JIT_SLOT < x->base || slot >= TG_JIT_INLINED)
    return false;
  for (uint32_t i = 0; i < x->count; i++) {
    if (x->list[i].slot == slot) {
      *word = x->list[i].word;
      return true;
    }
  }
  return false;
}
