/*
** gzip.c - see gzip.h.
*/
#include "text/gzip.h"

#define ROOM ((size_t)16 << 10)     /* for what comes at a time */
#define MOST ((size_t)1 << 30)      /* bytes: zlib counts in unsigned int */
#define WITH_HEADER 16              /* gzip's, not zlib's own (zlib.h) */

bool tg_gzip_begin (z_stream *z) {
  return deflateInit2(z, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                      MAX_WBITS + WITH_HEADER, 8, Z_DEFAULT_STRATEGY) == Z_OK;
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

bool tg_gzip_pack (const void *data, size_t size, tg_Buf *out) {
  z_stream z = {0};
  bool begun = tg_gzip_begin(&z)
               && deflateParams(&z, Z_BEST_SPEED, Z_DEFAULT_STRATEGY) == Z_OK;
  if (begun) {
    tg_gzip_add(&z, data, size, out);
    tg_gzip_end(&z, out);
  }
  tg_gzip_free(&z);
  return begun && !out->failed;
}

bool tg_gzip_unpack (const void *data, size_t size, size_t most, tg_Buf *out) {
  z_stream z = {.next_in = (Bytef *)(uintptr_t)data};
  int status = size <= MOST ? inflateInit2(&z, MAX_WBITS + WITH_HEADER)
                            : Z_DATA_ERROR;
  if (status != Z_OK)
    return false;
  z.avail_in = (uInt)size;
  while (status == Z_OK && out->size <= most && tg_buf_reserve(out, ROOM)) {
    z.next_out = (Bytef *)out->data + out->size;
    z.avail_out = ROOM;
    status = inflate(&z, Z_NO_FLUSH);
    out->size += ROOM - z.avail_out;
  }
  inflateEnd(&z);
  return status == Z_STREAM_END && out->size <= most && !out->failed;
}

void tg_gzip_free (z_stream *z) {
  if (z->state != NULL)
    deflateEnd(z);
}
