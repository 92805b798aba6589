/*
** tailreader.c - see tailreader.h.
**
** The file is read and not mapped, as open.c does: one that shrinks is an error
** and not a signal. What keeps a reader beside a writer right is what keeps a
** recording right when its process is killed: a block's 'used' is stored after
** the bytes that it counts, and a definition is written before the first event
** that names it. So 'used' of the events is looked at before the definitions
** are read, and the definitions are given first.
**
** A ring uses its blocks again. A block is what it was if its base is the same
** after its bytes were read; where the one that comes next is gone, reading
** goes on at the oldest one there is, and what is between is lost. Of a chunk
** that was read in part all packets are counted as lost then: how many were
** read is not known without decoding them.
*/
#include "channel/tailreader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytereader.h"
#include "base/grow.h"
#include "channel/blockstream.h"
#include "recording/blockwalk.h"
#include "recording/entries.h"
#include "recording/fileheader.h"
#include "text/fileio.h"
#include "text/zstd.h"

#define PIECE ((size_t)1 << 20)       /* bytes that a read gives, about */
#define TRIES 100                     /* of a block that is being moved */

/* A block of events, as its head was when it was found. */
typedef struct Found {
  tg_Pos base;
  uint64_t size, packets;
  uint32_t used;
  uint64_t place;           /* of the head */
  uint32_t index;           /* in the list */
} Found;

static bool fail (tg_TailReader *t, int error) {
  if (t->error == 0)
    t->error = error;
  return false;
}

/*
** {==================================================================
** The file
** ===================================================================
*/

