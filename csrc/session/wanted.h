/*
** wanted.h - what the hook is to record: what any of the active traces wants,
** less what must be kept from one who gets all of it.
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
