/*
** buf.c - a growable run of bytes with a sticky error.
**
** Used wherever text or bytes are put together, by one thread at a time. The
** buffer doubles, so n additions cost O(n) in all. Memory that is refused sets
** 'failed', and what is added later is dropped: a text with a hole in it would
** be worse than none.
*/
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digits.h"

#define FIRST_CAPACITY 256

void tg_buf_free (tg_Buf *b) {
  tg_free(b->data);
  memset(b, 0, sizeof *b);
}

/* Empty, and without the error: it was that of the text before. */
void tg_buf_clear (tg_Buf *b) {
  b->size = 0;
  b->failed = false;
}

/* The slow half of tg_buf_reserve. No more than half of what a size can say, so
   that doubling ends. */
bool tg_buf_grow (tg_Buf *b, size_t more) {
  tg_assert(b->size <= b->capacity && (b->data != NULL || b->capacity == 0));
  if (b->failed || more > SIZE_MAX / 2 - b->size) {
    b->failed = true;
    return false;
  }
  size_t capacity = b->capacity > 0 ? b->capacity : FIRST_CAPACITY;
  while (capacity < b->size + more)
    capacity *= 2;
  char *data = tg_realloc(b->data, capacity);
  if (data == NULL) {
    b->failed = true;
    return false;
  }
  b->data = data;
  b->capacity = capacity;
  return true;
}

/* Tries what room there is first: what is formatted is short, and there mostly
   is enough. vsnprintf uses up 'args' (C11, 7.21.6.12), so each try takes them
   anew. */
void tg_buf_addfmt (tg_Buf *b, const char *fmt, ...) {
  for (int attempt = 0; attempt < 2; attempt++) {
    size_t room = b->capacity - b->size;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(room > 0 ? b->data + b->size : NULL, room, fmt, args);
    va_end(args);
    if (n < 0 || b->failed)
      return;
    if ((size_t)n < room) {
      b->size += (size_t)n;
      return;
    }
    if (!tg_buf_reserve(b, (size_t)n + 1))
      return;
  }
}

void tg_buf_addu64 (tg_Buf *b, uint64_t v) {
  if (!tg_buf_reserve(b, TG_DIGITS))
    return;
  char *end = tg_digits(b->data + b->size, v);
  tg_assert(end <= b->data + b->capacity);
  b->size = (size_t)(end - b->data);
}

/* The smallest number has no positive one; as unsigned it is the right one. */
void tg_buf_addi64 (tg_Buf *b, int64_t v) {
  if (v < 0)
    tg_buf_addchar(b, '-');
  tg_buf_addu64(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}
