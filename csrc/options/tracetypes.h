/*
** tracetypes.h - the trace types of the protocol, as one list and as bits.
**
** The first eight are the TraceActor specification's, and what a client gets
** that asks for nothing else; the others are extensions. A program's own trace
** has the markers too: nobody marks what is not to be seen.
*/
#ifndef TG_TRACETYPES_H
#define TG_TRACETYPES_H

#include "base/base.h"
#include "stream/marks.h"

/* Name in C, name for people, whether it is a field of calls. */
#define TG_TYPES(X) \
  X(NAME, "name", true) \
  X(CALLSITE, "callsite", true) \
  X(TIME, "time", true) \
  X(PARAMETERS, "parameterNames", true) \
  X(ARGUMENTS, "arguments", true) \
  X(RETURN, "return", true) \
  X(THROW, "throw", true) \
  X(YIELD, "yield", true) \
  X(LOCATION, "location", true) \
  X(DEPTH, "depth", true) \
  X(HITCOUNT, "hitCount", true) \
  X(THREAD, "thread", true) \
  X(MARKERS, "markers", false) \
  X(MEMORY, "memory", false) \
  X(ALLOCATIONS, "allocations", false) \
  X(LOCALS, "locals", false) \
  X(IDENTITY, "identity", false)

enum {
#define X(id, name, call) TG_TYPEBIT_##id,
  TG_TYPES(X)
#undef X
  TG_NTYPES
};

/* Not of a call, and in no set of types that is kept: it asks for samples
   (options.h). */
#define TG_TYPE_SAMPLES (1u << 31)

enum {
#define X(id, name, call) TG_TYPE_##id = 1u << TG_TYPEBIT_##id,
  TG_TYPES(X)
#undef X
  TG_TYPES_ALL = (1u << TG_NTYPES) - 1,
#define X(id, name, call) | (call ? TG_TYPE_##id : 0u)
  TG_TYPES_CALLS = 0u TG_TYPES(X),      /* fields of calls */
#undef X
  TG_TYPES_PROTOCOL = (1u << TG_TYPEBIT_LOCATION) - 1,
  TG_TYPES_DEFAULT = TG_TYPES_PROTOCOL | TG_TYPE_MARKERS,
  /* types that make the hook look at values */
  TG_TYPES_VALUES = TG_TYPE_ARGUMENTS | TG_TYPE_RETURN | TG_TYPE_THROW
                    | TG_TYPE_YIELD | TG_TYPE_LOCALS
};

/* The bit of the type whose traces have a marker of this sort. */
TG_INLINE uint32_t tg_tracetype_mark (uint32_t sort) {
  switch (sort) {
    case TG_MARK_HEAP: return TG_TYPE_MEMORY;
    case TG_MARK_ALLOCATIONS: case TG_MARK_COLLECTION: case TG_MARK_HELD:
      return TG_TYPE_ALLOCATIONS;
    default: return TG_TYPE_MARKERS;
  }
}

/* The bit of a type's name, "samples" too; 0 if there is no such type. */
uint32_t tg_tracetype_bit (const char *name);

/* The name of type number 'i', 0 <= i < TG_NTYPES. */
const char *tg_tracetype_name (int i);

#endif
