/*
** catalog.c - which function has which definition: the closures that are
** called, and some that were seen as values. Called in the hook. Without memory
** nothing is known of a function.
**
** What is known of an address is a guess, since the collector gives addresses
** out again: so each entry has what it takes to see that it is still the same
** function (source, lines, parameters; more where several share their line),
** and it is compared each time. To pin functions in the registry instead would
** keep the program's garbage alive, and to hear of their end would need a
** metatable that all functions share.
*/
#include <string.h>

#include "state/catalog.h"
#include "state/session.h"
#include "state/shape.h"

/* Two tables: addresses, which may be forgotten at any time, and definitions,
   which are numbered in the stream and stay as long as it. */
bool tg_catalog_init (tg_Catalog *k) {
  memset(k, 0, sizeof *k);
  if (tg_closures_init(&k->closures) && tg_definitions_init(&k->definitions))
    return true;
  tg_catalog_free(k);
  return false;
}

/* The definitions themselves are the stream's, which may live on. */
void tg_catalog_free (tg_Catalog *k) {
  tg_closures_free(&k->closures);
  tg_definitions_free(&k->definitions);
  memset(k, 0, sizeof *k);
}

/* What is wanted has changed, and with it the flags that entries have. */
void tg_catalog_refresh (tg_Catalog *k) {
  tg_closures_clear(&k->closures);
}

/* Closures are met anew, and then need not be told apart at each call. */
void tg_catalog_trust (tg_Catalog *k) {
  for (uint32_t i = 0; i < k->definitions.identities_size; i++)
    k->definitions.identities[i].crowded = false;
  tg_closures_clear(&k->closures);
}

/* Whether some trace waits for calls of it. */
static bool is_target (const tg_Session *s, const tg_Function *f) {
  const tg_Trace *t = s->await.any && !f->own ? s->traces : NULL;
  while (t != NULL && !tg_selection_names(&t->options.on, f,
                                              s->selection.undecided))
    t = t->next;
  return t != NULL;
}

static bool ends_with (const char *name, const char *end) {
  size_t n = strlen(name), size = strlen(end);
  return n >= size && strcmp(name + n - size, end) == 0
         && (n == size || name[n - size - 1] == '.'
             || name[n - size - 1] == ':');
}

tg_Keyed tg_catalog_keyed (const tg_Session *s, tg_FunctionId id) {
  const tg_Function *f = tg_functions_get(s->writer.stream->functions, id);
  if (f->is_c) {
    const tg_Identity *identity = &s->known.definitions.identities[id];
    return tg_builtins_keyed((lua_CFunction)(uintptr_t)identity->cfunction);
  }
  if (f->name == NULL)
    return TG_KEYED_NOT;
  return ends_with(f->name, "__newindex") ? TG_KEYED_SETS
         : ends_with(f->name, "__index") ? TG_KEYED_GETS : TG_KEYED_NOT;
}

/* Whether a function of that role passes its arguments on to a Lua function,
   whose parameters name them. */
static bool passes_on (tg_Role role) {
  return role == TG_ROLE_PCALL || role == TG_ROLE_XPCALL
         || role == TG_ROLE_RESUME || role == TG_ROLE_WRAPPED;
}

/* The flags of a function where values are hidden. */
static uint32_t secret_flags (const tg_Session *s, const tg_Function *f,
                              tg_FunctionId id) {
  const uint32_t keyed = (uint32_t)TG_ROLE_KEYED << TG_FR_ROLESHIFT;
  if (tg_catalog_keyed(s, id) != TG_KEYED_NOT)
    return TG_FR_SECRETS | keyed;
  if (passes_on(f->role))
    return TG_FR_SECRETS;
  for (int i = 0; f->params && i < f->nparams; i++) {
    if (tg_selection_secret(&s->selection, f->params[i]))
      return TG_FR_SECRETS;
  }
  return 0;
}

/* A function counts once, however often and by whatever patterns it is looked
   at. */
static void count_once (const tg_Session *s, tg_FunctionId id,
                        uint64_t before) {
  tg_Identity *identity = &s->known.definitions.identities[id];
  if (tg_lacks_get(&s->writer.stream->lacks, TG_LACK_NAMES) == before)
    return;
  atomic_store(s->selection.undecided, before + !identity->undecided);
  identity->undecided = true;
}

