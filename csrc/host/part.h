/*
** part.h - what tracegrip is made of, as its host sees it: the tracer, samples,
** the server's two ends, the debugger.
**
** A part is a member of the structure that has its state, and no other part
** sees into that. It comes when it is first needed, tells its host, and goes
** when it is told that the state closes, or before. This is all that a part
** that stands lower needs to know of one above it.
**
** To add one: a structure with a tg_Part, a constant tg_PartKind, and
** tg_part_add. docs/contributing.md has an example.
**
** Parts are told in the order in which they came, so the tracer is first. All
** on the thread that runs the state, or that forks, or exits.
*/
#ifndef TG_PART_H
#define TG_PART_H

#include "host/host.h"

/* What a part is told; NULL: not that. One constant for all parts of a kind,
   by whose address a host finds its part. */
typedef struct tg_PartKind {
  /* Tracing begins: until 'unblock' nothing may touch the program's hooks. */
  void (*block) (tg_Part *p);
  void (*unblock) (tg_Part *p);
  /* In a forked child. */
  void (*forked) (tg_Part *p);
  /* The process exits, and no state may be looked at. */
  void (*exiting) (tg_Part *p);
  /* The state closes. The part takes itself off its host. Never NULL. */
  void (*closing) (tg_Part *p, lua_State *L);                  /* [-0, +0, -] */
} tg_PartKind;

struct tg_Part {
  const tg_PartKind *kind;
  tg_Host *host;              /* borrows; NULL: not on it */
  tg_Part *next;
};

/* A host has one part of a kind. */
void tg_part_add (tg_Host *h, tg_Part *p, const tg_PartKind *kind);
void tg_part_remove (tg_Part *p);

/* The host's part of that kind, or NULL. 'h' may be NULL. */
tg_Part *tg_part_find (const tg_Host *h, const tg_PartKind *kind);

/* Tells all parts of the host. */
void tg_parts_block (const tg_Host *h);
void tg_parts_unblock (const tg_Host *h);
void tg_parts_forked (const tg_Host *h);
void tg_parts_exiting (const tg_Host *h);
void tg_parts_close (tg_Host *h, lua_State *L);                /* [-0, +0, -] */

#endif
