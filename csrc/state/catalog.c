#include <errno.h>
#include <string.h>

#include "state/catalog.h"
#include "base/alloc.h"
#include "state/builtins.h"
#include "state/ownfunctions.h"
#include "state/session.h"

#define INDEX_MIN 1024u
#define COMPARED 128u               /* bytes at each end of a source */

bool tg_catalog_init (tg_Catalog *k) {
  memset(k, 0, sizeof *k);
  k->index = tg_calloc(INDEX_MIN, sizeof *k->index);
  k->index_size = INDEX_MIN;
  if (tg_closures_init(&k->closures) && k->index != NULL)
    return true;
  tg_catalog_free(k);
  return false;
}

void tg_catalog_free (tg_Catalog *k) {
  tg_closures_free(&k->closures);
  tg_free(k->index);
  tg_free(k->identities);
  tg_funcname_free(k->sources);
  memset(k, 0, sizeof *k);
}

void tg_catalog_refresh (tg_Catalog *k) {
  tg_closures_clear(&k->closures);
}

/* What makes a definition: where it stands, or which C function it is. */
typedef struct Key {
  const void *cfunction;            /* NULL for a Lua function */
  const char *source;
  size_t source_size;
  uint32_t line, last_line;
  unsigned nparams;
  bool vararg;
  uint64_t shape;
  const char *called;               /* of a C function: by its caller */
  uint32_t hash;
} Key;

static uint32_t definition_hash (uint64_t tail, size_t size, uint32_t line,
                                 uint32_t last_line, uint64_t shape) {
  uint64_t h = tail ^ size ^ shape;
  h = (h * 31 + line) * 31 + last_line;
  return (uint32_t)((h * UINT64_C(0x9E3779B97F4A7C15)) >> 40);
}

static uint64_t add_name (uint64_t h, const char *name) {
  if (name == NULL)
    name = "?";             /* a chunk without debug information */
  while (*name != '\0')
    h = (h ^ (unsigned char)*name++) * UINT64_C(0x100000001B3);
  return (h ^ 0xff) * UINT64_C(0x100000001B3);
}

static uint64_t first_shape (unsigned nparams, bool vararg) {
  return UINT64_C(0xCBF29CE484222325) + nparams * 2u + vararg;
}

/*
** The shape of the Lua function on top of the stack: its parameters and
** upvalues, by name and in order. 'ar' has "u". Uses one slot of the stack.
*/
static uint64_t shape_of (lua_State *L, const lua_Debug *ar) {
  uint64_t h = first_shape(ar->nparams, ar->isvararg != 0);
  for (int i = 1; i <= ar->nparams; i++)
    h = add_name(h, lua_getlocal(L, NULL, i));
  for (int i = 1; i <= ar->nups; i++) {
    h = add_name(h, lua_getupvalue(L, -1, i));
    lua_pop(L, 1);
  }
  return h;
}

static uint64_t add_string (uint64_t h, const void *string, const char *none) {
  size_t n;
  return add_name(h, (string != NULL) ? tg_direct_text(string, &n) : none);
}

/* The same from memory. */
static uint64_t proto_shape (const void *proto, unsigned upvalues) {
  unsigned n = tg_read8(proto, TG_AT_PROTO_PARAMS);
  uint64_t h = first_shape(n, tg_direct_is_vararg(proto));
  const void *locals = tg_read_pointer(proto, TG_AT_PROTO_LOCALS);
  const void *ups = tg_read_pointer(proto, TG_AT_PROTO_UPVALUES);
  bool named = tg_read32(proto, TG_AT_PROTO_NLOCALS) >= n;
  for (unsigned i = 0; i < n; i++)
    h = named ? add_string(h, tg_read_pointer(locals, i * TG_SIZE_LOCAL), "?")
              : add_name(h, NULL);
  for (unsigned i = 0; i < upvalues; i++)
    h = add_string(h, tg_read_pointer(ups, i * TG_SIZE_UPVALUE), "(no name)");
  return h;
}

static void make_key (lua_State *L, const lua_Debug *ar, Key *k) {
  memset(k, 0, sizeof *k);
  if (*ar->what == 'C') {
    k->cfunction = (const void *)(uintptr_t)lua_tocfunction(L, -1);
    k->hash = tg_address_hash(k->cfunction);
    return;
  }
  k->source = ar->source;
  k->source_size = ar->srclen;
  k->line = (uint32_t)ar->linedefined;
  k->last_line = (uint32_t)ar->lastlinedefined;
  k->nparams = ar->nparams;
  k->vararg = ar->isvararg != 0;
  k->shape = shape_of(L, ar);
  k->hash = definition_hash(tg_source_tail(k->source, k->source_size),
                            k->source_size, k->line, k->last_line, k->shape);
}

