/*
** events.c - see events.h. For chrome.c and samples.c, on the
** thread that writes. Nothing fails here: the buffer says if it lacks memory.
**
** "pid" and "tid" say on which track of which process an event is. All of a
** document have one pid, also where the program's is not known: viewers group
** tracks by it.
*/
#include "formats/chrome/events.h"

#include "formats/chrome/v8profile.h"

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

/* "e": the event around the place has it, not the one that begins next. */
static void put_end (tg_ChromeEvents *e, const char *type, uint32_t tid,
                     uint64_t ns) {
  tg_chromeevents_begin(e, type, tid);
  tg_chromeevents_time(e, ",\"ts\":", ns);
  tg_buf_addstr(e->out, ",\"cat\":\"resume\",\"name\":\"resume\","
                        "\"bp\":\"e\",\"id\":");
  tg_buf_addu64(e->out, e->arrows);
  tg_buf_addchar(e->out, '}');
}

void tg_chromeevents_from (tg_ChromeEvents *e, uint32_t tid, uint64_t ns) {
  e->arrows++;
  put_end(e, "s", tid, ns);
}

void tg_chromeevents_to (tg_ChromeEvents *e, uint32_t tid, uint64_t ns) {
  put_end(e, "f", tid, ns);
}

void tg_chromeevents_sort (tg_ChromeEvents *e, uint32_t tid, uint32_t place) {
  tg_chromeevents_begin(e, "M", tid);
  tg_buf_addstr(e->out, ",\"name\":\"thread_sort_index\",\"args\":"
                        "{\"sort_index\":");
  tg_buf_addu64(e->out, place);
  tg_buf_addstr(e->out, "}}");
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
