/*
** debuggee.c - the debugger as a part of its host: see debuggee.h and part.h.
*/
#include "inspect/debuggee.h"

/* The endpoint has closed it, as a rule. Code of a debugger may end the program
   (os.exit): what is left of the inspector is at work then, and not freed. */
static void closing (tg_Part *p, lua_State *L) {
  tg_Inspector *i = (tg_Inspector *)(void *)p;
  bool works = tg_debuggee_works(i);
  i->close(p->host, L);       /* which frees it, unless it works */
  if (works)
    tg_part_remove(p);
}

static const tg_PartKind part_kind = {.closing = closing};

void tg_debuggee_begin (tg_Inspector *i, tg_Session *s,
                        void (*close) (tg_Host *h, lua_State *L)) {
  i->session = s;
  i->close = close;
  tg_part_add(&s->host, &i->part, &part_kind);
}

tg_Inspector *tg_debuggee_of (const tg_Host *h) {
  return (tg_Inspector *)(void *)tg_part_find(h, &part_kind);
}
