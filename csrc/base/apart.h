/*
** apart.h - memory for a child that was made by clone alone, of a process whose
** other threads may have held the C library's locks at that moment: nothing of
** malloc may be touched there.
**
** From the system, by pages: large blocks each for itself, small ones in a row,
** which are not given back. For a child that does one thing and exits. One
** thread.
*/
#ifndef TG_APART_H
#define TG_APART_H

#include "base/base.h"

extern bool tg_apart;   /* alloc.c allocates here */

/* From now on, in this process. */
void tg_apart_begin (void);

void *tg_apart_malloc (size_t size);
void *tg_apart_realloc (void *p, size_t size);
void tg_apart_free (void *p);

#endif
