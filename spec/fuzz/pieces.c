#include "pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "recording/entries.h"
#include "recording/fileformat.h"
#include "stream/eventreader.h"

#define PIECES_MAX 4096
#define ROOM 256          /* bytes that a piece may grow by */

/* An entry or an event. */
typedef struct Piece {
  size_t at, size;        /* in the file */
  size_t block;           /* where the head of its block is */
} Piece;

typedef struct Parts {
  const uint8_t *data;
  size_t size;
  Piece list[PIECES_MAX];
  size_t count;
} Parts;

/*
** {==================================================================
** Apart
** ===================================================================
*/

static size_t piece_size (tg_BlockKind kind, const uint8_t *data,
                          const uint8_t *p, size_t size) {
  if (kind == TG_BLOCK_ENTRIES) {
    const uint8_t *next = p;
    tg_Entry e;
    return tg_entry_next(&next, p + size, &e) ? (size_t)(next - p) : 0;
  }
  tg_Event e;
  return tg_event_decode(&data, p, size, &e);
}

static void take_block (Parts *k, size_t at, const tg_Block *head,
                        size_t used) {
  const uint8_t *data = k->data + at + sizeof *head;
  size_t p = 0, n;
  while (k->count < PIECES_MAX && p < used
         && (n = piece_size((tg_BlockKind)head->kind, data, data + p,
                            used - p)) > 0) {
    k->list[k->count++] = (Piece){at + sizeof *head + p, n, at};
    p += n;
  }
}

/* The head of the block at 'at', and how much of its data is there; false if
   there is none. */
static bool block_at (const uint8_t *data, size_t size, size_t at,
                      tg_Block *head, size_t *used) {
  if (at > size || size - at < sizeof *head)
    return false;
  memcpy(head, data + at, sizeof *head);
  *used = tg_block_used(head);
  if (*used > size - at - sizeof *head)
    *used = size - at - sizeof *head;
  return head->magic == TG_BLOCK_MAGIC && head->size >= sizeof *head;
}

static void take_apart (Parts *k, const uint8_t *data, size_t size) {
  tg_Block head;
  tg_Header h;
  size_t used;
  k->data = data;
  k->size = size;
  k->count = 0;
  if (size < sizeof h)
    return;
  memcpy(&h, data, sizeof h);
  for (size_t at = h.size; block_at(data, size, at, &head, &used);
       at += head.size < size ? head.size : size)
    take_block(k, at, &head, used);
}

/* }================================================================== */

/*
** {==================================================================
** Together
** ===================================================================
*/

/* In place of a piece, these bytes; false if there is no room for them. */
static bool replace (uint8_t *data, size_t *size, size_t most, const Piece *p,
                     const uint8_t *bytes, size_t n) {
  if (n > p->size && n - p->size > most - *size)
    return false;
  memmove(data + p->at + n, data + p->at + p->size,
          *size - p->at - p->size);
  if (n > 0)
    memcpy(data + p->at, bytes, n);
  *size = *size - p->size + n;
  return true;
}

static void add64 (uint8_t *p, size_t by) {
  uint64_t v;
  memcpy(&v, p, sizeof v);
  v += by;
  memcpy(p, &v, sizeof v);
}

/* A block has 'by' bytes more than its head says, less if that is negative as
   a size; blocks after it are so much further on. */
static void fit_blocks (uint8_t *data, size_t size, size_t at, size_t by) {
  tg_Block head;
  size_t used, kind = 0;
  uint32_t now;
  memcpy(&head, data + at, sizeof head);
  now = tg_block_used(&head) + (uint32_t)by;
  memcpy(data + at + offsetof(tg_Block, used), &now, sizeof now);
  add64(data + at + offsetof(tg_Block, size), by);
  kind = head.kind;
  while (block_at(data, size, at, &head, &used)) {
    at += head.size < size ? head.size : size;
    if (block_at(data, size, at, &head, &used) && head.kind == kind)
      add64(data + at + offsetof(tg_Block, base), by);
  }
}

/* The block of a piece becomes two, the second of which begins with it. The new
   size of the file, 0 if it cannot be. */
static size_t split (uint8_t *data, size_t size, size_t most,
                     const Piece *p) {
  tg_Block head, first;
  size_t used, before = p->at - p->block - sizeof head;
  if (before == 0 || most - size < sizeof head
      || !block_at(data, size, p->block, &head, &used))
    return 0;
  first = head;
  tg_block_begin(&first, (tg_BlockKind)head.kind, sizeof head + before,
                 head.base, head.packets);
  tg_block_commit(&first, first.data + before);
  tg_block_begin(&head, (tg_BlockKind)head.kind, head.size - before,
                 head.base + before, head.packets);
  tg_block_commit(&head, head.data + (used - before));
  memcpy(data + p->block, &first, sizeof first);
  memmove(data + p->at + sizeof head, data + p->at, size - p->at);
  memcpy(data + p->at, &head, sizeof head);
  return size + sizeof head;
}

/* }================================================================== */

size_t fuzz_change (uint8_t *data, size_t size, size_t most, uint32_t seed,
                    fuzz_Change *change) {
  static Parts k;
  static uint8_t bytes[(size_t)1 << 20];
  take_apart(&k, data, size);
  if (k.count == 0)
    return 0;
  Piece p = k.list[seed % k.count];
  const Piece *other = &k.list[(seed >> 8) % k.count];
  size_t before = p.size, n = p.size;
  if (n > sizeof bytes - ROOM || other->size > sizeof bytes)
    return 0;
  memcpy(bytes, data + p.at, n);
  switch (seed >> 24 & 7) {
    case 0: n = 0; break;                           /* it goes */
    case 1: return split(data, size, most, &p);
    case 2:                                         /* another one before it */
      n = other->size;
      memcpy(bytes, data + other->at, n);
      p.size = before = 0;
      break;
    case 3:                                         /* another one for it */
      n = other->size;
      memcpy(bytes, data + other->at, n);
      break;
    default: n = change(bytes, n, n + ROOM); break;
  }
  uint32_t kind;
  memcpy(&kind, data + p.block + offsetof(tg_Block, kind), sizeof kind);
  if (kind == TG_BLOCK_ENTRIES && n >= TG_ENTRY_HEAD && (seed >> 27 & 7) != 0) {
    uint32_t inside = (uint32_t)n - TG_ENTRY_HEAD;
    memcpy(bytes + 4, &inside, sizeof inside);
  }
  if (!replace(data, &size, most, &p, bytes, n))
    return 0;
  fit_blocks(data, size, p.block, n - before);
  return size;
}

size_t fuzz_pack (uint8_t *data, size_t size) {
  tg_Header h;
  tg_Block head;
  size_t used, to = sizeof h;
  if (size < sizeof h)
    return size;
  memcpy(&h, data, sizeof h);
  size_t at = h.size;
  while (block_at(data, size, at, &head, &used)) {
    size_t next = at + (head.size < size ? head.size : size);
    memmove(data + to, data + at, sizeof head + used);
    uint64_t packed = sizeof head + used;
    memcpy(data + to + offsetof(tg_Block, size), &packed, sizeof packed);
    to += packed;
    at = next;
  }
  h.size = (uint32_t)sizeof h;
  memcpy(data, &h, sizeof h);
  return to;
}
