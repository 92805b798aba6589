/*
** listings.h - the text of the sources that a stream's functions are from.
**
** A recording may have them; opening it notes where (they can be long). While
** the program runs, a string chunk's text is in its definition, and a file is
** read if it has not been changed since tracing began. Never a file that only a
** recording names: it may come from anywhere, and say any name.
**
** Plain C, one thread.
*/
#ifndef TG_LISTINGS_H
#define TG_LISTINGS_H

#include "base/base.h"
#include "base/buf.h"

typedef struct tg_ListingPlace {
  char *url;              /* owns */
  uint64_t place;         /* of the text in the file */
  uint32_t size;
} tg_ListingPlace;

typedef struct tg_Listings {
  int fd;                 /* owns */
  tg_ListingPlace *list;   /* owns */
  uint32_t count, capacity;
} tg_Listings;

/* Notes where in the file 'fd' a text is, in '*s', which is made if it is NULL.
   False without memory or descriptors. */
bool tg_listings_note (tg_Listings **s, int fd, tg_Slice url, uint64_t place,
                      size_t size);

void tg_listings_free (tg_Listings *s);         /* NULL is fine */

/* Adds the text of the source that 'url' names to 'text'; false if it cannot be
   had. 'stream' is a tg_Stream. */
bool tg_listings_text (void *stream, const char *url, tg_Buf *text);

#endif
