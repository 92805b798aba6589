/*
** proof.h - whether what was found is what the layout says: before anything of
** a state is told, what must be so in every Lua of that release is compared.
**
** A release says what it is in its constants, and a patched one says the same.
** So of each kind of object that is read later one is looked at whose content
** is known: names of metamethods for strings, the registry for tables, math.pi
** for numbers, files for userdata, the functions and frames on stacks for
** these. Plain C.
*/
#ifndef TG_OUTSIDE_PROOF_H
#define TG_OUTSIDE_PROOF_H

#include "outside/finder.h"

/* NULL: all is as it must be; else what is not. A process that runs may look
   wrong at one moment: it is looked at more than once. */
const char *tg_outside_objection (tg_Sight *s, const tg_Finds *found);

/* The part of it that holds for any Lua: tables, numbers, files. */
const char *tg_outside_objection_to_values (tg_Sight *s, uint64_t shared);

#endif
