/*
** definitions.h - what is told of functions of another process: name, place,
** parameters, as traces tell it (state/funcname.h has the rule).
**
** One definition for each prototype and C function, made at first sight; a
** Lua function's declared name comes from its source, if that can be read:
** below the target's root, or in its memory. Plain C.
*/
#ifndef TG_DUMP_DEFINITIONS_H
#define TG_DUMP_DEFINITIONS_H

#include "base/intmap.h"
#include "dump/loadednames.h"
#include "outside/proto.h"
#include "outside/target.h"
#include "stream/functions.h"
#include "text/declarations.h"

typedef struct tg_Described {
  tg_Target *target;    /* borrows */
  tg_Functions *functions;  /* owns */
  tg_IntMap ids;        /* owns; by prototype, or by function */
  tg_LoadedNames loaded;  /* owns */
  tg_IntMap sources;    /* owns; by source's address, places in 'files' */
  tg_Declarations *files; /* owns */
  uint32_t nfiles, files_capacity;
  char directory[4200]; /* the target's working directory, or "" */
  tg_Buf text;          /* owns; scratch */
} tg_Described;

/* False without memory. */
bool tg_described_open (tg_Described *d, tg_Target *t);
void tg_described_close (tg_Described *d);

/* The definition of a function's value with that code; 'called' is its caller's
   name for it, or NULL. 0: it is none, or no memory. */
tg_FunctionId tg_described_of (tg_Described *d, tg_SeenValue function,
                                 const char *called);

#endif
