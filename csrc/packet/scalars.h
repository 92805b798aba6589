/*
** scalars.h - grips that are not objects: numbers that JSON cannot say, strings
** that are too long or no text.
*/
#ifndef TG_SCALARS_H
#define TG_SCALARS_H

#include "base/buf.h"
#include "packet/names.h"
#include "text/sink.h"

/* {type: "..."}, a literal, still open; the same closed. */
#define tg_scalars_open(out, name) \
  do { \
    (out)->object(out); \
    tg_sink_member(out, "type", name); \
  } while (0)
#define tg_scalars_typed(out, name) \
  do { \
    tg_scalars_open(out, name); \
    (out)->close(out); \
  } while (0)

/* The key and value that mark an object which is not all there. */
void tg_scalars_truncated (tg_Sink *out);

/* The number itself, or a BigInt if a double would not hold it. */
void tg_scalars_integer (tg_Sink *out, int64_t i);

/* The number itself, or a type for those that JSON has not. */
void tg_scalars_float (tg_Sink *out, double v);

/* {type, initial, length}, for a string shown in part, or in base64 for its
   bytes are no text. */
void tg_scalars_long (tg_Sink *out, bool bytes, const char *initial, size_t size,
                      uint64_t length);

void tg_scalars_base64 (tg_Buf *b, const char *s, size_t size);

#endif
