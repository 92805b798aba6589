/*
** tracesave.c - what a trace has so far becomes a file: of one that runs, as if
** it were stopped now. On the thread that runs the state; the trace goes on.
*/
#include <errno.h>

#include "session/tracesave.h"
#include "recording/save.h"
#include "session/traceinfo.h"

/* Of a trace that runs the facts are those of now; the file says that it was
   stopped. save.c leaves errno alone where memory is the reason. */
tg_Status tg_tracesave (const tg_Trace *t, const tg_Program *program,
                        const char *path) {
  bool active = t->end == TG_END_NOT;
  tg_TraceEntry e = {
    .start = t->start, .ticks = t->ticks_start, .packets = t->packets_start,
    .name = t->name, .options = t->options,
    .end = {
      .why = (uint32_t)(active ? TG_END_STOPPED : t->end),
      .stop = tg_traceinfo_stop_pos(t),
      .ticks = active ? tg_clock_ticks() : t->ticks_end,
      .packets = active ? t->session->writer.packets : t->packets_end
    }
  };
  tg_traceinfo_losses(t, e.end.lost);
  tg_Status status = tg_save(path, t->stream, program, &e, e.end.stop);
  if (status == TG_ERR_MEMORY)
    errno = ENOMEM;
  return status;
}
