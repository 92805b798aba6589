/*
** maps.h - what a process has in its memory: which addresses, of which files.
**
** From /proc/PID/maps, or from a core's notes. Sorted by address. Plain C.
*/
#ifndef TG_MAPS_H
#define TG_MAPS_H

#include "base/base.h"

enum {
  TG_MAP_READ = 1u << 0,
  TG_MAP_WRITE = 1u << 1,
  TG_MAP_RUN = 1u << 2,
  TG_MAP_SHARED = 1u << 3,
  TG_MAP_HEAP = 1u << 4,
  TG_MAP_STACK = 1u << 5,       /* of the first thread */
  TG_MAP_DEVICE = 1u << 6       /* to read it may do something */
};

typedef struct tg_Map {
  uint64_t start, end;  /* first */
  uint64_t offset;      /* in the file */
  uint64_t inode;       /* 0: no file */
  uint64_t device;
  uint32_t flags;       /* TG_MAP_* */
  char *path;           /* owns; NULL: no file */
} tg_Map;

typedef struct tg_Maps {
  tg_Map *list;         /* owns */
  uint32_t count, capacity;
} tg_Maps;

/* Adds one; its path is copied. False without memory. */
bool tg_maps_add (tg_Maps *maps, const tg_Map *map, const char *path);

/* Those of a process; false with errno. */
bool tg_maps_read (tg_Maps *maps, int pid);

/* Of a sorted list, whose entries are 'size' bytes each and begin with two
   uint64_t, a first address and one behind the last, the one that an address is
   in, or NULL. */
const void *tg_maps_search (const void *list, uint32_t count, size_t size,
                            uint64_t at);

/* The one that an address is in, or NULL. */
const tg_Map *tg_maps_find (const tg_Maps *maps, uint64_t at);

void tg_maps_free (tg_Maps *maps);

#endif
