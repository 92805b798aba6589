/*
** scope.h - Opera's profiler service: what the events of a session are.
**
** The service (docs/scope.md) answers questions about a stopped trace. To it a
** coroutine is a *timeline*, and a call is an *event* on the timeline of the
** coroutine that it ran in. Events of a timeline are a tree: an event's parent
** is the innermost call of the same coroutine that was open when it began.
**
** The files, each using those above it:
**
**     kinds     what an event is: its type, and the data of that type
**     walk      from packets to events
**     packets   the trace: its packets from anywhere on
**     sums      events added up
**     index     a session: its timelines; events by number, from an index of
**               places in the stream
**     making    a session from its beginning to its end
**     query     which events are asked for; events added up
**     messages  events as the messages of the service
**
** Data flow. When a session is made, all packets are read once. The walk makes
** events of them, a *segment* of some ten thousand packets at a time; they are
** added up and forgotten. What stays of a segment: the place in the stream
** where it begins, with the frames open there (a reader that stands there,
** ready to go on); sums of its events by timeline, kind and depth; and the
** events that end in a later segment, whole. A question that sums can answer
** reads nothing; any other reads the segments that it needs again, which takes
** a millisecond or two for each.
**
** Owners. A session owns its index and pins the stream, through its readers.
** Events handed out are borrowed until the next question.
**
** Costs. Memory: segments (their number grows with the logarithm of the
** packets once there are some millions), their sums, the calls open where a
** segment begins, the coroutines, the events of one segment. No allocation for
** an event. Time: see docs/performance.md.
*/
#ifndef TG_SCOPE_H
#define TG_SCOPE_H

#include "base/base.h"

/* The types of events that there are here, by their numbers in the protocol. */
typedef enum tg_ScopeType {
  TG_SCOPE_GENERIC = 1,           /* everything, added up */
  TG_SCOPE_COMPILATION = 5,       /* load, loadfile, require */
  TG_SCOPE_EVALUATION = 6,        /* a main chunk, a coroutine's body */
  TG_SCOPE_CALL = 32,             /* of a function */
  TG_SCOPE_COLLECTION = 33        /* collectgarbage */
} tg_ScopeType;

#define TG_SCOPE_TYPES_MAX 63     /* numbers fit a mask of 64 bits */

typedef enum tg_ScopeMode {
  TG_SCOPE_ALL = 1,
  TG_SCOPE_UNIQUE_TYPES,
  TG_SCOPE_UNIQUE_EVENTS,
  TG_SCOPE_REDUCE_ALL
} tg_ScopeMode;

/* One call; or several added up: then the first seven and 'kind' only. */
typedef struct tg_ScopeEvent {
  uint64_t start_ns;      /* since profiling began */
  uint64_t end_ns;
  uint64_t time_ns;       /* as the innermost frame, without the overhead: */
  uint64_t overhead_ns;   /* what tracing has taken then */
  uint64_t hits;          /* its entries: the call, and each resume after */
  uint64_t id;            /* from 1 by order of entry, over all timelines */
  tg_ScopeType type;
  uint32_t kind;          /* see kinds.h */
  uint32_t timeline;      /* from 0 */
  uint32_t depth;         /* 1 = has no parent */
  uint64_t parent;        /* 0 = none */
  uint64_t last;          /* id of the last event inside; its own if none */
  uint64_t children;
  uint64_t all_time_ns;   /* time of it and of all inside */
  uint64_t all_overhead_ns;
} tg_ScopeEvent;

#endif
