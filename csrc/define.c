#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "define.h"
#include "alloc.h"
#include "buf.h"
#include "proghook.h"
#include "roles.h"
#include "session.h"

#define CLOSURES_MIN 1024u
#define CLOSURES_MAX 16384u         /* then the table starts anew */
#define SOURCE_FILE_MAX ((size_t)16 << 20)
#define COMPARED 128u               /* bytes at each end of a source */
#define ANONYMOUS "(anonymous function)"

static const char key_loaded = 0;   /* registry: package.loaded */

/* ---- what is tracegrip's own ---- */

static struct {
  pthread_mutex_t mutex;
  char **list;
  size_t count;
} own = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool own_has (const char *source) {
  for (size_t i = 0; i < own.count; i++) {
    if (strcmp(own.list[i], source) == 0)
      return true;
  }
  return false;
}

bool tg_own_add (const char *source, size_t size) {
  bool ok = true;
  pthread_mutex_lock(&own.mutex);
  if (!own_has(source)) {
    char **list = tg_realloc(own.list, (own.count + 1) * sizeof *list);
    char *copy = tg_strdup(source, size);
    ok = list != NULL && copy != NULL;
    if (list != NULL)
      own.list = list;
    if (ok)
      own.list[own.count++] = copy;
    else
      tg_free(copy);
  }
  pthread_mutex_unlock(&own.mutex);
  return ok;
}

/* The library is unloaded. */
__attribute__((destructor))
static void forget_own (void) {
  for (size_t i = 0; i < own.count; i++)
    tg_free(own.list[i]);
  tg_free(own.list);
  own.list = NULL;
  own.count = 0;
}

static bool own_source (const char *source) {
  pthread_mutex_lock(&own.mutex);
  bool found = own_has(source);
  pthread_mutex_unlock(&own.mutex);
  return found;
}

/* C functions are ours if they are in the same file as this one. */
static bool own_address (lua_CFunction f) {
  Dl_info mine, theirs;
  lua_CFunction here = (lua_CFunction)(void (*) (void))own_source;
  return dladdr((void *)(uintptr_t)here, &mine) != 0
         && dladdr((void *)(uintptr_t)f, &theirs) != 0
         && mine.dli_fbase == theirs.dli_fbase;
}

bool tg_own_function (lua_State *L, const lua_Debug *ar) {
  if (*ar->what == 'C') {
    lua_CFunction f = lua_tocfunction(L, -1);
    return own_address(f) && !tg_proghook_is(f);
  }
  return own_source(ar->source);
}

/* ---- declared names, by source ---- */

struct tg_Sources {
  struct tg_Sources *next;
  char *source;                     /* owns */
  tg_Declarations declared;         /* owns */
};

static bool read_file (const char *path, tg_Buf *text) {
  FILE *f = fopen(path, "rb");
  if (f == NULL)
    return false;
  for (;;) {
    if (!tg_buf_reserve(text, 65536) || text->size > SOURCE_FILE_MAX)
      break;
    size_t n = fread(text->data + text->size, 1, 65536, f);
    text->size += n;
    if (n == 0)
      break;
  }
  fclose(f);
  return !text->failed;
}

static void scan_source (tg_Sources *e, const lua_Debug *ar) {
  tg_Buf text = {0};
  if (ar->source[0] == '@') {
    if (read_file(ar->source + 1, &text))
      tg_declare_scan(&e->declared, text.data, text.size);
    tg_buf_free(&text);
  }
  else if (ar->source[0] != '=')
    tg_declare_scan(&e->declared, ar->source, ar->srclen);
}

static tg_Sources *find_source (tg_Catalog *k, const lua_Debug *ar) {
  tg_Sources *e;
  for (e = k->sources; e != NULL; e = e->next) {
    if (strcmp(e->source, ar->source) == 0)
      return e;
  }
  if ((e = tg_calloc(1, sizeof *e)) == NULL)
    return NULL;
  if ((e->source = tg_strdup(ar->source, ar->srclen)) == NULL) {
    tg_free(e);
    return NULL;
  }
  scan_source(e, ar);
  e->next = k->sources;
  k->sources = e;
  return e;
}

