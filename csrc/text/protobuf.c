/*
** protobuf.c - see protobuf.h. Plain C, any thread, one buffer each.
*/
#include "text/protobuf.h"

enum { VARINT = 0, LENGTH = 2 };        /* wire types */

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
  if (v == 0)
    return;
  put_tag(out, field, VARINT);
  tg_protobuf_varint(out, v);
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