/* A function that a trace waits for counts as hidden at first: so the hook
   takes the long way, which looks at the wait (awaited.h). */
static uint32_t flags_of (const tg_Session *s, tg_FunctionId id) {
  const tg_Function *f = tg_functions_get(s->writer.stream->functions, id);
  tg_assert(id != 0 && id <= TG_FR_ID);
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
  if (is_target(s, f))
    flags |= TG_FR_TARGET | TG_FR_HIDDEN;
  if (s->selection.redacts)
    flags |= secret_flags(s, f, id);
  return flags;
}

/* All that the hook needs to know of a function at its call, so that it need
   not look at the definition. */
uint32_t tg_catalog_flags (const tg_Session *s, tg_FunctionId id) {
  uint64_t before = tg_lacks_get(&s->writer.stream->lacks, TG_LACK_NAMES);
  uint32_t flags = flags_of(s, id);
  count_once(s, id, before);
  return flags;
}

/* A new definition may be the better one for a value that was seen before, so
   all values are forgotten. */
static tg_FunctionId define (tg_Session *s, lua_State *L, const lua_Debug *ar,
                             tg_Sight sight) {
  const tg_Functions *fs = s->writer.stream->functions;
  uint32_t before = atomic_load_explicit(&fs->count, memory_order_relaxed);
  tg_FunctionId id = tg_definitions_find(s, L, ar, sight);
  if (id > before)
    memset(s->known.values, 0, sizeof s->known.values);
  return id;
}

/* ---- which closure has which definition ---- */

/* The mark by which a closure that shares its line is checked. A single number,
   since it is compared at each call; two functions of one line have the same
   number by chance once in 2^64. */
static uint64_t shared_mark (lua_State *L, const lua_Debug *ar) {
  return tg_shape_ask(L, ar) ^ (uint64_t)(uintptr_t)ar->source
         ^ tg_source_tail(ar->source, ar->srclen);
}

/* The same from memory. A chunk without debug information has no source. */
static uint64_t proto_mark (tg_Slot f) {
  const void *proto = tg_function_proto(f);
  const void *source = tg_read_pointer(proto, TG_AT_PROTO_SOURCE);
  unsigned upvalues = tg_read8(f.u.p, TG_AT_CLOSURE_UPVALUES);
  uint64_t shape = tg_shape_read(proto, upvalues) ^ tg_shape_code(proto);
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
  c->source = crowded ? TG_SHARES_LINE : ar->source;
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
  bool shares = crowded || source == NULL;
  c->source = shares ? TG_SHARES_LINE : source;
  c->tail = shares ? proto_mark(f) : tg_source_mark(source) & ~TG_MARK_LONG;
  memcpy(&c->line, &lines, sizeof lines);
  c->params = tg_read16(proto, TG_AT_PROTO_PARAMS);
  c->nparams = tg_read8(proto, TG_AT_PROTO_PARAMS);
}

/* The function on top of the stack, found from now on by its address. */
static const tg_Closure *remember (tg_Session *s, lua_State *L,
                                   const lua_Debug *ar, uint32_t what) {
  tg_Catalog *k = &s->known;
  bool crowded = k->definitions.identities[what & TG_FR_ID].crowded;
  if (s->host.direct) {
    tg_Slot f = tg_direct_pushed(L);
    tg_Closure *c = tg_closures_add(&k->closures, tg_slot_key(f));
    fill_slot(c, f, what, crowded);
    return c;
  }
  tg_Closure *c = tg_closures_add(&k->closures, lua_topointer(L, -1));
  fill_closure(c, L, ar, what, crowded);
  return c;
}

/* By the public API: for functions that share their line, "u" and their names
   are asked for again at each call. */
bool tg_catalog_is_shape (const tg_Session *s, lua_State *L,
                          const tg_Closure *c, lua_Debug *ar) {
  if (c->source != TG_SHARES_LINE || c->address != lua_topointer(L, -1)
      || *ar->what == 'C' || c->line != (uint32_t)ar->linedefined
      || c->last_line != (uint32_t)ar->lastlinedefined)
    return false;
  lua_getinfo(L, "u", ar);
  return c->tail == shared_mark(L, ar)
         && (*ar->source == '@' || tg_catalog_is(s, c, ar));
}

