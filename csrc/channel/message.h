/*
** message.h - what a debugger and a traced state write to each other: texts
** whose meaning neither the channel nor the server knows (inspect/inspector.h
** has them read).
**
** Plain lists; whose turn it is, and the mutex, are the channel's.
*/
#ifndef TG_MESSAGE_H
#define TG_MESSAGE_H

#include "base/base.h"

typedef struct tg_Message {
  struct tg_Message *next;
  uint64_t client;        /* which connection it came by, or is to go by */
  bool gone;              /* there is no text: that connection has ended */
  bool paced;             /* there is none: it is behind, or no more */
  bool behind;            /* of such a one: much is waiting to be read */
  bool ends;              /* code that a debugger has the program run is to end
                             when this comes */
  size_t size;            /* bytes */
  char text[];
} tg_Message;

typedef struct tg_Messages {
  tg_Message *first;       /* owns */
  tg_Message *last;
  size_t bytes;           /* in all of them */
  size_t ends;            /* how many of them end what a debugger has run */
} tg_Messages;

/* 'text' NULL: the connection has ended. NULL without memory. */
tg_Message *tg_message_new (uint64_t client, const char *text, size_t size);
tg_Message *tg_message_pace (uint64_t client, bool behind);
void tg_message_free (tg_Message *x);         /* NULL is fine */

void tg_messages_put (tg_Messages *list, tg_Message *x);
void tg_messages_return (tg_Messages *list, tg_Message *x);  /* as the oldest */
tg_Message *tg_messages_take (tg_Messages *list);  /* NULL: there is none */
void tg_messages_free (tg_Messages *list);

#endif
