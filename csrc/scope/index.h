/*
** index.h - a session: the events of a stopped trace, by number.
**
** Events are numbered in the order in which they begin, so those inside an
** event have numbers next to its own (of their timeline: tg_ScopeEvent.last).
** A *segment* is the events that begin between two places in the stream:
**
**     packets   ---|--------------|--------------|--------->
**     segment      0              1              2
**     events       1 .. 7         8 .. 12        13 ..
**     long ones    1, 3, 7        8              13
**
** A *long* event is one that is not over where its segment ends. Those are kept
** whole; all others are found by reading their segment again. The long ones of
** a segment are part of it; the frames open where a segment begins are long
** ones of those before.
**
** Plain C, one thread. Memory and time: see scope.h.
*/
#ifndef TG_INDEX_H
#define TG_INDEX_H

#include "scope/kinds.h"
#include "scope/packets.h"
#include "scope/sums.h"
#include "scope/walk.h"

typedef struct tg_ScopeSegment {
  uint64_t first;       /* id of its first event */
  uint64_t start_ns;    /* its events begin from here on, those of earlier
                           segments end before, but for long ones; since
                           profiling began */
  uint64_t packets;     /* of the trace before it */
  uint32_t first_long;  /* index in 'longs' */
  uint32_t nopen, nlive;      /* 'live': first the open events, then the
                                 waiting ones */
  uint32_t *live;       /* owns; indices in 'longs', as tg_scopewalk_known */
  uint64_t now_ns, spent_ns;  /* of the walk */
  tg_Reader *reader;    /* owns; stands at its beginning; NULL: packets have to
                           be counted */
  tg_ScopeSums sums;    /* owns; of its events that are not long */
} tg_ScopeSegment;

typedef struct tg_Scope {
  tg_ScopeKinds kinds;        /* owns */
  tg_Timelines timelines;     /* owns */
  tg_ScopeSegment *segments;  /* owns; one at least */
  uint32_t nsegments, csegments;
  tg_ScopeEvent *longs;       /* owns; by id */
  uint32_t nlongs, clongs;
  uint64_t events;            /* how many */
  uint64_t packets;
  uint64_t duration_ns;
  uint64_t damage;            /* where the recording's file could not be read
                                 further, as tg_reader_damage; 0 = it could */
  /* private */
  tg_ScopeTrace trace;        /* owns */
  uint32_t stride;
  tg_ScopeEvent *records;     /* owns; events of the segment at hand */
  size_t nrecords, crecords;
  uint32_t loaded;            /* that segment; TG_INTMAP_NONE: none */
  tg_ScopeSummer summer;      /* owns */
  struct tg_ScopeMaking *making;  /* owns: until all packets are taken */
} tg_Scope;

/* The segment of the event with this number, which has to exist. */
uint32_t tg_scope_segment (const tg_Scope *s, uint64_t id);

/* The number of the first event of the next segment. */
uint64_t tg_scope_segment_end (const tg_Scope *s, uint32_t segment);

/* Events of a segment, by number; they stay until the next call. */
tg_Status tg_scope_load (tg_Scope *s, uint32_t segment,
                         const tg_ScopeEvent **events, size_t *count);

/* Its long ones only. */
const tg_ScopeEvent *tg_scope_longs (const tg_Scope *s, uint32_t segment,
                                     size_t *count);

/* The event of a number; NULL if there is none, or it cannot be read. */
const tg_ScopeEvent *tg_scope_event (tg_Scope *s, uint64_t id,
                                     tg_Status *status);

/* What the walk calls when an event is over. */
typedef void tg_IndexOver (tg_ScopeWalk *w, const tg_ScopeLive *l);

/* Prepares a walk that makes 'records' of a segment's events, for making.h:
   when one begins its record has no id, and its number among those that are
   live instead of the parent's; 'over' fills it in. */
void tg_index_walk (tg_Scope *s, tg_ScopeWalk *w, tg_IndexOver *over);

#endif