bool tg_tailreader_open (tg_TailReader *t) {
  if (t->fd >= 0)
    return true;
  int fd = open(t->path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  if (!tg_fileio_read(fd, &t->header, sizeof t->header, 0)
      || memcmp(t->header.magic, TG_FORMAT_MAGIC, 8) != 0
      || t->header.order != TG_FORMAT_ORDER
      || !tg_fileheader_knows(t->header.version)
      || (t->run != 0 && t->header.run != t->run)) {
    close(fd);
    return false;
  }
  t->fd = fd;
  t->place = t->low = t->header.size;
  return true;
}

static bool add (tg_TailReader *t, tg_TailBlocks *all, uint64_t place) {
  if (!tg_grow(&all->places, &all->capacity, all->count + 1,
               sizeof *all->places))
    return fail(t, ENOMEM);
  all->places[all->count++] = place;
  return true;
}

/* The head of the block there; false: there is no block, since the file ends or
   has reserved room there. */
static bool read_head (const tg_TailReader *t, uint64_t place, tg_Block *head) {
  return tg_fileio_read(t->fd, head, sizeof *head, place)
         && head->magic == TG_BLOCK_MAGIC && head->size >= sizeof *head
         && head->size <= UINT32_MAX
         && tg_block_used(head) <= head->size - sizeof *head;
}

/* Notes the blocks that there are by now. */
static void walk (tg_TailReader *t) {
  tg_Block head;
  while (t->error == 0 && read_head(t, t->place, &head)) {
    if (head.kind == TG_BLOCK_ENTRIES)
      add(t, &t->entries, t->place);
    else if (head.kind == TG_BLOCK_EVENTS)
      add(t, &t->events, t->place);
    t->place += head.size;
  }
}

/* }================================================================== */

/*
** {==================================================================
** What is given
** ===================================================================
*/

static void put_begin (tg_TailReader *t, const Found *first) {
  tg_buf_put32(&t->out, TG_BLOCKENTRY_BEGIN);
  tg_buf_put32(&t->out, 48);
  tg_buf_put32(&t->out, t->header.order);
  tg_buf_put32(&t->out, t->header.pid);
  tg_buf_put64(&t->out, t->header.wall_ns);
  tg_buf_put64(&t->out, t->header.origin);
  tg_buf_add(&t->out, &t->header.ns_per_tick, sizeof(double));
  tg_buf_put64(&t->out, t->header.origin);
  tg_buf_put64(&t->out, first->packets);
}

static void put_chunk (tg_TailReader *t, const Found *f, uint64_t lost) {
  tg_buf_put32(&t->out, TG_BLOCKENTRY_CHUNK);
  tg_buf_put32(&t->out, 24);
  tg_buf_put64(&t->out, f->size - sizeof(tg_Block));
  tg_buf_put64(&t->out, f->packets);
  tg_buf_put64(&t->out, lost);
  t->chunk = f->base;
  t->packets = f->packets;
}

/* Bytes of the file behind what is given so far. */
static bool put_bytes (tg_TailReader *t, uint64_t place, size_t size) {
  if (!tg_buf_reserve(&t->out, size))
    return fail(t, ENOMEM);
  if (!tg_fileio_read(t->fd, t->out.data + t->out.size, size, place))
    return fail(t, errno);
  t->out.size += size;
  return true;
}

/* All entries go on as they are: the receiver reads the definitions of
   functions, and passes over others. */
static void put_entries (tg_TailReader *t) {
  for (uint32_t i = 0; i < t->entries.count && t->error == 0; i++) {
    tg_Block head;
    uint64_t place = t->entries.places[i];
    uint32_t taken = i == 0 ? t->taken : 0;
    if (!read_head(t, place, &head)) {
      fail(t, EBADMSG);
      return;
    }
    uint32_t used = tg_block_used(&head);
    if (used > taken)
      put_bytes(t, place + sizeof head + taken, used - taken);
    if (i + 1 == t->entries.count)
      t->taken = used;
  }
  if (t->entries.count > 1) {
    t->entries.places[0] = t->entries.places[t->entries.count - 1];
    t->entries.count = 1;
  }
}

/* }================================================================== */

/*
** {==================================================================
** Events
** ===================================================================
*/

/* The block with the event that comes next, or else the oldest block after that
   event; false: there is nothing new. */
static bool find_next (tg_TailReader *t, Found *f) {
  bool found = false;
  for (uint32_t i = 0; i < t->events.count; i++) {
    tg_Block head;
    uint32_t used;
    if (!read_head(t, t->events.places[i], &head)
        || head.kind != TG_BLOCK_EVENTS || (used = tg_block_used(&head)) == 0
        || (t->begun && head.base + used <= t->next))
      continue;
    if (!found || head.base < f->base)
      *f = (Found){head.base, head.size, head.packets, used,
                   t->events.places[i], i};
    found = true;
  }
  return found;
}

/* Blocks before 'index' are full, since a later one has begun, and were read.
   Blocks of a ring stay: they will be used again. */
static void forget_read (tg_TailReader *t, uint32_t index) {
  if (t->header.ring || index == 0)
    return;
  tg_assert(index < t->events.count);
  t->events.count -= index;
  memmove(t->events.places, t->events.places + index,
          t->events.count * sizeof *t->events.places);
}

/* Whether the block is still the same: a ring may have used it again. */
static bool is_same (const tg_TailReader *t, const Found *f) {
  tg_Block head;
  return !t->header.ring
         || (read_head(t, f->place, &head) && head.base == f->base
             && tg_block_used(&head) >= f->used);
}

/* The events of a block from the next one on. What was used again meanwhile is
   taken back. */
static void put_events (tg_TailReader *t, const Found *f) {
  size_t before = t->out.size;
  tg_Pos chunk = t->chunk, from = t->next > f->base ? t->next : f->base;
  uint64_t packets = t->packets;
  uint32_t offset = (uint32_t)(from - f->base);
  uint32_t size = f->used - offset;
  if (f->base != chunk)
    put_chunk(t, f, from > t->next ? f->packets - packets : 0);
  tg_buf_put32(&t->out, TG_BLOCKENTRY_EVENTS);
  tg_buf_put32(&t->out, size);
  if (!put_bytes(t, f->place + sizeof(tg_Block) + offset, size))
    return;
  if (is_same(t, f)) {
    t->next = from + size;
    forget_read(t, f->index);
    return;
  }
  t->out.size = before;
  t->chunk = chunk;
  t->packets = packets;
}

/* }================================================================== */

/*
** {==================================================================
** A file that is packed
** ===================================================================
*/

/* A block of entries that the walk has come to. */
static void note_entries (void *ud, const tg_Block *head, uint64_t place,
                          uint32_t used, bool cut) {
  tg_TailReader *t = ud;
  (void)head, (void)used, (void)cut;
  if (place > t->entered && add(t, &t->entries, place))
    t->entered = place;
}

/* All blocks from 'low' on, as they are now. */
static bool walk_packed (tg_TailReader *t, tg_BlockWalk *w) {
  struct stat st;
  if (fstat(t->fd, &st) != 0)
    return fail(t, errno);
  *w = (tg_BlockWalk){
    .fd = t->fd, .bytes = (uint64_t)st.st_size, .moving = true,
    .entries = note_entries, .ud = t
  };
  tg_blockwalk(w, t->low);
  if (w->status != TG_OK)
    fail(t, w->status == TG_ERR_MEMORY ? ENOMEM : errno);
  return t->error == 0;
}

/* Whether the events of a block that is packed are behind what is given so far,
   from an offset on. A file that is just being closed has moved some: where the
   bytes are others by now the block is looked for again. */
static bool put_unpacked (tg_TailReader *t, const tg_FoundBlock *f,
                          uint32_t offset) {
  if (!tg_buf_reserve(&t->out, f->used))
    return fail(t, ENOMEM);
  uint8_t *data = (uint8_t *)t->out.data + t->out.size;
  bool good = tg_packedblock_data(&t->unpacking, t->fd, f->place, f->packed,
                                  data, f->used);
  if (good) {
    memmove(data, data + offset, f->used - offset);
    t->out.size += f->used - offset;
  }
  t->tries = good ? 0 : t->tries + 1;
  if (!tg_zstd_there() || t->tries == TRIES)
    fail(t, tg_zstd_there() ? EBADMSG : ENOTSUP);
  return good;
}

/* The events of a block from the next one on; false: they are not to be had
   there, and nothing is given. */
static bool put_found (tg_TailReader *t, const tg_FoundBlock *f) {
  size_t before = t->out.size;
  tg_Pos chunk = t->chunk;
  uint64_t packets = t->packets;
  uint32_t offset = t->next > f->base ? (uint32_t)(t->next - f->base) : 0;
  uint32_t size = f->used - offset;
  const Found of = {.base = f->base, .packets = f->packets,
                    .size = f->copy != NULL ? f->copy->size
                            : sizeof(tg_Block) + f->used};
  if (f->base != t->chunk)
    put_chunk(t, &of, 0);
  tg_buf_put32(&t->out, TG_BLOCKENTRY_EVENTS);
  tg_buf_put32(&t->out, size);
  if (f->packed > 0 && !put_unpacked(t, f, offset)) {
    t->out.size = before;
    t->chunk = chunk;
    t->packets = packets;
    return false;
  }
  if (f->packed == 0 && f->copy != NULL)
    tg_buf_add(&t->out, (const char *)f->copy->data + offset, size);
  else if (f->packed == 0)
    put_bytes(t, f->place + sizeof(tg_Block) + offset, size);
  t->next = f->base + f->used;
  return true;
}

/* What may still change, and what has not been read, is to be walked over the
   next time. */
static void move_low (tg_TailReader *t, const tg_BlockWalk *w) {
  uint64_t low = w->nholes > 0 ? w->holes[0].place : t->low;
  for (uint32_t i = 0; i < w->count; i++) {
    const tg_FoundBlock *f = &w->list[i];
    if (f->base + f->used > t->next && f->place < low)
      low = f->place;
  }
  t->low = low;
}

/* Blocks are given in order and without gaps: one that is missing is on its way
   from where it was to where it is packed, and is found the next time.
   Definitions are looked for again after the events that name them. */
static void read_packed (tg_TailReader *t) {
  tg_BlockWalk w = {.fd = -1}, later = {.fd = -1};
  if (walk_packed(t, &w))
    walk_packed(t, &later);
  tg_blockwalk_free(&later);
  for (uint32_t i = 0; i < w.count && t->error == 0; i++) {
    const tg_FoundBlock *f = &w.list[i];
    if (!t->begun) {
      put_begin(t, &(Found){.packets = f->packets});
      t->begun = true;
      t->next = f->base;
      t->chunk = TG_FOLLOWER_NONE;
    }
    if (f->base + f->used <= t->next || f->base > t->next)
      continue;
    put_entries(t);
    if (!put_found(t, f) || t->out.size >= PIECE)
      break;
  }
  if (t->error == 0)
    move_low(t, &w);
  tg_blockwalk_free(&w);
}

/* }================================================================== */

/* Entries may only come behind a BEGIN, which waits for the first event: so
   definitions are left in the file until then. */
static void read_on (tg_TailReader *t) {
  Found f = {0};
  if (t->header.packed != 0) {
    read_packed(t);
    return;
  }
  walk(t);
  if (t->error != 0 || !find_next(t, &f))
    return;
  walk(t);
  if (!t->begun) {
    put_begin(t, &f);
    t->begun = true;
    t->next = f.base;
    t->chunk = TG_FOLLOWER_NONE;
  }
  put_entries(t);
  if (t->error == 0)
    put_events(t, &f);
}

/* }================================================================== */

bool tg_tailreader_read (tg_TailReader *t) {
  size_t before;
  tg_buf_clear(&t->out);
  if (!tg_tailreader_open(t))
    return true;
  do {
    before = t->out.size;
    read_on(t);
  } while ((t->out.size > before || t->tries > 0) && t->out.size < PIECE
           && t->error == 0);
  if (t->out.failed)
    fail(t, ENOMEM);
  return t->error == 0;
}

/* A killed process closes no file: its end is known to the process that started
   it. */
bool tg_tailreader_is_over (const tg_TailReader *t) {
  tg_Header now;
  return t->fd >= 0 && tg_fileio_read(t->fd, &now, sizeof now, 0)
         && now.state != TG_FILE_RUNNING;
}

void tg_tailreader_free (tg_TailReader *t) {
  if (t->path != NULL && t->fd >= 0)
    close(t->fd);
  tg_free(t->path);
  tg_free(t->events.places);
  tg_free(t->entries.places);
  tg_packedblock_free(&t->unpacking);
  tg_buf_free(&t->out);
  memset(t, 0, sizeof *t);
}
