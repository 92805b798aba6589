/*
** chromeevents.c - see chromeevents.h. For chrome.c and chromesamples.c, on the
** thread that writes. Nothing fails here: the buffer says if it lacks memory.
**
** "pid" and "tid" say on which track of which process an event is. All of a
** document have one pid, also where the program's is not known: viewers group
** tracks by it.
*/
#include "formats/chromeevents.h"

#include "formats/v8profile.h"

void tg_chromeevents_begin (tg_ChromeEvents *e, const char *type,
                            uint32_t tid) {
  tg_buf_addstr(e->out, e->any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
  tg_buf_addstr(e->out, type);
  tg_buf_addstr(e->out, "\",\"pid\":");
  tg_buf_addu64(e->out, e->pid);
  tg_buf_addstr(e->out, ",\"tid\":");
  tg_buf_addu64(e->out, tid);
  e->any = true;
}

void tg_chromeevents_name (tg_ChromeEvents *e, const char *what, uint32_t tid,
                           const tg_Buf *name) {
  tg_chromeevents_begin(e, "M", tid);
  tg_buf_addstr(e->out, ",\"name\":\"");
  tg_buf_addstr(e->out, what);
  tg_buf_addstr(e->out, "\",\"args\":{\"name\":");
  tg_v8profile_put_string(e->out, name->data, name->size);
  tg_buf_addstr(e->out, "}}");
}
