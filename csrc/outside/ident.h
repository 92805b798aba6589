/*
** ident.h - which Lua a process has in it: what the interpreters say of
** themselves in their constants (lua_ident of lapi.c).
**
** Looked for in the files that the process has mapped, as it sees them; where a
** file has gone or is another one by now, in memory. Who looks at many
** processes keeps what files have said: most have the same ones, and a
** browser's has hundreds of megabytes. Plain C.
*/
#ifndef TG_IDENT_H
#define TG_IDENT_H

#include "outside/memory.h"

#define TG_IDENTS 4u            /* told of one process */
#define TG_IDENT_JIT (-1)       /* LuaJIT, of any release */

typedef struct tg_Idents {
  int list[TG_IDENTS];  /* 50404: Lua 5.4.4 */
  uint32_t count;
  char jit[24];         /* what LuaJIT calls itself */
} tg_Idents;

/* A file, and when its contents have changed last. */
typedef struct tg_IdentFile {
  uint64_t device, inode, size;
  int64_t seconds, nanoseconds;
  tg_Idents says;
} tg_IdentFile;

/* What files have said. Zeroed memory is an empty one; where it is full the
   oldest answer goes. */
#define TG_IDENT_FILES 256u
typedef struct tg_IdentMemo {
  tg_IdentFile list[TG_IDENT_FILES];
  uint64_t count;       /* of answers there have been */
} tg_IdentMemo;

/* Whether there is any. 'root' is put before paths: "/proc/PID/root", or where
   a core's files are. 'memo' may be NULL. */
bool tg_ident_find (tg_Memory *m, const char *root, tg_IdentMemo *memo,
                    tg_Idents *found);

/* The release in a text that begins with "5.4.4"; 0: none. */
int tg_ident_release (const char *text, size_t size);

#endif
