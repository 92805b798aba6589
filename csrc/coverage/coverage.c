/*
** coverage.c - see coverage.h: from an event to the function's counts. In the
** hook, on the thread that runs the state; what there is no memory for is not
** counted.
**
** Not with the debugger's hash of functions (inspect/breakpoints.h), which has
** another answer for each and changes with every breakpoint.
*/
#include "coverage/coverage.h"

#include "base/alloc.h"
#include "direct/frame.h"
#include "host/ownfunctions.h"

#define PROTOS 4096           /* remembered; a power of two */

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

void tg_coverage_reset (tg_Coverage *c) {
  tg_counts_reset(&c->counts);
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
  if (*ar.what != 'C' && (c->texts || *ar.source == '@')) {
    s = tg_counts_find(&c->counts, ar.source, ar.srclen);
    if (s == NULL)
      s = tg_counts_add(&c->counts, ar.source, ar.srclen,
                        tg_ownfunctions_function(L, &ar));
  }
  lua_pop(L, 1);
  return (s == NULL) ? NULL
                     : tg_counts_function(s, ar.linedefined,
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
    tg_counts_line(f, ar->currentline);
  else
    f->calls++;
}

static void push_lines (lua_State *L, const tg_FunctionCounts *f) {
  lua_createtable(L, 0, 0);
  for (uint32_t k = 0; k < f->nlines; k++) {
    if (f->lines[k] > 0) {
      lua_pushinteger(L, (lua_Integer)f->lines[k]);
      lua_rawseti(L, -2, (lua_Integer)f->first + k);
    }
  }
}

static void push_function (lua_State *L, const tg_Text *source,
                           const tg_FunctionCounts *f) {
  lua_createtable(L, 0, 5);
  lua_pushlstring(L, source->data, source->size);
  lua_setfield(L, -2, "source");
  lx_set_integer(L, "first", f->first);
  lx_set_integer(L, "last", f->last);
  lx_set_integer(L, "calls", (lua_Integer)f->calls);
  push_lines(L, f);
  lua_setfield(L, -2, "lines");
}

void tg_coverage_push (const tg_Coverage *c, lua_State *L) {
  lua_Integer n = 0;
  luaL_checkstack(L, 6, NULL);
  lua_createtable(L, 0, 0);
  for (uint32_t i = 0; i < c->counts.nsources; i++) {
    const tg_SourceCounts *s = &c->counts.sources[i];
    for (uint32_t k = 0; k < s->nfunctions && !s->own; k++) {
      push_function(L, tg_texts_get(&c->counts.texts, i + 1),
                    s->functions[k]);
      lua_rawseti(L, -2, ++n);
    }
  }
}
