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
#define tg_open_typed(out, name) \
  do { \
    (out)->object(out); \
    tg_put_member(out, "type", name); \
  } while (0)
#define tg_put_typed(out, name) \
  do { \
    tg_open_typed(out, name); \
    (out)->close(out); \
  } while (0)

/* The key and value that mark an object which is not all there. */
void tg_put_truncated (tg_Sink *out);

/* The number itself, or a BigInt if a double would not hold it. */
void tg_put_integer (tg_Sink *out, int64_t i);

/* The number itself, or a type for those that JSON has not. */
void tg_put_float (tg_Sink *out, double v);

/* {type, initial, length}, for a string shown in part, or in base64 for its
   bytes are no text. */
void tg_put_long (tg_Sink *out, bool bytes, const char *initial, size_t size,
                  uint64_t length);

void tg_add_base64 (tg_Buf *b, const char *s, size_t size);

#endif
