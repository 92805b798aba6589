/*
** apart.h - ticks told apart, where calls are traced: those that strike the
** program, and those that strike what tracing does to it.
**
** A tick in the hook stands for time that the program would not have taken
** without us. It is counted as such, and no sample is taken: so samples beside
** calls tell of the program alone, and by how much tracing has slowed it down
** is measured, and not estimated.
**
** A hook of the program's own runs in ours; its functions are the program's.
** Our code runs outside of the hook, too: what stands in for one of Lua's
** functions, and the meter of what is allocated.
*/
#ifndef TG_APART_H
#define TG_APART_H

#include "state/session.h"

/* Whether they can be told apart: the interpreter's memory is known, and which
   code of its runs for hooks. */
bool tg_apart_known (void);

/* In a tick's handler: whether it has struck the hook, or what calls it; or
   code of ours, which may be what the hook has called. */
bool tg_apart_is_hook (const tg_Session *s, const void *context);
bool tg_apart_is_ours (const void *context);

#endif
