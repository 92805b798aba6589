/*
** definitions.c - see definitions.h. Called in the hook, when a function comes
** into sight that has no entry in the catalog. Without memory, or after the
** millionth, there is no definition, and the call is lost.
**
** This is the slow end of the catalog: it may read a file for a name, and takes
** microseconds. What keeps it from being called is the table of closures before
** it (closures.h). Only the traced thread comes here; what it adds other
** threads read, so a definition is never changed once it is added.
*/
#include <errno.h>
#include <string.h>

#include "state/definitions.h"
#include "base/alloc.h"
#include "base/grow.h"
#include "base/symbol.h"
#include "host/builtins.h"
#include "host/ownfunctions.h"
#include "state/loadedname.h"
#include "state/metaname.h"
#include "state/session.h"
#include "state/shape.h"

#define INDEX_MIN 1024u
#define COMPARED 128u               /* bytes at each end of a source */
#define ALIKE_MAX 8u                /* definitions that differ only in their
                                       code */

bool tg_definitions_init (tg_Definitions *k) {
  memset(k, 0, sizeof *k);
  k->index = tg_calloc(INDEX_MIN, sizeof *k->index);
  k->index_size = INDEX_MIN;
  return k->index != NULL;
}

void tg_definitions_free (tg_Definitions *k) {
  tg_free(k->index);
  tg_free(k->identities);
  tg_funcname_free(k->names);
  memset(k, 0, sizeof *k);
}

/* The facts that make a definition: the function's place in its source, or the
   C function. */
typedef struct Key {
  const void *cfunction;            /* NULL for a Lua function */
  tg_TextId text;                   /* of its source */
  uint32_t line, last_line;
  unsigned nparams;
  bool vararg;
  uint64_t shape;
  uint64_t code;                    /* as in tg_Identity */
  const char *called;               /* of a C function: by its caller */
  uint32_t hash;
} Key;

/* A hash of facts that never change, and that a definition has when the index
   grows. It leaves out 'code': functions that differ only in that are together
   in the index. */
static uint32_t definition_hash (tg_TextId text, uint32_t line,
                                 uint32_t last_line, uint64_t shape) {
  uint64_t h = text * UINT64_C(0xC2B2AE3D27D4EB4F) ^ shape;
  h = (h * 31 + line) * 31 + last_line;
  return (uint32_t)((h * UINT64_C(0x9E3779B97F4A7C15)) >> 40);
}

/* A hash of the code of the Lua function on top of the stack, needed where a
   line declares several: their names may be the same as well. The line of a
   chunk is never crowded, since its source tells chunks apart. 0: not needed,
   or memory is not read; then all functions of one shape are one definition. */
static uint64_t code_of (tg_Session *s, const lua_State *L,
                         const lua_Debug *ar, tg_TextId text) {
  if (!s->host.direct
      || !tg_funcname_crowded(&s->known.definitions.names, ar, text))
    return 0;
  return tg_shape_code(tg_function_proto(tg_direct_pushed(L)));
}

/* Of the function on top of the stack, 'ar' having "Su". All closures of one C
   function are one key: what tells them apart, if anything, is 'called'. False
   without memory. */
static bool make_key (tg_Session *s, lua_State *L, const lua_Debug *ar,
                      bool folded, Key *k) {
  tg_assert(lua_isfunction(L, -1));
  memset(k, 0, sizeof *k);
  if (*ar->what == 'C') {
    k->cfunction = (const void *)(uintptr_t)lua_tocfunction(L, -1);
    k->hash = tg_address_hash(k->cfunction);
    return true;
  }
  k->text = tg_texts_add(&s->writer.stream->functions->texts, ar->source,
                         ar->srclen);
  k->line = (uint32_t)ar->linedefined;
  k->last_line = (uint32_t)ar->lastlinedefined;
  k->nparams = ar->nparams;
  k->vararg = ar->isvararg != 0;
  if (!folded) {
    k->shape = tg_shape_ask(L, ar);
    k->code = code_of(s, L, ar, k->text);
  }
  k->hash = definition_hash(k->text, k->line, k->last_line, k->shape);
  return k->text != TG_TEXT_NONE;
}

