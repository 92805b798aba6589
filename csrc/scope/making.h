/*
** making.h - a session is made, and freed: all packets are read once, and what
** stays of them is the index (index.h).
**
** Plain C, one thread at a time.
*/
#ifndef TG_MAKING_H
#define TG_MAKING_H

#include "scope/index.h"

/*
** A session. NULL and why: memory, or the recording cannot be read.
*/
tg_Scope *tg_scope_new (const tg_ScopeSource *source, tg_Status *status);

/*
** The same in portions: tg_scope_more takes so many packets and says whether
** there are more; until there are none, nothing can be asked. If 'status' is
** not TG_OK then, the session is good for nothing.
*/
tg_Scope *tg_scope_begin (const tg_ScopeSource *source, tg_Status *status);
bool tg_scope_more (tg_Scope *s, uint64_t packets, tg_Status *status);

void tg_scope_free (tg_Scope *s);             /* NULL is fine */

#endif
