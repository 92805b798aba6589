/*
** packedblock.c - see packedblock.h. Packed by the packer's thread and by
** whoever scrubs; unpacked by the shelf and the thread that unpacks for it, by
** who follows a file, and who scrubs it.
*/
#include "recording/packedblock.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytereader.h"
#include "recording/blockwalk.h"
#include "recording/columns.h"
#include "stream/event.h"
#include "stream/supply.h"
#include "text/fileio.h"

#define IN_COLUMNS 1u           /* the first number; a frame begins with
                                   another (RFC 8878) */
#define SIZES (sizeof(uint32_t) * (1 + 2 * TG_COLUMNS))
#define EVENTS_MAX TG_BLOCK_UNPACKED  /* in columns: these take memory beside
                                         what a block stands for, which is no
                                         more whatever a file says */

/* Blocks that are not quite full can take one another's place. */
static size_t usual (size_t size) {
  return size < TG_CHUNK_SIZE ? TG_CHUNK_SIZE : size;
}

/* What is in there is lost when it grows. */
static bool has_room (tg_PackMemory *r, size_t size) {
  if (size > r->size) {
    tg_free(r->data);
    r->data = tg_malloc(size);
    r->size = r->data != NULL ? size : 0;
  }
  return r->size >= size;
}

static void free_room (tg_PackMemory *r) {
  tg_free(r->data);
  *r = (tg_PackMemory){0};
}

/*
** {==================================================================
** Packed
** ===================================================================
*/

static bool split (tg_Packing *p, const uint8_t *data, size_t size,
                   tg_EventColumns *c) {
  size_t bound = SIZES;
  if (size > EVENTS_MAX || !has_room(&p->columns, tg_columns_room(EVENTS_MAX))
      || !tg_columns_split(data, size, p->columns.data, c))
    return false;
  for (int i = 0; i < TG_COLUMNS; i++)
    bound += tg_zstd_bound(c->list[i].size);
  return has_room(&p->packed, usual(bound));
}

/* Of a time the lowest byte is noise, and of the next one nothing repeats but
   that it is mostly 0. */
static size_t pack_column (tg_Packing *p, tg_ColumnId id,
                           const tg_EventColumn *c, uint8_t *to, size_t room) {
  return id == TG_COLUMN_LOW || id == TG_COLUMN_HIGH
         ? tg_zstd_pack_noise(&p->zstd, c->data, c->size, to, room)
         : tg_zstd_pack(&p->zstd, c->data, c->size, to, room);
}

/* Gives how many bytes that are; 0: it cannot be. */
static size_t pack_columns (tg_Packing *p, const uint8_t *data, size_t size) {
  tg_EventColumns c;
  if (!split(p, data, size, &c))
    return 0;
  uint8_t *sizes = tg_put32(p->packed.data, IN_COLUMNS);
  size_t used = SIZES;
  for (int i = 0; i < TG_COLUMNS; i++) {
    const tg_EventColumn *column = &c.list[i];
    size_t n = column->size == 0 ? 0
               : pack_column(p, (tg_ColumnId)i, column, p->packed.data + used,
                             p->packed.size - used);
    if (n == 0 && column->size > 0)
      return 0;
    sizes = tg_put32(sizes, (uint32_t)column->size);
    sizes = tg_put32(sizes, (uint32_t)n);
    used += n;
  }
  return used;
}

static size_t pack_frame (tg_Packing *p, const uint8_t *data, size_t size) {
  size_t bound = tg_zstd_bound(size);
  return bound > 0 && has_room(&p->packed, usual(bound))
         ? tg_zstd_pack(&p->zstd, data, size, p->packed.data, p->packed.size)
         : 0;
}

size_t tg_packing_pack (tg_Packing *p, const uint8_t *data, size_t size) {
  size_t n = pack_columns(p, data, size);
  if (n == 0 || n >= size)
    n = pack_frame(p, data, size);
  return tg_block_packs(size, n) ? n : 0;
}

void tg_packing_free (tg_Packing *p) {
  tg_zstd_free(&p->zstd);
  free_room(&p->columns);
  free_room(&p->packed);
}

/* }================================================================== */

/*
** {==================================================================
** Unpacked
** ===================================================================
*/

