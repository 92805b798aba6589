/*
** notes.h - the markers of a track that are of no call: what the program's
** console has said, and remarks about what is missing.
**
** Plain C, one thread. Memory: all of them, with their text.
*/
#ifndef TG_NOTES_H
#define TG_NOTES_H

#include "formats/firefox/marktext.h"

/* What stands in a marker in place of the func that is called. */
#define TG_NOTE_MISSING TG_STACK_NONE         /* a remark */
#define TG_NOTE_MOMENT (TG_STACK_NONE - 1)    /* the console's */
#define TG_NOTE_TIMER (TG_STACK_NONE - 2)     /* the same, with a length */

TG_INLINE bool tg_note_is (uint32_t func) {
  return func >= TG_NOTE_TIMER;
}

typedef struct tg_Notes {
  tg_Mark *list;              /* owns; texts once they are placed */
  uint32_t count, capacity;
  tg_Buf text;                /* owns; of all, one after the other: append the
                                 members of one, then add it */
  size_t taken;               /* of 'text' */
} tg_Notes;

void tg_notes_free (tg_Notes *n);             /* zeroed memory is fine */

/* One whose text has just been appended; false without memory. */
bool tg_notes_add (tg_Notes *n, uint32_t sort, uint64_t from_ns,
                   uint64_t to_ns);

/* A marker of the console's; false without memory. */
bool tg_notes_add_marker (tg_Notes *n, tg_Export *x, const tg_Packet *p);

/* There will be no more: where the texts are. */
void tg_notes_place (tg_Notes *n);

#endif
