/*
** part.c - the list of a host's parts, and telling them one after the other.
*/
#include "host/part.h"

void tg_part_add (tg_Host *h, tg_Part *p, const tg_PartKind *kind) {
  tg_Part **last = &h->parts;
  tg_assert(p->host == NULL && kind->closing != NULL
            && tg_part_find(h, kind) == NULL);
  while (*last != NULL)
    last = &(*last)->next;
  *p = (tg_Part){kind, h, NULL};
  *last = p;
}

void tg_part_remove (tg_Part *p) {
  tg_Part **at = &p->host->parts;
  while (*at != p) {
    tg_assert(*at != NULL);
    at = &(*at)->next;
  }
  *at = p->next;
  p->host = NULL;
}

tg_Part *tg_part_find (const tg_Host *h, const tg_PartKind *kind) {
  tg_Part *p = (h != NULL) ? h->parts : NULL;
  while (p != NULL && p->kind != kind)
    p = p->next;
  return p;
}

/* ---- telling ---- */

/* No part comes or goes while others are told of these. */
#define TELL(h, what) do { \
    for (tg_Part *p = (h)->parts; p != NULL; p = p->next) { \
      if (p->kind->what != NULL) \
        p->kind->what(p); \
    } \
  } while (0)

void tg_parts_block (const tg_Host *h) {
  TELL(h, block);
}

void tg_parts_unblock (const tg_Host *h) {
  TELL(h, unblock);
}

void tg_parts_forked (const tg_Host *h) {
  TELL(h, forked);
}

void tg_parts_exiting (const tg_Host *h) {
  TELL(h, exiting);
}

/* One part may close another, and what it closes may begin a new one. */
void tg_parts_close (tg_Host *h, lua_State *L) {
  for (tg_Part *p; (p = h->parts) != NULL; ) {
    p->kind->closing(p, L);
    tg_assert(h->parts != p);
  }
}
