/*
** packer.c - see packer.h.
**
** All of a packer is under its mutex but what its two presses pack with, each
** of which is one thread's: a fork finds lists that are whole.
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
#include "recording/packedblock.h"
#include "signal/signals.h"
#include "stream/supply.h"
#include "text/zstd.h"

#define WAITING 256u            /* blocks that may wait to be packed... */
#define BEHIND 64u              /* ...and without whoever has the file packing
                                   some */
#define URGENT_NS UINT64_C(5000000000)
#define NICENESS 3              /* of the thread, beyond the program's */

/* What packs, on one thread. */
typedef struct Press {
  tg_Piece work;          /* maps; what is being packed; 'size' 0: nothing */
  tg_Packing packing;     /* owns */
} Press;

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
  tg_Rooms rooms;         /* owns */
  Press press;            /* the thread's */
  Press file;             /* of whoever has the file */
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
      p->begun = true;                    /* nor does one begin: the file is the
                                             parent's */
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
** The thread
** ===================================================================
*/

/* How many bytes the block's data are when they are packed; 0: it is not worth
   it, or cannot be. By whoever works, without the mutex. */
static size_t pack (Press *press, const tg_Block *full) {
  size_t used = tg_block_used(full);
  size_t n = tg_packing_pack(&press->packing, full->data, used);
  return n < used - used / 8 ? n : 0;
}

/* With the mutex: what has been packed into 'n' bytes goes into a room. */
static bool put (tg_Packer *p, const Press *press, const tg_Block *full,
                 size_t n) {
  return tg_rooms_put(&p->rooms, full, press->packing.packed.data, n);
}

static void free_press (Press *press) {
  if (press->work.size > 0)
    munmap(press->work.block, press->work.size);
  tg_packing_free(&press->packing);
}

/* With the mutex: waits for the room that is missing. */
static bool put_when_possible (tg_Packer *p, size_t n) {
  const Press *press = &p->press;
  while (!put(p, press, press->work.block, n)) {
    if (p->ends || p->refused)
      return false;
    p->wants = tg_rooms_need(n);
    pthread_cond_broadcast(&p->changed);
    pthread_cond_wait(&p->changed, &p->mutex);
  }
  p->wants = 0;
  return true;
}

/* With the mutex, which is not held while the block is packed. Gives how many
   bytes it is then. */
static size_t pack_apart (tg_Packer *p, Press *press, const tg_Piece *full) {
  press->work = *full;
  pthread_mutex_unlock(&p->mutex);
  size_t n = pack(press, full->block);
  pthread_mutex_lock(&p->mutex);
  return n;
}

