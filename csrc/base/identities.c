/*
** identities.c - see identities.h. 'call' runs in place of Lua's allocator,
** 'of' in the hook; nothing here touches errno.
*/
#include "base/identities.h"

#include <stdatomic.h>

#include "base/alloc.h"

static tg_Identities *_Atomic all_of_them;

tg_Identities *tg_identities_new (tg_Allocator *allocator, void *ud) {
  tg_Identities *all = tg_calloc(1, sizeof *all);
  if (all == NULL)
    return NULL;
  all->allocator = allocator;
  all->ud = ud;
  all->next = atomic_load(&all_of_them);
  while (!atomic_compare_exchange_weak(&all_of_them, &all->next, all))
    continue;
  return all;
}

/* A table never moves: what is not freed keeps its address. */
void *tg_identities_call (void *ud, void *block, size_t osize, size_t nsize) {
  tg_Identities *all = ud;
  if (nsize == 0 && block != NULL) {
    tg_AddressEntry *gone = tg_addresstable_find(&all->known, block);
    if (gone != NULL)
      tg_addresstable_drop(&all->known, gone);
  }
  return all->allocator(all->ud, block, osize, nsize);
}

uint32_t tg_identities_of (tg_Identities *all, const void *table) {
  tg_AddressEntry *e = tg_addresstable_reach(&all->known, table);
  if (e == NULL || (e->address == 0 && all->last == UINT32_MAX))
    return 0;
  if (e->address == 0)
    tg_addresstable_fill(&all->known, e, (tg_AddressEntry){
      .address = (uintptr_t)table, .origin = ++all->last
    });
  return e->origin;
}

void tg_identities_forget (tg_Identities *all) {
  tg_addresstable_free(&all->known);
}
