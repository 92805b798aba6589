/*
** wanted.h - what the hook is to record: what any of the active traces wants,
** less what must be kept from those outside of the program who get all of it.
**
** The hook hides what is too deep only where no trace can ever see it. A
** coroutine that is resumed from another place is less deep, and then its
** frames are entered again: so the limit is one of each coroutine's own frames,
** and what is between that and the trace's limit is recorded, and hidden by its
** reader. And it is the limit of a trace that is alone.
*/
#ifndef TG_WANTED_H
#define TG_WANTED_H

#include "state/session.h"

/* Whether the session must still see events for this trace. */
bool tg_wanted_counts (const tg_Trace *t);

/* The session's selection and depth limit, worked out anew. False without
   memory. */
bool tg_wanted_work_out (tg_Session *s);

#endif
