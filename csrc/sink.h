/*
** sink.h - where a structured document goes: JSON text or Lua tables.
**
** Whoever writes packets calls these in document order; inside an object every
** value comes after its key. Implementations: json.c (text into a tg_Buf),
** luasink.c (tables on the Lua stack).
*/
#ifndef TG_SINK_H
#define TG_SINK_H

#include "base.h"

typedef struct tg_Sink tg_Sink;

struct tg_Sink {
  void (*object) (tg_Sink *s);                /* opens {...} */
  void (*array) (tg_Sink *s);                 /* opens [...] */
  void (*close) (tg_Sink *s);                 /* closes the innermost */
  void (*key) (tg_Sink *s, const char *k, size_t size);
  void (*string) (tg_Sink *s, const char *v, size_t size);  /* valid UTF-8 */
  void (*integer) (tg_Sink *s, int64_t v);
  void (*number) (tg_Sink *s, double v);      /* finite, stays a float */
  void (*boolean) (tg_Sink *s, bool v);
  void (*ms) (tg_Sink *s, uint64_t ns);       /* nanoseconds, as ms */
};

#endif
