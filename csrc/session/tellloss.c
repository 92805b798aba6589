/*
** tellloss.c - see tellloss.h. Where traces end, on the traced thread, also at
** the process's exit. Without memory, or where nothing can be written, nothing
** is said.
*/
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "session/tellloss.h"
#include "base/buf.h"
#include "recording/filewriter.h"
#include "session/traceinfo.h"
#include "text/fdwriter.h"

/* "1,234,567", as readers tell it. */
static void add_count (tg_Buf *text, uint64_t n) {
  if (n < 1000) {
    tg_buf_addfmt(text, "%" PRIu64, n);
    return;
  }
  add_count(text, n / 1000);
  tg_buf_addfmt(text, ",%03" PRIu64, n % 1000);
}

/* A pattern that gave up may have shown more, and not less. */
static void add_loss (tg_Buf *text, const char *what, int loss, uint64_t n) {
  const char *verb = (loss == TG_LOSS_PATTERNS) ? "gave up on" : "lacks";
  tg_buf_addfmt(text, "tracegrip: %s %s ", what, verb);
  add_count(text, n);
  tg_buf_addfmt(text, " %s%s (%s)\n", tg_endreason_unit(loss),
                n == 1 ? "" : "s", tg_endreason_words(loss));
}

static void say (tg_Buf *text) {
  int error = errno;
  tg_FdWriter errors;
  if (text->size > 0 && !text->failed) {
    tg_fdwriter_open(&errors, STDERR_FILENO);
    tg_fdwriter_write(&errors, text->data, text->size);
    tg_fdwriter_close(&errors);
  }
  tg_buf_free(text);
  errno = error;
}

/* How the ticks of its samples came, if not as they should. */
static void add_ticking (tg_Buf *text, const tg_Trace *t, const char *what) {
  tg_Buf note = {0};
  for (int i = 0; t->options.sample > 0 && i < TG_TICKING_NOTES; i++) {
    tg_buf_clear(&note);
    tg_TickingNote which = (tg_TickingNote)i;
    if (tg_ticking_tell(&t->stream->ticking, which, &note) && !note.failed)
      tg_buf_addfmt(text, "tracegrip: %s: %.*s\n", what, (int)note.size,
                    (const char *)note.data);
  }
  tg_buf_free(&note);
}

/* Who recorded need not look at the recording to know that it is not all. That
   a ring keeps the end only is what it was made for. */
void tg_tellloss_file (const tg_Trace *t) {
  tg_Buf text = {0};
  for (int i = 0; i < TG_NLOSSES; i++) {
    if (t->lost[i] > 0 && i != TG_LOSS_RING)
      add_loss(&text, tg_filewriter_path(t->file), i, t->lost[i]);
  }
  add_ticking(&text, t, tg_filewriter_path(t->file));
  say(&text);
}

void tg_tellloss_log (const tg_Trace *t) {
  uint64_t lost[TG_NLOSSES];
  tg_Buf text = {0};
  tg_traceinfo_losses(t, lost);
  if (lost[TG_LOSS_PATTERNS] > 0)
    add_loss(&text, "the log", TG_LOSS_PATTERNS, lost[TG_LOSS_PATTERNS]);
  say(&text);
}
