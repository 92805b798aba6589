/*
** nativeallocations.h - the table "nativeAllocations" of a processed profile's
** thread: what was allocated and freed in which stack, in bytes. The viewer has
** a choice in its call tree for it: what was allocated, what was given back.
**
** Of an ALLOCATIONS (event.h) there are two rows at most: bytes allocated have
** a weight above 0, bytes freed one below 0. Rows go through the tracks' spool,
** 24 bytes each. processed.c fills the table, thread.c has it written; plain C,
** one thread.
*/
#ifndef TG_NATIVEALLOCATIONS_H
#define TG_NATIVEALLOCATIONS_H

#include "formats/firefox/document.h"
#include "stream/eventreader.h"

/* In 'stack' at this moment. Memory that is refused shows in the spool. */
void tg_nativeallocations_put (tg_Spool *spool, tg_Column *column,
                               const tg_Allocations *a, uint64_t ns,
                               uint32_t stack);

/* The table with its key, and a comma before it; nothing if it is empty. */
void tg_nativeallocations_write (tg_Document *w, const tg_Column *column);

#endif
