/*
** crosscheck.c - the hook's two ways to know compared. Called by emitcall.h,
** emit.c and capture.c, in a build of its own only.
**
** The proof (direct/proof.h) has shown on objects of ours that the layout is
** right; this shows it on all that programs do, in the suite. It runs in the
** hook, on the traced thread, at each event; what it asks with a copy of the
** event's lua_Debug leaves the hook's own as it was.
*/
#include "capture/crosscheck.h"
#include "state/session.h"

#ifdef TG_CROSSCHECK

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A difference is a fault of ours, and what would be traced after it
   worthless. */
static void want (bool ok, const char *what) {
  if (ok)
    return;
  fprintf(stderr, "crosscheck: memory and the public API differ: %s\n", what);
  abort();
}

static bool same_source (const tg_Function *f, const lua_Debug *ar) {
  size_t n = ar->srclen;
  if (n > TG_SOURCE_MAX)
    n = TG_SOURCE_MAX;
  return f->source_size == ar->srclen && memcmp(f->source, ar->source, n) == 0;
}

static bool is_folded (const tg_Call *c) {
  tg_FunctionId id = c->callee->what & TG_FR_ID;
  return c->t->session->known.definitions.identities[id].folded;
}

/* Definitions are compared by their facts about the function. Only memory tells
   which of several functions on one line it is (shape.h), so that cannot be
   compared. */
void tg_crosscheck_call (const tg_Call *c) {
  lua_Debug up, ar = *c->ar;
  bool nested = lua_getstack(c->L, 1, &up);
  TG_STACK_GUARD(c->L);
  want(nested ? up.i_ci == c->caller : c->caller == NULL, "who called");
  lua_getinfo(c->L, "fSu", &ar);
  want(c->function == lua_topointer(c->L, -1), "which function");
  lua_pop(c->L, 1);
  TG_STACK_CHECK(c->L);
  if (c->callee == NULL)
    return;
  const tg_Functions *fs = c->t->session->writer.stream->functions;
  const tg_Function *f = tg_functions_get(fs, c->callee->what & TG_FR_ID);
  want(f->is_c == (*ar.what == 'C'), "a C function");
  if (!f->is_c && !is_folded(c))
    want(f->line == (uint32_t)ar.linedefined
         && f->last_line == (uint32_t)ar.lastlinedefined
         && f->nparams == ar.nparams && f->vararg == (ar.isvararg != 0)
         && same_source(f, &ar), "which definition");
}

void tg_crosscheck_line (const tg_Call *c, int line) {
  lua_Debug up;
  up.i_ci = (struct CallInfo *)(uintptr_t)c->caller;
  lua_getinfo(c->L, "l", &up);
  want(line == up.currentline, "the line of a call site");
}

/* With a copy: lua_getinfo fills in fields of a lua_Debug that the hook itself,
   which reads memory, leaves as they are. */
void tg_crosscheck_results (lua_State *L, lua_Debug *ar,
                            const tg_ValueList *list) {
  lua_Debug now = *ar;
  lua_getinfo(L, "r", &now);
  want(list->count == now.ntransfer
       && (list->count == 0 || list->first == now.ftransfer), "results");
}

/* The first 32 of each, as much as fits a line or two, tell which value it is.
   */
void tg_crosscheck_bytes (const uint8_t *a, size_t n, const uint8_t *b,
                          size_t m) {
  if (n == m && memcmp(a, b, n) == 0)
    return;
  fprintf(stderr, "%zu bytes from memory, %zu by the public API\n", n, m);
  for (size_t i = 0; i < n && i < 32; i++)
    fprintf(stderr, "%02x%c", a[i], (i % 16 == 15) ? '\n' : ' ');
  fputc('\n', stderr);
  for (size_t i = 0; i < m && i < 32; i++)
    fprintf(stderr, "%02x%c", b[i], (i % 16 == 15) ? '\n' : ' ');
  want(false, "captured values");
}

#endif
