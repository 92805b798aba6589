/*
** jsonwriter.h - a sink that writes JSON text, one document after another.
**
** UTF-8 is kept; control characters, quote and backslash are escaped; floats
** are the shortest text that reads back the same and stay floats ("1.0").
*/
#ifndef TG_JSONWRITER_H
#define TG_JSONWRITER_H

#include "base/buf.h"
#include "text/sink.h"

#define TG_JSON_DEPTH 64

typedef struct tg_JsonWriter {
  tg_Sink sink;         /* first member: a tg_JsonWriter is a tg_Sink */
  tg_Buf *out;          /* borrows */
  int depth;            /* open containers */
  bool array[TG_JSON_DEPTH];
  bool comma[TG_JSON_DEPTH];
} tg_JsonWriter;

void tg_jsonwriter_init (tg_JsonWriter *j, tg_Buf *out);

#define TG_JSON_ESCAPE 6u     /* bytes of an escape, at most */

/* Writes the escape of a control character (tg_utf8_control); where it ends. */
char *tg_jsonwriter_escape (char *p, uint32_t code);

#endif
