/*
** ownmark.h - the states that tracegrip makes for itself in a program, told by
** what it has put into them: nobody wants to look into these.
**
** The registry has a light userdata for a key, which is the address of a text
** in tracegrip's library: who looks from outside follows it and reads the text,
** so no symbol is needed, and the library may be another one than the looker's.
** No program has such a key by chance, nor is any other sign taken for it.
** Plain C.
*/
#ifndef TG_OWNMARK_H
#define TG_OWNMARK_H

#include "outside/sight.h"

/* The key, whose value is true. */
extern const char tg_ownmark[];

/* Whether the state with that global_State has it. Where memory is torn or not
   there, it has not. */
bool tg_ownmark_is_in (tg_Sight *s, uint64_t shared);

#endif
