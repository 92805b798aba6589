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

/* What it says; only one of them has a text. */
typedef enum tg_MessageKind {
  TG_MESSAGE_TEXT,
  TG_MESSAGE_GONE,        /* the connection has ended */
  TG_MESSAGE_BEHIND,      /* much is waiting to be read by the other side... */
  TG_MESSAGE_PROMPT       /* ...or is not any more */
} tg_MessageKind;

typedef struct tg_Message {
  struct tg_Message *next;
  tg_MessageKind kind;
  uint64_t client;        /* which connection it came by, or is to go by */
  bool ends;              /* code that a debugger has the program run is to end
                             when this comes */
  size_t size;            /* bytes */
  char text[];
} tg_Message;

typedef struct tg_Messages {
  tg_Message *first;      /* owns */
  tg_Message *last;
  size_t bytes;           /* in all of them */
  size_t ends;            /* how many of them end what a debugger has run */
} tg_Messages;

/* 'text' NULL: the connection has ended. NULL without memory. */
tg_Message *tg_message_new (uint64_t client, const char *text, size_t size);
tg_Message *tg_message_pace (uint64_t client, bool behind);
void tg_message_free (tg_Message *x);       /* NULL is fine */

void tg_messages_put (tg_Messages *list, tg_Message *x);
void tg_messages_return (tg_Messages *list, tg_Message *x); /* as the oldest */
tg_Message *tg_messages_take (tg_Messages *list); /* NULL: there is none */
void tg_messages_free (tg_Messages *list);

#endif
