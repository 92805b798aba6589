/*
** rooms.c - see rooms.h.
**
**     | PACKED | PACKED | EVENTS, used 0          |
**               at ^     1. the bytes, and behind them an empty block
**                        2. the head, 'size' last: the walk finds both
**                        3. 'used': it is there
*/
#include "recording/rooms.h"

#include <string.h>
#include <sys/mman.h>

#define REST ((size_t)64)       /* fewer bytes are no block of their own */

/*
** {==================================================================
** Rooms
** ===================================================================
*/

static size_t left_in (const tg_Piece *room) {
  return room->size - room->filled;
}

static bool is_empty (const tg_Piece *room) {
  return room->filled == 0;
}

/* A piece that stays in the file as it is: readers are told. One that has
   something packed may begin with the end of a block, which has no head. */
void tg_rooms_leave (tg_Rooms *r, const tg_Piece *piece) {
  uint64_t end = piece->place + piece->size;
  if (is_empty(piece))
    piece->block->unpacked = TG_BLOCK_STAYS;
  munmap(piece->block, piece->size);
  if (end > r->end)
    r->end = end;
}

/* Without memory to know of it the room is lost. */
void tg_rooms_add (tg_Rooms *r, const tg_Piece *empty) {
  tg_Pieces *rooms = &r->all;
  if (!tg_pieces_add(rooms, empty)) {
    tg_rooms_leave(r, empty);
    return;
  }
  uint32_t i = rooms->count - 1;
  for (; i > 0 && rooms->list[i - 1].place > empty->place; i--)
    rooms->list[i] = rooms->list[i - 1];
  rooms->list[i] = *empty;
}

/* The next room, if it goes on where this one ends, and is empty. */
static tg_Piece *next_room (const tg_Rooms *r, uint32_t i) {
  const tg_Piece *room = &r->all.list[i];
  tg_Piece *next = i + 1 < r->all.count ? &r->all.list[i + 1] : NULL;
  bool touches = next != NULL && next->place == room->place + room->size;
  return touches && is_empty(next) ? next : NULL;
}

/* Rooms below the one that is filled, and with too little room, are full. Gives
   the index that the one has then. */
static uint32_t close_below (tg_Rooms *r, uint32_t i) {
  for (uint32_t j = i; j-- > 0; ) {
    if (!is_empty(&r->all.list[j])) {
      tg_Piece full = tg_pieces_take(&r->all, j);
      tg_rooms_leave(r, &full);
      i--;
    }
  }
  return i;
}

/* The lowest room with 'size' bytes, those of the next one included, among the
   first 'most'; its index, or -1. */
static int find_room (const tg_Rooms *r, size_t size, uint32_t most) {
  for (uint32_t i = 0; i < most; i++) {
    const tg_Piece *room = &r->all.list[i], *next = next_room(r, i);
    if (left_in(room) >= REST
        && left_in(room) + (next != NULL ? next->size : 0) >= size)
      return (int)i;
  }
  return -1;
}

/* }================================================================== */

/*
** {==================================================================
** Blocks into rooms
** ===================================================================
*/

size_t tg_rooms_need (size_t packed) {
  return (sizeof(tg_Block) + packed + 7) & ~(size_t)7;
}

static tg_Block *block_at (const tg_Piece *room, size_t offset) {
  return (tg_Block *)(void *)((uint8_t *)room->block + offset);
}

/* An empty block up to the room's end; what is too small for one is the last
   block's. Gives how many bytes those are. */
static size_t end_room (tg_Piece *room, size_t filled) {
  tg_assert(filled <= room->size);
  size_t rest = room->size - filled;
  room->filled = rest < REST ? room->size : filled;
  if (rest < REST)
    return rest;
  tg_Block *empty = block_at(room, filled);
  memset((void *)empty, 0, sizeof *empty);
  tg_block_begin(empty, TG_BLOCK_EVENTS, rest, 0, 0);
  return 0;
}

/* The bytes go behind a head that still says "empty". Gives the size that the
   block is to have. Of two rooms the first one's empty block becomes as long as
   both before: then the second one's head is data. */
static size_t write_bytes (tg_Piece *room, tg_Piece *next, tg_Block *at,
                           const uint8_t *data, size_t n) {
  size_t left = left_in(room), size = tg_rooms_need(n);
  if (size <= left) {
    memcpy(at->data, data, n);
    return size + end_room(room, room->filled + size);
  }
  size_t first = left - sizeof *at;
  if (first > n)
    first = n;
  at->size = left + next->size;
  atomic_thread_fence(memory_order_release);
  memcpy(at->data, data, first);
  memcpy((void *)next->block, data + first, n - first);
  room->filled = room->size;
  return size + end_room(next, size - left);
}

