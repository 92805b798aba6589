/*
** comparison.h - what has changed from one snapshot to the next: what came and
** went by class, and what grows from each to the next, which is a leak.
**
** Growth is told by group (groups.h): a class at a place. What grows only since
** something above it grows is that one's row. Plain C.
*/
#ifndef TG_COMPARISON_H
#define TG_COMPARISON_H

#include "graph/view.h"

/* {added: {count, bytes}, removed: {count, bytes}, classes: [{name, added,
   removed, added_bytes, removed_bytes, bytes, path}]}; bytes: the difference.
   False without memory, as both. */
bool tg_comparison_diff (tg_View *now, tg_View *before, uint32_t most,
                         tg_Sink *out);

/* {growing: [{name, counts, bytes, retained, path, place, survivors}]}, the
   largest growth of what is retained first. 'survivors': how many of the last
   snapshot's objects were in the one before and not in the first. */
bool tg_comparison_growing (tg_View *views, uint32_t n, uint32_t most,
                            tg_Sink *out);

#endif
