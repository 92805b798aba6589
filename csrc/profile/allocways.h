/*
** allocways.h - by which way of calls the blocks were made that are alive, for
** a snapshot of the heap: the makers of its objects (graph/makers.h).
**
**     reader ─> profile: origin -> node of its tree ─> way, a node of ours
**     use(origin) ─> way, for an object of the heap
**     put(graph)  ─> makers: the ways that are used or have allocated
**
** A way is a node of the profile's tree, or several of them. A frame that was
** open before the trace has no call; samples show that frame, and none inside
** of a call finds out that it has gone. If its function is called again
** meanwhile, then by whoever had called it before, and not by what has
** returned. And what samples show as the collector makes nothing: that is its
** caller's.
**
** Plain C, one thread. Memory: that of a profile with a tree, some 100 bytes a
** way.
*/
#ifndef TG_ALLOCWAYS_H
#define TG_ALLOCWAYS_H

#include "base/intern.h"
#include "graph/graph.h"
#include "profile/profile.h"

/* The numbers that a debugger has for files, by their names: a front end goes
   by them to the source. Zeroed memory has none. */
typedef struct tg_ScriptIds {
  tg_Intern names;      /* owns */
  uint32_t *ids;        /* owns; by number there */
  uint32_t capacity;
} tg_ScriptIds;

bool tg_scriptids_add (tg_ScriptIds *s, const char *name, size_t size,
                       uint32_t id);
void tg_scriptids_free (tg_ScriptIds *s);

typedef struct tg_AllocWays {
  tg_Profile profile;   /* owns, as all here */
  tg_CallTree tree;     /* ways */
  uint32_t *ways;       /* by node of the profile's tree */
  uint32_t nways;
  uint8_t *used;        /* by way */
  tg_MakerId *ids;      /* by way; once they are put */
  const tg_ScriptIds *scripts;  /* borrows; set behind reading; or NULL */
} tg_AllocWays;

#define TG_NO_WAY UINT32_MAX

/* Reads all up to 'end' from a reader that nothing has been read from. False
   without memory. In any case tg_allocways_free. */
bool tg_allocways_read (tg_AllocWays *w, tg_Reader *reader, tg_Pos end);

/* The way to a block that is there, by its origin; TG_NO_WAY: it is not
   known. */
uint32_t tg_allocways_use (tg_AllocWays *w, tg_OriginId origin);

/* The way to what runs in the end; 0: nothing that the trace has. */
uint32_t tg_allocways_now (tg_AllocWays *w);

/* Adds them to a graph that has no makers yet. False without memory. */
bool tg_allocways_put (tg_AllocWays *w, tg_Graph *g);

/* Which one a way has become. */
TG_INLINE tg_MakerId tg_allocways_maker (const tg_AllocWays *w, uint32_t way) {
  return way != TG_NO_WAY ? w->ids[way] : 0;
}

void tg_allocways_free (tg_AllocWays *w);       /* zeroed memory is fine */

#endif
