/*
** table.h - what a table of a short list holds. The same bytes as by rules.h.
*/
#ifndef TG_CAPTURE_TABLE_H
#define TG_CAPTURE_TABLE_H

#include "capture/met.h"

/* The properties of 'table', whose descriptor's head is at 'head', to 'p', and
   their end; the head becomes what they and 'flags' say. NULL if there is more
   to it than a few properties in an order that is seen at once, or no room;
   then nothing has been done but objects met. */
uint8_t *tg_few_put_table (tg_Few *f, const void *table, uint32_t flags,
                           uint8_t *head, uint8_t *p);

#endif
