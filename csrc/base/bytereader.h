/*
** bytereader.h - taking numbers and strings off bytes that may come from
** anywhere.
**
** What is asked for beyond the end is missing: the reads give zeros and NULLs,
** and whoever reads asks once, at the end, whether anything was.
*/
#ifndef TG_BYTEREADER_H
#define TG_BYTEREADER_H

#include <string.h>

#include "base/base.h"

typedef struct tg_ByteReader {
  const uint8_t *p, *end;
  bool missing;         /* sticky: more was asked for than there was */
} tg_ByteReader;

TG_INLINE const uint8_t *tg_take (tg_ByteReader *b, uint64_t size) {
  if (b->missing || size > (uint64_t)(b->end - b->p)) {
    b->missing = true;
    return NULL;
  }
  const uint8_t *p = b->p;
  b->p += size;
  return p;
}

TG_INLINE uint32_t tg_take8 (tg_ByteReader *b) {
  const uint8_t *p = tg_take(b, 1);
  return (p != NULL) ? *p : 0;
}

TG_INLINE uint32_t tg_take16 (tg_ByteReader *b) {
  const uint8_t *p = tg_take(b, 2);
  uint16_t v = 0;
  if (p != NULL)
    memcpy(&v, p, 2);
  return v;
}

TG_INLINE uint32_t tg_take32 (tg_ByteReader *b) {
  const uint8_t *p = tg_take(b, 4);
  uint32_t v = 0;
  if (p != NULL)
    memcpy(&v, p, 4);
  return v;
}

TG_INLINE uint64_t tg_take64 (tg_ByteReader *b) {
  const uint8_t *p = tg_take(b, 8);
  uint64_t v = 0;
  if (p != NULL)
    memcpy(&v, p, 8);
  return v;
}

/* LEB128, as tg_putvar of event.h writes it; what has more than ten bytes is
   none. */
TG_INLINE uint64_t tg_takevar (tg_ByteReader *b) {
  uint64_t v = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    const uint8_t *p = tg_take(b, 1);
    if (p == NULL)
      return 0;
    v |= (uint64_t)(*p & 0x7f) << shift;
    if (*p < 0x80)
      return v;
  }
  b->missing = true;
  return 0;
}

#endif
