/*
** identities.h - a number for each table that a Lua state has, as long as it
** lives: the same table has the same one, and no other table ever gets it.
**
** A number is given when somebody asks for it first, and kept by the table's
** address. Another table may come to that address when the first one is gone;
** so what goes is seen, as a meter sees it (allocmeter.h):
**
**     Lua ─> tg_identities_call ─> the allocator that was there before
**                  │
**                  └─> a block that is freed has no number any more
**
** The call runs wherever Lua frees, looks at no Lua state and cannot fail. It
** is never freed itself, since whoever asks a state for its allocator may keep
** the answer; and neither does the memory of its numbers outlive their use.
**
** Used by the session that has installed it (session/identity.h), on the thread
** that runs the state.
*/
#ifndef TG_IDENTITIES_H
#define TG_IDENTITIES_H

#include "base/addresstable.h"
#include "base/allocmeter.h"

typedef struct tg_Identities {
  tg_Allocator *allocator;  /* what was there before... */
  void *ud;                 /* ...and what it is called with */
  tg_AddressTable known;    /* owns; table -> number */
  uint32_t last;            /* number given */
  struct tg_Identities *next; /* all of them: so a leak checker finds them */
} tg_Identities;

/* Before this allocator, without any numbers; NULL without memory. */
tg_Identities *tg_identities_new (tg_Allocator *allocator, void *ud);

/* The allocator that a state gets; 'ud' is the tg_Identities. */
tg_Allocator tg_identities_call;

/* The number of a table; 0: there is no memory for one, or none left. */
uint32_t tg_identities_of (tg_Identities *all, const void *table);

/* No table has one any more; numbers that were given are not given again. */
void tg_identities_forget (tg_Identities *all);

#endif
