/*
** letter.h - what a debugger and a traced state write to each other: texts
** whose meaning neither the channel nor the server knows (inspect/inspector.h
** has them read).
**
** Plain lists; whose turn it is, and the mutex, are the channel's.
*/
#ifndef TG_LETTER_H
#define TG_LETTER_H

#include "base/base.h"

typedef struct tg_Letter {
  struct tg_Letter *next;
  uint64_t client;        /* which connection it came by, or is to go by */
  bool gone;              /* there is no text: that connection has ended */
  bool paced;             /* there is none: it is behind, or no more */
  bool behind;            /* of such a one: much is waiting to be read */
  bool ends;              /* code that a debugger has the program run is to end
                             when this comes */
  size_t size;            /* bytes */
  char text[];
} tg_Letter;

typedef struct tg_Letters {
  tg_Letter *first;       /* owns */
  tg_Letter *last;
  size_t bytes;           /* in all of them */
  size_t ends;            /* how many of them end what a debugger has run */
} tg_Letters;

/* 'text' NULL: the connection has ended. NULL without memory. */
tg_Letter *tg_letter_new (uint64_t client, const char *text, size_t size);
tg_Letter *tg_letter_pace (uint64_t client, bool behind);
void tg_letter_free (tg_Letter *x);         /* NULL is fine */

void tg_letters_put (tg_Letters *list, tg_Letter *x);
void tg_letters_return (tg_Letters *list, tg_Letter *x);  /* as the oldest */
tg_Letter *tg_letters_take (tg_Letters *list);  /* NULL: there is none */
void tg_letters_free (tg_Letters *list);

#endif
