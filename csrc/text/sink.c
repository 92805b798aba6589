/*
** sink.c - what any document says through a sink: text of a program, fields
** whose names are not known when this is compiled.
**
** Called on any thread; nothing is kept, 'room' is the caller's. A sink fails
** in its own way (luasink.c raises, jsonwriter.c latches), so nothing is
** returned. Without memory a text is "?".
*/
#include "text/sink.h"

#include <string.h>

#include "text/terminal.h"
#include "text/utf8.h"

/* Most text is UTF-8 and goes as it is. What is not would be no JSON: each byte
   of it is escaped as Lua would, so that a person can still read the rest. */
void tg_sink_text (tg_Sink *out, tg_Buf *room, const char *s, size_t size) {
  if (size == 0 || tg_utf8_whole(s, size) == size) {
    out->string(out, size > 0 ? s : "", size);
    return;
  }
  tg_buf_clear(room);
  tg_terminal_escape(room, s, size, 0);
  if (room->failed)
    tg_sink_word(out, "?");
  else
    out->string(out, room->data, room->size);
}

void tg_sink_string (tg_Sink *out, tg_Buf *room, const char *s) {
  tg_sink_text(out, room, s, s != NULL ? strlen(s) : 0);
}

/* By name and not as a tg_Word: for documents that are written once, and not
   for each packet. */
void tg_sink_count (tg_Sink *out, const char *name, uint64_t n) {
  out->key(out, name, strlen(name));
  out->integer(out, (int64_t)n);
}

void tg_sink_ms (tg_Sink *out, const char *name, uint64_t ns) {
  out->key(out, name, strlen(name));
  out->ms(out, ns);
}
