/*
** names.c - names and sources on their way into a sink.
**
** Called with every packet, on any thread; nothing is kept. Names are those of
** a program: any bytes, any length (tg_sink_text). One place for all documents,
** so that a function has the same words in all of them, by which a reader knows
** it again.
*/
#include "packet/names.h"

/* The protocol has a name for functions without one. */
void tg_names_function (tg_Sink *out, tg_Buf *room, const tg_Function *f) {
  if (f != NULL && f->name != NULL)
    tg_sink_string(out, room, f->name);
  else
    tg_sink_word(out, "(anonymous function)");
}

void tg_names_title (tg_Sink *out, tg_Buf *room, const tg_Function *f) {
  if (f != NULL && f->symbol != NULL)
    tg_sink_string(out, room, f->symbol);
  else
    tg_names_function(out, room, f);
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
