/*
** shelf.c - see shelf.h.
**
** Called by the store with its mutex held, on the thread of whoever moves a
** cursor; the last one to unpin it frees it. A block that cannot be read is
** NULL with errno, and the store notes TG_ERR_IO.
*/
#include "recording/shelf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "recording/fileformat.h"
#include "recording/packedblock.h"
#include "recording/unpacker.h"
#include "text/fileio.h"

/* A block that the file may not have any more where it was found. */
typedef struct Kept {
  uint64_t place;         /* there (tg_shelf_place) */
  uint64_t now;           /* where in the file it was seen last */
  tg_Pos base;
  uint32_t packed;        /* bytes of it; 0: it is copied */
  tg_Block *copy;         /* owns; NULL of one that is packed */
} Kept;

_Static_assert(sizeof(tg_Prices) % _Alignof(tg_Block) == 0,
               "a block follows");

typedef struct Shelf {
  tg_Supply supply;       /* first */
  int fd;                 /* owns */
  tg_Costs costs;         /* what lists are counted by; zeros: they are not */
  tg_Block *spare;        /* owns; the latest that came back, for the next */
  size_t spare_size;      /* 0 without one */
  Kept *kept;             /* owns; sorted, for there may be thousands */
  uint32_t count;
  tg_Unpacking unpacking; /* owns */
  tg_Unpacker *unpacker;  /* owns; NULL: nobody unpacks beside the reader */
  uint64_t expected;      /* the place that is likely to be asked for next */
  bool in_a_row;          /* the last one was asked for as expected */
  uint64_t ahead;         /* the place that the unpacker is at; 0: none */
  size_t ahead_size;      /* bytes of its block */
} Shelf;

#define PACKED (UINT64_C(1) << 63)    /* of a place... */
#define TURN 48                       /* ...and its turn: from that bit on */

_Static_assert(TG_BLOCKWALK_TURNS <= 1u << (63 - TURN)
               && TG_SUPPLY_PLACE < UINT64_C(1) << TURN, "both fit");

static Shelf *shelf_of (tg_Supply *y) {
  return (Shelf *)(void *)y;      /* first member */
}

/* Blocks that are not quite full can take one another's place. */
static size_t room_for (size_t size) {
  return size < TG_CHUNK_SIZE ? TG_CHUNK_SIZE : size;
}

/* Those of a block in memory, which stand before it: whoever has the block owns
   their room, too. */
static tg_Prices *prices_of (const tg_Block *b) {
  return (tg_Prices *)(uintptr_t)b - 1;
}

static tg_Block *new_memory (size_t size) {
  tg_Prices *p = tg_malloc(sizeof *p + room_for(size));
  if (p == NULL) {
    errno = ENOMEM;
    return NULL;
  }
  *p = (tg_Prices){0};
  return (tg_Block *)(void *)(p + 1);
}

/* NULL is fine. */
static void free_memory (tg_Block *b) {
  if (b == NULL)
    return;
  tg_free(prices_of(b)->list);
  tg_free(prices_of(b));
}

/* The spare block, if it is large enough: fresh memory costs as much as what is
   read into it, for the system has to zero its pages. */
static tg_Block *take_memory (Shelf *shelf, size_t size) {
  tg_Block *b = shelf->spare;
  tg_assert((b != NULL) == (shelf->spare_size > 0));
  if (size > shelf->spare_size)
    return new_memory(size);
  shelf->spare = NULL;
  shelf->spare_size = 0;
  prices_of(b)->count = 0;
  return b;
}

/* One block is kept, the larger one: a reader goes from block to block, and
   needs as many as it gives back. */
static void give_memory (Shelf *shelf, tg_Block *b, size_t size) {
  tg_assert(b != shelf->spare);
  if (room_for(size) <= shelf->spare_size) {
    free_memory(b);
    return;
  }
  free_memory(shelf->spare);
  shelf->spare = b;
  shelf->spare_size = room_for(size);
}

/* Several may have been found at the same place, one after the other: what is
   packed, and copies of blocks that were there in turn. */
uint64_t tg_shelf_place (const tg_FoundBlock *f) {
  tg_assert(f->place <= TG_SUPPLY_PLACE);
  return f->place | (uint64_t)f->turn << TURN | (f->packed > 0 ? PACKED : 0);
}

static int compare (const void *a, const void *b) {
  const Kept *x = a, *y = b;
  return (x->place > y->place) - (x->place < y->place);
}

static Kept *find_kept (const Shelf *shelf, uint64_t place) {
  Kept wanted = {.place = place};
  return shelf->count == 0 ? NULL
         : bsearch(&wanted, shelf->kept, shelf->count, sizeof wanted, compare);
}