/* With the mutex. */
static void work_on_first (tg_Packer *p) {
  tg_Piece done = tg_pieces_take(&p->waiting, 0);
  size_t n = pack_apart(p, &p->press, &done);
  bool packed = n > 0 && put_when_possible(p, n);
  p->press.work.size = 0;
  if (packed)
    tg_rooms_reuse(&p->rooms, &done);
  else if (p->ends && n > 0 && tg_pieces_add(&p->waiting, &done))
    ;                       /* whoever ends it has the room that is missing */
  else
    tg_rooms_leave(&p->rooms, &done);
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

/* With the mutex. Who has a packer has loaded the library: here would be in the
   hook, and a fork might find it half loaded by the thread. */
static bool begin (tg_Packer *p) {
  p->begun = true;
  p->running = tg_signals_thread(&p->thread, run, p);
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
  tg_Packer *p = tg_zstd_there() ? tg_calloc(1, sizeof *p) : NULL;
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

/* With the mutex, which is not held while room is mapped. */
static bool put_or_ask (tg_Packer *p, size_t n, tg_PackerGive *give,
                        void *ud) {
  tg_Piece empty;
  const Press *press = &p->file;
  if (put(p, press, press->work.block, n))
    return true;
  if (give == NULL || p->refused)
    return false;
  pthread_mutex_unlock(&p->mutex);
  bool given = give(ud, tg_rooms_need(n), &empty);
  pthread_mutex_lock(&p->mutex);
  if (given)
    tg_rooms_add(&p->rooms, &empty);
  return given && put(p, press, press->work.block, n);
}

/* With the mutex: packs the block that has waited longest. */
static void pack_first (tg_Packer *p, tg_PackerGive *give, void *ud) {
  tg_Piece done = tg_pieces_take(&p->waiting, 0);
  size_t n = pack_apart(p, &p->file, &done);
  bool packed = n > 0 && put_or_ask(p, n, give, ud);
  p->file.work.size = 0;
  if (packed)
    tg_rooms_reuse(&p->rooms, &done);
  else
    tg_rooms_leave(&p->rooms, &done);
}

void tg_packer_help (tg_Packer *p, tg_PackerGive *give, void *ud) {
  pthread_mutex_lock(&p->mutex);
  if (p->running && !p->refused && p->waiting.count > BEHIND) {
    pack_first(p, give, ud);
    pthread_cond_broadcast(&p->changed);
  }
  pthread_mutex_unlock(&p->mutex);
}

/* With the mutex: whether there may be a room soon. Who packs waits for none
   that there is not. */
static bool has_hope (const tg_Packer *p) {
  return p->running && !p->refused && p->wants == 0
         && (p->press.work.size > 0 || p->waiting.count > 0);
}

bool tg_packer_take (tg_Packer *p, size_t size, bool urgent, tg_Piece *piece) {
  struct timespec until = tg_clock_after(urgent ? URGENT_NS : 0);
  int error = 0;
  bool taken;
  pthread_mutex_lock(&p->mutex);
  while (!(taken = tg_rooms_take(&p->rooms, size, urgent, piece)) && urgent
         && error == 0 && has_hope(p))
    error = pthread_cond_timedwait(&p->changed, &p->mutex, &until);
  pthread_mutex_unlock(&p->mutex);
  return taken;
}

size_t tg_packer_wants (tg_Packer *p) {
  pthread_mutex_lock(&p->mutex);
  size_t wants = p->refused ? 0 : p->wants;
  pthread_mutex_unlock(&p->mutex);
  return wants;
}

void tg_packer_give (tg_Packer *p, const tg_Piece *empty) {
  pthread_mutex_lock(&p->mutex);
  tg_rooms_add(&p->rooms, empty);
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
  if (!running)
    return;
  pthread_join(p->thread, NULL);
  pthread_mutex_lock(&p->mutex);
  p->running = false;
  pthread_mutex_unlock(&p->mutex);
}

/* Blocks of a recording that remained short stay as they are. */
static void leave_all (tg_Packer *p) {
  for (uint32_t i = 0; i < p->waiting.count; i++)
    tg_rooms_leave(&p->rooms, &p->waiting.list[i]);
  p->waiting.count = 0;
}

void tg_packer_finish (tg_Packer *p, tg_PackerGive *give, void *ud) {
  end_thread(p);
  pthread_mutex_lock(&p->mutex);
  if (!p->begun)
    leave_all(p);
  while (p->waiting.count > 0)
    pack_first(p, give, ud);
  tg_rooms_settle(&p->rooms);
  pthread_mutex_unlock(&p->mutex);
}

bool tg_packer_copy (tg_Packer *p, const tg_Block *full) {
  tg_assert(!p->running && p->ends);
  size_t n = p->begun ? pack(&p->file, full) : 0;
  pthread_mutex_lock(&p->mutex);
  bool packed = n > 0 && put(p, &p->file, full, n);
  pthread_mutex_unlock(&p->mutex);
  return packed;
}

tg_Rooms *tg_packer_rooms (tg_Packer *p) {
  return &p->rooms;
}

void tg_packer_free (tg_Packer *p) {
  if (p == NULL)
    return;
  end_thread(p);
  delist(p);
  tg_pieces_unmap(&p->waiting);
  tg_rooms_free(&p->rooms);
  free_press(&p->press);
  free_press(&p->file);
  pthread_cond_destroy(&p->changed);
  pthread_mutex_destroy(&p->mutex);
  tg_free(p);
}

/* }================================================================== */
