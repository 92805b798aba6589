/*
** test_packer.c - a packer whose thread cannot go on: whoever has the file
** packs. Without the library there is nothing to be seen here.
*/
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "recording/packer.h"
#include "stream/supply.h"
#include "unit.h"

#define BLOCKS 90u      /* more than may wait for the thread alone */
#define HELPED 20u

static char path[64];

/* As a file's writer does. */
static bool give (void *ud, size_t size, tg_Piece *empty) {
  tg_MappedFile *file = ud;
  size = size < TG_CHUNK_SIZE ? TG_CHUNK_SIZE : size;
  *empty = (tg_Piece){.place = file->end, .size = size};
  empty->block = tg_mappedfile_map(file, size);
  if (empty->block != NULL)
    tg_block_begin(empty->block, TG_BLOCK_EVENTS, size, 0, 0);
  return empty->block != NULL;
}

/* The next block of the file, full of one number. */
static tg_Piece full_block (tg_MappedFile *file, uint32_t i) {
  tg_Piece piece = {0};
  size_t data = TG_CHUNK_SIZE - sizeof(tg_Block);
  UNIT_CHECK(give(file, TG_CHUNK_SIZE, &piece));
  tg_block_begin(piece.block, TG_BLOCK_EVENTS, TG_CHUNK_SIZE, i * data, 0);
  memset(piece.block->data, (int)i, data);
  tg_block_commit(piece.block, piece.block->data + data);
  return piece;
}

static bool has_room (tg_Packer *p) {
  tg_Piece piece;
  bool taken = tg_packer_take(p, TG_CHUNK_SIZE, false, &piece);
  if (taken)
    tg_packer_give(p, &piece);
  return taken;
}

/* The thread has packed the first block and waits for room, which nobody
   maps. */
static void fall_behind (tg_Packer *p, tg_MappedFile *file) {
  for (uint32_t i = 0; i < BLOCKS; i++) {
    tg_Piece full = full_block(file, i);
    UNIT_CHECK(tg_packer_add(p, &full));
  }
  while (tg_packer_wants(p) == 0)
    sched_yield();
  UNIT_CHECK(!has_room(p));
}

static void behind (void) {
  tg_MappedFile file = {.fd = -1};
  tg_MappedPath made = {.path = path};
  static const char header[4096];
  UNIT_CHECK(tg_mappedfile_open(&file, &made)
             && tg_mappedfile_begin(&file, header, sizeof header));
  tg_Packer *p = tg_packer_new();
  if (p != NULL) {
    fall_behind(p, &file);
    uint64_t end = file.end;
    for (uint32_t i = 0; i < HELPED; i++)
      tg_packer_help(p, give, &file);
    UNIT_CHECK(has_room(p));
    UNIT_CHECK(file.end == end + TG_CHUNK_SIZE);
    tg_packer_finish(p, give, &file);
    UNIT_CHECK(tg_rooms_end(tg_packer_rooms(p)) < 3 * TG_CHUNK_SIZE);
    tg_packer_free(p);
  }
  tg_mappedfile_remove(&file);
  tg_mappedfile_free(&file);
}

int main (void) {
  snprintf(path, sizeof path, "/tmp/tracegrip-packer-%d", (int)getpid());
  UNIT_RUN(behind);
  return UNIT_END();
}
