/*
** tracedvalues.h - the arguments of a call in a few bytes, for the Firefox
** Profiler's stack chart.
**
** The layout is that of Firefox's own execution tracing ("value summaries",
** version 2); all numbers little-endian. An entry:
**
**     u16 size       of the entry, these two bytes included
**     u32 count      of arguments
**     value x min(count, 4)
**
** A value begins with a byte: its type, and flags shifted left by four. Tables
** list up to 16 members, their members nothing more. Names of classes and
** properties are apart, as "shapes", which values refer to by number.
**
** Limits and secrets are those of the selection. Plain C, one thread.
*/
#ifndef TG_TRACEDVALUES_H
#define TG_TRACEDVALUES_H

#include "base/buf.h"
#include "base/intern.h"
#include "options/selection.h"
#include "reader/reader.h"
#include "stream/functions.h"
#include "stream/values.h"

#define TG_TRACEDVALUES_VERSION 2u /* u32, before the first entry */
#define TG_TRACEDVALUES_HEAD 2u /* what is referred to is behind an entry's
                                   size */

#define TG_TRACEDVALUES_SHAPES 4096u  /* beyond, tables are like maps */

typedef struct tg_TracedValues {
  const tg_Functions *functions;  /* borrows */
  const tg_Selection *selection;  /* borrows */
  tg_Intern *shapes;        /* borrows; of JSON: ["class","key",...] */
  uint32_t most;            /* shapes that there may be */
  tg_Buf *places_of;        /* borrows; gets a u16 for each number of a shape:
                               where it stands in the entry. May be NULL */
  /* private part: the list being written */
  tg_Slice values;
  uint32_t *places;         /* owns; where descriptors are, as far as... */
  uint32_t count, capacity;
  tg_ValueCursor next;      /* ...here: found when they are asked for */
  tg_Buf shape;             /* owns */
  size_t at;                /* where the entry begins */
  bool failed;              /* sticky: there was no memory for all */
} tg_TracedValues;

/* Shape 0 is what has none of its own: there before the first entry is. False
   without memory. */
bool tg_tracedvalues_begin (tg_TracedValues *v);

/* Appends the entry for the arguments of a call. */
void tg_tracedvalues_arguments (tg_TracedValues *v, tg_Buf *out, const tg_Packet
*p);

void tg_tracedvalues_free (tg_TracedValues *v);

#endif
