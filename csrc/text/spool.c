/*
** spool.c - see spool.h.
**
** Called by exporters, on the thread of whoever exports; pieces are read back
** on others too, at the same time, when nothing is put aside any more
** (tg_column_look). The first failure, of memory or of the disk, stays in the
** spool's 'error'; a column that could not be put aside is never written in
** part.
**
** One file for all columns and not one for each: a trace has thousands of
** coroutines, a process may have a thousand files.
*/
#include "text/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "text/fileio.h"

/* Bytes that a column keeps by itself: small, as there may be thousands, and
   large enough for a piece to be worth a system call. */
#define ENOUGH ((size_t)8 << 10)

/* Blocks and the file are made when they are needed: most exports need none. */
void tg_spool_init (tg_Spool *s) {
  *s = (tg_Spool){.fd = -1};
}

void tg_spool_free (tg_Spool *s) {
  for (uint32_t i = 0; i < TG_SPOOL_BLOCKS; i++)
    tg_pages_free(s->blocks[i], TG_SPOOL_BLOCK);
  if (s->fd >= 0)
    close(s->fd);
  tg_spool_init(s);
}

/* TMPDIR or /tmp, as mktemp(1) has it: for users with a small /tmp. The message
   of a full directory names it, too. */
const char *tg_spool_directory (void) {
  const char *dir = getenv("TMPDIR");
  return dir != NULL && dir[0] != '\0' ? dir : "/tmp";
}

/* A file without a name: it goes with the process, however that ends. */
static bool open_file (tg_Spool *s) {
  char path[4096];
  int n = snprintf(path, sizeof path, "%s/tracegrip-XXXXXX",
                   tg_spool_directory());
  if (n < 0 || (size_t)n >= sizeof path)
    errno = ENAMETOOLONG;
  else if ((s->fd = mkostemp(path, O_CLOEXEC)) >= 0)
    unlink(path);
  return s->fd >= 0;
}

/* The first reason stays; later ones follow from it. */
static bool fail (tg_Spool *s, int error) {
  int none = 0;
  atomic_compare_exchange_strong(&s->error, &none, error);
  return false;
}

/* Where a piece is, so that the column can be put together again. */
static bool note_piece (tg_Column *c, uint64_t place, size_t size) {
  if (!tg_grow(&c->pieces, &c->capacity, c->count + 1, sizeof *c->pieces))
    return false;
  c->pieces[c->count++] = (tg_Piece){place, size};
  return true;
}

/* The place of 'size' bytes in memory; false if there is no room. A block that
   is refused is no failure: there is the file. */
static bool find_memory (tg_Spool *s, uint64_t size, uint64_t *place) {
  tg_assert(size > 0 && s->filled <= TG_SPOOL_MEMORY);
  uint64_t at = s->filled % TG_SPOOL_BLOCK;
  if (size > TG_SPOOL_BLOCK)
    return false;
  if (at + size > TG_SPOOL_BLOCK)     /* a piece is in one block */
    s->filled += TG_SPOOL_BLOCK - at;
  *place = s->filled;
  if (*place >= TG_SPOOL_MEMORY)
    return false;
  char **block = &s->blocks[*place / TG_SPOOL_BLOCK];
  if (*block == NULL)
    *block = tg_pages_large(TG_SPOOL_BLOCK);
  if (*block == NULL)
    return false;
  s->filled += size;
  return true;
}

/* Places below TG_SPOOL_MEMORY are in blocks, those above in the file. */
static char *memory_at (const tg_Spool *s, uint64_t place) {
  tg_assert(place < s->filled && s->blocks[place / TG_SPOOL_BLOCK] != NULL);
  return s->blocks[place / TG_SPOOL_BLOCK] + place % TG_SPOOL_BLOCK;
}

