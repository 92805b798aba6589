/*
** identity.h - while some trace has the type "identity", recorded tables are
** told with their numbers (base/identities.h), so that it is known which call
** had the same table as another one.
**
** What gives the numbers stands before the state's allocator, or behind the
** meter of allocations if there is one: that one finds its place on the stack
** (allocmeter.h), so nothing may come between it and Lua.
*/
#ifndef TG_IDENTITY_H
#define TG_IDENTITY_H

#include "state/session.h"

/* What is recorded has changed: installs it, or takes it out. Before
   tg_allocations_review. False without memory. */
bool tg_identity_review (tg_Session *s);

/* Tracing ends. What stood behind it has its place back, unless somebody has
   put another allocator before it: then it only passes on. After
   tg_allocations_end. */
void tg_identity_end (tg_Session *s);

#endif
