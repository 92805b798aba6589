/* links.c - see links.h. */
#include "heap/links.h"

#include "base/alloc.h"
#include "base/grow.h"
#include "heap/entries.h"
#include "heap/slots.h"
#include "outside/proto.h"

#define ELEMENTS_MOST UINT64_C(0xffffffff)

static const char *const link_words[TG_LINK_NAMES] = {
  [TG_LINK_KEY] = "key", [TG_LINK_METATABLE] = "metatable",
  [TG_LINK_PROTOTYPE] = "prototype", [TG_LINK_VALUE] = "value",
  [TG_LINK_CONSTANT] = "constant", [TG_LINK_FUNCTION] = "function",
  [TG_LINK_SOURCE] = "source", [TG_LINK_NAME] = "name of a variable",
  [TG_LINK_GLOBALS] = "globals", [TG_LINK_USERVALUE] = "user value",
  [TG_LINK_SLOT] = "stack", [TG_LINK_FIXED] = "never collected",
  [TG_LINK_PENDING] = "to be finalized", [TG_LINK_ENVIRONMENT] = "environment"
};

static tg_Heap *heap_of (const tg_Links *l) {
  return l->naming->heap;
}

bool tg_links_begin (tg_Links *l, tg_Naming *naming) {
  *l = (tg_Links){.naming = naming};
  for (int i = 0; i < TG_LINK_NAMES; i++)
    l->names[i] = tg_graph_string(naming->graph, link_words[i],
                                  strlen(link_words[i]));
  return tg_weakness_find(&l->weakness, naming);
}

void tg_links_free (tg_Links *l) {
  tg_weakness_free(&l->weakness);
  tg_intmap_free(&l->upvalues);
  tg_free(l->variables);
  tg_buf_free(&l->text);
}

/* ---- one edge ---- */

static void link_object (tg_Links *l, tg_EdgeType type, uint32_t name,
                         uint32_t object) {
  if (object != TG_NO_OBJECT)
    tg_graph_edge(l->naming->graph, type, name, object + TG_FIRST_OBJECT);
}

static void link_value (tg_Links *l, tg_EdgeType type, uint32_t name,
                        tg_SeenValue v) {
  link_object(l, type, name, tg_heap_object(heap_of(l), v));
}

/* By a pointer, which is 0 or an object's. */
static void link_pointer (tg_Links *l, tg_LinkName name, uint64_t at) {
  if (at != 0)
    link_object(l, TG_EDGE_INTERNAL, l->names[name],
                tg_heap_number(heap_of(l), at));
}

static uint32_t text_of (tg_Links *l) {
  return tg_graph_string(l->naming->graph, l->text.data, l->text.size);
}

/* ---- tables ---- */

/* A key that is no string, as in a constructor. */
static uint32_t key_name (tg_Links *l, tg_SeenValue key) {
  static const char *const words[] = {"nil", "boolean", "light userdata",
    "number", "string", "table", "function", "userdata", "thread", "?"};
  const tg_Sight *s = &heap_of(l)->sight;
  tg_SeenType type = tg_seen_type(key);
  tg_buf_clear(&l->text);
  if (tg_seen_is_integer(s, key))
    tg_buf_addfmt(&l->text, "[%lld]", (long long)key.bits);
  else if (type == TG_SEEN_NUMBER)
    tg_buf_addfmt(&l->text, "[%.14g]", tg_seen_float(key));
  else if (type == TG_SEEN_BOOLEAN)
    tg_buf_addstr(&l->text, tg_seen_is_true(s, key) ? "[true]" : "[false]");
  else
    tg_buf_addfmt(&l->text, "[%s]", words[type]);
  return text_of(l);
}

/* Whether a key is a number that edges can have. */
static bool is_element (const tg_Sight *s, tg_SeenValue key, uint64_t *index) {
  if (tg_seen_is_integer(s, key)) {
    *index = key.bits;
    return key.bits < ELEMENTS_MOST;
  }
  if (tg_seen_type(key) != TG_SEEN_NUMBER)
    return false;
  double d = tg_seen_float(key);
  *index = (d >= 0 && d < (double)ELEMENTS_MOST) ? (uint64_t)d : 0;
  return (double)*index == d && (*index != 0 || key.bits == 0);
}