static void free_sources (tg_Sources *e) {
  while (e != NULL) {
    tg_Sources *next = e->next;
    tg_declare_free(&e->declared);
    tg_free(e->source);
    tg_free(e);
    e = next;
  }
}

/* String chunks come and go by the thousand: only what they declare now. */
static char *declared_name (tg_Catalog *k, const lua_Debug *ar,
                            const char *called) {
  uint32_t line = (uint32_t)ar->linedefined;
  const char *name = NULL;
  char *copy;
  if (ar->source[0] == '@') {
    tg_Sources *e = find_source(k, ar);
    if (e != NULL)
      name = tg_declare_find(&e->declared, line, called);
    return (name != NULL) ? tg_strdup(name, strlen(name)) : NULL;
  }
  tg_Sources e = {0};
  scan_source(&e, ar);
  name = tg_declare_find(&e.declared, line, called);
  copy = (name != NULL) ? tg_strdup(name, strlen(name)) : NULL;
  tg_declare_free(&e.declared);
  return copy;
}

/* ---- names in package.loaded ---- */

void tg_define_setup (lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key_loaded);
}

/* The best name so far: a module's before a global's, then by alphabet. */
typedef struct Best {
  char name[256];
  bool global, found;
} Best;

static void consider (Best *best, const char *module, const char *field) {
  char name[sizeof best->name];
  bool global = strcmp(module, LUA_GNAME) == 0;
  int n;
  if (field == NULL)
    n = snprintf(name, sizeof name, "%s", module);
  else if (global)
    n = snprintf(name, sizeof name, "%s", field);
  else
    n = snprintf(name, sizeof name, "%s.%s", module, field);
  if (n < 0 || (size_t)n >= sizeof name)
    return;
  if (best->found && (global > best->global
                      || (global == best->global
                          && strcmp(name, best->name) >= 0)))
    return;
  memcpy(best->name, name, (size_t)n + 1);
  best->global = global;
  best->found = true;
}

static bool same_function (lua_State *L, const void *address) {
  return lua_isfunction(L, -1) && lua_topointer(L, -1) == address;
}

/* Looks through the module table on top of the stack. */
static void look_in (lua_State *L, const char *module, const void *address,
                     Best *best) {
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    if (same_function(L, address) && lua_type(L, -2) == LUA_TSTRING)
      consider(best, module, lua_tostring(L, -2));
    lua_pop(L, 1);
  }
}

/* By raw traversal: nothing is allocated, nothing of the program runs. */
static bool loaded_name (lua_State *L, const void *address, Best *best) {
  best->found = false;
  if (!lua_checkstack(L, 8))
    return false;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &key_loaded);
  if (lua_istable(L, -1)) {
    lua_pushnil(L);
    while (lua_next(L, -2)) {
      if (lua_type(L, -2) == LUA_TSTRING) {
        const char *module = lua_tostring(L, -2);
        if (same_function(L, address))
          consider(best, module, NULL);
        else if (lua_istable(L, -1))
          look_in(L, module, address, best);
      }
      lua_pop(L, 1);
    }
  }
  lua_pop(L, 1);
  return best->found;
}

/* ---- definitions ---- */

bool tg_catalog_init (tg_Catalog *k) {
  memset(k, 0, sizeof *k);
  k->closures = tg_calloc(CLOSURES_MIN, sizeof *k->closures);
  k->size = CLOSURES_MIN;
  k->index = tg_calloc(CLOSURES_MIN, sizeof *k->index);
  k->index_size = CLOSURES_MIN;
  if (k->closures != NULL && k->index != NULL)
    return true;
  tg_catalog_free(k);
  return false;
}

void tg_catalog_free (tg_Catalog *k) {
  tg_free(k->closures);
  tg_free(k->index);
  tg_free((void *)(uintptr_t)k->keys);
  tg_free(k->unnamed);
  free_sources(k->sources);
  memset(k, 0, sizeof *k);
}

