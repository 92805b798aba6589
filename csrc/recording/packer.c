/*
** packer.c - see packer.h.
**
** Rooms are sorted by their place. What is packed has no gaps where rooms
** touch: a block may begin in one and end in the next. What a room has behind
** its last block is an empty block of events up to the room's end, which
** readers pass over, and which becomes the next one:
**
**     | PACKED | PACKED | EVENTS, used 0          |
**               at ^     1. the bytes, and behind them an empty block
**                        2. the head, 'size' last: the walk finds both
**                        3. 'used': it is there
**
** All of a packer is under its mutex but what the thread has 'work'ed on
** ('scratch', 'zstd'), which is the thread's while it runs.
*/
#include "recording/packer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/atfork.h"
#include "base/clock.h"
#include "signal/signals.h"
#include "stream/supply.h"
#include "text/zstd.h"

#define WAITING 256u            /* blocks that may wait to be packed */
#define REST ((size_t)64)       /* fewer bytes are no block of their own */
#define URGENT_NS UINT64_C(5000000000)
#define NICENESS 3              /* of the thread, beyond the program's */

struct tg_Packer {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  pthread_t thread;
  bool begun;             /* the thread has been there */
  bool running;           /* it is there */
  bool ends;              /* it is to end; no block is taken any more */
  bool refused;           /* there is no more room */
  size_t wants;           /* bytes of room that it waits for */
  tg_Pieces waiting;      /* maps each; full blocks, the oldest first */
  tg_Pieces rooms;        /* maps each, by place */
  tg_Piece work;          /* maps; what is being packed; 'size' 0: nothing */
  uint64_t end;           /* of what is in use and not in the lists any more */
  tg_Zstd zstd;           /* owns */
  uint8_t *scratch;       /* owns; packed bytes on their way */
  size_t room;            /* of 'scratch' */
  struct tg_Packer *next; /* list of all packers of the process */
};

static struct {
  pthread_mutex_t mutex;
  tg_Packer *first;
} all = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/*
** {==================================================================
** Forks
** ===================================================================
*/

static void at_fork (tg_AtFork side) {
  if (side == TG_ATFORK_BEFORE)
    tg_atfork_mutex(&all.mutex, side);
  for (tg_Packer *p = all.first; p != NULL; p = p->next) {
    tg_atfork_mutex(&p->mutex, side);
    if (side == TG_ATFORK_CHILD) {
      p->running = false;
      tg_clock_condition(&p->changed);    /* the thread waits no more */
    }
  }
  if (side != TG_ATFORK_BEFORE)
    tg_atfork_mutex(&all.mutex, side);
}

static void enlist (tg_Packer *p) {
  pthread_mutex_lock(&all.mutex);
  p->next = all.first;
  all.first = p;
  pthread_mutex_unlock(&all.mutex);
}

static void delist (const tg_Packer *p) {
  pthread_mutex_lock(&all.mutex);
  tg_Packer **link = &all.first;
  while (*link != p)
    link = &(*link)->next;
  *link = p->next;
  pthread_mutex_unlock(&all.mutex);
}

/* }================================================================== */

/*
** {==================================================================
** Rooms (mutex held)
** ===================================================================
*/

static size_t left_in (const tg_Piece *room) {
  return room->size - room->filled;
}

static bool is_empty (const tg_Piece *room) {
  return room->filled == 0;
}

/* A piece that stays in the file as it is: readers are told. */
static void let_be (tg_Packer *p, const tg_Piece *piece) {
  uint64_t end = piece->place + piece->size;
  if (piece->block->kind == TG_BLOCK_EVENTS)
    piece->block->unpacked = TG_BLOCK_STAYS;
  munmap(piece->block, piece->size);
  if (end > p->end)
    p->end = end;
}

/* Without memory to know of it the room is lost. */
static void add_room (tg_Packer *p, const tg_Piece *empty) {
  tg_Pieces *rooms = &p->rooms;
  if (!tg_pieces_add(rooms, empty)) {
    let_be(p, empty);
    return;
  }
  uint32_t i = rooms->count - 1;
  for (; i > 0 && rooms->list[i - 1].place > empty->place; i--)
    rooms->list[i] = rooms->list[i - 1];
  rooms->list[i] = *empty;
}