/*
** {==================================================================
** Packed blocks that have moved
** ===================================================================
*/

static bool is_there (const Shelf *shelf, const Kept *k) {
  tg_Block head;
  return tg_fileio_read(shelf->fd, &head, sizeof head, k->now)
         && head.magic == TG_BLOCK_MAGIC && head.kind == TG_BLOCK_PACKED
         && head.base == k->base && tg_block_used(&head) == k->packed;
}

static void pass_entries (void *ud, const tg_Block *head, uint64_t place,
                          uint32_t used, bool cut) {
  (void)ud, (void)head, (void)place, (void)used, (void)cut;
}

/* All blocks are gone through, as they are by now. */
static void look_for (const Shelf *shelf, Kept *k) {
  struct stat st;
  tg_Header h;
  if (fstat(shelf->fd, &st) != 0
      || !tg_fileio_read(shelf->fd, &h, sizeof h, 0))
    return;
  tg_BlockWalk w = {.fd = shelf->fd, .bytes = (uint64_t)st.st_size,
                    .moving = true, .entries = pass_entries};
  tg_blockwalk(&w, h.size);
  for (uint32_t i = 0; i < w.count; i++) {
    if (w.list[i].base == k->base && w.list[i].packed == k->packed)
      k->now = w.list[i].place;
  }
  tg_blockwalk_free(&w);
}

/* Where the block is by now that was found at 'place'. Whoever writes the file
   moves some of them when it is closed (tg_rooms_settle). */
static uint64_t place_now (const Shelf *shelf, uint64_t place) {
  Kept *k = find_kept(shelf, place);
  if (k == NULL)
    return place & TG_SUPPLY_PLACE;
  if (!is_there(shelf, k))
    look_for(shelf, k);
  return k->now;
}

/* }================================================================== */

/*
** {==================================================================
** Packed blocks
** ===================================================================
*/

/* Memory for a packed block, with its head; NULL with errno. */
static tg_Block *begin_packed (Shelf *shelf, uint64_t place, size_t size) {
  tg_Block head;
  if (!tg_packedblock_head(shelf->fd, place, size, &head))
    return NULL;
  tg_Block *b = take_memory(shelf, sizeof head + head.unpacked);
  if (b != NULL)
    memcpy((void *)b, (void *)&head, sizeof head);
  return b;
}

static tg_Block *unpack (Shelf *shelf, uint64_t place, size_t size) {
  tg_Block *b = begin_packed(shelf, place, size);
  if (b == NULL)
    return NULL;
  if (tg_packedblock_prepare(&shelf->unpacking, tg_block_used(b))
      && tg_packedblock_load(&shelf->unpacking, shelf->fd, place, b))
    return b;
  free_memory(b);
  return NULL;
}

/* Waits for the block ahead. '*good' is false of one that could not be read:
   whoever needs it loads it then, which tells why. */
static tg_Block *take_ahead (Shelf *shelf, bool *good) {
  tg_assert(shelf->ahead != 0);
  shelf->ahead = 0;
  return tg_unpacker_take(shelf->unpacker, good);
}

/* Room for what is counted in a block that is unpacked ahead; NULL: nothing is,
   and whoever reads counts. */
static tg_Prices *begin_count (const Shelf *shelf, const tg_Block *b) {
  tg_Prices *p = prices_of(b);
  size_t most = tg_prices_most(TG_BLOCK_UNPACKED);
  if (!tg_costs_known(&shelf->costs) || b->unpacked > TG_BLOCK_UNPACKED)
    return NULL;
  tg_assert(p->count == 0);
  if (p->list == NULL)
    p->list = tg_malloc(most * sizeof *p->list);
  return p->list != NULL ? p : NULL;
}

static void drop_ahead (Shelf *shelf) {
  bool good;
  size_t size = shelf->ahead_size;
  if (shelf->ahead != 0)
    give_memory(shelf, take_ahead(shelf, &good), size);
}

static tg_Block *load_packed (Shelf *shelf, uint64_t place, size_t size) {
  bool good = false;
  if (place != shelf->ahead || size != shelf->ahead_size)
    return unpack(shelf, place_now(shelf, place), size);
  tg_Block *b = take_ahead(shelf, &good);
  if (good)
    return b;
  give_memory(shelf, b, size);
  return unpack(shelf, place_now(shelf, place), size);
}

/* Two readers of one recording expect different blocks: so one is unpacked
   before it is asked for if the last one was asked for as expected. Of a file
   that is being written nothing is: its blocks may move meanwhile. */
