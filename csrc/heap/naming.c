/* naming.c - see naming.h. */
#include "heap/naming.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "dump/loadednames.h"
#include "outside/proto.h"
#include "outside/state.h"
#include "outside/walk.h"
#include "text/terminal.h"
#include "text/utf8.h"

#define STEPS UINT64_C(200000)  /* entries of one module that are looked at */
#define FRAMES 256u             /* of a coroutine, for its outermost function */

static uint32_t string (tg_Naming *n, const char *s) {
  return tg_graph_string(n->graph, s, strlen(s));
}

/* ---- strings ---- */

/* The text may be in n->text. */
static uint32_t text_name (tg_Naming *n, const char *s, size_t size) {
  return tg_graph_words(n->graph, &n->escaped, s, size);
}

/* Of a long string the beginning, and what tells it from others that begin so:
   who looks for equal strings has the names alone. */
static uint32_t long_name (tg_Naming *n, const char *s, uint64_t size,
                           uint64_t sum) {
  size_t some = tg_utf8_cut(s, TG_NAME_MOST);
  tg_buf_clear(&n->text);
  if (tg_utf8_whole(s, some) == some)
    tg_buf_add(&n->text, s, some);
  else
    tg_terminal_escape(&n->text, s, some, 0);
  tg_buf_addfmt(&n->text, "… (%" PRIu64 " bytes, %016" PRIx64 ")", size,
                sum);
  return tg_graph_string(n->graph, n->text.data, n->text.size);
}

/* Where a string has its bytes, and how many. */
static uint64_t text_of (const tg_Heap *h, uint64_t at, uint64_t *size) {
  uint64_t length_at = tg_heap_row(h, AT_STRING_LONG);
  uint64_t text = at + tg_heap_row(h, AT_STRING_TEXT);
  const uint8_t *p = tg_image_at(h->image, at, length_at + 8);
  *size = 0;
  if (p == NULL)
    return text;
  if (tg_heap_has(h, AT_STRING_SHORT)
      && (p[tg_heap_row(h, AT_OBJECT_TAG)] & 0x3f)
         == h->layout->at[TG_ROW_TAG_SHORT]) {
    *size = p[tg_heap_row(h, AT_STRING_SHORT)];
    return text;
  }
  memcpy(size, p + length_at, sizeof *size);
  return h->sight.release >= 50500 ? tg_image_word(h->image, text) : text;
}

static uint32_t string_name (tg_Naming *n, uint64_t at) {
  tg_Heap *h = n->heap;
  uint64_t size, text = text_of(h, at, &size);
  uint64_t some = (size < TG_NAME_MOST) ? size : TG_NAME_MOST;
  const char *s = (const char *)tg_image_at(h->image, text, some);
  if (s == NULL)
    return string(n, "");
  if (some == size)
    return text_name(n, s, (size_t)size);
  const uint8_t *all = tg_image_at(h->image, text, size);
  return long_name(n, s, size,
                   all != NULL ? tg_hash_bytes(all, (size_t)size) : at);
}

#define AHEAD 8u        /* objects, a power of two */

/* A string whose name is its text, as it is. */
typedef struct Expected {
  const char *text;     /* NULL: it is no such */
  size_t size;
  uint64_t hash;
} Expected;

/* The table of some million strings is in no cache, so a search is a wait:
   several go on at a time. */
static Expected expect_name (tg_Naming *n, uint32_t object) {
  tg_Heap *h = n->heap;
  if (object >= h->count || h->kinds[object] != TG_OBJECT_STRING)
    return (Expected){0};
  uint64_t size, text = text_of(h, h->at[object], &size);
  const char *s = size < TG_NAME_MOST
                  ? (const char *)tg_image_at(h->image, text, size) : NULL;
  if (s == NULL || tg_utf8_whole(s, (size_t)size) != size)
    return (Expected){0};
  return (Expected){s, (size_t)size,
                    tg_intern_expect(&n->graph->strings, s, (size_t)size)};
}

/* ---- what modules have ---- */

static void know (tg_Naming *n, uint64_t at, const char *module,
                  const char *field) {
  if (tg_intmap_find(&n->known, at) != TG_INTMAP_NONE)
    return;
  bool global = strcmp(module, "_G") == 0;
  tg_buf_clear(&n->text);
  if (!global || field == NULL)
    tg_buf_addstr(&n->text, module);
  if (!global && field != NULL)
    tg_buf_addchar(&n->text, '.');
  if (field != NULL)
    tg_buf_addstr(&n->text, field);
  uint32_t name = text_name(n, n->text.data, n->text.size);
  if (!tg_intmap_set(&n->known, at, name))
    n->graph->failed = true;
}

