/*
** history.h - all calls of a recording that had one table, and in which of them
** it was not what it had been in the one before: who had it, who changed it.
**
**     f(t)   t = {n = 1}     a sighting, told for the first time
**     g(t)   t = {n = 1}     a sighting
**     < t    t = {n = 2}     a sighting, changed: between the one before and
**                            this one somebody has set t.n
**
** A sighting is a list of values, or of locals, that has the table, at whatever
** depth. The recording is read once, from its beginning, in turns of so many
** packets. Their numbers are those of a replay's (replay.h) with the same
** selection.
**
** Nothing is kept of the contents but those of the last sighting. The history
** of no table counts in how many lists each one is.
**
** Plain C, one thread. It pins the stream. What cannot be read on ends it, and
** 'status' says why.
*/
#ifndef TG_HISTORY_H
#define TG_HISTORY_H

#include "base/base.h"
#include "base/intmap.h"
#include "reader/reader.h"
#include "replay/tablecontents.h"
#include "replay/replay.h"

#define TG_SIGHTINGS_MOST (UINT32_C(1) << 22)
#define TG_SIGHTING_NONE UINT32_MAX

typedef struct tg_Sighting {
  uint64_t number;        /* of the packet */
  tg_Pos at;              /* the event that has the list */
  tg_FunctionId function; /* of the frame that it is of */
  uint8_t why;            /* tg_Why of the packet */
  bool locals;            /* they are locals, told before the packet's event */
  bool told;              /* with its fields */
  bool changed;
  uint32_t before;        /* the last one that was told; TG_SIGHTING_NONE */
} tg_Sighting;

/* Of a table in the history of none. */
typedef struct tg_TableCount {
  uint32_t number;
  uint32_t lists;
  uint64_t first;         /* number of the packet with the first of them */
} tg_TableCount;

typedef struct tg_History {
  /* read by all */
  tg_Sighting *list;      /* owns; in order */
  uint32_t count, capacity;
  uint64_t unkept;        /* sightings beyond TG_SIGHTINGS_MOST */
  uint64_t number;        /* packets so far */
  tg_TableCount *tables;  /* owns; in the order of their appearance */
  uint32_t ntables;
  bool over;
  tg_Status status;
  /* private */
  tg_Reader *reader;      /* owns */
  tg_Pos stop, latest;    /* the event of the packet before */
  tg_Wished wished;       /* table 0: all of them are counted */
  bool only_changes;      /* other sightings are not kept */
  uint32_t types;
  tg_TableContents now, then;  /* own; of this sighting, and of the last told
                                  one */
  tg_Sighting last;       /* that one, if it was not kept ... */
  uint32_t last_told;     /* ...else its place; TG_SIGHTING_NONE */
  bool any;               /* one was told */
  uint32_t ctables;
  tg_IntMap places;       /* owns; number -> place in 'tables' */
  tg_TablesRoom room;   /* owns */
} tg_History;

/* Zeroed memory becomes the history of the table in the recording of a replay.
   False without memory. */
bool tg_history_begin (tg_History *h, const tg_Replay *r, tg_Wished wished,
                       bool only_changes);
void tg_history_free (tg_History *h);

/* Reads 'budget' packets; whether there are more. */
bool tg_history_turn (tg_History *h, uint64_t budget);

/* The moment of a replay at which it can be seen: the call has begun, or ended;
   an error, or a yield, is about to. */
uint64_t tg_history_moment (const tg_Sighting *s);

#endif