/* Equal at both ends is equal enough for a text of the same length. */
static bool same_text (const char *a, const char *b, size_t n, size_t kept) {
  if (n <= 2 * COMPARED && n <= kept)
    return memcmp(a, b, n) == 0;
  if (n <= kept)
    return memcmp(a, b, COMPARED) == 0
           && memcmp(a + n - COMPARED, b + n - COMPARED, COMPARED) == 0;
  return memcmp(a, b, kept) == 0;
}

/* All functions that coroutine.wrap makes are one C function: what tells them
   apart is how they are called, unless a library knows their name. */
static bool same_name (const tg_Function *f, const Key *k) {
  return f->known
         || strcmp(f->name, k->called ? k->called : TG_ANONYMOUS) == 0;
}

static bool matches (const tg_Function *f, const tg_Identity *is,
                     const Key *k) {
  if (k->cfunction != NULL || f->is_c)
    return k->cfunction == is->cfunction && same_name(f, k);
  size_t kept = (k->source_size < TG_SOURCE_MAX) ? k->source_size
                                                 : TG_SOURCE_MAX;
  return f->line == k->line && f->last_line == k->last_line
         && f->nparams == k->nparams && f->vararg == k->vararg
         && is->shape == k->shape
         && f->source_size == k->source_size
         && same_text(f->source, k->source, k->source_size, kept);
}

static uint32_t *find_slot (tg_Session *s, const Key *k) {
  tg_Catalog *known = &s->known;
  uint32_t mask = known->index_size - 1;
  uint32_t i = k->hash & mask;
  const tg_Functions *fs = s->writer.stream->functions;
  while (known->index[i] != 0) {
    uint32_t id = known->index[i];
    if (matches(tg_functions_get(fs, id), &known->identities[id], k))
      break;
    i = (i + 1) & mask;
  }
  return &known->index[i];
}

/* The hash of a definition, to place it in a larger index. */
static uint32_t hash_of (const tg_Function *f, const tg_Identity *is) {
  if (is->cfunction != NULL)
    return tg_address_hash(is->cfunction);
  return definition_hash(f->tail, f->source_size, f->line, f->last_line,
                         is->shape);
}

static bool grow_index (tg_Session *s) {
  tg_Catalog *k = &s->known;
  uint32_t n = k->index_size * 2;
  uint32_t *index = tg_calloc(n, sizeof *index);
  if (index == NULL)
    return false;
  for (uint32_t i = 0; i < k->index_size; i++) {
    uint32_t id = k->index[i];
    if (id == 0)
      continue;
    uint32_t h = hash_of(tg_functions_get(s->writer.stream->functions, id),
                         &k->identities[id]) & (n - 1);
    while (index[h] != 0)
      h = (h + 1) & (n - 1);
    index[h] = id;
  }
  tg_free(k->index);
  k->index = index;
  k->index_size = n;
  return true;
}

static bool room_for_id (tg_Catalog *k, uint32_t id) {
  if (id < k->identities_size)
    return true;
  uint32_t n = (k->identities_size == 0) ? 256 : k->identities_size * 2;
  tg_Identity *all = tg_realloc(k->identities, n * sizeof *all);
  if (all == NULL)
    return false;
  k->identities = all;
  k->identities_size = n;
  return true;
}

static char *url_of (const lua_Debug *ar) {
  if (ar->source[0] == '@')
    return tg_strdup(ar->source + 1, ar->srclen - 1);
  return tg_strdup(ar->short_src, strlen(ar->short_src));
}

/* Names of the parameters of the Lua function on top of the stack. */
static bool read_params (lua_State *L, tg_Function *f) {
  if (f->nparams == 0)
    return true;
  f->params = tg_calloc(f->nparams, sizeof *f->params);
  if (f->params == NULL)
    return false;
  for (int i = 0; i < f->nparams; i++) {
    const char *name = lua_getlocal(L, NULL, i + 1);
    if (name == NULL)
      name = "?";           /* a chunk without debug information */
    if ((f->params[i] = tg_strdup(name, strlen(name))) == NULL)
      return false;
  }
  return true;
}