/* A chunk's source may be a whole file that was read into a string: to compare
   it at each call must not cost more than a name. */
bool tg_definitions_same_text (const char *a, const char *b, size_t n) {
  size_t kept = (n < TG_SOURCE_MAX) ? n : TG_SOURCE_MAX;
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

/* Whether the key is that of the definition, but for the function's code. */
static bool alike (const tg_Function *f, const tg_Identity *is,
                   const Key *k) {
  if (k->cfunction != NULL || f->is_c)
    return k->cfunction == is->cfunction && same_name(f, k);
  return f->line == k->line && f->last_line == k->last_line
         && f->nparams == k->nparams && f->vararg == k->vararg
         && is->text == k->text && is->shape == k->shape;
}

/* The slot of the definition, of the oldest one instead if there are too many
   that are alike, or a free one. */
static uint32_t *find_slot (tg_Session *s, const Key *k) {
  tg_Definitions *known = &s->known.definitions;
  uint32_t mask = known->index_size - 1;
  const tg_Functions *fs = s->writer.stream->functions;
  tg_assert(known->index_used < known->index_size);
  uint32_t *oldest = NULL, *slot = &known->index[k->hash & mask];
  unsigned n = 0;
  for (uint32_t i = k->hash; *slot != 0; slot = &known->index[++i & mask]) {
    const tg_Identity *is = &known->identities[*slot];
    if (!alike(tg_functions_get(fs, *slot), is, k))
      continue;
    if (is->code == k->code)
      return slot;
    if (oldest == NULL || *slot < *oldest)
      oldest = slot;
    n++;
  }
  return (n < ALIKE_MAX) ? slot : oldest;
}

/* The hash of a definition, to place it in a larger index: made anew from the
   definition, since hashes are not kept (definition_hash). */
static uint32_t hash_of (const tg_Function *f, const tg_Identity *is) {
  if (is->cfunction != NULL)
    return tg_address_hash(is->cfunction);
  return definition_hash(is->text, f->line, f->last_line, is->shape);
}

/* Without memory the index stays as it is, and is searched longer. */
static bool grow_index (tg_Session *s) {
  tg_Definitions *k = &s->known.definitions;
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

/* Identities are by id, and so is 0, which is none: more than are used, since
   an id is asked about before it is given. */
static bool room_for_id (tg_Definitions *k, uint32_t id) {
  return tg_grow(&k->identities, &k->identities_size, id + 1,
                 sizeof *k->identities);
}

/* What a packet has for the source: a file's name, or what luaO_chunkid makes
   of anything else. */
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

/* Functions that coroutine.wrap makes are one, wherever that is. */
static char *symbol_of (lua_State *L, const tg_Function *f, const Key *k,
                        tg_NameKind kind) {
  void (*home) (void) = (void (*) (void))lua_newstate;
  if (!f->is_c || kind != TG_NAME_NONE || f->role == TG_ROLE_WRAPPED)
    return NULL;
  char *name = tg_metaname_of(L);
  return name != NULL ? name
         : tg_symbol_of(k->cfunction, (const void *)(uintptr_t)home);
}

static char *name_of (tg_Session *s, lua_State *L, const lua_Debug *ar,
                      const Key *k, tg_NameKind *kind) {
  tg_FieldName loaded;
  if (*ar->what == 'm'
      || !tg_loadedname_find(L, s->host.direct, &loaded))
    return tg_funcname_of(&s->known.definitions.names, ar, k->text, k->called,
                          kind);
  *kind = TG_NAME_LOADED;
  return tg_strcopy(loaded.text);
}

/* All that a packet may want to know of the function, as copies: the function
   may be collected while the trace is still read. False without memory. */
static bool describe (tg_Session *s, lua_State *L, const lua_Debug *ar,
                      const Key *k, tg_Function *f, tg_NameKind *kind) {
  const tg_Texts *texts = &s->writer.stream->functions->texts;
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
  f->text = k->text;
  f->source = f->is_c ? "=[C]" : tg_texts_get(texts, k->text)->data;
  f->url = url_of(ar);
  f->file = ar->source[0] == '@';
  f->name = name_of(s, L, ar, k, kind);
  f->known = *kind == TG_NAME_LOADED;
  f->symbol = symbol_of(L, f, k, *kind);
  return read_params(L, f) && f->url != NULL && f->name != NULL;
}

/* A definition is not in the file, so the event that names it must not be
   either, though it may have begun. Notes where the file's part of the stream
   ends; the next event comes to a limit and looks (tracelimits.c). */
static void tear (tg_Session *s) {
  tg_Writer *r = &s->writer;
  r->packets_stop = 0;          /* before the next event the file is left */
  if (s->file.torn)
    return;
  s->file.torn = true;
  s->file.torn_at = tg_writer_pos(r);
  s->file.torn_packets = r->packets;
}

/* Readers on other threads see the definition at once (tg_functions_add), so it
   must be complete; facts that only the hook needs are put beside it. */
static tg_FunctionId add (tg_Session *s, tg_Function *f,
                          const tg_Identity *is) {
  tg_Functions *fs = s->writer.stream->functions;
  uint32_t next = atomic_load_explicit(&fs->count, memory_order_relaxed) + 1;
  if (next > TG_FR_ID || !room_for_id(&s->known.definitions, next + 1))
    return 0;
  tg_FunctionId id = tg_functions_add(fs, f);
  if (s->file.trace != NULL && tg_filewriter_error(s->file.trace->file) != 0)
    tear(s);
  if (id != 0)
    s->known.definitions.identities[id] = *is;
  return id;
}

tg_FunctionId tg_definitions_stranger (tg_Session *s, const char *name) {
  const tg_Identity none = {.cfunction = NULL};
  tg_Function f = {
    .name = tg_strdup(name, strlen(name)), .url = tg_strdup("[C]", 3),
    .source = "=[C]", .source_size = 4, .vararg = true, .is_c = true
  };
  tg_FunctionId id = (f.name != NULL && f.url != NULL) ? add(s, &f, &none) : 0;
  if (id == 0)
    tg_function_clear(&f);
  return id;
}

/* What a definition takes in memory, about; less in a file. */
static uint64_t size_of (const tg_Function *f) {
  size_t text = (f->source_size < TG_SOURCE_MAX) ? f->source_size
                                                 : TG_SOURCE_MAX;
  return sizeof *f + sizeof(tg_Identity) + sizeof(tg_Text) + text
         + strlen(f->name) + strlen(f->url) + 32u * f->nparams;
}

/* 'unnamed': a value without a name may get one later, from its first call. The
   name comes with another definition, since definitions do not change. If 'add'
   succeeds, the table owns the function's memory, else it is freed here. */
static tg_FunctionId define_new (tg_Session *s, lua_State *L,
                                 const lua_Debug *ar, const Key *k,
                                 bool folded, bool call) {
  tg_Function f;
  tg_NameKind kind;
  tg_FunctionId id = 0;
  if (describe(s, L, ar, k, &f, &kind)) {
    tg_Definitions *known = &s->known.definitions;
    tg_Identity is = {
      .cfunction = k->cfunction, .text = k->text, .shape = k->shape,
      .code = k->code, .unnamed = kind == TG_NAME_NONE && !call,
      .crowded = !folded && tg_funcname_crowded(&known->names, ar, k->text),
      .folded = folded
    };
    id = add(s, &f, &is);
    if (id != 0 && !f.is_c && !f.file)
      known->loaded_size += size_of(&f);
  }
  if (id == 0)
    tg_function_clear(&f);
  return id;
}

/* Whether the index can take one more and still has a free slot, at which a
   search ends: without memory it may not have grown. */
static bool has_room (const tg_Definitions *k) {
  return k->index_used + 1 < k->index_size;
}

/* In place of an unnamed one, or of its own. The index grows after that and
   not before: 'slot' is a place in it. */
static void enter_slot (tg_Session *s, uint32_t *slot, tg_FunctionId id) {
  tg_assert(id != 0 && has_room(&s->known.definitions));
  s->known.definitions.index_used += *slot == 0;
  *slot = id;
  if (s->known.definitions.index_used * 2 > s->known.definitions.index_size)
    grow_index(s);
}

/*
** {==================================================================
** Texts that are loaded without end
** ===================================================================
*/

/* As much of what is known as of what happens: the largest buffer of the traces
   that there are, if each keeps the end only; else there is no end to what is
   kept anyway. */
static uint64_t room_for_loaded (const tg_Session *s) {
  uint64_t room = 0;
  for (const tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (t->options.overflow != TG_OVERFLOW_RING)
      return UINT64_MAX;
    if (t->options.buffer > room)
      room = t->options.buffer;
  }
  return (s->traces != NULL) ? room : UINT64_MAX;
}

/* Whether a function of a loaded text has no definition of its own any more:
   'ar' is then one of many sources, and, where even their lines are too many,
   of no line. */
static bool fold (tg_Session *s, lua_Debug *ar) {
  static const char source[] = "=(texts beyond the buffer)";
  uint64_t size = s->known.definitions.loaded_size;
  uint64_t room = room_for_loaded(s);
  if (*ar->what == 'C' || ar->source[0] == '@' || size <= room)
    return false;
  tg_lacks_count(&s->writer.stream->lacks, TG_LACK_FUNCTIONS);
  ar->source = source;
  ar->srclen = sizeof source - 1;
  memcpy(ar->short_src, source + 1, sizeof source - 1);
  if (size / 2 > room)
    ar->linedefined = ar->lastlinedefined = 0;
  return true;
}

/* }================================================================== */

/* The definition of a key; it is made if there is none, or one that lacks the
   name which a call gives. */
static tg_FunctionId find_or_define (tg_Session *s, lua_State *L,
                                     const lua_Debug *ar, const Key *k,
                                     bool folded, bool call) {
  tg_Definitions *known = &s->known.definitions;
  uint32_t *slot = find_slot(s, k);
  if (*slot != 0 && !(call && known->identities[*slot].unnamed))
    return *slot;
  tg_FunctionId id = has_room(known)
                     ? define_new(s, L, ar, k, folded, call) : 0;
  if (id != 0)
    enter_slot(s, slot, id);
  return id;
}

/* A value is looked for without a name, since nobody calls it. What a frame or
   a call is called by helps to name it, and tells closures of one C function
   apart. */
tg_FunctionId tg_definitions_find (tg_Session *s, lua_State *L,
                                   const lua_Debug *event, tg_Sight sight) {
  Key k;
  lua_Debug ar = *event;
  tg_FunctionId id = 0;
  bool call = sight != TG_SIGHT_VALUE;
  char *called = NULL;
  int error = errno;    /* the program's: files are read for names */
  uint64_t begun = tg_clock_ticks();
  TG_STACK_GUARD(L);
  if (call)
    called = tg_funcname_called(L, &ar, sight == TG_SIGHT_CALL);
  bool folded = fold(s, &ar);
  if (make_key(s, L, &ar, folded, &k)) {
    k.called = called;
    id = find_or_define(s, L, &ar, &k, folded, call);
  }
  tg_free(called);
  tg_session_overhead(s, begun);
  errno = error;
  TG_STACK_CHECK(L);
  return id;
}