/* The value of an entry, by its key's name. */
static void link_field (tg_Links *l, const tg_HeapEntries *e, bool weak,
                        uint32_t object) {
  const tg_Sight *s = &heap_of(l)->sight;
  uint64_t index = e->index;
  uint32_t key, name;
  if (!weak && (e->in_array || is_element(s, e->key, &index))) {
    link_object(l, TG_EDGE_ELEMENT, (uint32_t)index, object);
    return;
  }
  key = e->in_array ? TG_NO_OBJECT : tg_heap_object(heap_of(l), e->key);
  if (key != TG_NO_OBJECT && heap_of(l)->kinds[key] == TG_OBJECT_STRING)
    name = l->naming->names[key];
  else if (e->in_array) {
    tg_buf_clear(&l->text);
    tg_buf_addfmt(&l->text, "[%llu]", (unsigned long long)e->index);
    name = text_of(l);
  }
  else
    name = key_name(l, e->key);
  link_object(l, weak ? TG_EDGE_WEAK : TG_EDGE_PROPERTY, name, object);
  if (!weak)
    tg_naming_hear(l->naming, object, name);
}

/* Strings are values and never removed, wherever they are. */
static bool is_weak (const tg_Heap *h, unsigned mode, unsigned bit,
                     uint32_t object) {
  return (mode & bit) != 0 && h->kinds[object] != TG_OBJECT_STRING;
}

/* The pair of a table and a key, whose value it is. */
static void link_pair (tg_Links *l, uint32_t table, uint32_t key,
                       uint32_t value) {
  const tg_Weakness *w = &l->weakness;
  uint32_t i = tg_weakness_pairs(w, key);
  for (; i != TG_NO_PAIR; i = w->pairs[i].next) {
    if (w->pairs[i].table == table && w->pairs[i].value == value) {
      link_object(l, TG_EDGE_INTERNAL, w->pairs[i].name, value);
      return;
    }
  }
}

static void link_entry (tg_Links *l, uint32_t table, unsigned mode,
                        const tg_HeapEntries *e) {
  tg_Heap *h = heap_of(l);
  uint32_t value = tg_heap_object(h, e->value);
  uint32_t key = e->in_array ? TG_NO_OBJECT : tg_heap_object(h, e->key);
  bool weak_key = key != TG_NO_OBJECT && is_weak(h, mode, TG_WEAK_KEYS, key);
  if (key != TG_NO_OBJECT)
    link_object(l, weak_key ? TG_EDGE_WEAK : TG_EDGE_INTERNAL,
                l->names[TG_LINK_KEY], key);
  if (value == TG_NO_OBJECT)
    return;
  if (weak_key && mode == TG_WEAK_KEYS && h->sight.release >= 50200)
    link_pair(l, table, key, value);
  else
    link_field(l, e, is_weak(h, mode, TG_WEAK_VALUES, value), value);
}

static void link_table (tg_Links *l, uint32_t object) {
  tg_Heap *h = heap_of(l);
  tg_HeapEntries e;
  link_pointer(l, TG_LINK_METATABLE, tg_naming_metatable(h, object));
  unsigned mode = tg_weakness_mode(&l->weakness, h, object);
  tg_heap_traverse(h, h->at[object], &e);
  while (tg_heap_next(&e))
    link_entry(l, object, mode, &e);
}

/* ---- functions ---- */

/* What an upvalue of a prototype is called, found once. NULL without memory. */
static tg_UpvalueName *upvalue_name (tg_Links *l, uint64_t proto,
                                     uint32_t number, uint32_t i) {
  tg_SeenProto p;
  char name[128];
  uint64_t key = (uint64_t)number << 8 | i;
  uint32_t known = tg_intmap_find(&l->upvalues, key);
  if (known != TG_INTMAP_NONE)
    return &l->variables[known];
  if (!tg_grow(&l->variables, &l->capacity, l->count + 1,
               sizeof *l->variables)
      || !tg_intmap_set(&l->upvalues, key, l->count)) {
    l->naming->graph->failed = true;
    return NULL;
  }
  tg_buf_clear(&l->text);
  if (tg_proto_read(&heap_of(l)->sight, proto, &p)
      && tg_proto_upvalue(&heap_of(l)->sight, &p, i, name, sizeof name))
    tg_buf_addfmt(&l->text, "upvalue %s", name);
  else
    tg_buf_addfmt(&l->text, "upvalue %u", i + 1);
  l->variables[l->count] = (tg_UpvalueName){text_of(l), TG_NO_NAME};
  return &l->variables[l->count++];
}

