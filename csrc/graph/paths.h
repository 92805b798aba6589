/*
** paths.h - the shortest ways from the root to nodes, and how a way is written
** so that it reads as Lua does: "package.loaded.app.cache[3]".
**
** Along edges that retain. Plain C.
*/
#ifndef TG_PATHS_H
#define TG_PATHS_H

#include "graph/dominators.h"

typedef struct tg_Paths {
  const tg_Graph *graph;        /* borrows */
  uint32_t *from;       /* owns; by node: the one before; TG_NO_NODE */
  uint32_t *edge;       /* owns; by node: the edge to it */
  uint32_t *order;      /* owns; the nearest first */
  uint32_t count;
} tg_Paths;

/* The shortest ways; 'settled': those through no stack first, since what a
   function has in its variables is there for a moment, and what a table has is
   where it is kept. False without memory. */
bool tg_paths_find (tg_Paths *p, const tg_Graph *g, bool settled);

void tg_paths_free (tg_Paths *p);

/* The edges of the way to a node into 'list', from the root on; how many, or 0
   if there are more than 'most' or there is no way. */
uint32_t tg_paths_edges (const tg_Paths *p, uint32_t node, uint32_t *list,
                         uint32_t most);

/* Adds a way in words, in the middle shortened if it is long; of one of more
   than 4096 edges only that it is. */
void tg_paths_text (const tg_Paths *p, uint32_t node, tg_Buf *to);

/* How the last edge of the way to a node is written behind the words before it:
   not at all, right behind, after " > ", at the beginning; or it and what was
   before are what Lua calls package.loaded, _G. */
typedef enum tg_Joint {
  TG_JOINT_NONE, TG_JOINT_BEHIND, TG_JOINT_APART, TG_JOINT_FIRST,
  TG_JOINT_LOADED, TG_JOINT_GLOBALS
} tg_Joint;

tg_Joint tg_paths_joint (const tg_Paths *p, uint32_t node);

/* Whether a field may stand right behind that name of an edge: "upvalue
   cache[3]", but "local cache of f > [3]". */
bool tg_paths_joins (const char *label, size_t size);

/* Whether the way to a node is what Lua has its modules, its globals or C's
   references in, at the root itself or below the registry. */
bool tg_paths_is_namespace (const tg_Paths *p, uint32_t node);

/* Adds what one edge is called where it is written alone: ".cache", "[3]",
   "upvalue n". */
void tg_paths_edge (const tg_Graph *g, uint32_t edge, tg_Buf *to);

#endif
