/*
** firefox.c - see firefox.h.
*/
#include "formats/firefox/firefox.h"

#include <string.h>

bool tg_firefox_turn (tg_Firefox *w) {
  if (w->ok && !tg_output_turn(w->x->out))
    w->ok = false;
  return w->ok;
}

void tg_firefox_next (tg_Firefox *w, uint64_t i) {
  if (i > 0)
    tg_buf_addchar(w->out, ',');
  if ((i & 1023) == 1023)
    tg_firefox_turn(w);
}

void tg_firefox_ms (tg_Firefox *w, uint64_t ns) {
  tg_export_time(w->out, ns, 1000000);
}

void tg_firefox_same (tg_Firefox *w, const char *key, const char *value,
                      uint64_t n) {
  tg_buf_addfmt(w->out, ",\"%s\":[", key);
  for (uint64_t i = 0; i < n; i++) {
    tg_firefox_next(w, i);
    tg_firefox_put(w, value);
  }
  tg_firefox_put(w, "]");
}

void tg_firefox_column (tg_Firefox *w, const char *key, bool first) {
  tg_buf_addfmt(w->out, "%s\"%s\":[", first ? "" : ",", key);
}

uint32_t tg_firefox_string (tg_Firefox *w, const char *s, size_t size) {
  uint32_t i = tg_intern_add(&w->strings, s, size);
  if (i == TG_INDEX_NONE)
    w->ok = false;
  return i;
}

uint32_t tg_firefox_word (tg_Firefox *w, const char *s) {
  return tg_firefox_string(w, s, strlen(s));
}

const tg_Function *tg_firefox_function (const tg_Firefox *w, uint32_t func) {
  return tg_functions_find(w->x->stream->functions,
                           w->stacks.funcs[func].function);
}

void tg_firefox_index (tg_Firefox *w, uint32_t i) {
  if (i == TG_INDEX_NONE)
    tg_firefox_put(w, "null");
  else
    tg_buf_addu64(w->out, i);
}
