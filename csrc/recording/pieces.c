/*
** pieces.c - see pieces.h.
*/
#include "recording/pieces.h"

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

void tg_pieces_unmap (tg_Pieces *all) {
  for (uint32_t i = 0; i < all->count; i++)
    munmap(all->list[i].block, all->list[i].size);
  tg_free(all->list);
  memset(all, 0, sizeof *all);
}
