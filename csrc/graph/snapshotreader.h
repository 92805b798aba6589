/*
** snapshotreader.h - a .heapsnapshot as a graph: V8's own, and those of others
** who write its format.
**
** Nothing in a file is believed: each number is compared with what there is,
** and fields are taken by the names that the file gives them. What is wrong is
** told with its place. Memory grows with the file and with nothing that it
** says. Plain C.
*/
#ifndef TG_SNAPSHOTREADER_H
#define TG_SNAPSHOTREADER_H

#include "graph/graph.h"

/* False, and 'words' says why; tg_graph_free in any case. */
bool tg_snapshot_read (tg_Graph *g, const char *data, size_t size,
                       tg_Buf *words);

/* The same of a file, which may be compressed (.gz and others). */
bool tg_snapshot_open (tg_Graph *g, const char *path, tg_Buf *words);

#endif