static void know_fields (tg_Naming *n, uint64_t table, const char *module) {
  tg_SeenTable t;
  char field[256];
  tg_seen_traverse(&n->heap->sight, table, STEPS, &t);
  while (tg_seen_next(&n->heap->sight, &t)) {
    if (tg_seen_type(t.value) == TG_SEEN_TABLE
        && tg_seen_type(t.key) == TG_SEEN_STRING
        && tg_seen_name(&n->heap->sight, t.key.bits, field, sizeof field))
      know(n, t.value.bits, module, field);
  }
}

/* Modules before what is in them, and globals last. */
static void know_modules (tg_Naming *n) {
  tg_Sight *s = &n->heap->sight;
  tg_SeenTable t;
  char module[256];
  uint64_t registry = tg_state_registry(s, n->heap->shared);
  tg_SeenValue loaded = tg_seen_field(s, registry, "_LOADED");
  if (tg_seen_type(loaded) != TG_SEEN_TABLE)
    return;
  for (int pass = 0; pass < 3; pass++) {
    tg_seen_traverse(s, loaded.bits, STEPS, &t);
    while (tg_seen_next(s, &t)) {
      if (tg_seen_type(t.value) != TG_SEEN_TABLE
          || tg_seen_type(t.key) != TG_SEEN_STRING
          || !tg_seen_name(s, t.key.bits, module, sizeof module))
        continue;
      bool global = strcmp(module, "_G") == 0;
      if (pass == 0)
        know(n, t.value.bits, module, NULL);
      else if (global == (pass == 2))
        know_fields(n, t.value.bits, module);
    }
  }
}

static void know_functions (tg_Naming *n) {
  tg_LoadedNames loaded = {0};
  tg_loadednames_add(&loaded, &n->heap->sight, n->heap->shared);
  for (uint32_t i = 0; i < n->heap->count; i++) {
    if (n->heap->kinds[i] != TG_OBJECT_LUA && n->heap->kinds[i] != TG_OBJECT_C)
      continue;
    tg_SeenValue f = {.bits = n->heap->at[i]};
    const char *name = tg_loadednames_find(&loaded, f);
    if (name != NULL && !tg_intmap_set(&n->known, f.bits, string(n, name)))
      n->graph->failed = true;
  }
  tg_loadednames_free(&loaded);
}

/* ---- classes ---- */

/* By "__name", or where the metatable or the table that it looks into is
   kept. */
static uint32_t class_of (tg_Naming *n, uint64_t meta) {
  tg_Sight *s = &n->heap->sight;
  tg_SeenValue name = tg_seen_field(s, meta, "__name");
  if (tg_seen_type(name) == TG_SEEN_STRING)
    return string_name(n, name.bits);
  uint32_t known = tg_intmap_find(&n->known, meta);
  if (known != TG_INTMAP_NONE)
    return known;
  tg_SeenValue index = tg_seen_field(s, meta, "__index");
  if (tg_seen_type(index) == TG_SEEN_TABLE)
    known = tg_intmap_find(&n->known, index.bits);
  return known;
}

/* Of a metatable that nobody has named yet the answer is kept as well. */
#define NOBODY (TG_NO_NAME - 1)

static uint32_t class_name (tg_Naming *n, uint64_t meta) {
  uint32_t number = tg_heap_number(n->heap, meta);
  if (number == TG_NO_OBJECT || n->heap->kinds[number] != TG_OBJECT_TABLE)
    return TG_NO_NAME;
  uint32_t name = tg_intmap_find(&n->metas, number);
  if (name == TG_INTMAP_NONE) {
    name = class_of(n, meta);
    name = (name == TG_INTMAP_NONE) ? NOBODY : name;
    if (!tg_intmap_set(&n->metas, number, name))
      n->graph->failed = true;
  }
  return (name == NOBODY) ? TG_NO_NAME : name;
}

/* ---- functions ---- */

static uint32_t place_name (tg_Naming *n, uint64_t at) {
  tg_SeenProto p;
  char source[256];
  if (!tg_proto_read(&n->heap->sight, at, &p))
    return string(n, "?");
  if (p.source == 0
      || !tg_seen_name(&n->heap->sight, p.source, source, sizeof source))
    strcpy(source, "?");
  char *end = strchr(source, '\n');
  if (end != NULL)
    *end = '\0';
  bool named = source[0] == '@' || source[0] == '=';
  tg_buf_clear(&n->text);
  tg_buf_addfmt(&n->text, named ? "%s:%u" : "[string \"%.60s\"]:%u",
                source + named, p.line);
  return text_name(n, n->text.data, n->text.size);
}

