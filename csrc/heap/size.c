/*
** size.c - how many bytes an object is of, part by part, as the interpreter
** counts them when it makes and frees it (lgc.c freeobj, and what that calls):
** so that all of them are what the state says that it has in use.
**
** What is declared here stands in census.h.
*/
#include "heap/census.h"

#define FRAMES_MOST 2000000u    /* of one coroutine, LUAI_MAXCCALLS and more */

static uint64_t word (const tg_Heap *h, uint64_t at) {
  return tg_image_word(h->image, at);
}

static uint64_t half (const tg_Heap *h, uint64_t at) {
  return tg_image_half(h->image, at);
}

static uint64_t byte (const tg_Heap *h, uint64_t at) {
  return tg_image_byte(h->image, at);
}

#define ROW(row) tg_heap_row(h, row)

/* Numbers of an object's first bytes, which one look has found all of: there
   are millions. */
static uint32_t half_in (const uint8_t *p) {
  uint32_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

static uint64_t word_in (const uint8_t *p) {
  uint64_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

/* ---- strings ---- */

/* 5.5 may have the text of a long string elsewhere: -1 is its own, -2 somebody
   else's, -3 somebody else's that is to be freed (lstring.c). */
static uint64_t string_of_55 (const tg_Heap *h, const uint8_t *p) {
  int kind = (int8_t)p[ROW(AT_STRING_SHORT)];
  if (kind >= 0)
    return ROW(AT_STRING_TEXT) + (uint64_t)kind + 1;
  if (kind == -1)
    return ROW(SIZE_STRING) + word_in(p + ROW(AT_STRING_LONG)) + 1;
  return (kind == -2) ? ROW(SIZE_STRING) : ROW(SIZE_STRING_OWNED);
}

static uint64_t string_size (const tg_Heap *h, uint64_t at) {
  const uint8_t *p = tg_image_at(h->image, at, ROW(AT_STRING_LONG) + 8);
  if (p == NULL)
    return 0;
  if (h->sight.release >= 50500)
    return string_of_55(h, p);
  if (tg_heap_has(h, AT_STRING_SHORT)
      && (p[ROW(AT_OBJECT_TAG)] & 0x3f) == h->layout->at[TG_ROW_TAG_SHORT])
    return ROW(SIZE_STRING) + p[ROW(AT_STRING_SHORT)] + 1;
  return ROW(SIZE_STRING) + word_in(p + ROW(AT_STRING_LONG)) + 1;
}

/* ---- tables ---- */

/* See luaH_realasize of ltable.c: the field may be a part of the array's size,
   which is then the next power of two. */
static uint64_t elements_of (const tg_Heap *h, const uint8_t *p) {
  uint64_t n = half_in(p + ROW(AT_TABLE_ELEMENTS));
  if (!tg_heap_has(h, AT_TABLE_LIMITED)
      || (p[ROW(AT_TABLE_LIMITED)] & 0x80) == 0)
    return n;
  uint64_t real = 1;
  while (real < n)
    real *= 2;
  return real;
}

/* Tables without nodes have one that all share. Up to 5.2 only its address
   tells, which is among the program's constants and in no memory of ours. */
static bool has_nodes (const tg_Heap *h, const uint8_t *p) {
  if (tg_heap_has(h, TABLE_DUMMY))
    return (p[ROW(AT_TABLE_FLAGS)] & ROW(TABLE_DUMMY)) == 0;
  if (tg_heap_has(h, AT_TABLE_FREE))
    return word_in(p + ROW(AT_TABLE_FREE)) != 0;
  uint64_t node = word_in(p + ROW(AT_TABLE_NODE));
  return p[ROW(AT_TABLE_NODES)] != 0
         || tg_image_at(h->image, node, ROW(SIZE_NODE)) != NULL;
}

static uint64_t nodes_of (const tg_Heap *h, const uint8_t *p) {
  unsigned power = p[ROW(AT_TABLE_NODES)];
  return (power < 40 && has_nodes(h, p)) ? UINT64_C(1) << power : 0;
}

bool tg_heap_table (const tg_Heap *h, uint64_t at, tg_HeapTable *t) {
  const uint8_t *p = tg_image_at(h->image, at, ROW(SIZE_TABLE_BLOCK));
  if (p == NULL)
    return false;
  t->elements = elements_of(h, p);
  t->nodes = nodes_of(h, p);
  t->array = word_in(p + ROW(AT_TABLE_ARRAY));
  t->node = word_in(p + ROW(AT_TABLE_NODE));
  return true;
}

/* 5.5 has 8 bytes before eight nodes and more (Limbox), and arrays whose values
   and tags stand apart. */
static uint64_t table_size (const tg_Heap *h, uint64_t at) {
  tg_HeapTable t;
  if (!tg_heap_table(h, at, &t))
    return 0;
  uint64_t size = ROW(SIZE_TABLE_BLOCK) + t.nodes * ROW(SIZE_NODE);
  if (!tg_heap_has(h, SIZE_VALUE))
    return size + t.elements * ROW(SIZE_SLOT);
  if (t.nodes >= 8)
    size += 8;
  if (t.elements > 0)
    size += t.elements * (ROW(SIZE_VALUE) + 1) + ROW(SIZE_HINT);
  return size;
}

/* ---- functions ---- */

static uint64_t closure_size (const tg_Heap *h, uint64_t at, bool c) {
  uint64_t n = byte(h, at + ROW(AT_CLOSURE_UPVALUES));
  return ROW(SIZE_CLOSURE) + n * (c ? ROW(SIZE_SLOT) : 8);
}

static uint64_t code_size (const tg_Heap *h, uint64_t at) {
  uint64_t size = 4 * half(h, at + ROW(AT_PROTO_NCODE))
                  + ROW(SIZE_LINE) * half(h, at + ROW(AT_PROTO_NLINES));
  if (tg_heap_has(h, AT_PROTO_ABSOLUTES))
    size += 8 * half(h, at + ROW(AT_PROTO_ABSOLUTES));
  return size;
}

static uint64_t proto_size (const tg_Heap *h, uint64_t at) {
  uint64_t size = ROW(SIZE_PROTO)
                  + 8 * half(h, at + ROW(AT_PROTO_NPROTOS))
                  + ROW(SIZE_SLOT) * half(h, at + ROW(AT_PROTO_NCONSTANTS))
                  + ROW(SIZE_LOCAL) * half(h, at + ROW(AT_PROTO_NLOCALS))
                  + ROW(SIZE_UPVALUE) * half(h, at + ROW(AT_PROTO_NUPVALUES));
  bool theirs = tg_heap_has(h, PROTO_FIXED)
                && (byte(h, at + ROW(AT_PROTO_EXTRA)) & ROW(PROTO_FIXED)) != 0;
  return theirs ? size : size + code_size(h, at);
}

/* ---- userdata and threads ---- */

/* From 5.4 on there may be values of Lua's before the bytes; without any, these
   begin where the field for the collector would. */
static uint64_t userdata_size (const tg_Heap *h, uint64_t at) {
  uint64_t size = word(h, at + ROW(AT_USERDATA_SIZE));
  if (!tg_heap_has(h, AT_USERDATA_NVALUES))
    return ROW(SIZE_USERDATA) + size;
  uint64_t n = half(h, at + ROW(AT_USERDATA_NVALUES)) & 0xffff;
  if (n == 0)
    return ROW(SIZE_USERDATA) + size;
  return ROW(AT_USERDATA_VALUES) + n * ROW(SIZE_SLOT) + size;
}

/* Frames, also those that are kept for the next call. */
static uint64_t frames_size (const tg_Heap *h, uint64_t at) {
  if (tg_heap_has(h, AT_STATE_NFRAMES))
    return half(h, at + ROW(AT_STATE_NFRAMES)) * ROW(SIZE_FRAME);
  uint64_t n = 0;
  uint64_t frame = word(h, at + ROW(AT_STATE_LOWEST) + ROW(AT_FRAME_CALLED));
  while (frame != 0 && n < FRAMES_MOST) {
    n++;
    frame = word(h, frame + ROW(AT_FRAME_CALLED));
  }
  return n * ROW(SIZE_FRAME);
}

static uint64_t thread_size (const tg_Heap *h, uint64_t at) {
  uint64_t stack = word(h, at + ROW(AT_STATE_STACK));
  uint64_t last = word(h, at + ROW(AT_STATE_LAST));
  uint64_t size = ROW(SIZE_THREAD) + frames_size(h, at);
  if (stack == 0 || last < stack)
    return size;
  return size + (last - stack) + ROW(STACK_BEYOND) * ROW(SIZE_SLOT);
}

/* ---- any ---- */

uint64_t tg_heap_size (const tg_Heap *h, uint32_t object) {
  uint64_t at = h->at[object];
  switch ((tg_ObjectKind)h->kinds[object]) {
    case TG_OBJECT_STRING: return string_size(h, at);
    case TG_OBJECT_TABLE: return table_size(h, at);
    case TG_OBJECT_LUA: return closure_size(h, at, false);
    case TG_OBJECT_C: return closure_size(h, at, true);
    case TG_OBJECT_USERDATA: return userdata_size(h, at);
    case TG_OBJECT_THREAD: return thread_size(h, at);
    case TG_OBJECT_PROTO: return proto_size(h, at);
    case TG_OBJECT_UPVALUE: return ROW(SIZE_CAPTURED);
    case TG_OBJECT_NONE: default: return 0;
  }
}

uint64_t tg_heap_state_size (const tg_Heap *h) {
  uint64_t size = ROW(SIZE_SHARED) - ROW(SIZE_THREAD)
                  + 8 * half(h, h->shared + ROW(AT_SHARED_NSTRINGS));
  if (tg_heap_has(h, AT_SHARED_NBUFFER))
    size += word(h, h->shared + ROW(AT_SHARED_NBUFFER));
  return size;
}

