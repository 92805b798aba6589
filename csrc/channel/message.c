/*
** message.c - lists of texts between a debugger and a traced state. No threads
** of its own: both call under the channel's mutex. Without memory there is no
** message, which is for the sender to tell.
*/
#include <string.h>

#include "channel/message.h"
#include "base/alloc.h"

tg_Message *tg_message_new (uint64_t client, const char *text, size_t size) {
  if (size > SIZE_MAX - sizeof(tg_Message))
    return NULL;
  tg_Message *x = tg_calloc(1, sizeof *x + size);
  if (x == NULL)
    return NULL;
  x->client = client;
  x->kind = (text != NULL) ? TG_MESSAGE_TEXT : TG_MESSAGE_GONE;
  x->ends = text == NULL;
  x->size = size;
  if (text != NULL)
    memcpy(x->text, text, size);
  return x;
}

tg_Message *tg_message_pace (uint64_t client, bool behind) {
  tg_Message *x = tg_message_new(client, NULL, 0);
  if (x == NULL)
    return NULL;
  x->kind = behind ? TG_MESSAGE_BEHIND : TG_MESSAGE_PROMPT;
  x->ends = false;
  return x;
}

void tg_message_free (tg_Message *x) {
  tg_free(x);
}

void tg_messages_put (tg_Messages *list, tg_Message *x) {
  tg_assert((list->first == NULL) == (list->last == NULL));
  x->next = NULL;
  if (list->last != NULL)
    list->last->next = x;
  else
    list->first = x;
  list->last = x;
  list->bytes += x->size;
  list->ends += x->ends ? 1 : 0;
}

void tg_messages_return (tg_Messages *list, tg_Message *x) {
  x->next = list->first;
  list->first = x;
  if (list->last == NULL)
    list->last = x;
  list->bytes += x->size;
  list->ends += x->ends ? 1 : 0;
}

tg_Message *tg_messages_take (tg_Messages *list) {
  tg_Message *x = list->first;
  if (x == NULL)
    return NULL;
  tg_assert(list->bytes >= x->size);
  list->first = x->next;
  if (list->first == NULL)
    list->last = NULL;
  list->bytes -= x->size;
  list->ends -= x->ends ? 1 : 0;
  return x;
}

void tg_messages_free (tg_Messages *list) {
  tg_Message *x;
  while ((x = tg_messages_take(list)) != NULL)
    tg_message_free(x);
}
