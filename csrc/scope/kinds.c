/*
** kinds.c - see kinds.h. For walk.c, once for each call; messages.c reads what
** is here.
**
** The frequent case is one look into an array by function id (the end of this
** file). Without memory TG_INTMAP_NONE, and nothing is half added.
*/
#include "scope/kinds.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "stream/values.h"
#include "text/utf8.h"

/* What calls of a function are, if they are no coroutine's body. UNASKED is 0,
   which new entries are filled with. */
enum { UNASKED, CALL, CHUNK, LOAD, LOADFILE, COLLECT };

static const struct {
  tg_ScopeType type;
  uint32_t detail;
} sorts[] = {
  [CALL] = {TG_SCOPE_CALL, 0},
  [CHUNK] = {TG_SCOPE_EVALUATION, TG_SCOPE_COMMON},
  [LOAD] = {TG_SCOPE_COMPILATION, TG_SCOPE_EVAL},
  [LOADFILE] = {TG_SCOPE_COMPILATION, TG_SCOPE_LINKED},
  [COLLECT] = {TG_SCOPE_COLLECTION, 0}
};

void tg_scopekinds_init (tg_ScopeKinds *k, const tg_Functions *functions,
                         bool arguments) {
  memset(k, 0, sizeof *k);
  tg_funclabels_init(&k->labels, functions);
  k->arguments = arguments;
}

void tg_scopekinds_free (tg_ScopeKinds *k) {
  tg_free(k->list);
  tg_free(k->functions);
  tg_funclabels_free(&k->labels);
  tg_intern_free(&k->texts);
  tg_intmap_free(&k->by_data);
  memset(k, 0, sizeof *k);
}

/*
** {==================================================================
** Functions
** ===================================================================
*/

/* A main chunk is defined at line 0 (ldebug.c, funcinfo: "main"). */
bool tg_scopekinds_chunk (const tg_Function *f) {
  return !f->is_c && f->line == 0;
}

/* By name, as the catalog has named what is reachable in package.loaded: a
   program's own function called "load" is no C function. */
static uint8_t sort_of (const tg_Function *f) {
  static const struct {
    const char *name;
    uint8_t sort;
  } named[] = {
    {"load", LOAD}, {"loadfile", LOADFILE}, {"require", LOADFILE},
    {"collectgarbage", COLLECT}
  };
  const char *name = f->name != NULL ? f->name : "";
  if (tg_scopekinds_chunk(f))
    return CHUNK;
  for (size_t i = 0; f->is_c && i < sizeof named / sizeof *named; i++) {
    if (strcmp(name, named[i].name) == 0)
      return named[i].sort;
  }
  return CALL;
}

/* Makes 'functions' as long as it takes to have an entry for 'id'. */
static bool grow_functions (tg_ScopeKinds *k, tg_FunctionId id) {
  return id < UINT32_MAX
         && tg_grow_zeroed(&k->functions, &k->nfunctions, id + 1,
                           sizeof *k->functions);
}

/* What is known of a function; NULL without memory. */
static tg_ScopeFunction *ask (tg_ScopeKinds *k, tg_FunctionId id) {
  if (id >= k->nfunctions && !grow_functions(k, id))
    return NULL;
  tg_ScopeFunction *f = &k->functions[id];
  if (f->sort == UNASKED) {
    f->label = tg_funclabels_of(&k->labels, id);
    if (f->label == TG_INTMAP_NONE)
      return NULL;
    f->sort = sort_of(tg_funclabels_function(&k->labels, f->label));
  }
  return f;
}

/* Functions that look alike to a person have one label (funclabels.h): their
   calls are one kind. */
uint32_t tg_scopekinds_label (tg_ScopeKinds *k, tg_FunctionId id) {
  const tg_ScopeFunction *f = ask(k, id);
  return f != NULL ? f->label : TG_INTMAP_NONE;
}

/* }================================================================== */

/*
** {==================================================================
** Arguments
** ===================================================================
*/

/* The string of UTF-8 that is argument 'n' (from 0), whole; false if there is
   none. Its bytes are the packet's. */
