/*
** utf8.h - where characters of UTF-8 begin and end.
**
** Strict, as RFC 3629 has it: no overlong forms, no surrogates, nothing beyond
** U+10FFFF. Lua's utf8.len is as strict; its utf8.char is not, so text of a
** program may hold any bytes.
*/
#ifndef TG_UTF8_H
#define TG_UTF8_H

#include "base/base.h"

/* Bytes of the valid character at 'p', 0 if there is none; its code. */
size_t tg_utf8_char (const char *p, const char *end, uint32_t *code);

/* C0, DEL and C1: some terminals obey even the last, one byte or two. Text of a
   program could otherwise move the cursor or change the terminal's title. And
   what cannot be seen but turns the direction of a line, or makes two names
   look the same: zero-width characters, bidirectional controls (Unicode's
   UAX 9), separators of lines. */
TG_INLINE bool tg_utf8_control (uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0)
         || (code >= 0x200b && code <= 0x200f)
         || (code >= 0x2028 && code <= 0x202e)
         || (code >= 0x2066 && code <= 0x2069);
}

/* Whole characters at the beginning of a text, in bytes. */
size_t tg_utf8_whole (const char *s, size_t size);

/* Whether these bytes, which are no character, could go on and become one. */
bool tg_utf8_begun (const char *s, size_t size);

/* Where the character begins that has its byte at 's[at]': 'at' or before. */
size_t tg_utf8_start (const char *s, size_t at);

/* Bytes of a text without a character that was cut at its end. */
size_t tg_utf8_cut (const char *s, size_t size);

#endif
