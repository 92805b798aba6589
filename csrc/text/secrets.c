/*
** secrets.c - see secrets.h. Called in the hook, by readers and by 'scrub'.
**
** Secrets are found by their first four bytes: a text is looked at from each of
** its bytes on, and at nearly all of them one look into a table of heads says
** that no secret begins so. Those with the same beginning, as tokens of one
** kind have it, stand in a chain and are told apart by their last bytes first.
*/
#include "text/secrets.h"

#include <string.h>

#include "base/alloc.h"

#define HEADS_BITS 13u          /* heads for TG_SECRETS_MOST... */
#define HEADS_BITS_MOST 20u     /* ...and for any number */
#define FIRST 64u               /* secrets that there is room for at first */

struct tg_Secret {
  uint32_t next;                /* 1 + its place; 0: the last of the chain */
  uint8_t size;                 /* bytes of 'text' */
  bool whole;                   /* is not looked for inside of others */
  bool met;                     /* since the hand was here last */
  char text[TG_SECRET_TEXT];
};

_Static_assert(TG_SECRET_SHORT >= 4, "a secret has the bytes of its key");

static uint32_t key_of (const tg_Secrets *s, const char *text) {
  uint32_t bytes;
  memcpy(&bytes, text, sizeof bytes);
  return (bytes * UINT32_C(2654435761)) >> s->shift;
}

/* Where a chain says which secret is its first, or the next. */
static uint32_t *head (const tg_Secrets *s, const char *text) {
  return &s->heads[key_of(s, text)];
}

/* Whether secret 'k' begins at 'text', where 'left' bytes are; 'start': of the
   whole string. */
static bool begins (const tg_Secret *k, const char *text, size_t left,
                    bool start) {
  size_t tail = k->size - TG_SECRET_SHORT;
  if (k->size > left || (k->whole && (!start || left != k->size)))
    return false;
  return memcmp(k->text + tail, text + tail, TG_SECRET_SHORT) == 0
         && memcmp(k->text, text, k->size) == 0;
}

/* The secret that begins there; NULL if none does. */
static tg_Secret *find_at (const tg_Secrets *s, const char *text, size_t left,
                           bool start) {
  uint32_t i = *head(s, text);
  while (i != 0 && !begins(&s->list[i - 1], text, left, start))
    i = s->list[i - 1].next;
  return i != 0 ? &s->list[i - 1] : NULL;
}

bool tg_secrets_find (tg_Secrets *s, const char *text, size_t size,
                      size_t kept) {
  if (s->count == 0 || size < TG_SECRET_SHORT)
    return s->failed && size > 0;
  for (size_t i = 0; i < kept && i + TG_SECRET_SHORT <= size; i++) {
    tg_Secret *k = find_at(s, text + i, size - i, i == 0);
    if (k != NULL) {
      k->met = true;
      return true;
    }
  }
  return s->failed;
}

uint64_t tg_secrets_mask (tg_Secrets *s, char *text, size_t size) {
  uint64_t found = 0;
  for (size_t i = 0; s->count > 0 && i + TG_SECRET_SHORT <= size; i++) {
    const tg_Secret *k = find_at(s, text + i, size - i, false);
    if (k == NULL)
      continue;
    memset(text + i, '*', k->size);
    i += k->size - 1u;
    found++;
  }
  return found;
}

/* ---- keeping ---- */

/* As many heads as tell a set of 'most' apart. */
static bool make_heads (tg_Secrets *s) {
  uint32_t bits = HEADS_BITS;
  while (bits < HEADS_BITS_MOST && s->most > TG_SECRETS_MOST
         && (UINT32_C(1) << bits) < s->most)
    bits++;
  s->shift = 32 - bits;
  s->heads = tg_calloc((size_t)1 << bits, sizeof *s->heads);
  return s->heads != NULL;
}

static bool grow (tg_Secrets *s) {
  uint32_t most = s->most != 0 ? s->most : TG_SECRETS_MOST;
  uint32_t more = s->capacity != 0 ? 2 * s->capacity : FIRST;
  if (more > most)
    more = most;
  if (s->heads == NULL && !make_heads(s))
    return false;
  tg_Secret *list = tg_realloc(s->list, more * sizeof *list);
  if (list == NULL)
    return false;
  s->list = list;
  s->capacity = more;
  return true;
}

static void unlink_secret (tg_Secrets *s, uint32_t place) {
  uint32_t *at = head(s, s->list[place].text);
  while (*at != place + 1)
    at = &s->list[*at - 1].next;
  *at = s->list[place].next;
}

/* The place of one that was not met since the hand came by last. */
static uint32_t make_room (tg_Secrets *s) {
  while (s->list[s->hand].met) {
    s->list[s->hand].met = false;
    s->hand = (s->hand + 1) % s->count;
  }
  uint32_t place = s->hand;
  s->hand = (s->hand + 1) % s->count;
  unlink_secret(s, place);
  s->dropped++;
  return place;
}

/* The place for one more; UINT32_MAX without memory. */
static uint32_t place_for (tg_Secrets *s) {
  if (s->count < s->capacity)
    return s->count++;
  uint32_t most = s->most != 0 ? s->most : TG_SECRETS_MOST;
  if (s->capacity == most)
    return make_room(s);
  return grow(s) ? s->count++ : UINT32_MAX;
}

/* Whether this very secret is kept already. */
static bool is_kept (tg_Secrets *s, const char *text, size_t size, bool whole) {
  if (s->count == 0)
    return false;
  for (uint32_t i = *head(s, text); i != 0; i = s->list[i - 1].next) {
    tg_Secret *k = &s->list[i - 1];
    if (k->size == size && k->whole == whole
        && memcmp(k->text, text, size) == 0) {
      k->met = true;
      return true;
    }
  }
  return false;
}

void tg_secrets_add (tg_Secrets *s, const char *text, size_t size) {
  bool whole = size < TG_SECRET_INSIDE;
  if (size > TG_SECRET_TEXT)
    size = TG_SECRET_TEXT;
  if (size < TG_SECRET_SHORT || is_kept(s, text, size, whole))
    return;
  uint32_t place = place_for(s);
  if (place == UINT32_MAX) {
    s->failed = true;
    return;
  }
  tg_Secret *k = &s->list[place];
  memcpy(k->text, text, size);
  k->size = (uint8_t)size;
  k->whole = whole;
  k->met = true;
  k->next = *head(s, text);
  *head(s, text) = place + 1;
  s->added++;
}

/* Wipes the texts, since nobody is to see them. */
void tg_secrets_free (tg_Secrets *s) {
  if (s->list != NULL)
    memset(s->list, 0, s->capacity * sizeof *s->list);
  tg_free(s->list);
  tg_free(s->heads);
  memset(s, 0, sizeof *s);
}
