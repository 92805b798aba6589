/*
** eventblocks.c - see eventblocks.h.
*/
#include "recording/eventblocks.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "recording/fileformat.h"
#include "stream/supply.h"

/* The disk, a quota, a limit of the process. */
static bool is_want_of_room (int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

/* How large a block is made for so many bytes at least. */
static size_t size_to_make (const tg_EventBlocks *e, size_t least) {
  size_t page = tg_mappedfile_page();
  size_t size = tg_fileformat_grown(e->made, TG_EVENTS_FIRST, TG_CHUNK_SIZE);
  return size >= least ? size : (least + page - 1) / page * page;
}

/* Of a ring there are few sizes, since they are used again. */
static size_t size_to_share (size_t least) {
  size_t size = TG_CHUNK_SIZE;
  while (size < least && size <= UINT32_MAX / 2)
    size *= 2;
  return size >= least ? size : least;
}

/* One of a ring's that was given back; NULL: there is none of that size. */
static tg_Block *use_again (tg_EventBlocks *e, size_t *size) {
  tg_Piece *found = tg_pieces_smallest(&e->free, *size);
  if (found == NULL || !tg_pieces_add(&e->taken, found))
    return NULL;
  *size = found->size;
  return tg_pieces_take(&e->free, (uint32_t)(found - e->free.list)).block;
}

/* The packer works on mapped memory alone, so what it lacks is mapped here. */
static bool map_room (void *ud, size_t size, tg_Piece *empty) {
  tg_MappedFile *file = ud;
  size_t page = tg_mappedfile_page();
  size = size <= TG_CHUNK_SIZE ? TG_CHUNK_SIZE
         : (size + page - 1) / page * page;
  bool full = file->full;         /* is said of events */
  *empty = (tg_Piece){.place = file->end, .size = size};
  empty->block = tg_mappedfile_map(file, size);
  file->full = full;
  if (empty->block != NULL)
    tg_block_begin(empty->block, TG_BLOCK_EVENTS, size, 0, 0);
  return empty->block != NULL;
}

static void provide_room (tg_EventBlocks *e) {
  tg_Piece empty;
  size_t wanted = tg_packer_wants(e->packer);
  if (wanted > 0 && map_room(e->file, wanted, &empty))
    tg_packer_give(e->packer, &empty);
  else if (wanted > 0)
    tg_packer_refuse(e->packer);
}

/* One whose events have been packed; NULL: there is none of that size. */
static tg_Block *use_packed (tg_EventBlocks *e, size_t *size, bool urgent) {
  tg_Piece piece;
  if (e->packer == NULL)
    return NULL;
  provide_room(e);
  tg_packer_help(e->packer, map_room, e->file);
  if (!tg_packer_take(e->packer, *size, urgent, &piece))
    return NULL;
  if (!tg_pieces_add(&e->taken, &piece)) {
    tg_packer_give(e->packer, &piece);
    return NULL;
  }
  *size = piece.size;
  return piece.block;
}

/* A block at the end of the file; NULL with errno. */
static tg_Block *new_block (tg_EventBlocks *e, size_t *size) {
  tg_Block *b = tg_pieces_map(&e->taken, e->file, *size);
  if (b != NULL) {
    e->made += *size;
    e->largest = *size > e->largest ? *size : e->largest;
    return b;
  }
  int error = errno;
  if (is_want_of_room(error) && (b = use_packed(e, size, true)) != NULL)
    return b;
  if (e->ring && is_want_of_room(error)) {
    e->starved = error;
    e->wanted = *size;
  }
  errno = error;
  return NULL;
}

/* A ring takes one that was given back before it makes the file longer: so the
   file has the size of what is kept. */
tg_Block *tg_eventblocks_obtain (tg_EventBlocks *e, size_t least,
                                 size_t *size) {
  tg_Block *b = e->ring ? use_again(e, size) : NULL;
  if (b == NULL) {
    *size = e->ring ? size_to_share(*size) : size_to_make(e, least);
    b = use_packed(e, size, false);
  }
  if (b == NULL)
    b = new_block(e, size);
  e->current = b;
  return b;
}

/* What a ring does not need any more is not in its file any more: else a reader
   would find blocks with gaps between them. */
static bool keeps_released (tg_EventBlocks *e, const tg_Piece *piece) {
  if (piece->place == TG_PIECES_NOWHERE)
    return false;
  if (e->ring) {
    tg_block_commit(piece->block, piece->block->data);
    return tg_pieces_add(&e->free, piece);
  }
  return e->packer != NULL && tg_packer_add(e->packer, piece);
}

void tg_eventblocks_release (tg_EventBlocks *e, tg_Block *b, size_t size,
                             bool running) {
  tg_Piece *found = tg_pieces_find(&e->taken, b);
  tg_assert(found != NULL && found->size == size);
  (void)size;
  tg_Piece piece = tg_pieces_take(&e->taken,
                                  (uint32_t)(found - e->taken.list));
  if (running && keeps_released(e, &piece))
    return;
  if (running && e->packer != NULL)
    piece.block->unpacked = TG_BLOCK_STAYS;
  munmap(piece.block, piece.size);
  if (piece.place != TG_PIECES_NOWHERE && piece.place + piece.size > e->kept)
    e->kept = piece.place + piece.size;
}

void tg_eventblocks_pack (tg_EventBlocks *e) {
  if (e->packer != NULL)
    tg_packer_finish(e->packer, map_room, e->file);
}

/* The block that is written last is packed as well. Its bytes may still be read
   by cursors, which get a copy of it: then its place in the file is empty. */
static void pack_current (tg_EventBlocks *e) {
  tg_Piece *piece = tg_pieces_find(&e->taken, e->current);
  static const uint32_t none = 0;
  if (piece == NULL || !tg_packer_copy(e->packer, piece->block)
      || !tg_pieces_make_private(piece))
    return;
  tg_mappedfile_write(e->file, piece->place + offsetof(tg_Block, used), &none,
                      sizeof none);
  piece->place = TG_PIECES_NOWHERE;
}

uint64_t tg_eventblocks_left (tg_EventBlocks *e) {
  if (e->packer != NULL)
    pack_current(e);
  uint64_t end = tg_pieces_end(&e->taken, e->kept);
  if (e->packer != NULL && tg_rooms_end(tg_packer_rooms(e->packer)) > end)
    end = tg_rooms_end(tg_packer_rooms(e->packer));
  return end;
}

/* What rooms have is nobody's any more, but would take room on the disk. */
static void punch (void *ud, uint64_t place, uint64_t size) {
  tg_mappedfile_punch(ud, place, size);
}

void tg_eventblocks_close (tg_EventBlocks *e, uint64_t length) {
  if (e->packer != NULL)
    tg_rooms_punch(tg_packer_rooms(e->packer), length, punch, e->file);
  tg_eventblocks_unpack(e);
}

void tg_eventblocks_unpack (tg_EventBlocks *e) {
  tg_packer_free(e->packer);
  e->packer = NULL;
}

bool tg_eventblocks_abandon (tg_EventBlocks *e) {
  bool all = true;
  for (size_t i = 0; i < e->taken.count; i++)
    all = tg_pieces_make_private(&e->taken.list[i]) && all;
  tg_pieces_unmap(&e->free);
  return all;
}

void tg_eventblocks_free (tg_EventBlocks *e) {
  tg_pieces_unmap(&e->taken);
  tg_pieces_unmap(&e->free);
  tg_eventblocks_unpack(e);
}
