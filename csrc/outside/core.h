/*
** core.h - a core file as a memory: what gcore and the kernel write.
**
** What a core leaves out, the code and constants of programs and libraries, is
** read from these files: at their paths below 'sysroot', and 'exe' in place of
** the program. A file is taken only if its first page is the one in the core
** (where the build id is), or the core does not have that page. Compressed
** ones are unpacked by the tools that made them. Plain C; ELF of 64 bits, of
** this machine's kind.
*/
#ifndef TG_OUTSIDE_CORE_H
#define TG_OUTSIDE_CORE_H

#include "base/buf.h"
#include "outside/memory.h"
#include "outside/registers.h"

typedef struct tg_Segment {
  uint64_t start, end;  /* addresses; first */
  uint64_t offset;      /* of its bytes in the core */
  uint64_t size;        /* bytes that are there */
} tg_Segment;

typedef struct tg_CoreFile {
  const char *path;     /* borrows from a map */
  int fd;               /* -1: not there, or another one */
} tg_CoreFile;

typedef struct tg_Core {
  const uint8_t *data;  /* owns; mapped */
  size_t size;
  tg_Segment *segments; /* owns; sorted */
  uint32_t nsegments, segments_capacity;
  tg_Registers *threads;  /* owns; the one that had the fault is first */
  uint32_t nthreads, threads_capacity;
  tg_CoreFile *files;   /* owns */
  uint32_t nfiles, files_capacity;
  uint64_t headers, nheaders;   /* the program's, in memory; 0: not known */
  int pid;
  int signal;           /* that ended it; 0: none */
  char path[4200], exe[4200], sysroot[4200];
} tg_Core;

/* Opens it as the memory '*m'; false, and 'words' says why. 'exe' and 'sysroot'
   may be NULL. Whatever is answered, tg_core_close. */
bool tg_core_open (tg_Core *c, tg_Memory *m, const char *path,
                   const char *exe, const char *sysroot, tg_Buf *words);

void tg_core_close (tg_Core *c);

/* The registers of the thread whose C stack an address is on; NULL: none. */
const tg_Registers *tg_core_thread (const tg_Core *c, const tg_Maps *maps,
                                    uint64_t at);

#endif
