/*
** labels.c - see labels.h. Called by the console's functions, never in the
** hook. Without memory a label is not made, and whoever asked for it does
** without.
*/
#include "state/labels.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

#define FIRST_BUCKETS 16u

static uint64_t hash_of (const char *text, size_t size) {
  uint64_t h = tg_hash_bytes(text, size);
  return h ^ h >> 32;
}

static tg_Label **bucket (const tg_Labels *ls, uint64_t hash) {
  tg_assert(ls->nbuckets > 0);
  return &ls->buckets[hash & (ls->nbuckets - 1)];
}

static tg_Label *find (const tg_Labels *ls, const char *text, size_t size,
                       uint64_t hash) {
  tg_Label *k = ls->nbuckets > 0 ? *bucket(ls, hash) : NULL;
  while (k != NULL && (k->hash != hash || k->size != size
                       || memcmp(k->text, text, size) != 0))
    k = k->next;
  return k;
}

tg_Label *tg_labels_find (const tg_Labels *ls, const char *text, size_t size) {
  return find(ls, text, size, hash_of(text, size));
}

static void link_label (tg_Labels *ls, tg_Label *k) {
  tg_Label **b = bucket(ls, k->hash);
  k->next = *b;
  *b = k;
}

/* At most one label for each bucket. Without memory chains become longer, which
   is no failure as long as there are any. */
static bool grow (tg_Labels *ls) {
  tg_Labels old = *ls;
  if (old.count < old.nbuckets)
    return true;
  size_t n = old.nbuckets > 0 ? old.nbuckets * 2 : FIRST_BUCKETS;
  tg_Label **fresh = tg_calloc(n, sizeof *fresh);
  if (fresh == NULL)
    return old.nbuckets > 0;
  ls->buckets = fresh;
  ls->nbuckets = n;
  for (size_t i = 0; i < old.nbuckets; i++) {
    for (tg_Label *k = old.buckets[i], *next; k != NULL; k = next) {
      next = k->next;
      link_label(ls, k);
    }
  }
  tg_free(old.buckets);
  return true;
}

tg_Label *tg_labels_get (tg_Labels *ls, const char *text, size_t size) {
  uint64_t hash = hash_of(text, size);
  tg_Label *k = find(ls, text, size, hash);
  if (k != NULL || size > SIZE_MAX - sizeof *k || !grow(ls))
    return k;
  k = tg_calloc(1, sizeof *k + size);
  if (k == NULL)
    return NULL;
  k->hash = hash;
  k->size = size;
  memcpy(k->text, text, size);
  link_label(ls, k);
  ls->count++;
  return k;
}

void tg_labels_prune (tg_Labels *ls, tg_Label *label) {
  if (label->timed || label->count > 0)
    return;
  tg_Label **p = bucket(ls, label->hash);
  while (*p != label) {
    tg_assert(*p != NULL);
    p = &(*p)->next;
  }
  *p = label->next;
  tg_free(label);
  ls->count--;
}

void tg_labels_clear (tg_Labels *ls) {
  for (size_t i = 0; i < ls->nbuckets; i++) {
    for (tg_Label *k = ls->buckets[i], *next; k != NULL; k = next) {
      next = k->next;
      tg_free(k);
    }
  }
  tg_free(ls->buckets);
  memset(ls, 0, sizeof *ls);
}
