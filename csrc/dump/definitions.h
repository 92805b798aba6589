/*
** definitions.h - what is told of functions of another process: name, place,
** parameters, as traces tell it (state/funcname.h has the rule).
**
** One definition for each prototype and C function, made at first sight; a
** Lua function's declared name comes from its source, if that can be read:
** below the target's root, or in its memory. Who looks for long asks for what
** is known of a frame (tg_described_known): an address may have become another
** function's. Plain C.
*/
#ifndef TG_DUMP_DEFINITIONS_H
#define TG_DUMP_DEFINITIONS_H

#include "base/intmap.h"
#include "dump/loadednames.h"
#include "outside/target.h"
#include "outside/walk.h"
#include "stream/functions.h"
#include "text/declarations.h"

/* What a prototype's address stood for when it was described. */
typedef struct tg_DescribedProto {
  uint64_t source;
  uint32_t line;
} tg_DescribedProto;

typedef struct tg_Described {
  tg_Target *target;    /* borrows */
  tg_Functions *functions;  /* borrows; or */
  tg_Functions *own;        /* owns: the same, where nobody else has them */
  tg_IntMap ids;        /* owns; by prototype, or by function */
  tg_DescribedProto *protos;  /* owns; by id */
  uint32_t protos_capacity;
  tg_LoadedNames loaded;  /* owns */
  tg_IntMap sources;    /* owns; by source's address, places in 'files' */
  tg_Declarations *files; /* owns */
  uint32_t nfiles, files_capacity;
  char directory[4200]; /* the target's working directory, or "" */
  tg_Buf text;          /* owns; scratch */
} tg_Described;

/* 'functions': where definitions go; NULL: to a table of its own. False without
   memory. */
bool tg_described_open (tg_Described *d, tg_Target *t,
                        tg_Functions *functions);
void tg_described_close (tg_Described *d);

/* The functions that package.loaded leads to are looked for once more: there
   may be new ones, and new states. */
void tg_described_reload (tg_Described *d);

/* The definition of a function's value with that code; 'called' is its caller's
   name for it, or NULL. 0: it is none, or no memory. */
tg_FunctionId tg_described_of (tg_Described *d, tg_SeenValue function,
                                 const char *called);

/* The definition of a prototype, whose function nobody has at hand. 0: no
   memory. */
tg_FunctionId tg_described_proto (tg_Described *d, const tg_SeenProto *p);

/* The definition that there is of a frame's function already; 0: none. */
tg_FunctionId tg_described_known (tg_Described *d, const tg_SeenFrame *f);

#endif
