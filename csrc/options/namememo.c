/*
** namememo.c - a table with one place for each hash, where the latest name
** takes the place of another. For selection.c, on any thread: all of it is
** under the memo's mutex. Names are compared in full, since what has the hash
** of another name must not be taken for it. Long ones are not kept.
*/
#include "options/namememo.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"

#define PLACES 256u
#define KEPT 46u          /* bytes of a name: so a place has 48 */

typedef struct Place {
  uint8_t size;           /* of the name, and one more; 0: nobody's */
  bool secret;
  char name[KEPT];
} Place;

struct tg_NameMemo {
  pthread_mutex_t mutex;
  Place places[PLACES];
};

tg_NameMemo *tg_namememo_new (void) {
  tg_NameMemo *m = tg_calloc(1, sizeof *m);
  if (m != NULL)
    pthread_mutex_init(&m->mutex, NULL);
  return m;
}

void tg_namememo_free (tg_NameMemo *m) {
  if (m == NULL)
    return;
  pthread_mutex_destroy(&m->mutex);
  tg_free(m);
}

/* FNV-1a. */
static Place *place_of (tg_NameMemo *m, const char *name, size_t size) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ (unsigned char)name[i]) * 16777619u;
  return &m->places[(hash ^ hash >> 16) % PLACES];
}

/* Whether the place has the name; if not, it is the name's from now on. */
static bool take (Place *p, const char *name, size_t size) {
  if (p->size == size + 1 && memcmp(p->name, name, size) == 0)
    return true;
  p->size = (uint8_t)(size + 1);
  memcpy(p->name, name, size);
  return false;
}

bool tg_namememo_ask (tg_NameMemo *m, const char *name, size_t size,
                      tg_NameDecide *decide, const void *ud) {
  bool secret;
  tg_check(m != NULL);
  pthread_mutex_lock(&m->mutex);
  Place *p = (size <= KEPT) ? place_of(m, name, size) : NULL;
  if (p != NULL && take(p, name, size))
    secret = p->secret;
  else {
    secret = decide(ud, name, size);
    if (p != NULL)
      p->secret = secret;
  }
  pthread_mutex_unlock(&m->mutex);
  return secret;
}