static void shelf_expect (tg_Supply *y, uint64_t place, size_t size) {
  Shelf *shelf = shelf_of(y);
  shelf->expected = place;
  if (shelf->unpacker == NULL || !shelf->in_a_row || (place & PACKED) == 0
      || shelf->count > 0 || shelf->ahead == place
      || tg_unpacker_works(shelf->unpacker))
    return;
  drop_ahead(shelf);
  tg_Block *b = begin_packed(shelf, place & TG_SUPPLY_PLACE, size);
  if (b == NULL)
    return;
  if (tg_unpacker_begin(shelf->unpacker, place & TG_SUPPLY_PLACE, b,
                        begin_count(shelf, b))) {
    shelf->ahead = place;
    shelf->ahead_size = size;
  }
  else
    give_memory(shelf, b, size);
}

/* }================================================================== */

/* What the head in the file says of its size is not believed here: 'size' is
   what was found to be good when the recording was opened. */
static tg_Block *read_block (Shelf *shelf, uint64_t place, size_t size) {
  tg_Block *b = take_memory(shelf, size);
  const Kept *kept = find_kept(shelf, place);
  if (b == NULL)
    return NULL;
  if (kept != NULL)
    memcpy((void *)b, (const void *)kept->copy, size);
  else if (!tg_fileio_read(shelf->fd, b, size, place)) {
    free_memory(b);
    return NULL;
  }
  return b;
}

static tg_Block *shelf_load (tg_Supply *y, uint64_t place, size_t size) {
  Shelf *shelf = shelf_of(y);
  tg_assert(size >= sizeof(tg_Block));
  shelf->in_a_row = place == shelf->expected;
  tg_Block *b = (place & PACKED) != 0 ? load_packed(shelf, place, size)
                                      : read_block(shelf, place, size);
  if (b != NULL)
    tg_block_commit(b, (const uint8_t *)b + size);
  return b;
}

static void shelf_release (tg_Supply *y, tg_Block *b, size_t size) {
  give_memory(shelf_of(y), b, size);
}

static tg_Prices shelf_prices (tg_Supply *y, const tg_Block *b) {
  (void)y;
  return *prices_of(b);
}

/* Called when the last chunk has gone: no block is out any more. */
static void shelf_free (tg_Supply *y) {
  Shelf *shelf = shelf_of(y);
  drop_ahead(shelf);
  tg_unpacker_free(shelf->unpacker);
  close(shelf->fd);
  free_memory(shelf->spare);
  for (uint32_t i = 0; i < shelf->count; i++)
    tg_free(shelf->kept[i].copy);
  tg_free(shelf->kept);
  tg_packedblock_free(&shelf->unpacking);
  tg_free(y);
}

/* Of a file that nobody writes there are none. */
static bool may_go (const tg_BlockWalk *w, const tg_FoundBlock *f) {
  return f->copy != NULL || (w->moving && f->packed > 0);
}

bool tg_shelf_keep (tg_Supply *y, tg_BlockWalk *w) {
  Shelf *shelf = shelf_of(y);
  uint32_t n = 0;
  for (uint32_t i = 0; i < w->count; i++)
    n += may_go(w, &w->list[i]);
  shelf->kept = n > 0 ? tg_malloc(n * sizeof *shelf->kept) : NULL;
  if (n > 0 && shelf->kept == NULL)
    return false;
  for (uint32_t i = 0; i < w->count; i++) {
    tg_FoundBlock *f = &w->list[i];
    if (!may_go(w, f))
      continue;
    shelf->kept[shelf->count++] = (Kept){tg_shelf_place(f), f->place, f->base,
                                         f->packed, f->copy};
    f->copy = NULL;
  }
  if (n > 0)
    qsort(shelf->kept, n, sizeof *shelf->kept, compare);
  return true;
}

/* A descriptor of its own: whoever opens the recording closes theirs. NULL with
   errno. */
tg_Supply *tg_shelf_new (int fd) {
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  Shelf *shelf = copy >= 0 ? tg_calloc(1, sizeof *shelf) : NULL;
  if (shelf == NULL) {
    if (copy >= 0) {
      close(copy);
      errno = ENOMEM;
    }
    return NULL;
  }
  shelf->supply = (tg_Supply){
    .pins = 1, .load = shelf_load, .expect = shelf_expect,
    .prices = shelf_prices, .release = shelf_release, .free = shelf_free
  };
  shelf->fd = copy;
  shelf->unpacker = tg_unpacker_new(copy, &shelf->costs);
  return &shelf->supply;
}

void tg_shelf_count (tg_Supply *y, const tg_Costs *costs) {
  shelf_of(y)->costs = *costs;
}
