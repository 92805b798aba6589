/*
** tracesave.c - what a trace has so far becomes a file: of one that runs, as if
** it were stopped now. On the thread that runs the state; the trace goes on.
**
** A file has all that was recorded meanwhile, for other traces too. So where
** others may have seen what this one hides, the file is made in memory first,
** and written without that (scrub.h).
*/
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/tracesave.h"
#include "base/alloc.h"
#include "reader/scrub.h"
#include "recording/save.h"
#include "session/traceinfo.h"
#include "text/newfile.h"

/* 'from' has no name but by its descriptor; what is at 'path' is replaced at
   once, and has to be a file. */
static tg_Status scrub (int from, const char *path, const tg_Options *hide) {
  char name[64], reason[160], *working;
  tg_Scrubbed done;
  bool aside;
  snprintf(name, sizeof name, "/proc/self/fd/%d", from);
  int fd = tg_newfile_beside(path, &working);
  if (fd < 0)
    return TG_ERR_IO;
  close(fd);
  unlink(working);              /* scrub makes it */
  tg_Status status = tg_scrub(name, working, hide, &done, &aside, reason,
                              sizeof reason);
  if (!tg_newfile_place(working, path, status == TG_OK) && status == TG_OK)
    status = TG_ERR_IO;
  int error = errno;
  tg_free(working);
  errno = error;
  return (status == TG_ERR_FORMAT) ? TG_ERR_MEMORY : status;
}

/* Whether something else than a file to be replaced is there. */
static bool is_taken (const char *path) {
  struct stat st;
  if (tg_newfile_is_link(path))
    errno = ELOOP;
  else if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
    errno = EINVAL;
  else
    return false;
  return true;
}

static tg_Status save_hidden (const tg_Trace *t, const tg_Program *program,
                              const tg_TraceEntry *e, const char *path) {
  if (is_taken(path))
    return TG_ERR_IO;
  int fd = memfd_create("tracegrip", MFD_CLOEXEC);
  if (fd < 0)
    return TG_ERR_IO;
  tg_Status status = tg_save_into(fd, t->stream, program, e, e->end.stop);
  if (status == TG_OK)
    status = scrub(fd, path, &t->options);
  int error = errno;
  close(fd);
  errno = error;
  return status;
}

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
  tg_Status status = (t->accompanied && t->options.redact.count > 0)
                     ? save_hidden(t, program, &e, path)
                     : tg_save(path, t->stream, program, &e, e.end.stop);
  if (status == TG_ERR_MEMORY)
    errno = ENOMEM;
  return status;
}
