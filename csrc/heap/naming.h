/*
** naming.h - what objects of a state are called: their class, for DevTools and
** for reports; where functions are defined.
**
** A table or userdata has the class that its metatable says: "__name"; else
** where that is kept, "app.Account" for a field of package.loaded.app; else
** what a variable or a field calls it (tg_naming_hear), which is known when all
** edges are. Functions have the name under which package.loaded has them, or a
** field does, and their place. All names are strings of the graph, so each is
** there once. Plain C.
*/
#ifndef TG_NAMING_H
#define TG_NAMING_H

#include "base/intmap.h"
#include "graph/graph.h"
#include "heap/census.h"

#define TG_NAME_MOST 1024u      /* bytes of a string that are shown */

typedef struct tg_Naming {
  tg_Heap *heap;        /* borrows */
  tg_Graph *graph;      /* borrows */
  uint32_t *names;      /* owns, as all here; by object; TG_NO_NAME */
  tg_IntMap known;      /* address of a table or function -> name: of loaded
                           modules and what is in them */
  tg_IntMap metas;      /* number of a metatable -> name, or NOBODY */
  tg_IntMap heard;      /* number of a metatable or prototype -> name */
  tg_IntMap places;     /* number of a prototype -> "app.lua:12" */
  tg_IntMap finals;     /* ...-> the name of its functions, in the end */
  tg_Buf text;          /* that a name is put together in */
  tg_Buf escaped;       /* of what is no UTF-8 */
} tg_Naming;

#define TG_NO_NAME UINT32_MAX

/* Names all objects; false without memory. */
bool tg_naming_begin (tg_Naming *n, tg_Heap *heap, tg_Graph *graph);

/* An edge with that name leads to an object: it may be what the object, or its
   class, is called. */
void tg_naming_hear (tg_Naming *n, uint32_t object, uint32_t name);

/* Once all edges are known: names of what has none yet. */
void tg_naming_end (tg_Naming *n);

/* The name of an object for now. */
uint32_t tg_naming_of (const tg_Naming *n, uint32_t object);

/* The metatable of a table or userdata; 0: none. */
TG_INLINE uint64_t tg_naming_metatable (const tg_Heap *h, uint32_t object) {
  uint64_t at = h->at[object];
  switch (h->kinds[object]) {
    case TG_OBJECT_TABLE:
      return tg_image_word(h->image, at + tg_heap_row(h, AT_TABLE_META));
    case TG_OBJECT_USERDATA:
      return tg_image_word(h->image, at + tg_heap_row(h, AT_USERDATA_META));
    default:
      return 0;
  }
}

void tg_naming_free (tg_Naming *n);

#endif