static bool describe (tg_Session *s, lua_State *L, const lua_Debug *ar,
                      const char *called, tg_Function *f, tg_NameKind *kind) {
  memset(f, 0, sizeof *f);
  f->is_c = *ar->what == 'C';
  f->nparams = f->is_c ? 0 : ar->nparams;
  f->vararg = f->is_c || ar->isvararg;
  f->own = tg_ownfunctions_function(L, ar);
  f->line = f->is_c ? 0 : (uint32_t)ar->linedefined;
  f->last_line = f->is_c ? 0 : (uint32_t)ar->lastlinedefined;
  f->role = f->is_c ? tg_builtins_role(lua_tocfunction(L, -1)) : TG_ROLE_NONE;
  f->source_size = ar->srclen;
  f->tail = tg_source_tail(ar->source, ar->srclen);
  f->source = tg_strdup(ar->source, (ar->srclen < TG_SOURCE_MAX)
                                    ? ar->srclen : TG_SOURCE_MAX);
  f->url = url_of(ar);
  f->name = tg_funcname_of(&s->known.sources, L, ar, called, kind);
  f->known = *kind == TG_NAME_LOADED;
  return read_params(L, f) && f->source != NULL && f->url != NULL
         && f->name != NULL;
}

/* A definition is not in the file: the event that names it must not be either,
   which may have begun. */
static void tear (tg_Session *s) {
  tg_Writer *r = &s->writer;
  r->packets_stop = 0;          /* before the next event the file is left */
  if (s->torn)
    return;
  s->torn = true;
  s->torn_at = tg_writer_pos(r);
  s->torn_packets = r->packets;
}

static tg_FunctionId add (tg_Session *s, tg_Function *f,
                          const tg_Identity *is) {
  tg_Functions *fs = s->writer.stream->functions;
  uint32_t next = atomic_load_explicit(&fs->count, memory_order_relaxed) + 1;
  if (next > TG_FR_ID || !room_for_id(&s->known, next + 1))
    return 0;
  tg_FunctionId id = tg_functions_add(fs, f);
  if (s->on_file != NULL && tg_filewriter_error(s->on_file->file) != 0)
    tear(s);
  if (id != 0)
    s->known.identities[id] = *is;
  return id;
}

static tg_FunctionId define_new (tg_Session *s, lua_State *L,
                                 const lua_Debug *ar, const Key *k,
                                 bool call) {
  tg_Function f;
  tg_NameKind kind;
  tg_FunctionId id = 0;
  int error = errno;    /* the program's: files are read for names */
  if (describe(s, L, ar, k->called, &f, &kind)) {
    tg_Identity is = {k->cfunction, k->shape, kind == TG_NAME_NONE && !call,
                      tg_name_crowded(&s->known.sources, ar)};
    id = add(s, &f, &is);
  }
  if (id == 0)
    tg_function_clear(&f);
  errno = error;
  return id;
}

static void enter_slot (tg_Session *s, uint32_t *slot, tg_FunctionId id) {
  s->known.index_used += *slot == 0;
  *slot = id;
  if (s->known.index_used * 2 > s->known.index_size)
    grow_index(s);
}

/* How a function comes into sight. */
typedef enum Sight {
  SIGHT_VALUE,          /* as a value */
  SIGHT_FRAME,          /* as a frame that was there before */
  SIGHT_CALL            /* it is being called */
} Sight;

/*
** The definition of the function on top of the stack; 'ar' has "Su", and "n" if
** it is being called. A definition made for a mere value has no caller's name:
** its first call makes another one.
*/
static tg_FunctionId define (tg_Session *s, lua_State *L, const lua_Debug *ar,
                             Sight sight) {
  Key k;
  tg_FunctionId id = 0;
  bool call = sight != SIGHT_VALUE;
  char *called = call ? tg_funcname_called(L, ar, sight == SIGHT_CALL) : NULL;
  make_key(L, ar, &k);
  k.called = called;
  uint32_t *slot = find_slot(s, &k);
  if (*slot != 0 && !(call && s->known.identities[*slot].unnamed))
    id = *slot;
  else if ((id = define_new(s, L, ar, &k, call)) != 0) {
    memset(s->known.values, 0, sizeof s->known.values);
    enter_slot(s, slot, id);
  }
  tg_free(called);
  return id;
}

uint32_t tg_catalog_flags (const tg_Session *s, tg_FunctionId id) {
  const tg_Function *f = tg_functions_get(s->writer.stream->functions, id);
  uint32_t flags = 0;
  if (f->own)
    flags |= TG_FR_OWN | TG_FR_HIDDEN;
  if (f->is_c)
    flags |= TG_FR_C;
  else if (f->vararg)
    flags |= TG_FR_VARARG;
  flags |= (uint32_t)f->role << TG_FR_ROLESHIFT;
  if (!tg_selection_wants(&s->selection, f))
    flags |= TG_FR_HIDDEN;
  for (int i = 0; s->selection.redacts && f->params && i < f->nparams; i++) {
    if (tg_selection_secret(&s->selection, f->params[i]))
      flags |= TG_FR_SECRETS;
  }
  return flags;
}

