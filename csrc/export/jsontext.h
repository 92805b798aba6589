/*
** jsontext.h - strings and times as a document has them that is put together by
** hand: JSON, in most formats.
*/
#ifndef TG_JSONTEXT_H
#define TG_JSONTEXT_H

#include "base/base.h"
#include "base/buf.h"

/* Any bytes as a JSON string with its quotes: what is not UTF-8 becomes
   U+FFFD. */
void tg_jsontext_string (tg_Buf *out, const char *s, size_t size);

/* Nanoseconds as a decimal number of 'unit' nanoseconds (1000: microseconds,
   1000000: milliseconds), exact, without needless zeros. */
void tg_jsontext_time (tg_Buf *out, uint64_t ns, uint32_t unit);

#endif