void tg_catalog_refresh (tg_Catalog *k) {
  if (k->closures != NULL)
    memset(k->closures, 0, k->size * sizeof *k->closures);
  k->used = 0;
}

/* What makes a definition: where it stands, or which C function it is. */
typedef struct Key {
  const void *cfunction;            /* NULL for a Lua function */
  const char *source;
  size_t source_size;
  uint32_t line, last_line;
  unsigned nparams;
  bool vararg;
  const char *called;               /* of a C function: by its caller */
  uint32_t hash;
} Key;

static uint32_t definition_hash (uint64_t tail, size_t size, uint32_t line,
                                 uint32_t last_line) {
  uint64_t h = tail ^ size;
  h = (h * 31 + line) * 31 + last_line;
  return (uint32_t)((h * UINT64_C(0x9E3779B97F4A7C15)) >> 40);
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
  k->hash = definition_hash(tg_source_tail(k->source, k->source_size),
                            k->source_size, k->line, k->last_line);
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
  return f->known || strcmp(f->name, k->called ? k->called : ANONYMOUS) == 0;
}

static bool matches (const tg_Function *f, const void *cfunction,
                     const Key *k) {
  if (k->cfunction != NULL || f->is_c)
    return k->cfunction == cfunction && same_name(f, k);
  size_t kept = (k->source_size < TG_SOURCE_MAX) ? k->source_size
                                                 : TG_SOURCE_MAX;
  return f->line == k->line && f->last_line == k->last_line
         && f->nparams == k->nparams && f->vararg == k->vararg
         && f->source_size == k->source_size
         && same_text(f->source, k->source, k->source_size, kept);
}

static uint32_t *find_slot (tg_Session *s, const Key *k) {
  tg_Catalog *known = &s->known;
  uint32_t mask = known->index_size - 1;
  uint32_t i = k->hash & mask;
  const tg_Functions *fs = s->recorder.stream->functions;
  while (known->index[i] != 0) {
    uint32_t id = known->index[i];
    if (matches(tg_functions_get(fs, id), known->keys[id], k))
      break;
    i = (i + 1) & mask;
  }
  return &known->index[i];
}

/* The hash of a definition, to place it in a larger index. */
static uint32_t hash_of (const tg_Function *f, const void *cfunction) {
  if (cfunction != NULL)
    return tg_address_hash(cfunction);
  return definition_hash(f->tail, f->source_size, f->line, f->last_line);
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
    uint32_t h = hash_of(tg_functions_get(s->recorder.stream->functions, id),
                         k->keys[id]) & (n - 1);
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
  if (id < k->keys_size)
    return true;
  uint32_t n = (k->keys_size == 0) ? 256 : k->keys_size * 2;
  const void **keys = tg_realloc((void *)(uintptr_t)k->keys,
                                 n * sizeof *keys);
  if (keys == NULL)
    return false;
  k->keys = keys;
  bool *unnamed = tg_realloc(k->unnamed, n * sizeof *unnamed);
  if (unnamed == NULL)
    return false;
  k->unnamed = unnamed;
  k->keys_size = n;
  return true;
}

/* The name by which the frame's caller knows it: malloc'd, or NULL. */
static char *called_name (const lua_Debug *ar) {
  char name[128];
  if (ar == NULL || ar->name == NULL || strcmp(ar->namewhat, "hook") == 0
      || strcmp(ar->name, "integer index") == 0)
    return NULL;        /* t[1](): these are Lua's words, not a name */
  const char *prefix = strcmp(ar->namewhat, "metamethod") == 0
                       && strncmp(ar->name, "__", 2) != 0 ? "__" : "";
  int n = snprintf(name, sizeof name, "%s%s", prefix, ar->name);
  return tg_strdup(name, ((size_t)n < sizeof name) ? (size_t)n
                                                   : sizeof name - 1);
}