/* The next room, if it goes on where this one ends, and is empty. */
static tg_Piece *next_room (const tg_Packer *p, uint32_t i) {
  const tg_Piece *room = &p->rooms.list[i];
  tg_Piece *next = i + 1 < p->rooms.count ? &p->rooms.list[i + 1] : NULL;
  bool touches = next != NULL && next->place == room->place + room->size;
  return touches && is_empty(next) ? next : NULL;
}

/* Rooms below the one that is filled, and with too little room, are full. Gives
   the index that the one has then. */
static uint32_t close_below (tg_Packer *p, uint32_t i) {
  for (uint32_t j = i; j-- > 0; ) {
    if (!is_empty(&p->rooms.list[j])) {
      tg_Piece full = tg_pieces_take(&p->rooms, j);
      let_be(p, &full);
      i--;
    }
  }
  return i;
}

/* The lowest room with 'size' bytes, those of the next one included, among the
   first 'most'; its index, or -1. */
static int find_room (const tg_Packer *p, size_t size, uint32_t most) {
  for (uint32_t i = 0; i < most; i++) {
    const tg_Piece *room = &p->rooms.list[i], *next = next_room(p, i);
    if (left_in(room) >= REST
        && left_in(room) + (next != NULL ? next->size : 0) >= size)
      return (int)i;
  }
  return -1;
}

/* }================================================================== */

/*
** {==================================================================
** Blocks into rooms (mutex held)
** ===================================================================
*/

