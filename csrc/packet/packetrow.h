/*
** packetrow.h - one packet as a row of the log (logrow.h): a call with its
** arguments, how it ended, a marker.
**
**     │ fib(2)                                             prog.lua:9
**     │ └→ 1                                                   2.1 µs
**     │ ◆ log "done"                                      prog.lua:11
**
** Each of these leaves its row in the row's buffer.
*/
#ifndef TG_PACKETROW_H
#define TG_PACKETROW_H

#include "packet/logrow.h"

/* A call: what was called with what, and from where. */
void tg_packetrow_call (tg_LogRow *l, const tg_Packet *p);

/* The end of a call that was entered at 'opened_ns'. 'far': the call's row is
   not the row before, so this row names the function. */
void tg_packetrow_result (tg_LogRow *l, const tg_Packet *p,
                          uint64_t opened_ns, bool far);

void tg_packetrow_mark (tg_LogRow *l, const tg_Packet *p);

#endif
