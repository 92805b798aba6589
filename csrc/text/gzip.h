/*
** gzip.h - bytes compressed as they come, into a buffer.
**
** zlib allocates by itself, once, when it begins. Refused memory shows there,
** or in the buffer. Plain C, one thread.
*/
#ifndef TG_GZIP_H
#define TG_GZIP_H

#include <zlib.h>

#include "base/base.h"
#include "base/buf.h"

/* Zeroed memory is a stream that has not begun. False without memory. */
bool tg_gzip_begin (z_stream *z);

/* Adds what becomes of these bytes to 'out'; most of it may come later, or with
   the end. */
void tg_gzip_add (z_stream *z, const void *data, size_t size, tg_Buf *out);
void tg_gzip_end (z_stream *z, tg_Buf *out);

/* All of it at once, as fast as zlib can. False without memory. */
bool tg_gzip_pack (const void *data, size_t size, tg_Buf *out);

/* What was packed, if that is no more than 'most' bytes. False without memory,
   of more, and of what was not. */
bool tg_gzip_unpack (const void *data, size_t size, size_t most, tg_Buf *out);

/* After the end too; a stream that has not begun is fine. */
void tg_gzip_free (z_stream *z);

#endif