/* The text goes to memory, or to the end of the file. */
static bool put_aside (tg_Spool *s, tg_Column *c) {
  uint64_t place;
  if (find_memory(s, c->text.size, &place))
    memcpy(memory_at(s, place), c->text.data, c->text.size);
  else {
    place = TG_SPOOL_MEMORY + s->end;
    if (s->fd < 0 && !open_file(s))
      return fail(s, errno);
    if (!tg_fileio_write(s->fd, c->text.data, c->text.size, s->end))
      return fail(s, errno);
    s->end += c->text.size;
  }
  if (!note_piece(c, place, c->text.size))
    return fail(s, ENOMEM);
  tg_buf_clear(&c->text);
  return true;
}

/* A text fails only for want of memory. */
bool tg_column_turn (tg_Spool *s, tg_Column *c) {
  if (s->error != 0 || c->text.failed)
    return fail(s, ENOMEM);
  return c->text.size < ENOUGH || put_aside(s, c);
}

/* For a column that gets no more for now: thousands of them would keep their
   buffers. */
bool tg_column_put (tg_Spool *s, tg_Column *c) {
  if (s->error != 0 || c->text.failed)
    return fail(s, ENOMEM);
  if (c->text.size > 0 && !put_aside(s, c))
    return false;
  tg_buf_free(&c->text);
  return true;
}

/* The file is read in the order in which columns are written, which is not that
   of their pieces: the system's cache is what makes that cheap. */
static bool read_file (tg_Spool *s, const tg_Piece *p, tg_Buf *room,
                       tg_Slice *bytes) {
  uint64_t place = p->place - TG_SPOOL_MEMORY;
  tg_assert(place + p->size <= s->end);
  tg_buf_clear(room);
  if (!tg_buf_reserve(room, p->size))
    return fail(s, ENOMEM);
  *bytes = (tg_Slice){(const uint8_t *)room->data, p->size, NULL};
  return tg_fileio_read(s->fd, room->data, p->size, place) || fail(s, errno);
}

/* Without a copy where the piece is in memory. 'i' may be one more than there
   are pieces: that is the column's own text. */
bool tg_column_look (tg_Spool *s, const tg_Column *c, uint32_t i,
                     tg_Buf *room, tg_Slice *bytes) {
  tg_check(i <= c->count);
  if (c->text.failed)
    return fail(s, ENOMEM);
  if (i == c->count) {
    *bytes = (tg_Slice){(const uint8_t *)c->text.data, c->text.size, NULL};
    return true;
  }
  const tg_Piece *p = &c->pieces[i];
  if (p->place >= TG_SPOOL_MEMORY)
    return read_file(s, p, room, bytes);
  *bytes = (tg_Slice){(const uint8_t *)memory_at(s, p->place), p->size, NULL};
  return true;
}

/* A piece of the file is read apart and then added: 'to' may have text of its
   own, which a read that fails in the middle must not spoil. */
static bool add_piece (tg_Spool *s, const tg_Column *c, uint32_t i,
                       tg_Buf *to) {
  tg_Buf room = {0};
  tg_Slice bytes;
  bool ok = tg_column_look(s, c, i, &room, &bytes);
  if (ok)
    tg_buf_add(to, bytes.data, bytes.size);
  tg_buf_free(&room);
  return ok && (!to->failed || fail(s, ENOMEM));
}

/* A copy, for who goes on while the column grows. */
bool tg_column_read (tg_Spool *s, const tg_Column *c, uint32_t i,
                     tg_Buf *to) {
  tg_buf_clear(to);
  return add_piece(s, c, i, to);
}

/* The pieces in order; the rest is still in 'text'. The output turns after each
   piece, so that its text stays small however long the column is. */
bool tg_column_write (tg_Spool *s, tg_Column *c, tg_OutFile *out) {
  if (c->text.failed)
    return fail(s, ENOMEM);
  for (uint32_t i = 0; i < c->count; i++) {
    if (!add_piece(s, c, i, &out->text) || !tg_outfile_turn(out))
      return false;
  }
  tg_buf_add(&out->text, c->text.data, c->text.size);
  return tg_outfile_turn(out) && s->error == 0;
}

void tg_column_free (tg_Column *c) {
  tg_buf_free(&c->text);
  tg_free(c->pieces);
  memset(c, 0, sizeof *c);
}
