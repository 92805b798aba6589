/*
** buf.c - a growable run of bytes with a sticky error.
**
** One thread at a time. The buffer doubles, so n additions cost O(n) in all.
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

void tg_buf_clear (tg_Buf *b) {
  b->size = 0;
  b->failed = false;
}

bool tg_buf_grow (tg_Buf *b, size_t more) {
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

/* Tries what room there is first; 'args' are taken once for each try. */
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
  b->size = (size_t)(end - b->data);
}

void tg_buf_addi64 (tg_Buf *b, int64_t v) {
  if (v < 0)
    tg_buf_addchar(b, '-');
  tg_buf_addu64(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}
