/*
** packetline.h - one packet as a line of the log (logline.h): a call with its
** arguments, how it ended, a marker.
**
**     │ fib(2)                                             prog.lua:9
**     │ └→ 1                                                   2.1 µs
**     │ ◆ log "done"                                      prog.lua:11
**
** Each of these leaves its line in the line's buffer.
*/
#ifndef TG_PACKETLINE_H
#define TG_PACKETLINE_H

#include "packet/logline.h"

/* A call: what was called with what, and from where. */
void tg_packetline_call (tg_LogLine *l, const tg_Packet *p);

/* The end of a call that was entered at 'opened_ns'. 'far': the call's line is
   not the line before, so this line names the function. */
void tg_packetline_result (tg_LogLine *l, const tg_Packet *p,
                           uint64_t opened_ns, bool far);

void tg_packetline_mark (tg_LogLine *l, const tg_Packet *p);

#endif
