/*
** program.h - who was recorded, shared: by the traces of one recording, each of
** which may be the last that is asked.
**
** A program has pins, all of them of one thread; who lets go of the last one
** frees it. Plain C.
*/
#ifndef TG_PROGRAM_H
#define TG_PROGRAM_H

#include "recording/entries.h"

/* One with one pin, the caller's: empty, or a copy of 'from' if that is not
   NULL. NULL without memory. */
tg_Program *tg_program_new (const tg_Program *from);

tg_Program *tg_program_pin (tg_Program *p);   /* returns 'p' */
void tg_program_unpin (tg_Program *p);        /* NULL is fine */

#endif