/* The same without its first word. */
static uint32_t variable_of (tg_Links *l, tg_UpvalueName *u) {
  size_t size, word = strlen("upvalue ");
  if (u->variable == TG_NO_NAME) {
    const char *s = tg_graph_text(l->naming->graph, u->name, &size);
    tg_buf_clear(&l->text);
    tg_buf_add(&l->text, s + word, size - word);
    u->variable = text_of(l);
  }
  return u->variable;
}

/* What a variable holds may be called as the variable is. */
static void hear_upvalue (tg_Links *l, tg_UpvalueName *u, uint64_t upvalue) {
  tg_Heap *h = heap_of(l);
  tg_SeenValue v = tg_heap_slot(h, tg_image_word(
    h->image, upvalue + tg_heap_row(h, AT_UPVALUE_SLOT)));
  uint32_t object = tg_heap_object(h, v);
  if (object != TG_NO_OBJECT && (h->kinds[object] == TG_OBJECT_TABLE
                                 || h->kinds[object] == TG_OBJECT_LUA))
    tg_naming_hear(l->naming, object, variable_of(l, u));
}

static void link_lua (tg_Links *l, uint64_t at) {
  tg_Heap *h = heap_of(l);
  uint64_t proto = tg_image_word(h->image,
                                 at + tg_heap_row(h, AT_CLOSURE_FUNCTION));
  uint64_t list = at + tg_heap_row(h, AT_CLOSURE_CAPTURED);
  uint32_t n = tg_image_byte(h->image,
                             at + tg_heap_row(h, AT_CLOSURE_UPVALUES));
  uint32_t number = tg_heap_number(h, proto);
  if (proto != 0)
    link_object(l, TG_EDGE_INTERNAL, l->names[TG_LINK_PROTOTYPE], number);
  for (uint32_t i = 0; i < n; i++) {
    uint64_t upvalue = tg_image_word(h->image, list + 8 * (uint64_t)i);
    uint32_t object = tg_heap_number(h, upvalue);
    if (upvalue == 0 || object == TG_NO_OBJECT)
      continue;
    tg_UpvalueName *u = upvalue_name(l, proto, number, i);
    if (u == NULL)
      return;
    link_object(l, TG_EDGE_CONTEXT, u->name, object);
    hear_upvalue(l, u, upvalue);
  }
}

static void link_c (tg_Links *l, uint64_t at) {
  tg_Heap *h = heap_of(l);
  uint32_t n = tg_image_byte(h->image,
                             at + tg_heap_row(h, AT_CLOSURE_UPVALUES));
  for (uint32_t i = 0; i < n; i++) {
    tg_SeenValue v = tg_heap_slot(h, at + tg_heap_row(h, AT_CLOSURE_VALUES)
                                     + 16 * (uint64_t)i);
    tg_buf_clear(&l->text);
    tg_buf_addfmt(&l->text, "upvalue %u", i + 1);
    link_value(l, TG_EDGE_CONTEXT, text_of(l), v);
  }
}

static void link_function (tg_Links *l, uint32_t object) {
  tg_Heap *h = heap_of(l);
  uint64_t at = h->at[object];
  if (tg_heap_has(h, AT_CLOSURE_GLOBALS))
    link_pointer(l, TG_LINK_ENVIRONMENT,
                 tg_image_word(h->image,
                               at + tg_heap_row(h, AT_CLOSURE_GLOBALS)));
  if (h->kinds[object] == TG_OBJECT_LUA)
    link_lua(l, at);
  else
    link_c(l, at);
}