/* 'n' packed bytes that stand for 'unpacked' of 'full', shown by the last
   store. */
static void write_block (tg_Rooms *r, uint32_t i, const tg_Block *full,
                         uint32_t unpacked, const uint8_t *data, size_t n) {
  tg_Piece *room = &r->all.list[i], *next = next_room(r, i);
  tg_Block *at = block_at(room, room->filled);
  tg_assert(at->magic == TG_BLOCK_MAGIC && tg_block_used(at) == 0);
  size_t size = write_bytes(room, next, at, data, n);
  atomic_thread_fence(memory_order_release);
  at->kind = TG_BLOCK_PACKED;
  at->base = full->base;
  at->packets = full->packets;
  at->unpacked = unpacked;
  atomic_thread_fence(memory_order_release);
  at->size = size;
  tg_block_commit(at, at->data + n);
}

/* False: there is no such room. */
bool tg_rooms_put (tg_Rooms *r, const tg_Block *full, const uint8_t *data,
                   size_t n) {
  int i = find_room(r, tg_rooms_need(n), r->all.count);
  if (i >= 0)
    write_block(r, close_below(r, (uint32_t)i), full, tg_block_used(full),
                data, n);
  return i >= 0;
}

/* The block that has been packed is a room now. */
void tg_rooms_reuse (tg_Rooms *r, tg_Piece *piece) {
  tg_block_commit(piece->block, piece->block->data);
  piece->filled = 0;
  tg_rooms_add(r, piece);
}

/* }================================================================== */


/* The last empty one is for what is packed, if another is not to be had. */
bool tg_rooms_take (tg_Rooms *r, size_t size, bool last, tg_Piece *piece) {
  uint32_t empty = 0, found = r->all.count;
  for (uint32_t i = 0; i < r->all.count; i++) {
    const tg_Piece *room = &r->all.list[i];
    empty += is_empty(room);
    if (is_empty(room) && room->size >= size)
      found = i;
  }
  if (found == r->all.count || (empty < 2 && !last))
    return false;
  *piece = tg_pieces_take(&r->all, found);
  return true;
}

/* The index of the highest room with anything in it; -1. */
static int highest_room (const tg_Rooms *r) {
  int i = (int)r->all.count - 1;
  while (i >= 0 && is_empty(&r->all.list[i]))
    i--;
  return i;
}

/* Whether blocks of the room, which is no room any more then, are all in lower
   ones. Until the last is there, those that are have a double. Not if the room
   has the end of a block, or lacks one's. */
static bool move_down (tg_Rooms *r, uint32_t i) {
  tg_Piece *room = &r->all.list[i];
  for (size_t at = 0; at < room->filled; at += block_at(room, at)->size) {
    const tg_Block *b = block_at(room, at);
    if (b->magic != TG_BLOCK_MAGIC || b->kind != TG_BLOCK_PACKED
        || b->size > room->size - at)
      return false;
    int to = find_room(r, tg_rooms_need(tg_block_used(b)), i);
    if (to < 0)
      return false;
    write_block(r, (uint32_t)to, b, b->unpacked, b->data, tg_block_used(b));
  }
  for (size_t at = 0; at < room->filled; at += block_at(room, at)->size)
    tg_block_commit(block_at(room, at), block_at(room, at)->data);
  room->block->size = room->size;
  room->block->kind = TG_BLOCK_EVENTS;
  room->filled = 0;
  return true;
}

/* The first room was at the end of the file, when there was no other: what it
   has is to be where it can be cut off behind. */
void tg_rooms_settle (tg_Rooms *r) {
  int highest;
  while ((highest = highest_room(r)) > 0 && move_down(r, (uint32_t)highest))
    continue;
}

uint64_t tg_rooms_end (const tg_Rooms *r) {
  uint64_t end = r->end;
  for (uint32_t i = 0; i < r->all.count; i++) {
    const tg_Piece *room = &r->all.list[i];
    if (!is_empty(room) && room->place + room->filled > end)
      end = room->place + room->filled;
  }
  return end;
}

/* The heads of what is empty stay: the walk goes over them. */
void tg_rooms_punch (const tg_Rooms *r, uint64_t end,
                      void (*punch) (void *ud, uint64_t place, uint64_t size),
                      void *ud) {
  for (uint32_t i = 0; i < r->all.count; i++) {
    const tg_Piece *room = &r->all.list[i];
    uint64_t from = room->place + room->filled + sizeof(tg_Block);
    if (from < end && left_in(room) > sizeof(tg_Block))
      punch(ud, from, left_in(room) - sizeof(tg_Block));
  }
}

void tg_rooms_free (tg_Rooms *r) {
  tg_pieces_unmap(&r->all);
}