/* Of a prototype, once. */
static uint32_t place_of (tg_Naming *n, uint64_t proto) {
  uint32_t number = tg_heap_number(n->heap, proto);
  if (number == TG_NO_OBJECT)
    return string(n, "?");
  uint32_t name = tg_intmap_find(&n->places, number);
  if (name == TG_INTMAP_NONE) {
    name = place_name(n, proto);
    if (!tg_intmap_set(&n->places, number, name))
      n->graph->failed = true;
  }
  return name;
}

/* "NAME PLACE" */
static uint32_t joined (tg_Naming *n, const char *before, uint32_t name,
                        uint32_t place) {
  size_t size;
  tg_buf_clear(&n->text);
  tg_buf_addstr(&n->text, before);
  if (name != TG_NO_NAME) {
    const char *s = tg_graph_text(n->graph, name, &size);
    tg_buf_add(&n->text, s, size);
    tg_buf_addchar(&n->text, ' ');
  }
  const char *s = tg_graph_text(n->graph, place, &size);
  tg_buf_add(&n->text, s, size);
  return tg_graph_string(n->graph, n->text.data, n->text.size);
}

static uint64_t code_of (const tg_Heap *h, uint64_t closure) {
  return tg_image_word(h->image,
                       closure + tg_heap_row(h, AT_CLOSURE_FUNCTION));
}

static uint32_t function_name (tg_Naming *n, uint32_t object, uint32_t name) {
  uint64_t at = n->heap->at[object];
  if (n->heap->kinds[object] == TG_OBJECT_C)
    return joined(n, "", name, string(n, "[C]"));
  uint32_t place = place_of(n, code_of(n->heap, at));
  return joined(n, name == TG_NO_NAME ? "function " : "", name, place);
}

/* ---- coroutines ---- */

/* By the function that it runs, or is to begin with. */
static uint32_t thread_name (tg_Naming *n, uint64_t at) {
  tg_SeenState state;
  tg_SeenFrame list[FRAMES];
  uint32_t count = 0;
  tg_Sight *s = &n->heap->sight;
  if (at == n->heap->main)
    return string(n, "main thread");
  if (!tg_state_read(s, at, &state))
    return string(n, "thread");
  tg_walk(s, &state, list, FRAMES, &count);
  tg_SeenValue f = tg_seen_slot(s, state.stack + 16);
  for (uint32_t i = count; i > 0 && tg_seen_type(f) != TG_SEEN_FUNCTION; i--)
    f = list[i - 1].function;
  uint32_t object = tg_heap_number(n->heap, f.bits);
  if (tg_seen_type(f) != TG_SEEN_FUNCTION || object == TG_NO_OBJECT
      || n->heap->kinds[object] != TG_OBJECT_LUA)
    return string(n, tg_state_is_over(&state) ? "thread, over" : "thread");
  return joined(n, "thread ", TG_NO_NAME,
                place_of(n, code_of(n->heap, f.bits)));
}

/* ---- all ---- */

static uint32_t first_name (tg_Naming *n, uint32_t object) {
  uint64_t at = n->heap->at[object];
  uint64_t meta;
  switch ((tg_ObjectKind)n->heap->kinds[object]) {
    case TG_OBJECT_STRING: return string_name(n, at);
    case TG_OBJECT_TABLE: case TG_OBJECT_USERDATA:
      meta = tg_naming_metatable(n->heap, object);
      return meta != 0 ? class_name(n, meta) : TG_NO_NAME;
    case TG_OBJECT_LUA: case TG_OBJECT_C: {
      uint32_t known = tg_intmap_find(&n->known, at);
      return known == TG_INTMAP_NONE ? TG_NO_NAME
                                     : function_name(n, object, known);
    }
    case TG_OBJECT_THREAD: return thread_name(n, at);
    case TG_OBJECT_PROTO: return place_of(n, at);
    case TG_OBJECT_UPVALUE: return string(n, "(upvalue)");
    case TG_OBJECT_NONE: default: return string(n, "?");
  }
}

static void name_all (tg_Naming *n) {
  Expected ring[AHEAD];
  for (uint32_t i = 0; i < AHEAD; i++)
    ring[i] = expect_name(n, i);
  for (uint32_t i = 0; i < n->heap->count; i++) {
    Expected *next = &ring[i % AHEAD], e = *next;
    *next = expect_name(n, i + AHEAD);
    n->names[i] = (e.text != NULL)
                  ? tg_graph_expected(n->graph, e.text, e.size, e.hash)
                  : first_name(n, i);
  }
}

