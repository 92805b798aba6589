/*
** packedblock.c - see packedblock.h. Called by the shelf and by the thread that
** unpacks for it.
*/
#include "recording/packedblock.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "recording/blockwalk.h"
#include "stream/supply.h"
#include "text/fileio.h"

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

/* Blocks that are not quite full can take one another's place. */
static bool has_room (tg_Unpacking *u, size_t size) {
  if (size > u->room) {
    u->room = size < TG_CHUNK_SIZE ? TG_CHUNK_SIZE : size;
    tg_free(u->packed);
    u->packed = tg_malloc(u->room);
  }
  if (u->packed == NULL)
    u->room = 0;
  return u->packed != NULL;
}

bool tg_packedblock_prepare (tg_Unpacking *u, const tg_Block *head) {
  bool ready = has_room(u, tg_block_used(head)) && tg_zstd_ready(&u->zstd);
  if (!ready)
    errno = ENOMEM;
  return ready;
}

bool tg_packedblock_load (tg_Unpacking *u, int fd, uint64_t place,
                          tg_Block *b) {
  uint32_t packed = tg_block_used(b);
  tg_assert(packed <= u->room);
  if (!tg_fileio_read(fd, u->packed, packed, place + sizeof *b))
    return false;
  if (!tg_zstd_unpack(&u->zstd, u->packed, packed, b->data, b->unpacked))
    memset(b->data, 0, b->unpacked);
  return true;
}

void tg_packedblock_free (tg_Unpacking *u) {
  tg_zstd_free(&u->zstd);
  tg_free(u->packed);
  *u = (tg_Unpacking){0};
}