static size_t whole_size (size_t packed) {
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
  size_t left = left_in(room), size = whole_size(n);
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
static void write_block (tg_Packer *p, uint32_t i, const tg_Block *full,
                         uint32_t unpacked, const uint8_t *data, size_t n) {
  tg_Piece *room = &p->rooms.list[i], *next = next_room(p, i);
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
static bool put_block (tg_Packer *p, const tg_Block *full, size_t n) {
  int i = find_room(p, whole_size(n), p->rooms.count);
  if (i >= 0)
    write_block(p, close_below(p, (uint32_t)i), full, tg_block_used(full),
                p->scratch, n);
  return i >= 0;
}

/* The block that has been packed is a room now. */
static void empty_piece (tg_Packer *p, tg_Piece *piece) {
  tg_block_commit(piece->block, piece->block->data);
  piece->filled = 0;
  add_room(p, piece);
}

/* }================================================================== */

/*
** {==================================================================
** The thread
** ===================================================================
*/

/* How many bytes the block's data are in 'scratch'; 0: it is not worth it, or
   cannot be. By whoever works, without the mutex. */
static size_t pack (tg_Packer *p, const tg_Block *full) {
  size_t used = tg_block_used(full), bound = tg_zstd_bound(used);
  if (bound > p->room) {
    tg_free(p->scratch);
    p->scratch = tg_malloc(bound);
    p->room = p->scratch != NULL ? bound : 0;
  }
  if (p->scratch == NULL || bound == 0)
    return 0;
  size_t n = tg_zstd_pack(&p->zstd, full->data, used, p->scratch, p->room);
  bool worth = n > 0 && n < used - used / 8 && tg_block_packs(used, n);
  return worth ? n : 0;
}

/* With the mutex: waits for the room that is missing. */
static bool put_when_possible (tg_Packer *p, size_t n) {
  while (!put_block(p, p->work.block, n)) {
    if (p->ends || p->refused)
      return false;
    p->wants = whole_size(n);
    pthread_cond_broadcast(&p->changed);
    pthread_cond_wait(&p->changed, &p->mutex);
  }
  p->wants = 0;
  return true;
}

/* With the mutex, which is not held while the block is packed. */
static void work_on_first (tg_Packer *p) {
  p->work = tg_pieces_take(&p->waiting, 0);
  pthread_mutex_unlock(&p->mutex);
  size_t n = pack(p, p->work.block);
  pthread_mutex_lock(&p->mutex);
  tg_Piece done = p->work;
  bool packed = n > 0 && put_when_possible(p, n);
  p->work.size = 0;
  if (packed)
    empty_piece(p, &done);
  else if (p->ends && n > 0 && tg_pieces_add(&p->waiting, &done))
    ;                       /* whoever ends it has the room that is missing */
  else
    let_be(p, &done);
  p->wants = 0;
  pthread_cond_broadcast(&p->changed);
}

/* The program goes first where there is one processor for both: here a thread's
   priority is its own (setpriority(2)). */
static void *run (void *ud) {
  tg_Packer *p = ud;
  setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICENESS);
  pthread_mutex_lock(&p->mutex);
  while (!p->ends) {
    if (p->waiting.count > 0)
      work_on_first(p);
    else
      pthread_cond_wait(&p->changed, &p->mutex);
  }
  pthread_mutex_unlock(&p->mutex);
  return NULL;
}

/* With the mutex. The library is looked for here and not by the thread: then no
   fork finds it half loaded. */
static bool begin (tg_Packer *p) {
  p->begun = true;
  p->running = tg_zstd_there() && tg_signals_thread(&p->thread, run, p);
  p->ends = !p->running;
  return p->running;
}

/* }================================================================== */

/*
** {==================================================================
** Whose the file is
** ===================================================================
*/

tg_Packer *tg_packer_new (void) {
  tg_Packer *p = tg_calloc(1, sizeof *p);
  if (p == NULL)
    return NULL;
  tg_atfork_register(TG_ATFORK_PACKERS, at_fork, NULL);
  pthread_mutex_init(&p->mutex, NULL);
  tg_clock_condition(&p->changed);
  enlist(p);
  return p;
}

/* errno is the program's: this may be in the hook. */
bool tg_packer_add (tg_Packer *p, const tg_Piece *full) {
  int error = errno;
  pthread_mutex_lock(&p->mutex);
  bool takes = !p->ends && !p->refused && p->waiting.count < WAITING;
  if (takes && !p->begun && full->size >= TG_CHUNK_SIZE)
    takes = begin(p);
  takes = takes && tg_pieces_add(&p->waiting, full);
  if (takes && p->running)
    pthread_cond_broadcast(&p->changed);
  pthread_mutex_unlock(&p->mutex);
  errno = error;
  return takes;
}

/* The highest empty room of that size, if there is another one below it. */
static int find_empty (const tg_Packer *p, size_t size, bool only) {
  int found = -1;
  uint32_t empty = 0;
  for (uint32_t i = 0; i < p->rooms.count; i++) {
    const tg_Piece *room = &p->rooms.list[i];
    empty += is_empty(room);
    if (is_empty(room) && room->size >= size)
      found = (int)i;
  }
  return empty > 1 || only ? found : -1;
}

/* With the mutex: whether there may be a room soon. Who packs waits for none
   that there is not. */
static bool has_hope (const tg_Packer *p) {
  return p->running && !p->refused && p->wants == 0
         && (p->work.size > 0 || p->waiting.count > 0);
}

bool tg_packer_take (tg_Packer *p, size_t size, bool urgent, tg_Piece *piece) {
  struct timespec until = tg_clock_after(urgent ? URGENT_NS : 0);
  int i, error = 0;
  pthread_mutex_lock(&p->mutex);
  while ((i = find_empty(p, size, urgent)) < 0 && urgent && error == 0
         && has_hope(p))
    error = pthread_cond_timedwait(&p->changed, &p->mutex, &until);
  if (i >= 0)
    *piece = tg_pieces_take(&p->rooms, (uint32_t)i);
  pthread_mutex_unlock(&p->mutex);
  return i >= 0;
}

size_t tg_packer_wants (tg_Packer *p) {
  pthread_mutex_lock(&p->mutex);
  size_t wants = p->refused ? 0 : p->wants;
  pthread_mutex_unlock(&p->mutex);
  return wants;
}

void tg_packer_give (tg_Packer *p, const tg_Piece *empty) {
  pthread_mutex_lock(&p->mutex);
  add_room(p, empty);
  pthread_cond_broadcast(&p->changed);
  pthread_mutex_unlock(&p->mutex);
}

void tg_packer_refuse (tg_Packer *p) {
  pthread_mutex_lock(&p->mutex);
  p->refused = true;
  pthread_cond_broadcast(&p->changed);
  pthread_mutex_unlock(&p->mutex);
}

/* }================================================================== */

/*
** {==================================================================
** The end
** ===================================================================
*/

static void end_thread (tg_Packer *p) {
  pthread_mutex_lock(&p->mutex);
  bool running = p->running;
  p->ends = true;
  pthread_cond_broadcast(&p->changed);
  pthread_mutex_unlock(&p->mutex);
  if (running)
    pthread_join(p->thread, NULL);
  p->running = false;
}

/* Whoever has the file is asked where the rooms do not suffice. */
static bool put_or_ask (tg_Packer *p, const tg_Block *full, size_t n,
                        bool (*give) (void *ud, size_t size, tg_Piece *empty),
                        void *ud) {
  tg_Piece empty;
  if (put_block(p, full, n))
    return true;
  if (give == NULL || p->refused || !give(ud, whole_size(n), &empty))
    return false;
  add_room(p, &empty);
  return put_block(p, full, n);
}

/* The index of the highest room with anything in it; -1. */
static int highest_room (const tg_Packer *p) {
  int i = (int)p->rooms.count - 1;
  while (i >= 0 && is_empty(&p->rooms.list[i]))
    i--;
  return i;
}

/* Whether blocks of the room, which is no room any more then, are all in lower
   ones. Until the last is there, those that are have a double. Not if the room
   has the end of a block, or lacks one's. */
static bool move_down (tg_Packer *p, uint32_t i) {
  tg_Piece *room = &p->rooms.list[i];
  for (size_t at = 0; at < room->filled; at += block_at(room, at)->size) {
    const tg_Block *b = block_at(room, at);
    if (b->magic != TG_BLOCK_MAGIC || b->kind != TG_BLOCK_PACKED
        || b->size > room->size - at)
      return false;
    int to = find_room(p, whole_size(tg_block_used(b)), i);
    if (to < 0)
      return false;
    write_block(p, (uint32_t)to, b, b->unpacked, b->data, tg_block_used(b));
  }
  for (size_t at = 0; at < room->filled; at += block_at(room, at)->size)
    tg_block_commit(block_at(room, at), block_at(room, at)->data);
  room->block->size = room->size;
  room->block->kind = TG_BLOCK_EVENTS;
  room->filled = 0;
  return true;
}

/* Blocks of a recording that remained short stay as they are. The first room
   was at the end of the file, when there was no other: what it has is to be
   where it can be cut off behind. */
void tg_packer_finish (tg_Packer *p,
                       bool (*give) (void *ud, size_t size, tg_Piece *empty),
                       void *ud) {
  end_thread(p);
  while (p->waiting.count > 0) {
    tg_Piece full = tg_pieces_take(&p->waiting, 0);
    size_t n = p->begun ? pack(p, full.block) : 0;
    if (n > 0 && put_or_ask(p, full.block, n, give, ud))
      empty_piece(p, &full);
    else
      let_be(p, &full);
  }
  int highest;
  while ((highest = highest_room(p)) > 0 && move_down(p, (uint32_t)highest))
    continue;
}

bool tg_packer_copy (tg_Packer *p, const tg_Block *full) {
  tg_assert(!p->running && p->ends);
  size_t n = p->begun ? pack(p, full) : 0;
  return n > 0 && put_block(p, full, n);
}

void tg_packer_reuse (tg_Packer *p, const tg_Piece *piece) {
  pthread_mutex_lock(&p->mutex);
  add_room(p, piece);
  pthread_mutex_unlock(&p->mutex);
}

uint64_t tg_packer_end (const tg_Packer *p) {
  uint64_t end = p->end;
  for (uint32_t i = 0; i < p->rooms.count; i++) {
    const tg_Piece *room = &p->rooms.list[i];
    if (!is_empty(room) && room->place + room->filled > end)
      end = room->place + room->filled;
  }
  return end;
}

/* The heads of what is empty stay: the walk goes over them. */
void tg_packer_punch (const tg_Packer *p, uint64_t end,
                      void (*punch) (void *ud, uint64_t place, uint64_t size),
                      void *ud) {
  for (uint32_t i = 0; i < p->rooms.count; i++) {
    const tg_Piece *room = &p->rooms.list[i];
    uint64_t from = room->place + room->filled + sizeof(tg_Block);
    if (from < end && left_in(room) > sizeof(tg_Block))
      punch(ud, from, left_in(room) - sizeof(tg_Block));
  }
}

void tg_packer_free (tg_Packer *p) {
  if (p == NULL)
    return;
  end_thread(p);
  delist(p);
  tg_pieces_unmap(&p->waiting);
  tg_pieces_unmap(&p->rooms);
  if (p->work.size > 0)
    munmap(p->work.block, p->work.size);
  pthread_cond_destroy(&p->changed);
  pthread_mutex_destroy(&p->mutex);
  tg_zstd_free(&p->zstd);
  tg_free(p->scratch);
  tg_free(p);
}

/* }================================================================== */
