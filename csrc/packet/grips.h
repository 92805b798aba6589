/*
** grips.h - captured values as grips and an object pool.
**
** One list of values (values.h) becomes protocol values, narrowed by a
** selection: what its limits cut is marked as it would have been when
** recording, what it keeps secret is redacted, and the pool is numbered anew,
** by distance and without holes. An object gets its index when a grip first
** names it; the pool is written last and may add to itself while it is.
**
** The bytes may be malformed: what cannot be read is missing and marked.
*/
#ifndef TG_GRIPS_H
#define TG_GRIPS_H

#include "base/buf.h"
#include "options/selection.h"
#include "stream/functions.h"
#include "stream/values.h"
#include "text/sink.h"

/* A pool entry: by old id the first three, in order of new index the last. */
typedef struct tg_GripEntry {
  uint32_t offset;      /* of the descriptor, in the values' bytes */
  uint32_t rank;        /* 1 + new index; 0: no grip has named it */
  uint32_t level;       /* its distance: 0 = a value of the list itself */
  uint32_t id;          /* by new index: the old id of that object */
  uint32_t identity;    /* which table it is; 0: not told */
} tg_GripEntry;

/*
** Memory kept from packet to packet; zeroed is empty. It belongs to the caller
** because a sink may raise a Lua error and never come back.
*/
typedef struct tg_Scratch {
  tg_GripEntry *entries;    /* owns */
  uint32_t capacity;
  tg_Buf room;              /* owns; for text that has to be rebuilt */
  struct tg_PacketMemo *memo; /* borrows: of packets that are written as JSON
                                 (packetmemo.h), or NULL */
  bool failed;              /* sticky: something was cut for want of memory */
} tg_Scratch;

void tg_scratch_free (tg_Scratch *scratch);

/* A list being written. */
typedef struct tg_Grips {
  tg_Sink *out;                 /* borrows, as all here */
  const tg_Functions *functions;
  const tg_Selection *selection;
  tg_Scratch *scratch;
  const uint8_t *bytes;
  tg_ValueCursor first;         /* at the first grip */
  uint64_t count;               /* values of the event */
  uint32_t listed;              /* of these, values that were captured */
  uint32_t descriptors;
  uint32_t given;               /* objects that have a new index */
  uint32_t standin;             /* 1 + the index of the entry that stands for
                                   all other objects; 0: no such entry */
  uint32_t budget;              /* bytes of JSON that may yet be written */
} tg_Grips;

/* An absent list counts as an empty one. */
void tg_grips_open (tg_Grips *g, tg_Sink *out, const tg_Functions *functions,
                    const tg_Selection *selection, tg_Scratch *scratch,
                    tg_Slice values);

/* Writes the first value, undefined if there is none. */
void tg_grips_first (tg_Grips *g);

/* Writes all values as an array; those of parameters of 'f' (may be NULL) whose
   names are secret are redacted. */
void tg_grips_list (tg_Grips *g, const tg_Function *f);

/* Writes a list of names and values as an array of {name, value}; those whose
   names are secret are redacted. */
void tg_grips_named (tg_Grips *g);

/* Whether there were more values than the list shows. */
bool tg_grips_cut (const tg_Grips *g);

/* ---- for the pool (grippool.h) ---- */

#define TG_COST_ESCAPED 6u    /* per byte of text that is escaped twice */

/* Pays so many bytes of the packet's budget; false if they are not there. */
bool tg_grips_spend (tg_Grips *g, size_t cost);

/* How much of a text within the string limit is affordable; it is paid. */
size_t tg_grips_afford (tg_Grips *g, const char *s, size_t size);

/* The scratch buffer, empty; that it was short of memory before is noted. */
tg_Buf *tg_grips_room (tg_Grips *g);

/* 1 + the index of an object, which it may get here; 0: there is no room. */
uint32_t tg_grips_rank (tg_Grips *g, uint32_t id, uint32_t level);

/* The type of an object; of one that is not described, a table. */
tg_ObjectType tg_grips_type (const tg_Grips *g, uint32_t id);

/* Which table it is; 0: it is none, or that was not told. */
uint32_t tg_grips_identity (const tg_Grips *g, uint32_t id);

/* Reads the descriptor of an object that has one; '*c' is then at its
   properties. */
void tg_grips_descriptor (const tg_Grips *g, uint32_t id, tg_ValueCursor *c,
                          tg_Descriptor *d);

/* Writes one grip; the objects that the grip names are at 'level'. */
void tg_grips_put (tg_Grips *g, const tg_Grip *v, uint32_t level);

#endif
