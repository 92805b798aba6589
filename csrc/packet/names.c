/*
** names.c - names and sources on their way into a sink.
**
** Called with every packet, on any thread; 'room' is the caller's. Names are
** those of a program: any bytes, any length. Without memory a text is "?".
*/
#include "packet/names.h"

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

/* The protocol has a name for functions without one. */
void tg_names_function (tg_Sink *out, tg_Buf *room, const tg_Function *f) {
  if (f != NULL && f->name != NULL)
    tg_sink_string(out, room, f->name);
  else
    tg_sink_word(out, "(anonymous function)");
}

/* Stripped code has parameters, but not their names. */
void tg_names_params (tg_Sink *out, tg_Buf *room, const tg_Function *f) {
  out->array(out);
  for (uint16_t i = 0; i < f->nparams; i++) {
    if (f->params != NULL && f->params[i] != NULL)
      tg_sink_string(out, room, f->params[i]);
    else
      tg_sink_word(out, "?");
  }
  if (f->vararg || f->is_c)
    tg_sink_word(out, "...");
  out->close(out);
}

/* A main chunk, which Lua says is defined at line 0, begins at line 1. */
void tg_names_place (tg_Sink *out, tg_Buf *room, const tg_Function *f) {
  tg_sink_key(out, "url");
  if (f->is_c) {
    tg_sink_word(out, "[C]");
    return;
  }
  tg_sink_string(out, room, f->url);
  tg_sink_key(out, "line");
  out->integer(out, f->line > 0 ? f->line : 1);
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
