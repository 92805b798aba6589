/*
** makers.h - who made the objects of a heap: calls, by the way that led to
** them, of which each object may have one. What V8's files have as trace_tree
** and trace_function_infos.
**
**     functions   fill app.lua:3    keep app.lua:9
**                        \              |
**     list        (root) <── keep <── fill        a maker has its caller
**                                        \
**     of          node 812: that maker, 1 + its place
**
** Each is behind its caller, and the first is called by nobody: it has made
** what was made in no function. Names are strings of the graph. Memory grows
** with what there is; what is refused is false. Plain C.
*/
#ifndef TG_MAKERS_H
#define TG_MAKERS_H

#include "base/base.h"

typedef uint32_t tg_MakerId;    /* from 1 on, as a place + 1; 0: nobody */

typedef struct tg_MakerFunction {
  uint32_t name, script;        /* strings; the script "" is none */
  uint32_t script_id;
  uint32_t line, column;        /* from 1; 0: not known */
} tg_MakerFunction;

typedef struct tg_Maker {
  tg_MakerId caller;    /* before it; 0: none */
  uint32_t function;
  uint64_t count, size; /* of all that it has made, whatever has gone since */
} tg_Maker;

typedef struct tg_Makers {
  tg_MakerFunction *functions;  /* owns, as all here */
  uint32_t nfunctions, cfunctions;
  tg_Maker *list;
  uint32_t count, capacity;     /* 0: nobody is known */
  tg_MakerId *of;       /* by node of the graph... */
  uint32_t nof;         /* ...those before this one; of others nobody */
} tg_Makers;

bool tg_makers_add_function (tg_Makers *m, tg_MakerFunction f);
bool tg_makers_add (tg_Makers *m, tg_Maker maker);

/* From now on that node is made by that one. */
bool tg_makers_set (tg_Makers *m, uint32_t node, tg_MakerId maker);

/* Who made a node; 0: nobody knows. */
TG_INLINE tg_MakerId tg_makers_of (const tg_Makers *m, uint32_t node) {
  return node < m->nof ? m->of[node] : 0;
}

/* Of how many nodes somebody knows. */
uint32_t tg_makers_known (const tg_Makers *m);

TG_INLINE const tg_Maker *tg_makers_get (const tg_Makers *m, tg_MakerId id) {
  tg_assert(id > 0 && id <= m->count);
  return &m->list[id - 1];
}

/* Who is called by whom, as lists: by id the first that it calls, and the next
   that its caller does, in their order; 0: there is none. */
typedef struct tg_MakerLinks {
  tg_MakerId *first, *next;     /* owns; one memory */
} tg_MakerLinks;

bool tg_makers_link (const tg_Makers *m, tg_MakerLinks *links);
void tg_makers_unlink (tg_MakerLinks *links);   /* zeroed memory is fine */

/* From one to the next of them, from the first, 1, on, callers first; 0 at the
   end. '*rise' is how many of those before end with it. */
tg_MakerId tg_makers_next (const tg_Makers *m, const tg_MakerLinks *links,
                           tg_MakerId id, uint32_t *rise);

void tg_makers_free (tg_Makers *m);             /* zeroed memory is fine */

#endif
