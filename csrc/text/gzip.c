/*
** gzip.c - see gzip.h.
*/
#include "text/gzip.h"

#define ROOM ((size_t)16 << 10)     /* for what comes at a time */
#define MOST ((size_t)1 << 30)      /* bytes: zlib counts in unsigned int */

bool tg_gzip_begin (z_stream *z) {
  const int with_header = 16;       /* gzip's, not zlib's own (zlib.h) */
  return deflateInit2(z, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                      MAX_WBITS + with_header, 8, Z_DEFAULT_STRATEGY) == Z_OK;
}

/* Room that was not filled up means that there is no more to come. */
static void run (z_stream *z, const void *data, size_t size, int flush,
                 tg_Buf *out) {
  z->next_in = (Bytef *)(uintptr_t)data;
  z->avail_in = (uInt)size;
  do {
    if (!tg_buf_reserve(out, ROOM))
      return;
    z->next_out = (Bytef *)out->data + out->size;
    z->avail_out = ROOM;
    deflate(z, flush);
    out->size += ROOM - z->avail_out;
  } while (z->avail_out == 0);
}

void tg_gzip_add (z_stream *z, const void *data, size_t size, tg_Buf *out) {
  const char *p = data;
  for (; size > MOST; p += MOST, size -= MOST)
    run(z, p, MOST, Z_NO_FLUSH, out);
  run(z, p, size, Z_NO_FLUSH, out);
}

void tg_gzip_end (z_stream *z, tg_Buf *out) {
  run(z, NULL, 0, Z_FINISH, out);
}

void tg_gzip_free (z_stream *z) {
  if (z->state != NULL)
    deflateEnd(z);
}
