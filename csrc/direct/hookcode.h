/*
** hookcode.h - the interpreter's code that runs for hooks and for nothing
** else: what calls a hook, and what makes ready for that. Time in it is no
** time of the program's, and not the hook's own either.
**
** Found by a hook of a state of its own, which looks at who has called it
** (probe_hookcode.c): all that is not called without a hook too. Where that
** cannot be found, no code is.
*/
#ifndef TG_DIRECT_HOOKCODE_H
#define TG_DIRECT_HOOKCODE_H

#include "direct/frame.h"
#include "signal/machinecode.h"

#define TG_HOOKCODE_MOST 6u

/* Empty ones come last. */
extern tg_CodeRange tg_hookcode[TG_HOOKCODE_MOST];

/* Whether a hook of what runs is at work, and not a function that the hook has
   called; false where that is not known. For a signal handler, as the next. */
TG_INLINE bool tg_hookcode_hooked (const lua_State *L) {
  return (tg_read8(tg_direct_running(L), tg_direct_facts.hooked)
          & tg_direct_facts.hooked_bit) != 0;
}

/* Whether it has struck such code. */
TG_INLINE bool tg_hookcode_has (uintptr_t address) {
  for (uint32_t i = 0; i < TG_HOOKCODE_MOST && tg_hookcode[i].end != 0; i++) {
    if (tg_coderange_has(tg_hookcode[i], address))
      return true;
  }
  return false;
}

#endif
