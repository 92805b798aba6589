/*
** protobuf.h - messages in protobuf's encoding (protobuf.dev, "Encoding"), as
** they are written.
**
** A field is a tag and a value. A message within a message is written into a
** buffer of its own first, since its length stands before it. A field that has
** its default, zero or nothing, is left out, as protobuf's own writers do.
** Refused memory shows in the buffer.
*/
#ifndef TG_PROTOBUF_H
#define TG_PROTOBUF_H

#include "base/base.h"
#include "base/buf.h"

/* A number without its field: what packed lists consist of. */
void tg_protobuf_varint (tg_Buf *out, uint64_t v);

/* int64, uint64, bool: a negative number as its two's complement. */
void tg_protobuf_number (tg_Buf *out, uint32_t field, uint64_t v);

/* One of a "oneof", whose field tells which it is: 0 is written too. */
void tg_protobuf_choice (tg_Buf *out, uint32_t field, uint64_t v);

/* fixed64. */
void tg_protobuf_fixed64 (tg_Buf *out, uint32_t field, uint64_t v);

/* Text, which has to be UTF-8: each byte that is not becomes U+FFFD. */
void tg_protobuf_string (tg_Buf *out, uint32_t field, const char *s,
                         size_t size);

/* Bytes, a packed list or a message, or text that is known to be UTF-8; also an
   empty one, which in a list of them has its place. */
void tg_protobuf_bytes (tg_Buf *out, uint32_t field, const void *data,
                        size_t size);

/* The content of another buffer, which is empty then. */
void tg_protobuf_message (tg_Buf *out, uint32_t field, tg_Buf *from);

#endif
