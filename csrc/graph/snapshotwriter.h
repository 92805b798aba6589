/*
** snapshotwriter.h - a graph as a .heapsnapshot, V8's format, which Chrome's
** DevTools open (docs/heap.md has it field by field).
**
** Sections stand in the order that the front end's loader wants: snapshot,
** nodes, edges, strings. It takes numbers without sign or fraction, keeps 32
** bits of ids and sizes, and counts on each string being there once: whoever
** made the graph has seen to that. Written as it goes; what fails stays in the
** file's 'error'. Plain C.
*/
#ifndef TG_SNAPSHOTWRITER_H
#define TG_SNAPSHOTWRITER_H

#include "graph/graph.h"
#include "text/outfile.h"

/* What the file says of where it is from, beside what V8 says. */
typedef struct tg_SnapshotHead {
  const char *lua;      /* "5.4.4" */
  int pid;              /* 0: not known */
  uint64_t objects;     /* the state's own */
  uint64_t state_bytes; /* what the state itself counts */
  uint64_t low, high;   /* how ids are made of addresses (birth.h) */
  const uint64_t *samples;      /* borrows; pairs of a time in us and the last
                                   id that was given away then */
  uint32_t nsamples;    /* pairs */
} tg_SnapshotHead;

/* False if anything has failed. */
bool tg_snapshot_write (const tg_Graph *g, const tg_SnapshotHead *head,
                        tg_OutFile *out);

/* Whether a file is one that was begun and not written to its end. */
bool tg_snapshot_is_unfinished (const char *path);

#endif