/* What it has room for was said by its head when the recording was opened, and
   is bounded by how much of it is in the file (block.h): the same now. */
bool tg_packedblock_head (int fd, uint64_t place, size_t size,
                          tg_Block *head) {
  tg_assert(size >= sizeof *head);
  if (!tg_fileio_read(fd, head, sizeof *head, place))
    return false;
  if (head->kind == TG_BLOCK_PACKED && tg_blockwalk_plausible(head)
      && head->unpacked >= size - sizeof *head)
    return true;
  errno = EIO;
  return false;
}

bool tg_packedblock_prepare (tg_Unpacking *u, size_t packed) {
  bool ready = has_room(&u->packed, usual(packed))
               && has_room(&u->columns, tg_columns_most(EVENTS_MAX)
                                        + TG_COLUMNS * TG_COLUMNS_SLACK)
               && tg_zstd_ready(&u->zstd);
  if (!ready)
    errno = ENOMEM;
  return ready;
}

/* The frame of a column, which has its data and size; false: it is not. */
static bool unpack_column (tg_Unpacking *u, const tg_EventColumn *column,
                           const uint8_t *frame, size_t size) {
  memset(column->data + column->size, 0, TG_COLUMNS_SLACK);
  if (column->size == 0)
    return size == 0;
  return frame != NULL
         && tg_zstd_unpack(&u->zstd, frame, size, column->data, column->size);
}

/* The columns of a block of so many bytes, one behind the other, in no more
   memory than those of one that was split. */
static bool unpack_columns (tg_Unpacking *u, size_t packed, size_t unpacked,
                            tg_EventColumns *c) {
  tg_ByteReader sizes = {u->packed.data, u->packed.data + packed, false};
  tg_ByteReader frames = sizes;
  size_t left = tg_columns_most(unpacked);
  uint8_t *to = u->columns.data;
  tg_take(&frames, SIZES);
  tg_take32(&sizes);
  for (int i = 0; i < TG_COLUMNS; i++) {
    c->list[i] = (tg_EventColumn){to, tg_take32(&sizes)};
    size_t size = tg_take32(&sizes);
    if (c->list[i].size > left
        || !unpack_column(u, &c->list[i], tg_take(&frames, size), size))
      return false;
    left -= c->list[i].size;
    to += c->list[i].size + TG_COLUMNS_SLACK;
  }
  return !frames.missing && frames.p == frames.end;
}

/* After tg_packedblock_prepare. False: the bytes are not what they were. */
static bool unpack (tg_Unpacking *u, size_t packed, uint8_t *to,
                    size_t unpacked) {
  tg_EventColumns c;
  if (packed < SIZES || tg_get32(u->packed.data) != IN_COLUMNS)
    return tg_zstd_unpack(&u->zstd, u->packed.data, packed, to, unpacked);
  return unpacked <= EVENTS_MAX && unpack_columns(u, packed, unpacked, &c)
         && tg_columns_join(&c, to, unpacked);
}

static bool read_packed (tg_Unpacking *u, int fd, uint64_t place,
                         size_t packed) {
  tg_assert(packed <= u->packed.size);
  return tg_fileio_read(fd, u->packed.data, packed, place + sizeof(tg_Block));
}

bool tg_packedblock_load (tg_Unpacking *u, int fd, uint64_t place,
                          tg_Block *b) {
  uint32_t packed = tg_block_used(b);
  if (!read_packed(u, fd, place, packed))
    return false;
  if (!unpack(u, packed, b->data, b->unpacked))
    memset(b->data, 0, b->unpacked);
  return true;
}

bool tg_packedblock_data (tg_Unpacking *u, int fd, uint64_t place,
                          size_t packed, uint8_t *to, size_t unpacked) {
  if (!tg_packedblock_prepare(u, packed)
      || !read_packed(u, fd, place, packed))
    return false;
  bool good = unpack(u, packed, to, unpacked);
  if (!good)
    errno = EBADMSG;
  return good;
}

void tg_packedblock_free (tg_Unpacking *u) {
  tg_zstd_free(&u->zstd);
  free_room(&u->packed);
  free_room(&u->columns);
}

/* }================================================================== */
