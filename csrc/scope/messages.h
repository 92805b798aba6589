/*
** messages.h - events as the service's messages have them, for a sink.
**
** The one place that knows the names of the fields of an Event. Times are
** milliseconds. Plain C.
*/
#ifndef TG_MESSAGES_H
#define TG_MESSAGES_H

#include "base/buf.h"
#include "scope/query.h"
#include "text/sink.h"

/* One Event of an answer in this mode. 'room' is memory of the caller's. */
void tg_messages_event (tg_Sink *out, tg_Buf *room, const tg_Scope *s,
                        tg_ScopeMode mode, const tg_ScopeEvent *e);

/* {start, end}. */
void tg_messages_interval (tg_Sink *out, uint64_t start_ns,
                           uint64_t end_ns);

#endif
