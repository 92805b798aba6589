/*
** secrets.h - texts that are to stay hidden, found again in others.
**
** A value that was hidden once, because of its name, goes on under other names:
** as the argument of whoever passes it on, as a result, inside a message. So
** the beginning of each is kept, as much as tells it from others, and whoever
** writes a string asks whether one of them is in it.
**
**     bytes of a secret     it is found
**     0 to 3                not at all: too short to be told from other words
**     4 and 5               as a whole string
**     6 and more            anywhere in a string, by its first 64 bytes
**
** At most so many are kept as the owner says; then those go that were not met
** for the longest time. Plain C, one thread at a time. Without memory for one
** everything is taken for a secret from then on: nothing is told by mistake.
*/
#ifndef TG_SECRETS_H
#define TG_SECRETS_H

#include "base/base.h"

#define TG_SECRET_SHORT 4u      /* bytes of the shortest secret kept */
#define TG_SECRET_INSIDE 6u     /* of the shortest found inside other texts */
#define TG_SECRET_TEXT 64u      /* kept of each secret */

typedef struct tg_Secret tg_Secret;

typedef struct tg_Secrets {
  tg_Secret *list;      /* owns */
  uint32_t *heads;      /* owns; 1 + the first of a chain, by its first bytes */
  uint32_t count, capacity;
  uint32_t most;        /* 0: TG_SECRETS_MOST; set before the first */
  uint32_t shift;       /* of keys: there are 2^(32 - shift) heads */
  uint32_t hand;        /* where the search for one to drop goes on */
  uint64_t added;       /* secrets so far: changes when one is learned */
  uint64_t dropped;     /* of these, secrets that had to go */
  bool failed;          /* memory was refused */
} tg_Secrets;

#define TG_SECRETS_MOST 4096u

/* Zeroed memory is an empty set. 'text' is a secret from now on. */
void tg_secrets_add (tg_Secrets *s, const char *text, size_t size);

/* Whether there is a secret in the visible part of 'text', its first 'kept'
   bytes of 'size'. The rest may be looked at as well. */
bool tg_secrets_find (tg_Secrets *s, const char *text, size_t size,
                      size_t kept);

/* Puts stars over the secrets inside of 'text'; how many there were. */
uint64_t tg_secrets_mask (tg_Secrets *s, char *text, size_t size);

TG_INLINE bool tg_secrets_any (const tg_Secrets *s) {
  return s->count > 0 || s->failed;
}

void tg_secrets_free (tg_Secrets *s);

#endif
