/*
** mend.h - what was read of a process that runs on, where its frames and slots
** are of two moments.
**
** Frames are read at one moment, in a row, and each frame of a Lua function
** says which instruction is next: so which function it is of, whatever has come
** into its slot since. Of a C function the slot alone tells; where that has
** changed, which one the caller calls from this instruction.
**
**     frame of g, slot of h       g: it owns the instruction
**     frame of C, slot of h       what the caller is known to call from there
**     main > f > g, f is open     f is known to call g, or else: once more
**
** So a short function is as likely to be seen as a long one is in as much time,
** and a stack is still one that can be. Plain C, one thread.
*/
#ifndef TG_SPY_MEND_H
#define TG_SPY_MEND_H

#include "spy/leaf.h"

/* From where a function seems to be called that was never seen for long enough
   to be certain: the one of all places that is seen most. */
typedef struct tg_SpyGuess {
  uint64_t site;        /* an instruction's address */
  uint32_t lead;        /* of that one above all others, */
  uint32_t seen;        /* of so many times */
} tg_SpyGuess;

/* C functions, by the instruction that calls them, and guesses. */
typedef struct tg_SpySites {
  tg_SeenFrame *list;   /* owns; as they were seen */
  uint32_t count, capacity;
  tg_IntMap places;     /* owns; in the list, by an instruction's address */
  tg_SpyGuess *guesses; /* owns */
  uint32_t nguesses, guesses_capacity;
  tg_IntMap guessed;    /* owns; places of guesses, by function */
} tg_SpySites;

/* All frames of the stack have their functions, and are called by those below.
   False: that is not known. '*news' becomes true if one has not been known to
   call the other. */
bool tg_spymend (tg_SpySites *t, tg_SpyLeaves *l, tg_Sight *s, tg_SpyStack *k,
                 bool *news);

void tg_spysites_free (tg_SpySites *t);

#endif
