/*
** protobuf.c - see protobuf.h. Plain C, any thread, one buffer each.
*/
#include "text/protobuf.h"

#include "text/utf8.h"

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2 };   /* wire types */

static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */
enum { REPLACEMENT = sizeof replacement - 1 };

/* Seven bits a byte, the least first; all but the last have the high bit. */
void tg_protobuf_varint (tg_Buf *out, uint64_t v) {
  for (; v >= 0x80; v >>= 7)
    tg_buf_addchar(out, (char)(v | 0x80));
  tg_buf_addchar(out, (char)v);
}

static void put_tag (tg_Buf *out, uint32_t field, uint32_t type) {
  tg_assert(field > 0);
  tg_protobuf_varint(out, field << 3 | type);
}

void tg_protobuf_number (tg_Buf *out, uint32_t field, uint64_t v) {
  if (v != 0)
    tg_protobuf_choice(out, field, v);
}

void tg_protobuf_choice (tg_Buf *out, uint32_t field, uint64_t v) {
  put_tag(out, field, VARINT);
  tg_protobuf_varint(out, v);
}

/* The least significant byte first. */
void tg_protobuf_fixed64 (tg_Buf *out, uint32_t field, uint64_t v) {
  char bytes[8];
  for (int i = 0; i < 8; i++)
    bytes[i] = (char)(v >> 8 * i);
  put_tag(out, field, FIXED64);
  tg_buf_add(out, bytes, sizeof bytes);
}

/* The whole characters that come next, and then a byte that is none: what there
   is of either. Moves '*s' on; the length of the characters. */
static size_t next_piece (const char **s, const char *end, bool *odd) {
  size_t whole = tg_utf8_whole(*s, (size_t)(end - *s));
  *odd = whole < (size_t)(end - *s);
  *s += whole + *odd;
  return whole;
}

/* Twice over what is not UTF-8: its length has to be known first. */
void tg_protobuf_string (tg_Buf *out, uint32_t field, const char *s,
                         size_t size) {
  const char *end = size > 0 ? s + size : s;    /* 's' may be NULL */
  size_t length = 0;
  bool odd;
  for (const char *p = s; p < end; )
    length += next_piece(&p, end, &odd) + (odd ? REPLACEMENT : 0);
  put_tag(out, field, LENGTH);
  tg_protobuf_varint(out, length);
  while (s < end) {
    const char *from = s;
    tg_buf_add(out, from, next_piece(&s, end, &odd));
    if (odd)
      tg_buf_add(out, replacement, REPLACEMENT);
  }
}

void tg_protobuf_bytes (tg_Buf *out, uint32_t field, const void *data,
                        size_t size) {
  put_tag(out, field, LENGTH);
  tg_protobuf_varint(out, size);
  tg_buf_add(out, data, size);
}

void tg_protobuf_message (tg_Buf *out, uint32_t field, tg_Buf *from) {
  tg_protobuf_bytes(out, field, from->data, from->size);
  out->failed = out->failed || from->failed;
  tg_buf_clear(from);
}