/* ---- which closure has which definition ---- */

/* What a closure that shares its line is checked by. */
static uint64_t shared_mark (lua_State *L, const lua_Debug *ar) {
  return shape_of(L, ar) ^ (uint64_t)(uintptr_t)ar->source
         ^ tg_source_tail(ar->source, ar->srclen);
}

/* The same from memory. A chunk without debug information has no source. */
static uint64_t proto_mark (tg_Slot f) {
  const void *proto = tg_function_proto(f);
  const void *source = tg_read_pointer(proto, TG_AT_PROTO_SOURCE);
  uint64_t shape = proto_shape(proto, tg_read8(f.u.p, TG_AT_CLOSURE_UPVALUES));
  return (source == NULL) ? shape
         : shape ^ (uint64_t)(uintptr_t)source ^ tg_source_mark(source);
}

/* Fills in what the function on top of the stack is checked by. */
static void fill_closure (tg_Closure *c, lua_State *L, const lua_Debug *ar,
                          uint32_t what, bool crowded) {
  c->what = what;
  if (*ar->what == 'C') {
    c->source = (const void *)(uintptr_t)lua_tocfunction(L, -1);
    return;
  }
  c->source = crowded ? NULL : ar->source;
  c->tail = crowded ? shared_mark(L, ar)
                    : tg_source_tail(ar->source, ar->srclen);
  c->line = (uint32_t)ar->linedefined;
  c->last_line = (uint32_t)ar->lastlinedefined;
  c->nparams = ar->nparams;
}

/* The same from memory. */
static void fill_slot (tg_Closure *c, tg_Slot f, uint32_t what, bool crowded) {
  c->what = what;
  c->source = tg_slot_cfunction(f);
  if (c->source != NULL)
    return;
  const void *proto = tg_function_proto(f);
  uint64_t lines = tg_read64(proto, TG_AT_PROTO_LINE);
  const void *source = tg_read_pointer(proto, TG_AT_PROTO_SOURCE);
  c->source = crowded ? NULL : source;
  c->tail = (c->source == NULL) ? proto_mark(f) : tg_source_mark(source);
  memcpy(&c->line, &lines, sizeof lines);
  c->params = tg_read16(proto, TG_AT_PROTO_PARAMS);
  c->nparams = tg_read8(proto, TG_AT_PROTO_PARAMS);
}

static const tg_Closure *remember (tg_Session *s, lua_State *L,
                                   const lua_Debug *ar, uint32_t what) {
  tg_Catalog *k = &s->known;
  bool crowded = k->identities[what & TG_FR_ID].crowded;
  if (s->direct) {
    tg_Slot f = tg_direct_pushed(L);
    tg_Closure *c = tg_closures_add(&k->closures, tg_slot_key(f));
    fill_slot(c, f, what, crowded);
    return c;
  }
  tg_Closure *c = tg_closures_add(&k->closures, lua_topointer(L, -1));
  fill_closure(c, L, ar, what, crowded);
  return c;
}

bool tg_catalog_alike (const tg_Session *s, lua_State *L, const tg_Closure *c,
                       lua_Debug *ar) {
  if (c->source != NULL || c->address != lua_topointer(L, -1)
      || *ar->what == 'C' || c->line != (uint32_t)ar->linedefined
      || c->last_line != (uint32_t)ar->lastlinedefined)
    return false;
  lua_getinfo(L, "u", ar);
  return c->tail == shared_mark(L, ar)
         && (*ar->source == '@' || tg_catalog_same(s, c, ar));
}

/* Whether a source of any length is that of the closure's definition. */
static bool same_source (const tg_Session *s, const tg_Closure *c,
                         const void *source) {
  const tg_Function *f = tg_functions_get(s->writer.stream->functions,
                                          c->what & TG_FR_ID);
  size_t n;
  if (source == NULL || tg_direct_is_short(source))
    return true;        /* its mark has been compared, which is as good */
  const char *text = tg_direct_long(source, &n);
  return f->source_size == n
         && same_text(f->source, text, n, (n < TG_SOURCE_MAX) ? n
                                                              : TG_SOURCE_MAX);
}

