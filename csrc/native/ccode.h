/*
** ccode.h - whose code an address in another process is: the C function's
** beginning, its name and file, and whether it is the interpreter's own.
**
** Names are those of symbol tables (the file's, or of its debug information,
** if that is installed). Where a function begins, tables of the unwinder tell
** also of stripped files. Of the file that has the interpreter in it
** (lua_newstate is there) these functions are the interpreter's: those named as
** it names its own, those without a name, and static ones that come from its
** sources. Lua's libraries are not: what string.gsub calls is told. Answers are
** kept. Plain C, one thread.
*/
#ifndef TG_CCODE_H
#define TG_CCODE_H

#include "base/intmap.h"
#include "native/libdw.h"
#include "outside/memory.h"

typedef struct tg_CCode {
  uint64_t start;       /* of the function; 0: not known */
  char *title;          /* owns; "deflate (libz.so.1)", "libz.so.1+0x12" */
  bool interpreter;     /* it is Lua's own */
  bool lua;             /* Lua calls it: said by whoever knows */
  uint32_t function;    /* for whoever has numbers for functions; 0: none yet */
} tg_CCode;

/* Code from an address to another. */
typedef struct tg_CRange {
  uint64_t from, to;
} tg_CRange;

typedef struct tg_CCodes {
  const tg_Libdw *lib;
  Dwfl *dwfl;           /* borrows */
  tg_Memory *memory;    /* borrows */
  Dwfl_Module *host;    /* the file that has the interpreter; NULL: not known */
  tg_CRange *core;      /* owns; its static functions, */
  uint32_t ncore, core_capacity;        /* in no order */
  tg_CCode *list;       /* owns */
  uint32_t count, capacity;
  tg_IntMap places;     /* owns; by address */
} tg_CCodes;

/* Of the files that 'dwfl' has; forgets what was known. */
void tg_ccodes_open (tg_CCodes *c, const tg_Libdw *lib, Dwfl *dwfl,
                     tg_Memory *memory);

/* A module that has just been reported: its symbols are read, which takes some
   milliseconds, and it may be the interpreter's. */
void tg_ccodes_meet (tg_CCodes *c, Dwfl_Module *module);

/* The place in 'list' of the code at an address; TG_INTMAP_NONE: no room. */
uint32_t tg_ccodes_at (tg_CCodes *c, uint64_t pc);

void tg_ccodes_close (tg_CCodes *c);

#endif