static bool string_argument (const tg_Packet *p, uint64_t n, tg_Slice *s) {
  tg_ValueCursor c;
  tg_Grip g = {.type = TG_NIL};
  if (p->values.data == NULL)
    return false;
  tg_values_open(&c, p->values);
  uint64_t count = tg_values_var(&c);
  if (count <= n)
    return false;
  for (uint64_t i = 0; i <= n; i++)
    tg_values_grip(&c, &g);
  if (c.bad || g.type != TG_STRING || g.u.s.size != g.u.s.length
      || tg_utf8_whole(g.u.s.data, g.u.s.size) != g.u.s.size)
    return false;
  *s = (tg_Slice){.data = (const uint8_t *)g.u.s.data, .size = g.u.s.size};
  return true;
}

/* '@' and '=' before a chunk's name say how to read it (manual 4.7, 'source' of
   lua_Debug). */
static void strip (tg_Slice *s) {
  if (s->size > 0 && (*s->data == '@' || *s->data == '=')) {
    s->data++;
    s->size--;
  }
}

/* What an argument tells of a call, as a number; TG_INTMAP_NONE if that is not
   known. False without memory. */
static bool find_text (tg_ScopeKinds *k, const tg_Packet *p, uint8_t sort,
                       uint32_t *text) {
  tg_Slice s;
  *text = TG_INTMAP_NONE;
  if (!k->arguments || p->resumed || !string_argument(p, sort == LOAD, &s))
    return true;
  if (sort == LOAD)
    strip(&s);
  *text = tg_intern_add(&k->texts, s.data, s.size);
  return *text != TG_INTMAP_NONE;
}

/* }================================================================== */

/* Kinds are never taken out: events refer to them by number. */
static uint32_t new_kind (tg_ScopeKinds *k, const tg_ScopeKind *kind) {
  if (!tg_grow(&k->list, &k->capacity, k->count + 1, sizeof *k->list))
    return TG_INTMAP_NONE;
  k->list[k->count] = *kind;
  return k->count++;
}

/* A label and 'more', which tells apart kinds of one function: 0 its calls, 1
   bodies of coroutines, from 2 on calls by the text of their argument. */
static uint32_t find_kind (tg_ScopeKinds *k, const tg_ScopeKind *kind,
                           uint32_t more) {
  uint64_t key = (uint64_t)kind->label << 32 | more;
  uint32_t found = tg_intmap_find(&k->by_data, key);
  if (found != TG_INTMAP_NONE)
    return found;
  found = new_kind(k, kind);
  if (found != TG_INTMAP_NONE && !tg_intmap_set(&k->by_data, key, found))
    return TG_INTMAP_NONE;
  return found;
}

/* A coroutine's outermost call: what Opera's service calls the handling of an
   event. */
static uint32_t body_kind (tg_ScopeKinds *k, uint32_t label) {
  const tg_ScopeKind kind = {
    TG_SCOPE_EVALUATION, TG_SCOPE_EVENT, label, TG_INTMAP_NONE
  };
  return find_kind(k, &kind, 1);
}

/* Kinds with a text are found anew for each call; of all others the function
   remembers its one kind. */
static uint32_t call_kind (tg_ScopeKinds *k, const tg_Packet *p,
                           tg_ScopeFunction *f) {
  tg_ScopeKind kind = {
    sorts[f->sort].type, sorts[f->sort].detail, f->label, TG_INTMAP_NONE
  };
  if (f->sort >= LOAD) {
    if (!find_text(k, p, f->sort, &kind.text))
      return TG_INTMAP_NONE;
    return find_kind(k, &kind, kind.text != TG_INTMAP_NONE ? kind.text + 2 : 0);
  }
  tg_assert(f->sort != UNASKED);
  uint32_t found = find_kind(k, &kind, 0);
  if (found != TG_INTMAP_NONE)
    f->kind = found + 1;
  return found;
}

/* The kind of the call that a packet enters; TG_INTMAP_NONE without memory. */
uint32_t tg_scopekinds_of (tg_ScopeKinds *k, const tg_Packet *p, bool body) {
  if (tg_likely(p->function < k->nfunctions && !body
                && k->functions[p->function].kind != 0))
    return k->functions[p->function].kind - 1;
  tg_ScopeFunction *f = ask(k, p->function);
  if (f == NULL)
    return TG_INTMAP_NONE;
  return body ? body_kind(k, f->label) : call_kind(k, p, f);
}