/* A list of records that begin with a pointer each. */
static void link_list (tg_Links *l, tg_LinkName name, uint64_t list,
                       uint64_t n, uint64_t size) {
  tg_Heap *h = heap_of(l);
  const uint8_t *p = tg_image_at(h->image, list, n * size);
  for (uint64_t i = 0; p != NULL && i < n; i++) {
    uint64_t at;
    memcpy(&at, p + i * size, sizeof at);
    link_pointer(l, name, at);
  }
}

#define FIELD(row) tg_image_word(h->image, at + tg_heap_row(h, row))
#define COUNT(row) tg_image_half(h->image, at + tg_heap_row(h, row))

static void link_proto (tg_Links *l, uint64_t at) {
  tg_Heap *h = heap_of(l);
  uint64_t constants = FIELD(AT_PROTO_CONSTANTS);
  uint32_t n = COUNT(AT_PROTO_NCONSTANTS);
  const uint8_t *p = tg_image_at(h->image, constants, 16 * (uint64_t)n);
  for (uint32_t i = 0; p != NULL && i < n; i++)
    link_value(l, TG_EDGE_INTERNAL, l->names[TG_LINK_CONSTANT],
               tg_heap_slot(h, constants + 16 * (uint64_t)i));
  link_pointer(l, TG_LINK_SOURCE, FIELD(AT_PROTO_SOURCE));
  link_list(l, TG_LINK_FUNCTION, FIELD(AT_PROTO_PROTOS),
            COUNT(AT_PROTO_NPROTOS), 8);
  link_list(l, TG_LINK_NAME, FIELD(AT_PROTO_LOCALS), COUNT(AT_PROTO_NLOCALS),
            tg_heap_row(h, SIZE_LOCAL));
  link_list(l, TG_LINK_NAME, FIELD(AT_PROTO_UPVALUES),
            COUNT(AT_PROTO_NUPVALUES), tg_heap_row(h, SIZE_UPVALUE));
}

/* ---- userdata and upvalues ---- */

/* What belongs to it of Lua's: any number of values, one with its tag, or a
   table (lua_setuservalue, in 5.1 lua_setfenv). */
static void link_userdata (tg_Links *l, uint32_t object) {
  tg_Heap *h = heap_of(l);
  uint64_t at = h->at[object];
  link_pointer(l, TG_LINK_METATABLE, tg_naming_metatable(h, object));
  if (tg_heap_has(h, AT_USERDATA_TABLE))
    link_pointer(l, TG_LINK_USERVALUE, FIELD(AT_USERDATA_TABLE));
  if (tg_heap_has(h, AT_USERDATA_VALUE)) {
    tg_SeenValue v = {FIELD(AT_USERDATA_VALUE),
      tg_image_byte(h->image, at + tg_heap_row(h, AT_USERDATA_TAG))};
    link_value(l, TG_EDGE_INTERNAL, l->names[TG_LINK_USERVALUE], v);
  }
  uint32_t n = tg_heap_has(h, AT_USERDATA_NVALUES)
               ? COUNT(AT_USERDATA_NVALUES) & 0xffff : 0;
  for (uint32_t i = 0; i < n; i++)
    link_value(l, TG_EDGE_INTERNAL, l->names[TG_LINK_USERVALUE],
               tg_heap_slot(h, at + tg_heap_row(h, AT_USERDATA_VALUES)
                               + 16 * (uint64_t)i));
}

static void link_upvalue (tg_Links *l, uint64_t at) {
  tg_Heap *h = heap_of(l);
  link_value(l, TG_EDGE_INTERNAL, l->names[TG_LINK_VALUE],
             tg_heap_slot(h, FIELD(AT_UPVALUE_SLOT)));
}

/* ---- coroutines ---- */

static void link_slot (void *data, uint32_t name, uint32_t variable,
                       tg_SeenValue v) {
  tg_Links *l = data;
  uint32_t object = tg_heap_object(heap_of(l), v);
  link_object(l, TG_EDGE_INTERNAL,
              name == TG_NO_NAME ? l->names[TG_LINK_SLOT] : name, object);
  if (variable != TG_NO_NAME)
    tg_naming_hear(l->naming, object, variable);
}