/* Its source is none of the program's: a function that was found by its address
   and its lines is taken for the same. */
static bool is_folded (const tg_Session *s, tg_FunctionId id) {
  return s->known.definitions.identities[id].folded;
}

/* Whether a source of any length is that of the closure's definition. */
static bool same_source (const tg_Session *s, const tg_Closure *c,
                         const void *source) {
  const tg_Function *f = tg_functions_get(s->writer.stream->functions,
                                          c->what & TG_FR_ID);
  size_t n;
  if (source == NULL || tg_direct_is_short(source)
      || is_folded(s, c->what & TG_FR_ID))
    return true;        /* its mark has been compared, which is as good */
  const char *text = tg_direct_long(source, &n);
  return f->source_size == n
         && tg_definitions_same_text(f->source, text, n);
}

/* The long look, for what tg_closure_is_proto says no to without being certain:
   long sources, and functions that share their line. */
bool tg_catalog_is_slot (const tg_Session *s, const tg_Closure *c, tg_Slot f) {
  if (tg_slot_variant(f) != TG_TAG_LUA)
    return (c->what & TG_FR_C) && c->source == tg_slot_cfunction(f);
  const void *proto = tg_function_proto(f);
  uint64_t lines;
  memcpy(&lines, &c->line, sizeof lines);
  return !(c->what & TG_FR_C)
         && (tg_closure_matches(c, proto, TG_MARK_LONG)
             || (c->source == TG_SHARES_LINE && c->tail == proto_mark(f)
                 && lines == tg_read64(proto, TG_AT_PROTO_LINE)))
         && same_source(s, c, tg_read_pointer(proto, TG_AT_PROTO_SOURCE));
}

/* A handler's role is the frame's, not the function's: it is found by its name
   at this moment, and so not in the definition (stream/functions.h). */
const tg_Closure *tg_catalog_slow (tg_Session *s, lua_State *L,
                                   lua_Debug *ar) {
  tg_assert(lua_isfunction(L, -1));
  lua_getinfo(L, "nu", ar);
  tg_FunctionId id = define(s, L, ar, TG_SIGHT_CALL);
  if (id == 0)
    return NULL;
  uint32_t what = id | tg_catalog_flags(s, id);
  if ((what & TG_FR_C) && tg_role_bits(what) == TG_ROLE_NONE
      && tg_funcname_handler(L))
    what |= (uint32_t)TG_ROLE_HANDLER << TG_FR_ROLESHIFT;
  return remember(s, L, ar, what);
}

const tg_Closure *tg_catalog_past (tg_Session *s, lua_State *L) {
  lua_Debug ar;
  tg_assert(lua_isfunction(L, -1));
  lua_pushvalue(L, -1);
  lua_getinfo(L, ">Su", &ar);
  tg_FunctionId id = define(s, L, &ar, TG_SIGHT_VALUE);
  return (id != 0) ? remember(s, L, &ar, id | tg_catalog_flags(s, id)) : NULL;
}

/* Only chunks made from strings need this check: many have the same length. */
bool tg_catalog_is (const tg_Session *s, const tg_Closure *c,
                    const lua_Debug *ar) {
  const tg_Function *f = tg_functions_get(s->writer.stream->functions,
                                          c->what & TG_FR_ID);
  return is_folded(s, c->what & TG_FR_ID)
         || (f->source_size == ar->srclen
             && tg_definitions_same_text(f->source, ar->source, ar->srclen));
}

/*
** ---- functions as values ----
**
** A function that is passed as an argument is named in the packet, so it needs
** a definition though it was never called. Values have a table of their own: at
** a call the flags of what is wanted matter, here only the id.
*/

#define VALUES_WAYS 4u          /* slots for each hash */

/* The address by which a function value is found: as values, all closures of a
   C function are one definition. */
