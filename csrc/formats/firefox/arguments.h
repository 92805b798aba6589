/*
** arguments.h - the arguments of calls (tracedvalues.h), made ahead.
**
** What an entry is depends on nothing but its packet, except for the numbers of
** shapes, which a track gives in order of appearance. So the work on a batch
** makes all its entries, with numbers of the batch's own, and notes where they
** are; when a call is met its entry is taken, and the numbers are put right.
*/
#ifndef TG_ARGUMENTS_H
#define TG_ARGUMENTS_H

#include "export/export.h"
#include "formats/firefox/tracedvalues.h"

tg_BatchWork tg_arguments_work;

/* Appends the entry of 'p', the packet that was given last, which has
   arguments. Shapes are those of 'v', which makes the entry itself if they are
   about to be too many. False without memory. */
bool tg_arguments_add (const tg_Export *x, tg_TracedValues *v,
                       const tg_Packet *p, tg_Buf *out);

#endif
