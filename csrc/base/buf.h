/*
** buf.h - a growable run of bytes with a sticky error.
**
** Writers write on without looking; when memory was refused the buffer stays
** as it was, 'failed' is set, and whoever uses the result asks once.
*/
#ifndef TG_BUF_H
#define TG_BUF_H

#include <string.h>

#include "base/base.h"

typedef struct tg_Buf {
  char *data;           /* owns */
  size_t size;          /* bytes used */
  size_t capacity;      /* bytes allocated */
  bool failed;          /* an allocation was refused: content incomplete */
} tg_Buf;

void tg_buf_free (tg_Buf *b);
void tg_buf_clear (tg_Buf *b);              /* empty, error gone, memory kept */
bool tg_buf_grow (tg_Buf *b, size_t more);  /* the slow half of reserve */

/* Room for 'more' bytes. */
TG_INLINE bool tg_buf_reserve (tg_Buf *b, size_t more) {
  return tg_likely(more <= b->capacity - b->size && !b->failed)
         || tg_buf_grow(b, more);
}

TG_INLINE void tg_buf_add (tg_Buf *b, const void *data, size_t size) {
  if (size == 0 || !tg_buf_reserve(b, size))
    return;
  memcpy(b->data + b->size, data, size);
  b->size += size;
}

TG_INLINE void tg_buf_addstr (tg_Buf *b, const char *s) {
  tg_buf_add(b, s, strlen(s));
}

TG_INLINE void tg_buf_addchar (tg_Buf *b, char c) {
  if (tg_buf_reserve(b, 1))
    b->data[b->size++] = c;
}

/* A number's bytes as the machine has them; tg_take32 and tg_take64 read them
   (bytereader.h). */
TG_INLINE void tg_buf_put32 (tg_Buf *b, uint32_t v) {
  tg_buf_add(b, &v, sizeof v);
}

TG_INLINE void tg_buf_put64 (tg_Buf *b, uint64_t v) {
  tg_buf_add(b, &v, sizeof v);
}

void tg_buf_addfmt (tg_Buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void tg_buf_addu64 (tg_Buf *b, uint64_t v);   /* decimal */
void tg_buf_addi64 (tg_Buf *b, int64_t v);

#endif
