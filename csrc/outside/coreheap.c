/* coreheap.c - see coreheap.h. */
#include "outside/coreheap.h"

#include <elf.h>

#define HEADERS 64u             /* of a program, at most */
#define GAP (UINT64_C(1) << 30) /* between it and the heap (32 MiB up to Linux
                                   6.9 on x86-64) */

static uint64_t page_of (uint64_t at) {
  return at & ~(uint64_t)(TG_PAGE - 1);
}

/* Behind the program's last byte; 0: not known. Its first part begins with its
   headers, so how far it was moved is known by them. */
static uint64_t end_of (tg_Memory *m, uint64_t at, uint64_t n) {
  uint64_t first = UINT64_MAX, last = 0;
  for (uint64_t i = 0; i < n && i < HEADERS; i++) {
    Elf64_Phdr h;
    if (!tg_memory_get(m, at + i * sizeof h, &h, sizeof h))
      return 0;
    if (h.p_type != PT_LOAD)
      continue;
    uint64_t end = h.p_vaddr + h.p_memsz;
    first = (h.p_vaddr < first) ? h.p_vaddr : first;
    last = (end > last) ? end : last;
  }
  return (last > 0) ? last + (page_of(at) - page_of(first)) : 0;
}

static bool may_be_heap (const tg_Map *map) {
  return map->path == NULL && (map->flags & TG_MAP_READ) != 0
         && (map->flags & TG_MAP_WRITE) != 0;
}

/* Where nothing is by chance, zeroed data and heap are one map. */
void tg_coreheap_mark (tg_Memory *m, uint64_t at, uint64_t n) {
  uint64_t end = page_of(end_of(m, at, n) + TG_PAGE - 1);
  for (uint32_t i = 0; i < m->maps.count && end != 0; i++) {
    tg_Map *map = &m->maps.list[i];
    if (map->end <= end || !may_be_heap(map))
      continue;
    if (map->start <= end + GAP)
      map->flags |= TG_MAP_HEAP;
    return;
  }
}
