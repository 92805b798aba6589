/*
** packets.h - the trace that a session is of: its packets, from its
** beginning or from anywhere else; when profiling began.
**
** Packets are those that the trace shows, short calls left out if it leaves
** them out. Nothing is asked for but what every packet has, and values come
** only where they stand.
**
** Plain C, one thread. It pins the stream, and all of it from the trace's
** beginning on.
*/
#ifndef TG_PACKETS_H
#define TG_PACKETS_H

#include "reader/minduration.h"
#include "scope/scope.h"

/* What a session is made of. */
typedef struct tg_ScopeSource {
  tg_Stream *stream;    /* borrows; the session pins it */
  tg_Pos start, stop;   /* of the trace */
  const tg_Selection *selection; /* borrows; its types do not matter */
  uint64_t start_ns, end_ns;  /* when profiling began and ended */
  bool arguments;       /* those of packets may be looked at */
  bool from_chunk;      /* it began with the first main chunk called */
  uint32_t stride;      /* packets of a segment, for tests; 0 = as fits */
} tg_ScopeSource;

typedef struct tg_ScopeTrace {
  tg_Stream *stream;    /* pins */
  tg_Cursor hold;       /* its beginning: keeps it there */
  tg_Pos start, stop;
  tg_Selection selection; /* owns */
  uint64_t start_ns, end_ns;  /* of the stream */
} tg_ScopeTrace;

/* Packets from somewhere on. */
typedef struct tg_ScopePackets {
  tg_Reader *reader;    /* owns */
  tg_MinDuration minduration; /* owns; on the reader */
  tg_Pos stop;
} tg_ScopePackets;

/* False without memory; to be freed in any case. */
bool tg_scopepackets_init (tg_ScopeTrace *t, const tg_ScopeSource *source);
void tg_scopepackets_free (tg_ScopeTrace *t); /* zeroed memory is fine */

/* From where a reader stands, NULL: from the beginning. False without memory;
   to be closed in any case. */
bool tg_scopepackets_open (const tg_ScopeTrace *t, const tg_Reader *at,
                           tg_ScopePackets *p);
void tg_scopepackets_close (tg_ScopePackets *p);

TG_INLINE bool tg_scopepackets_next (tg_ScopePackets *from, tg_Packet *p) {
  return tg_minduration_next(&from->minduration, from->stop, p);
}

#endif
