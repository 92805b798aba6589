/*
** names.c - names and sources on their way into a sink.
*/
#include "packet/names.h"

#include <string.h>

#include "base/escape.h"
#include "text/terminal.h"

/* Where eight bytes, or the last ones, are not all ASCII; or the end. */
static const char *skip_ascii (const char *p, const char *end) {
  while (p < end) {
    size_t left = (size_t)(end - p);
    if ((tg_escape_load(p, left) & TG_EACH(0x80)) != 0)
      break;
    p += left < 8 ? left : 8;
  }
  return p;
}

size_t tg_utf8_whole (const char *s, size_t size) {
  const char *p = skip_ascii(s, s + size), *end = s + size;
  while (p < end) {
    uint32_t code;
    size_t n = (unsigned char)*p < 0x80 ? 1 : tg_terminal_char(p, end, &code);
    if (n == 0)
      break;
    p = skip_ascii(p + n, end);
  }
  return (size_t)(p - s);
}

/* Bytes of a character that begins with 'lead', if they are several; else 0. */
static size_t sequence (unsigned char lead) {
  if (lead < 0xc2 || lead > 0xf4)
    return 0;
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* No overlong forms, no surrogates, nothing past the last code point. */
static bool second_fits (unsigned char lead, unsigned char c) {
  switch (lead) {
    case 0xe0: return c >= 0xa0;
    case 0xed: return c <= 0x9f;
    case 0xf0: return c >= 0x90;
    case 0xf4: return c <= 0x8f;
    default: return true;
  }
}

bool tg_utf8_begun (const char *s, size_t size) {
  if (size == 0 || size >= sequence((unsigned char)s[0]))
    return false;
  for (size_t i = 1; i < size; i++) {
    if (((unsigned char)s[i] & 0xc0) != 0x80)
      return false;
  }
  return size < 2 || second_fits((unsigned char)s[0], (unsigned char)s[1]);
}

void tg_put_text (tg_Sink *out, tg_Buf *room, const char *s, size_t size) {
  if (size == 0 || tg_utf8_whole(s, size) == size) {
    out->string(out, size > 0 ? s : "", size);
    return;
  }
  tg_buf_clear(room);
  tg_terminal_escape(room, s, size, 0);
  if (room->failed)
    tg_put_word(out, "?");
  else
    out->string(out, room->data, room->size);
}

void tg_put_string (tg_Sink *out, tg_Buf *room, const char *s) {
  tg_put_text(out, room, s, s != NULL ? strlen(s) : 0);
}

void tg_put_name (tg_Sink *out, tg_Buf *room, const tg_Function *f) {
  if (f != NULL && f->name != NULL)
    tg_put_string(out, room, f->name);
  else
    tg_put_word(out, "(anonymous function)");
}

/* Stripped code has parameters, but not their names. */
void tg_put_params (tg_Sink *out, tg_Buf *room, const tg_Function *f) {
  out->array(out);
  for (uint16_t i = 0; i < f->nparams; i++) {
    if (f->params != NULL && f->params[i] != NULL)
      tg_put_string(out, room, f->params[i]);
    else
      tg_put_word(out, "?");
  }
  if (f->vararg || f->is_c)
    tg_put_word(out, "...");
  out->close(out);
}

/* A main chunk, which Lua says is defined at line 0, begins at line 1. */
void tg_put_place (tg_Sink *out, tg_Buf *room, const tg_Function *f) {
  tg_put_key(out, "url");
  if (f->is_c) {
    tg_put_word(out, "[C]");
    return;
  }
  tg_put_string(out, room, f->url);
  tg_put_key(out, "line");
  out->integer(out, f->line > 0 ? f->line : 1);
}
