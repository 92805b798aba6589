/*
** coverage.c - see coverage.h: from an event to the function's counts. In the
** hook, on the thread that runs the state; what there is no memory for is not
** counted.
**
** Not with the debugger's hash of functions (inspect/breakpoints.h), which has
** another answer for each and changes with every breakpoint.
*/
#include "coverage/coverage.h"

#include <string.h>

#include "base/alloc.h"
#include "coverage/pushcounts.h"
#include "direct/frame.h"
#include "host/ownfunctions.h"

#define PROTOS 4096           /* remembered; a power of two */
#define LONGEST_NAME 4096     /* of a file; longer ones are none */

typedef struct Known {
  const void *proto;
  const void *source;         /* the prototype's string */
  uint64_t lines;             /* its first and last */
  tg_FunctionCounts *counts;  /* borrows */
} Known;

struct tg_Coverage {
  tg_Counts counts;
  bool direct;
  bool texts;                 /* not of files alone */
  Known known[PROTOS];
};

tg_Coverage *tg_coverage_new (bool direct, bool texts) {
  tg_Coverage *c = tg_calloc(1, sizeof *c);
  if (c == NULL)
    return NULL;
  c->direct = direct;
  c->texts = texts;
  return c;
}

void tg_coverage_free (tg_Coverage *c) {
  if (c != NULL)
    tg_counts_free(&c->counts);
  tg_free(c);
}

void tg_coverage_write (tg_Coverage *c, char *directory,
                        void (*complain) (int error)) {
  c->counts.ledger.directory = directory;
  c->counts.ledger.complain = complain;
}

void tg_coverage_reset (tg_Coverage *c) {
  tg_counts_reset(&c->counts);
}

void tg_coverage_renew (tg_Coverage *c) {
  tg_counts_renew(&c->counts);
  memset(c->known, 0, sizeof c->known);
}

static bool is_file (const lua_Debug *ar) {
  return *ar->source == '@' && ar->srclen <= LONGEST_NAME;
}

/* A lua_Debug is its i_ci: no more of it is read by lua_getinfo. A copy, for
   the event's own is shown to the program's hook as well. */
static TG_NOINLINE tg_FunctionCounts *learn (tg_Coverage *c, lua_State *L,
                                             const lua_Debug *event) {
  lua_Debug ar = {.i_ci = event->i_ci};
  if (!lua_checkstack(L, 2))
    return NULL;
  lua_getinfo(L, "Sf", &ar);
  tg_SourceCounts *s = NULL;
  if (*ar.what != 'C' && (c->texts || is_file(&ar))) {
    s = tg_counts_find(&c->counts, ar.source, ar.srclen);
    if (s == NULL)
      s = tg_counts_add(&c->counts, ar.source, ar.srclen,
                        tg_ownfunctions_function(L, &ar));
  }
  lua_pop(L, 1);
  return (s == NULL) ? NULL
                     : tg_counts_function(&c->counts, s, ar.linedefined,
                                          ar.lastlinedefined);
}

/* NULL of a C function. */
static tg_FunctionCounts *counts_of (tg_Coverage *c, lua_State *L,
                                     const lua_Debug *ar) {
  const void *frame = ar->i_ci;
  if (tg_unlikely(!c->direct))
    return learn(c, L, ar);
  if (tg_frame_is_c(frame))
    return NULL;
  const void *proto = tg_function_proto(tg_frame_function(frame));
  const void *source = tg_read_pointer(proto, TG_AT_PROTO_SOURCE);
  uint64_t lines = tg_read64(proto, TG_AT_PROTO_LINE);
  uintptr_t h = (uintptr_t)proto / 16;
  Known *k = &c->known[(h ^ h >> 12) % PROTOS];
  if (tg_likely(k->proto == proto && k->source == source
                && k->lines == lines))
    return k->counts;
  *k = (Known){proto, source, lines, learn(c, L, ar)};
  return k->counts;
}

void tg_coverage_event (tg_Coverage *c, lua_State *L, const lua_Debug *ar) {
  if (ar->event == LUA_HOOKRET || ar->event == LUA_HOOKCOUNT)
    return;
  tg_FunctionCounts *f = counts_of(c, L, ar);
  if (f == NULL)
    return;
  if (ar->event == LUA_HOOKLINE)
    tg_counts_line(&c->counts, f, ar->currentline);
  else
    f->found->calls++;
}

void tg_coverage_push (const tg_Coverage *c, lua_State *L) {
  tg_pushcounts(&c->counts, L, false);
}
