/*
** store.h - the bytes of a stream: chunks, a writer, cursors.
**
** One thread writes; any thread may read through a cursor. A chunk is a block
** of pages outside every heap: of memory, or of a file. The writer commits each
** event by one release store to 'used', so a reader sees whole events only:
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
** A *loose* cursor pins its chunk and nothing behind that: what comes after may
** be dropped before the cursor comes to it, whole chunks at a time. Then it
** goes on at the first one that is there, and is told how many packets it has
** missed.
**
** Where blocks come from and go to is a supply's business: the memory's, a
** file's (filewriter.h: the file being recorded) or a recording's (open.h: its
** blocks are loaded while a cursor is in them). Without one it is memory.
**
** The mutex guards the list and the pins; it is taken when a chunk is full or
** a cursor crosses into the next one, never for an event.
*/
#ifndef TG_STORE_H
#define TG_STORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/atfork.h"
#include "base/base.h"
#include "stream/supply.h"

typedef struct tg_Chunk {
  struct tg_Chunk *_Atomic next;
  tg_Block *block;          /* owns; NULL: not loaded */
  tg_Supply *supply;        /* pins: whose block it is; NULL: the memory's */
  tg_Pos base;              /* position of its first byte in the stream */
  uint64_t packets;         /* packets of the stream before this chunk */
  size_t size;              /* bytes of the block, its header included */
  uint64_t place;           /* where to load it from... */
  uint32_t used;            /* ...and how much of it is good */
  uint32_t pins;            /* cursors here (mutex) */
  uint32_t loose;           /* loose ones (mutex) */
  uint64_t missed;          /* packets of those dropped behind it (mutex) */
} tg_Chunk;

typedef struct tg_Store {
  pthread_mutex_t mutex;
  pthread_cond_t moved;     /* a cursor went on to another chunk */
  tg_Chunk *first, *last;   /* owns; NULL before the first chunk */
  tg_Chunk *spare;          /* owns; one standard chunk kept for reuse */
  tg_Supply *supply;        /* pins: of chunks to come; NULL: memory */
  tg_Supply *region;        /* pins: and then perhaps of this (region.h) */
  uint64_t bytes;           /* in chunks now */
  bool kept;                /* a recording's: chunks stay, blocks come and go */
  tg_Status status;         /* why a block could not be loaded, or TG_OK */
} tg_Store;

typedef struct tg_Cursor {
  tg_Store *store;          /* borrows; NULL: holds nothing */
  tg_Chunk *chunk;          /* pins */
  uint32_t offset;          /* next byte to read in it */
  bool loose;
  uint64_t missed;          /* packets between the chunk before and this one */
} tg_Cursor;

void tg_store_init (tg_Store *s);
void tg_store_free (tg_Store *s);

/*
** Appends a chunk that can take at least 'need' bytes of data; the stream goes
** on there. 'packets' is the stream's count so far. NULL without memory, and
** nothing has changed.
*/
tg_Chunk *tg_store_grow (tg_Store *s, size_t need, uint64_t packets);

/* From now on new chunks are this supply's (pinned); NULL: memory. */
void tg_store_supply (tg_Store *s, tg_Supply *y);

/*
** A recording's next chunk: its block is at 'place', and 'used' bytes of its
** data are good. Only before anybody reads. False without memory.
*/
bool tg_store_add (tg_Store *s, tg_Supply *y, tg_Pos base, uint64_t packets,
                   uint64_t place, uint32_t used);

/* Places a cursor at 'pos', in a chunk that is there; false if it is not (or
   cannot be loaded: then 'status' says why, here and below). */
bool tg_cursor_place (tg_Cursor *c, tg_Store *s, tg_Pos pos);

/* Places a cursor at the oldest byte there is; false in an empty store. */
bool tg_cursor_first (tg_Cursor *c, tg_Store *s);

/* A second cursor where the first is. */
void tg_cursor_copy (tg_Cursor *to, const tg_Cursor *from);

/* From now on it keeps its own chunk only. */
void tg_cursor_loosen (tg_Cursor *c);

/* Gives up the pin; frees what nobody needs any more. */
void tg_cursor_drop (tg_Cursor *c);

/* Whether it is the only one in the oldest chunk there is: if it went on, that
   would be freed. */
bool tg_cursor_keeps (const tg_Cursor *c);

/* On to the start of the next chunk, 'missed' is what was between; false if
   there is none (yet). */
bool tg_cursor_advance (tg_Cursor *c);

/* Committed bytes from the cursor on, in its chunk; may be 0. */
TG_INLINE size_t tg_cursor_peek (const tg_Cursor *c, const uint8_t **data) {
  const tg_Block *b = c->chunk->block;
  *data = b->data + c->offset;
  return tg_block_used(b) - c->offset;
}

/* What the lists of its chunk cost, as far as that is known (supply.h). */
tg_Prices tg_cursor_prices (const tg_Cursor *c);

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
void tg_store_fork (tg_Store *s, tg_AtFork side);

#endif