static const void *value_key (tg_Slot f) {
  const void *cfunction = tg_slot_cfunction(f);
  return (cfunction != NULL) ? cfunction : tg_function_proto(f);
}

/* The slots for a hash. The latest function takes the first slot, and the
   oldest goes: a function that is gone costs a hundred times as much. */
static tg_Closure *value_slots (const tg_Session *s, const void *key) {
  const tg_Closure *all = s->known.values;
  uint32_t set = tg_address_hash(key) % (TG_VALUES_SEEN / VALUES_WAYS);
  return (tg_Closure *)(uintptr_t)&all[set * VALUES_WAYS];
}

/* The index of the slot with that address; of the last slot, if none has it. */
static uint32_t find_value (const tg_Closure *slots, const void *key) {
  uint32_t i = 0;
  while (i < VALUES_WAYS - 1 && slots[i].address != key)
    i++;
  return i;
}

/* 0: to be asked about. A definition that has come since may be the better one
   (define), so values are seen anew after each. */
tg_FunctionId tg_catalog_known (const tg_Session *s, tg_Slot f) {
  const void *key = value_key(f);
  const tg_Closure *c = value_slots(s, key);
  c += find_value(c, key);
  return (c->address == key && tg_catalog_is_slot(s, c, f)) ? c->what & TG_FR_ID
                                                          : 0;
}

/* The function on top of the stack has been seen as a value. */
static void remember_value (tg_Session *s, lua_State *L, tg_FunctionId id) {
  tg_Slot f = tg_direct_pushed(L);
  const void *key = value_key(f);
  tg_Closure *c = value_slots(s, key);
  uint32_t what = id | (tg_slot_cfunction(f) != NULL ? TG_FR_C : 0u);
  memmove(c + 1, c, find_value(c, key) * sizeof *c);
  memset(c, 0, sizeof *c);
  c->address = key;
  fill_slot(c, f, what, s->known.definitions.identities[id].crowded);
}

/* lua_getinfo takes the function that it is asked about from the stack (">"):
   a copy is left for what comes after. */
tg_FunctionId tg_catalog_value (tg_Session *s, lua_State *L, int i) {
  lua_Debug ar;
  if (!lua_checkstack(L, 10))
    return 0;
  TG_STACK_GUARD(L);
  lua_pushvalue(L, i);
  lua_pushvalue(L, -1);
  lua_getinfo(L, ">Su", &ar);
  tg_FunctionId id = define(s, L, &ar, TG_SIGHT_VALUE);
  if (s->host.direct && id != 0)
    remember_value(s, L, id);
  lua_pop(L, 1);
  TG_STACK_CHECK(L);
  return id;
}

/* Of a frame that no event told of. */
tg_FunctionId tg_catalog_frame (tg_Session *s, lua_State *L, lua_Debug *ar) {
  if (!lua_checkstack(L, 10))
    return 0;
  TG_STACK_GUARD(L);
  lua_getinfo(L, "fSnu", ar);
  tg_FunctionId id = define(s, L, ar, TG_SIGHT_FRAME);
  lua_pop(L, 1);
  TG_STACK_CHECK(L);
  return id;
}

/* Not as sure as at a call: what shares its line is not told apart. It is asked
   when frames are looked for, where an address alone has matched already. */
bool tg_catalog_is_frame (const tg_Session *s, lua_State *L, lua_Debug *ar,
                          tg_FunctionId id) {
  if (id == 0)
    return true;
  const tg_Function *f = tg_functions_get(s->writer.stream->functions, id);
  TG_STACK_GUARD(L);
  lua_getinfo(L, "f", ar);
  lua_CFunction cfunction = lua_tocfunction(L, -1);
  lua_pop(L, 1);
  TG_STACK_CHECK(L);
  if (cfunction != NULL || f->is_c)
    return s->known.definitions.identities[id].cfunction
           == (const void *)(uintptr_t)cfunction;
  if (is_folded(s, id))
    return true;
  lua_getinfo(L, "S", ar);
  return f->line == (uint32_t)ar->linedefined
         && f->last_line == (uint32_t)ar->lastlinedefined
         && f->source_size == ar->srclen
         && f->tail == tg_source_tail(ar->source, ar->srclen);
}