bool tg_catalog_holds (const tg_Session *s, const tg_Closure *c, tg_Slot f) {
  if (tg_slot_variant(f) != TG_TAG_LUA)
    return (c->what & TG_FR_C) && c->source == tg_slot_cfunction(f);
  const void *proto = tg_function_proto(f);
  uint64_t lines;
  memcpy(&lines, &c->line, sizeof lines);
  return !(c->what & TG_FR_C)
         && (tg_closure_is_proto(c, proto)
             || (c->source == NULL && c->tail == proto_mark(f)
                 && lines == tg_read64(proto, TG_AT_PROTO_LINE)))
         && same_source(s, c, tg_read_pointer(proto, TG_AT_PROTO_SOURCE));
}

const tg_Closure *tg_catalog_slow (tg_Session *s, lua_State *L,
                                   lua_Debug *ar) {
  lua_getinfo(L, "nu", ar);
  tg_FunctionId id = define(s, L, ar, SIGHT_CALL);
  if (id == 0)
    return NULL;
  uint32_t what = id | tg_catalog_flags(s, id);
  if ((what & TG_FR_C) && tg_role_bits(what) == TG_ROLE_NONE
      && tg_name_handler(L))
    what |= (uint32_t)TG_ROLE_HANDLER << TG_FR_ROLESHIFT;
  return remember(s, L, ar, what);
}

/* Only chunks made from strings need it: many have the same length. */
bool tg_catalog_same (const tg_Session *s, const tg_Closure *c,
                      const lua_Debug *ar) {
  const tg_Function *f = tg_functions_get(s->writer.stream->functions,
                                          c->what & TG_FR_ID);
  size_t kept = (ar->srclen < TG_SOURCE_MAX) ? ar->srclen : TG_SOURCE_MAX;
  return f->source_size == ar->srclen
         && same_text(f->source, ar->source, ar->srclen, kept);
}

/* What a function value is found by: as values, all closures of a C function
   are one definition. */
static const void *value_key (tg_Slot f) {
  const void *cfunction = tg_slot_cfunction(f);
  return (cfunction != NULL) ? cfunction : tg_function_proto(f);
}

static tg_Closure *value_slot (const tg_Session *s, const void *key) {
  const tg_Closure *all = s->known.values;
  return (tg_Closure *)(uintptr_t)&all[tg_address_hash(key) % TG_VALUES_SEEN];
}

tg_FunctionId tg_catalog_seen (const tg_Session *s, tg_Slot f) {
  const void *key = value_key(f);
  const tg_Closure *c = value_slot(s, key);
  return (c->address == key && tg_catalog_holds(s, c, f)) ? c->what & TG_FR_ID
                                                          : 0;
}

/* The function on top of the stack has been seen as a value. */
static void remember_value (tg_Session *s, lua_State *L, tg_FunctionId id) {
  tg_Slot f = tg_direct_pushed(L);
  const void *key = value_key(f);
  tg_Closure *c = value_slot(s, key);
  uint32_t what = id | (tg_slot_cfunction(f) != NULL ? TG_FR_C : 0u);
  memset(c, 0, sizeof *c);
  c->address = key;
  fill_slot(c, f, what, s->known.identities[id].crowded);
}

tg_FunctionId tg_catalog_value (tg_Session *s, lua_State *L, int i) {
  lua_Debug ar;
  if (!lua_checkstack(L, 10))
    return 0;
  lua_pushvalue(L, i);
  lua_pushvalue(L, -1);
  lua_getinfo(L, ">Su", &ar);
  tg_FunctionId id = define(s, L, &ar, SIGHT_VALUE);
  if (s->direct && id != 0)
    remember_value(s, L, id);
  lua_pop(L, 1);
  return id;
}

tg_FunctionId tg_catalog_frame (tg_Session *s, lua_State *L, lua_Debug *ar) {
  if (!lua_checkstack(L, 10))
    return 0;
  lua_getinfo(L, "fSnu", ar);
  tg_FunctionId id = define(s, L, ar, SIGHT_FRAME);
  lua_pop(L, 1);
  return id;
}

bool tg_catalog_runs (const tg_Session *s, lua_State *L, lua_Debug *ar,
                      tg_FunctionId id) {
  if (id == 0)
    return true;
  const tg_Function *f = tg_functions_get(s->writer.stream->functions, id);
  lua_getinfo(L, "f", ar);
  lua_CFunction cfunction = lua_tocfunction(L, -1);
  lua_pop(L, 1);
  if (cfunction != NULL || f->is_c)
    return s->known.identities[id].cfunction
           == (const void *)(uintptr_t)cfunction;
  lua_getinfo(L, "S", ar);
  return f->line == (uint32_t)ar->linedefined
         && f->last_line == (uint32_t)ar->lastlinedefined
         && f->source_size == ar->srclen
         && f->tail == tg_source_tail(ar->source, ar->srclen);
}