/*
** The name of the function on top of the stack: as the manual's rule goes.
** 'called' may be NULL; '*anonymous' says that a caller might know better.
*/
static char *name_of (tg_Session *s, lua_State *L, const lua_Debug *ar,
                      const char *called, bool *known, bool *anonymous) {
  Best best;
  char *name = NULL;
  *anonymous = false;
  if (*ar->what == 'm')
    return tg_strdup("(main chunk)", 12);
  if (loaded_name(L, lua_topointer(L, -1), &best)) {
    *known = true;
    return tg_strdup(best.name, strlen(best.name));
  }
  if (*ar->what != 'C')
    name = declared_name(&s->known, ar, called);
  if (name == NULL && called != NULL)
    name = tg_strdup(called, strlen(called));
  if (name == NULL) {
    *anonymous = true;
    name = tg_strdup(ANONYMOUS, sizeof ANONYMOUS - 1);
  }
  return name;
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
                      const char *called, tg_Function *f, bool *anonymous) {
  memset(f, 0, sizeof *f);
  f->is_c = *ar->what == 'C';
  f->nparams = f->is_c ? 0 : ar->nparams;
  f->vararg = f->is_c || ar->isvararg;
  f->own = tg_own_function(L, ar);
  f->line = f->is_c ? 0 : (uint32_t)ar->linedefined;
  f->last_line = f->is_c ? 0 : (uint32_t)ar->lastlinedefined;
  f->role = f->is_c ? tg_role_of(lua_tocfunction(L, -1)) : TG_ROLE_NONE;
  f->source_size = ar->srclen;
  f->tail = tg_source_tail(ar->source, ar->srclen);
  f->source = tg_strdup(ar->source, (ar->srclen < TG_SOURCE_MAX)
                                    ? ar->srclen : TG_SOURCE_MAX);
  f->url = url_of(ar);
  f->name = name_of(s, L, ar, called, &f->known, anonymous);
  return read_params(L, f) && f->source != NULL && f->url != NULL
         && f->name != NULL;
}

static tg_FunctionId add (tg_Session *s, tg_Function *f, const Key *k,
                          bool unnamed) {
  tg_Functions *fs = s->recorder.stream->functions;
  uint32_t next = atomic_load_explicit(&fs->count, memory_order_relaxed) + 1;
  if (next > TG_FR_ID || !room_for_id(&s->known, next + 1))
    return 0;
  tg_FunctionId id = tg_functions_add(fs, f);
  if (id != 0) {
    s->known.keys[id] = k->cfunction;
    s->known.unnamed[id] = unnamed;
  }
  return id;
}

static tg_FunctionId define_new (tg_Session *s, lua_State *L,
                                 const lua_Debug *ar, const Key *k,
                                 bool call) {
  tg_Function f;
  bool anonymous;
  tg_FunctionId id = 0;
  if (describe(s, L, ar, k->called, &f, &anonymous))
    id = add(s, &f, k, anonymous && !call);
  if (id == 0)
    tg_function_clear(&f);
  return id;
}

static void enter_slot (tg_Session *s, uint32_t *slot, tg_FunctionId id) {
  s->known.index_used += *slot == 0;
  *slot = id;
  if (s->known.index_used * 2 > s->known.index_size)
    grow_index(s);
}

/*
** The definition of the function on top of the stack; 'ar' has "Su", and "n" if
** it is being called. A definition made for a mere value has no caller's name:
** its first call makes another one.
*/
static tg_FunctionId define (tg_Session *s, lua_State *L, const lua_Debug *ar,
                             bool call) {
  Key k;
  tg_FunctionId id = 0;
  char *called = call ? called_name(ar) : NULL;
  make_key(L, ar, &k);
  k.called = called;
  uint32_t *slot = find_slot(s, &k);
  if (*slot != 0 && !(call && s->known.unnamed[*slot]))
    id = *slot;
  else if ((id = define_new(s, L, ar, &k, call)) != 0)
    enter_slot(s, slot, id);
  tg_free(called);
  return id;
}