bool tg_naming_begin (tg_Naming *n, tg_Heap *heap, tg_Graph *graph) {
  *n = (tg_Naming){.heap = heap, .graph = graph};
  n->names = tg_malloc(((size_t)heap->count + 1) * sizeof *n->names);
  if (n->names == NULL)
    return false;
  know_modules(n);
  know_functions(n);
  name_all(n);
  return !graph->failed;
}

uint32_t tg_naming_of (const tg_Naming *n, uint32_t object) {
  return (n->names[object] == TG_NO_NAME) ? 0 : n->names[object];
}

/* "__index" and the like say what something is for, not what it is. */
static bool is_telling (const tg_Naming *n, uint32_t name) {
  size_t size;
  const char *s = tg_graph_text(n->graph, name, &size);
  if (size == 0 || size > 64 || (size > 1 && s[0] == '_' && s[1] == '_'))
    return false;
  for (size_t i = 0; i < size; i++) {
    char c = s[i];
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'
          || (i > 0 && c >= '0' && c <= '9')))
      return false;
  }
  return true;
}

/* What a name is kept for: a metatable, or all functions of one prototype. */
static uint32_t called (const tg_Naming *n, uint32_t object) {
  const tg_Heap *h = n->heap;
  uint8_t kind = h->kinds[object];
  if (kind == TG_OBJECT_TABLE
      && tg_intmap_find(&n->metas, object) == NOBODY)
    return object;
  if (kind == TG_OBJECT_LUA && n->names[object] == TG_NO_NAME)
    return tg_heap_number(h, code_of(h, h->at[object]));
  return TG_NO_OBJECT;
}

/* Functions of one prototype that are kept by several names have none. */
void tg_naming_hear (tg_Naming *n, uint32_t object, uint32_t name) {
  uint32_t of = (object != TG_NO_OBJECT) ? called(n, object) : TG_NO_OBJECT;
  if (of == TG_NO_OBJECT)
    return;
  uint32_t known = tg_intmap_find(&n->heard, of);
  bool function = n->heap->kinds[object] == TG_OBJECT_LUA;
  if (known == name || (known != TG_INTMAP_NONE && !function)
      || known == NOBODY || !is_telling(n, name))
    return;
  if (!tg_intmap_set(&n->heard, of, known == TG_INTMAP_NONE ? name : NOBODY))
    n->graph->failed = true;
}

static uint32_t heard_function (const tg_Naming *n, uint32_t prototype) {
  uint32_t name = tg_intmap_find(&n->heard, prototype);
  return (name == NOBODY) ? TG_NO_NAME : name;
}

/* What functions are called is found once for each prototype: millions may have
   the same one. */
static uint32_t last_function_name (tg_Naming *n, uint32_t object) {
  uint32_t of = called(n, object);
  if (of == TG_NO_OBJECT)
    return function_name(n, object, TG_NO_NAME);
  uint32_t name = tg_intmap_find(&n->finals, of);
  if (name != TG_INTMAP_NONE)
    return name;
  name = function_name(n, object, heard_function(n, of));
  if (!tg_intmap_set(&n->finals, of, name))
    n->graph->failed = true;
  return name;
}

static uint32_t heard_class (const tg_Naming *n, uint32_t object) {
  uint64_t meta = tg_naming_metatable(n->heap, object);
  uint32_t number = meta != 0 ? tg_heap_number(n->heap, meta) : TG_NO_OBJECT;
  return (number != TG_NO_OBJECT) ? tg_intmap_find(&n->heard, number)
                                  : TG_INTMAP_NONE;
}

void tg_naming_end (tg_Naming *n) {
  uint32_t table = string(n, "table"), userdata = string(n, "userdata");
  for (uint32_t i = 0; i < n->heap->count; i++) {
    if (n->names[i] != TG_NO_NAME)
      continue;
    uint8_t kind = n->heap->kinds[i];
    uint32_t heard = TG_INTMAP_NONE;
    if (kind == TG_OBJECT_TABLE || kind == TG_OBJECT_USERDATA) {
      heard = heard_class(n, i);
      if (heard == TG_INTMAP_NONE)
        heard = (kind == TG_OBJECT_TABLE) ? table : userdata;
      n->names[i] = heard;
    }
    else
      n->names[i] = last_function_name(n, i);
  }
}

void tg_naming_free (tg_Naming *n) {
  tg_free(n->names);
  tg_intmap_free(&n->known);
  tg_intmap_free(&n->metas);
  tg_intmap_free(&n->heard);
  tg_intmap_free(&n->places);
  tg_intmap_free(&n->finals);
  tg_buf_free(&n->text);
  tg_buf_free(&n->escaped);
}
