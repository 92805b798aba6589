/*
** pieces.c - see pieces.h.
*/
#include "recording/pieces.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/grow.h"

bool tg_pieces_add (tg_Pieces *all, const tg_Piece *piece) {
  if (!tg_grow(&all->list, &all->capacity, all->count + 1, sizeof *all->list))
    return false;
  all->list[all->count++] = *piece;
  return true;
}

tg_Block *tg_pieces_map (tg_Pieces *all, tg_MappedFile *file, size_t size) {
  tg_Piece piece = {.place = file->end, .size = size};
  piece.block = tg_mappedfile_map(file, size);
  if (piece.block == NULL)
    return NULL;
  if (!tg_pieces_add(all, &piece)) {
    munmap(piece.block, size);
    errno = ENOMEM;
    return NULL;
  }
  return piece.block;
}

tg_Piece *tg_pieces_find (const tg_Pieces *all, const tg_Block *block) {
  for (uint32_t i = 0; i < all->count; i++) {
    if (all->list[i].block == block)
      return &all->list[i];
  }
  return NULL;
}

tg_Piece tg_pieces_take (tg_Pieces *all, uint32_t index) {
  tg_assert(index < all->count);
  tg_Piece taken = all->list[index];
  all->count--;
  memmove(all->list + index, all->list + index + 1,
          (all->count - index) * sizeof *all->list);
  return taken;
}

tg_Piece *tg_pieces_smallest (const tg_Pieces *all, size_t size) {
  tg_Piece *found = NULL;
  for (uint32_t i = 0; i < all->count; i++) {
    tg_Piece *e = &all->list[i];
    if (e->size >= size && (found == NULL || e->size < found->size))
      found = e;
  }
  return found;
}

uint64_t tg_pieces_end (const tg_Pieces *all, uint64_t end) {
  for (uint32_t i = 0; i < all->count; i++) {
    const tg_Piece *e = &all->list[i];
    uint64_t own = e->place + sizeof(tg_Block) + tg_block_used(e->block);
    if (e->place != TG_PIECES_NOWHERE && own > end)
      end = own;
  }
  return end;
}

/* Moved there by mremap, which replaces the mapping in one step. */
bool tg_pieces_make_private (const tg_Piece *e) {
  void *copy = mmap(NULL, e->size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED)
    return false;
  memcpy(copy, e->block, e->size);
  if (mremap(copy, e->size, e->size, MREMAP_MAYMOVE | MREMAP_FIXED, e->block)
      != MAP_FAILED)
    return true;
  munmap(copy, e->size);
  return false;
}

void tg_pieces_unmap (tg_Pieces *all) {
  for (uint32_t i = 0; i < all->count; i++)
    munmap(all->list[i].block, all->list[i].size);
  tg_free(all->list);
  memset(all, 0, sizeof *all);
}