uint32_t tg_define_flags (const tg_Session *s, tg_FunctionId id) {
  const tg_Function *f = tg_functions_get(s->recorder.stream->functions, id);
  uint32_t flags = 0;
  if (f->own)
    flags |= TG_FR_OWN | TG_FR_HIDDEN;
  if (f->is_c)
    flags |= TG_FR_C;
  else if (f->vararg)
    flags |= TG_FR_VARARG;
  if (f->role != TG_ROLE_NONE)
    flags |= TG_FR_ROLE;
  if (!tg_demand_wants(&s->demand, f))
    flags |= TG_FR_HIDDEN;
  for (int i = 0; s->demand.redacts && f->params && i < f->nparams; i++) {
    if (tg_demand_secret(&s->demand, f->params[i]))
      flags |= TG_FR_SECRETS;
  }
  return flags;
}

static void grow_closures (tg_Catalog *k) {
  tg_Closure *c = NULL;
  uint32_t n = k->size * 2;
  if (n <= CLOSURES_MAX)
    c = tg_calloc(n, sizeof *c);
  if (c == NULL) {
    tg_catalog_refresh(k);
    return;
  }
  for (uint32_t i = 0; i < k->size; i++) {
    if (k->closures[i].address == NULL)
      continue;
    uint32_t h = tg_address_hash(k->closures[i].address) & (n - 1);
    while (c[h].address != NULL)
      h = (h + 1) & (n - 1);
    c[h] = k->closures[i];
  }
  tg_free(k->closures);
  k->closures = c;
  k->size = n;
}

/* The slot of an address: its own, or a free one. */
static tg_Closure *closure_slot (tg_Catalog *k, const void *address) {
  uint32_t h = tg_address_hash(address) & (k->size - 1);
  while (k->closures[h].address != NULL && k->closures[h].address != address)
    h = (h + 1) & (k->size - 1);
  return &k->closures[h];
}

static const tg_Closure *remember (tg_Catalog *k, lua_State *L,
                                   const lua_Debug *ar, uint32_t what) {
  if (k->used * 2 > k->size)
    grow_closures(k);
  tg_Closure *c = closure_slot(k, lua_topointer(L, -1));
  k->used += c->address == NULL;
  memset(c, 0, sizeof *c);
  c->address = lua_topointer(L, -1);
  c->what = what;
  if (*ar->what == 'C')
    c->source = (const void *)(uintptr_t)lua_tocfunction(L, -1);
  else {
    c->source = ar->source;
    c->tail = tg_source_tail(ar->source, ar->srclen);
    c->line = (uint32_t)ar->linedefined;
    c->last_line = (uint32_t)ar->lastlinedefined;
    c->nparams = ar->nparams;
  }
  return c;
}

const tg_Closure *tg_define_slow (tg_Session *s, lua_State *L,
                                  lua_Debug *ar) {
  lua_getinfo(L, "nu", ar);
  tg_FunctionId id = define(s, L, ar, true);
  if (id == 0)
    return NULL;
  return remember(&s->known, L, ar, id | tg_define_flags(s, id));
}

/* Only chunks made from strings need it: many have the same length. */
bool tg_define_same (const tg_Session *s, const tg_Closure *c,
                     const lua_Debug *ar) {
  const tg_Function *f = tg_functions_get(s->recorder.stream->functions,
                                          c->what & TG_FR_ID);
  size_t kept = (ar->srclen < TG_SOURCE_MAX) ? ar->srclen : TG_SOURCE_MAX;
  return f->source_size == ar->srclen
         && same_text(f->source, ar->source, ar->srclen, kept);
}

tg_FunctionId tg_define_value (tg_Session *s, lua_State *L, int i) {
  lua_Debug ar;
  if (!lua_checkstack(L, 10))
    return 0;
  lua_pushvalue(L, i);
  lua_pushvalue(L, -1);
  lua_getinfo(L, ">Su", &ar);
  tg_FunctionId id = define(s, L, &ar, false);
  lua_pop(L, 1);
  return id;
}

tg_FunctionId tg_define_frame (tg_Session *s, lua_State *L, lua_Debug *ar) {
  if (!lua_checkstack(L, 10))
    return 0;
  lua_getinfo(L, "fSnu", ar);
  tg_FunctionId id = define(s, L, ar, true);
  lua_pop(L, 1);
  return id;
}