static void link_thread (tg_Links *l, uint64_t at) {
  tg_Heap *h = heap_of(l);
  if (tg_heap_has(h, AT_STATE_GLOBALS))
    link_value(l, TG_EDGE_INTERNAL, l->names[TG_LINK_GLOBALS],
               tg_heap_slot(h, at + tg_heap_row(h, AT_STATE_GLOBALS)));
  tg_slots_each(l->naming, at, link_slot, l);
}

/* ---- all ---- */

static void link_pairs (tg_Links *l, uint32_t key) {
  const tg_Weakness *w = &l->weakness;
  uint32_t i = tg_weakness_pairs(w, key);
  for (; i != TG_NO_PAIR; i = w->pairs[i].next)
    link_object(l, TG_EDGE_INTERNAL, w->pairs[i].name, w->pairs[i].value);
}

void tg_links_add (tg_Links *l, uint32_t object) {
  tg_Heap *h = heap_of(l);
  switch ((tg_ObjectKind)h->kinds[object]) {
    case TG_OBJECT_TABLE: link_table(l, object); break;
    case TG_OBJECT_LUA: case TG_OBJECT_C: link_function(l, object); break;
    case TG_OBJECT_USERDATA: link_userdata(l, object); break;
    case TG_OBJECT_THREAD: link_thread(l, h->at[object]); break;
    case TG_OBJECT_PROTO: link_proto(l, h->at[object]); break;
    case TG_OBJECT_UPVALUE: link_upvalue(l, h->at[object]); break;
    case TG_OBJECT_STRING: case TG_OBJECT_NONE: default: break;
  }
  if (l->weakness.count > 0)
    link_pairs(l, object);
}

/* What is to be finalized the collector keeps for that. */
static void link_pending (tg_Links *l) {
  tg_Heap *h = heap_of(l);
  uint64_t first = tg_image_word(h->image,
                                 h->shared + tg_heap_row(h, AT_SHARED_PENDING));
  uint64_t at = first;
  for (uint32_t i = 0; at != 0 && i < h->count; i++) {
    link_pointer(l, TG_LINK_PENDING, at);
    at = tg_image_word(h->image, at + tg_heap_row(h, AT_OBJECT_NEXT));
    if (at == first)            /* 5.1 */
      return;
  }
}

void tg_links_add_roots (tg_Links *l) {
  static const char *const types[] = {"nil", "boolean", "light userdata",
    "number", "string", "table", "function", "userdata", "thread"};
  tg_Heap *h = heap_of(l);
  tg_Graph *g = l->naming->graph;
  tg_graph_edge(g, TG_EDGE_INTERNAL, tg_graph_string(g, "state", 5), 1);
  link_value(l, TG_EDGE_INTERNAL, tg_graph_string(g, "registry", 8),
             tg_heap_slot(h, h->shared + tg_heap_row(h, AT_SHARED_REGISTRY)));
  link_object(l, TG_EDGE_INTERNAL, tg_graph_string(g, "main thread", 11),
              tg_heap_number(h, h->main));
  for (uint64_t i = 0; i < sizeof types / sizeof *types; i++) {
    uint64_t at = tg_image_word(h->image, h->shared
                                + tg_heap_row(h, AT_SHARED_METAS) + 8 * i);
    tg_buf_clear(&l->text);
    tg_buf_addfmt(&l->text, "metatable of %s", types[i]);
    if (at != 0)
      link_object(l, TG_EDGE_INTERNAL, text_of(l), tg_heap_number(h, at));
  }
  link_pending(l);
}

void tg_links_add_state (tg_Links *l) {
  tg_Heap *h = heap_of(l);
  if (tg_heap_has(h, AT_SHARED_FIXED)) {
    uint64_t at = tg_image_word(h->image, h->shared
                                + tg_heap_row(h, AT_SHARED_FIXED));
    for (uint32_t i = 0; at != 0 && i < h->count; i++) {
      link_pointer(l, TG_LINK_FIXED, at);
      at = tg_image_word(h->image, at + tg_heap_row(h, AT_OBJECT_NEXT));
    }
    return;
  }
  for (uint32_t i = 0; i < h->count; i++) {
    if (tg_heap_is_fixed(h, i))
      link_object(l, TG_EDGE_INTERNAL, l->names[TG_LINK_FIXED], i);
  }
}
