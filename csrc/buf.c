/*
** buf.c - a growable run of bytes with a sticky error.
**
** One thread at a time. The buffer doubles, so n additions cost O(n) in all.
*/
#include "buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"

#define FIRST_CAPACITY 256

void tg_buf_free (tg_Buf *b) {
  tg_free(b->data);
  memset(b, 0, sizeof *b);
}

void tg_buf_clear (tg_Buf *b) {
  b->size = 0;
  b->failed = false;
}

static TG_NOINLINE bool grow (tg_Buf *b, size_t more) {
  if (more > SIZE_MAX / 2 - b->size) {
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

bool tg_buf_reserve (tg_Buf *b, size_t more) {
  if (tg_unlikely(b->failed))
    return false;
  return more <= b->capacity - b->size || grow(b, more);
}

void tg_buf_add (tg_Buf *b, const void *data, size_t size) {
  if (size == 0 || !tg_buf_reserve(b, size))
    return;
  memcpy(b->data + b->size, data, size);
  b->size += size;
}

void tg_buf_addstr (tg_Buf *b, const char *s) {
  tg_buf_add(b, s, strlen(s));
}

void tg_buf_addchar (tg_Buf *b, char c) {
  if (tg_buf_reserve(b, 1))
    b->data[b->size++] = c;
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
  char digits[20];
  size_t at = sizeof digits;
  do {
    digits[--at] = (char)('0' + v % 10);
    v /= 10;
  } while (v > 0);
  tg_buf_add(b, digits + at, sizeof digits - at);
}
