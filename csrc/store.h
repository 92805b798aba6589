/*
** store.h - the bytes of a stream: chunks, a writer, cursors.
**
** One thread writes; any thread may read through a cursor. A chunk is pages
** outside every heap. The writer commits each event by one release store to
** 'used', so a reader sees whole events only:
**
**     first                                   last
**     +--------+    +--------+    +--------+-------------+
**     |########| -> |########| -> |####### |   (free)    |
**     +--------+    +--------+    +--------+-------------+
**      ^ base        ^ cursor               ^ used
**
** Whoever needs the stream from some chunk on holds a cursor there, which pins
** that chunk and by that all later ones. Chunks before the first pinned one
** are freed. A trace holds one at its start; a ring moves it forward.
**
** The mutex guards the list and the pins; it is taken when a chunk is full or
** a cursor crosses into the next one, never for an event.
*/
#ifndef TG_STORE_H
#define TG_STORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base.h"
#include "fork.h"

#define TG_CHUNK_SIZE ((size_t)256 << 10)   /* bytes, header included */

typedef struct tg_Chunk {
  struct tg_Chunk *_Atomic next;
  tg_Pos base;              /* position of data[0] in the stream */
  uint64_t packets;         /* packets of the stream before this chunk */
  size_t size;              /* bytes of the whole chunk, this header included */
  uint32_t pins;            /* cursors here (mutex) */
  _Atomic uint32_t used;    /* committed bytes of data */
  uint8_t data[];
} tg_Chunk;

typedef struct tg_Store {
  pthread_mutex_t mutex;
  pthread_cond_t moved;     /* a cursor went on to another chunk */
  tg_Chunk *first, *last;   /* owns; NULL before the first chunk */
  tg_Chunk *spare;          /* owns; one standard chunk kept for reuse */
  uint64_t bytes;           /* memory in chunks now */
} tg_Store;

typedef struct tg_Cursor {
  tg_Store *store;          /* borrows; NULL: holds nothing */
  tg_Chunk *chunk;          /* pins */
  uint32_t offset;          /* next byte to read in it */
} tg_Cursor;

void tg_store_init (tg_Store *s);
void tg_store_free (tg_Store *s);

/*
** Appends a chunk that can take at least 'need' bytes of data; the stream goes
** on there. 'packets' is the stream's count so far. NULL without memory, and
** nothing has changed.
*/
tg_Chunk *tg_store_grow (tg_Store *s, size_t need, uint64_t packets);

/* Makes the first 'used' bytes of the last chunk visible to readers. */
TG_INLINE void tg_store_commit (tg_Chunk *c, const uint8_t *end) {
  atomic_store_explicit(&c->used, (uint32_t)(end - c->data),
                        memory_order_release);
}

/* Places a cursor at 'pos', in a chunk that is there; false if it is not. */
bool tg_cursor_place (tg_Cursor *c, tg_Store *s, tg_Pos pos);

/* Places a cursor at the oldest byte there is; false in an empty store. */
bool tg_cursor_first (tg_Cursor *c, tg_Store *s);

/* A second cursor where the first is. */
void tg_cursor_copy (tg_Cursor *to, const tg_Cursor *from);

/* Gives up the pin; frees what nobody needs any more. */
void tg_cursor_drop (tg_Cursor *c);

/* On to the start of the next chunk; false if there is none yet. */
bool tg_cursor_advance (tg_Cursor *c);

/* Committed bytes from the cursor on, in its chunk; may be 0. */
TG_INLINE size_t tg_cursor_peek (const tg_Cursor *c, const uint8_t **data) {
  uint32_t used = atomic_load_explicit(&c->chunk->used, memory_order_acquire);
  *data = c->chunk->data + c->offset;
  return used - c->offset;
}

/* Where the committed bytes end, in this chunk or a later one. */
tg_Pos tg_cursor_committed (const tg_Cursor *c);

TG_INLINE tg_Pos tg_cursor_pos (const tg_Cursor *c) {
  return c->chunk->base + c->offset;
}

/* Waits until any cursor moves, or tg_store_wake, at most 'ns'; false when that
   time is over. */
bool tg_store_wait (tg_Store *s, uint64_t ns);

/* Wakes all who wait. */
void tg_store_wake (tg_Store *s);

/* The mutex; in the child nobody waits. */
void tg_store_fork (tg_Store *s, tg_Fork side);

#endif
