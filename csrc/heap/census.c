/* census.c - see census.h. */
#include "heap/census.h"

#include "base/alloc.h"
#include "base/grow.h"
#include "outside/state.h"

#define OBJECTS_MOST UINT32_C(0xf0000000)
#define COLLECTOR_FIXED 0x20u   /* FIXEDBIT of lgc.h, up to 5.2 */

static uint64_t word (const tg_Heap *h, uint64_t at) {
  return tg_image_word(h->image, at);
}

/* ---- bits ---- */

/* The number of an address among all eighths; UINT64_MAX: it is not there. */
static uint64_t eighth_of (const tg_Heap *h, uint64_t at) {
  const tg_Image *image = h->image;
  const tg_Region *r = image->last < image->count
                       ? &image->regions[image->last] : NULL;
  if (r == NULL || at < r->start || at >= r->end)
    r = tg_image_region(image, at);
  if (r == NULL || at % 8 != 0)
    return UINT64_MAX;
  return r->base + (at - r->start) / 8;
}

static bool has_bit (const tg_Heap *h, uint64_t eighth) {
  return (h->bits[eighth / 64] >> eighth % 64 & 1) != 0;
}

/* Adds an object; false: it is there already, or is none. */
static bool add (tg_Heap *h, uint64_t at, tg_ObjectKind kind) {
  uint64_t eighth = eighth_of(h, at);
  if (eighth == UINT64_MAX || has_bit(h, eighth) || kind == TG_OBJECT_NONE)
    return false;
  if (h->count >= OBJECTS_MOST || h->failed)
    return false;
  if (h->count == h->capacity) {
    uint32_t a = h->capacity, b = a;
    if (!tg_grow(&h->at, &a, h->count + 1, sizeof *h->at)
        || !tg_grow(&h->kinds, &b, a, sizeof *h->kinds)) {
      h->failed = true;
      return false;
    }
    h->capacity = (a < b) ? a : b;
  }
  h->bits[eighth / 64] |= UINT64_C(1) << eighth % 64;
  h->at[h->count] = at;
  h->kinds[h->count++] = (uint8_t)kind;
  return true;
}

/* ---- what is there ---- */

/* By the tag that stands in the object itself. */
static tg_ObjectKind kind_of (const tg_Heap *h, uint64_t at) {
  const uint8_t *p = tg_image_at(h->image, at, 16);
  if (p == NULL || at == 0)
    return TG_OBJECT_NONE;
  int tag = p[tg_heap_row(h, AT_OBJECT_TAG)] & 0x3f;
  const int32_t *row = h->layout->at;
  if (tag == row[TG_ROW_TAG_SHORT] || tag == row[TG_ROW_TAG_LONG])
    return TG_OBJECT_STRING;
  if (tag == row[TG_ROW_TAG_LUA] && tg_heap_has(h, AT_CLOSURE_C))
    return p[row[TG_ROW_AT_CLOSURE_C]] != 0 ? TG_OBJECT_C : TG_OBJECT_LUA;
  if (tag == row[TG_ROW_TAG_LUA])
    return TG_OBJECT_LUA;
  if (tag == row[TG_ROW_TAG_C])
    return TG_OBJECT_C;
  if (tag == row[TG_ROW_TAG_PROTO])
    return TG_OBJECT_PROTO;
  if (tag == row[TG_ROW_TAG_UPVALUE])
    return TG_OBJECT_UPVALUE;
  switch (tag) {        /* LUA_TTABLE and so on, of lua.h */
    case 5: return TG_OBJECT_TABLE;
    case 7: return TG_OBJECT_USERDATA;
    case 8: return TG_OBJECT_THREAD;
    default: return TG_OBJECT_NONE;
  }
}

#define OPEN_MOST 10000000u     /* upvalues of one coroutine */

/* Open upvalues, up to 5.3 on a list of their own alone. In 5.3 closures may
   have led to some of them before. */
static void add_open (tg_Heap *h, uint64_t thread) {
  bool plain = !tg_heap_has(h, TAG_UPVALUE);
  if (h->sight.release >= 50400)
    return;
  uint64_t at = word(h, thread + tg_heap_row(h, AT_STATE_OPEN));
  for (uint32_t i = 0; at != 0 && i < OPEN_MOST; i++) {
    if (!plain && kind_of(h, at) != TG_OBJECT_UPVALUE)
      return;
    if (!add(h, at, TG_OBJECT_UPVALUE) && !plain)
      return;
    at = word(h, at + tg_heap_row(h, AT_UPVALUE_NEXT));
  }
}

/* In 5.3 upvalues are on no list. */
static void add_captured (tg_Heap *h, uint64_t closure) {
  uint64_t n = tg_image_byte(h->image,
                             closure + tg_heap_row(h, AT_CLOSURE_UPVALUES));
  uint64_t list = closure + tg_heap_row(h, AT_CLOSURE_CAPTURED);
  for (uint64_t i = 0; i < n; i++) {
    uint64_t at = word(h, list + 8 * i);
    if (at != 0)
      add(h, at, TG_OBJECT_UPVALUE);
  }
}

/* One list, from its first object on. In 5.1 the main thread is on it. */
static void add_list (tg_Heap *h, uint64_t at) {
  uint64_t next = tg_heap_row(h, AT_OBJECT_NEXT);
  while (at != 0) {
    if (!add(h, at, kind_of(h, at)) && at != h->main) {
      h->torn++;
      return;
    }
    at = word(h, at + next);
  }
}

/* Of 5.1: a ring, whose last one is known. */
static void add_ring (tg_Heap *h, uint64_t last) {
  uint64_t at = last;
  while (at != 0 && add(h, at, kind_of(h, at)))
    at = word(h, at + tg_heap_row(h, AT_OBJECT_NEXT));
}

/* Up to 5.2 short strings, in 5.1 all, are chained where they are sought. */
static void add_strings (tg_Heap *h) {
  uint64_t list = word(h, h->shared + tg_heap_row(h, AT_SHARED_STRINGS));
  uint64_t n = tg_image_half(h->image,
                             h->shared + tg_heap_row(h, AT_SHARED_NSTRINGS));
  for (uint64_t i = 0; i < n; i++)
    add_list(h, word(h, list + 8 * i));
}

/* ---- all ---- */

/* The last list first and each from its newest on: turned round afterwards, the
   oldest of all objects is the first, behind the main thread. */
static void add_all (tg_Heap *h) {
  uint64_t g = h->shared;
  add_list(h, word(h, g + tg_heap_row(h, AT_SHARED_OBJECTS)));
  h->recent = h->count;
  if (tg_heap_has(h, AT_SHARED_FINALIZED))
    add_list(h, word(h, g + tg_heap_row(h, AT_SHARED_FINALIZED)));
  h->finalized = h->count;
  if (h->sight.release < 50200)
    add_ring(h, word(h, g + tg_heap_row(h, AT_SHARED_PENDING)));
  else
    add_list(h, word(h, g + tg_heap_row(h, AT_SHARED_PENDING)));
  h->pending = h->count;
  if (h->sight.release < 50300)
    add_strings(h);
  for (uint32_t i = 0; i < h->count; i++) {
    if (h->kinds[i] == TG_OBJECT_THREAD)
      add_open(h, h->at[i]);
    else if (h->kinds[i] == TG_OBJECT_LUA && !tg_heap_has(h, TAG_UPVALUE))
      add_captured(h, h->at[i]);
  }
  if (tg_heap_has(h, AT_SHARED_FIXED))
    add_list(h, word(h, g + tg_heap_row(h, AT_SHARED_FIXED)));
}

/* Where a list ended is where it begins then: in front of it is the main thread
   alone. */
static void turn (tg_Heap *h) {
  h->recent = h->count + 1 - h->recent;
  h->finalized = h->count + 1 - h->finalized;
  h->pending = h->count + 1 - h->pending;
  for (uint32_t i = 1, j = h->count; i + 1 < j; i++) {
    uint64_t at = h->at[i];
    uint8_t kind = h->kinds[i];
    j--;
    h->at[i] = h->at[j];
    h->kinds[i] = h->kinds[j];
    h->at[j] = at;
    h->kinds[j] = kind;
  }
}

/* Not __builtin_popcountll: for processors that may have no instruction for it
   that is a call, which looks eight bytes up. */
TG_INLINE uint32_t bits_of (uint64_t v) {
  v -= v >> 1 & UINT64_C(0x5555555555555555);
  v = (v & UINT64_C(0x3333333333333333))
      + (v >> 2 & UINT64_C(0x3333333333333333));
  v = (v + (v >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
  return (uint32_t)(v * UINT64_C(0x0101010101010101) >> 56);
}

/* Where each is, by counting. */
static bool number (tg_Heap *h) {
  uint64_t words = h->eighths / 64 + 1;
  uint32_t rank = 0;
  h->ranks = tg_malloc((size_t)words * sizeof *h->ranks);
  h->numbers = tg_malloc(((size_t)h->count + 1) * sizeof *h->numbers);
  if (h->ranks == NULL || h->numbers == NULL)
    return false;
  for (uint64_t i = 0; i < words; i++) {
    h->ranks[i] = rank;
    rank += bits_of(h->bits[i]);
  }
  return true;
}

static uint32_t rank_of (const tg_Heap *h, uint64_t eighth) {
  uint64_t i = eighth / 64;
  uint64_t below = (UINT64_C(1) << eighth % 64) - 1;
  return h->ranks[i] + bits_of(h->bits[i] & below);
}

uint32_t tg_heap_number (const tg_Heap *h, uint64_t at) {
  uint64_t eighth = eighth_of(h, at);
  if (eighth == UINT64_MAX || !has_bit(h, eighth))
    return TG_NO_OBJECT;
  return h->numbers[rank_of(h, eighth)];
}

static bool take (tg_Heap *h, tg_Image *image, const tg_Layout *layout,
                  int release, uint64_t main) {
  *h = (tg_Heap){.image = image, .layout = layout, .main = main};
  h->sight = (tg_Sight){.memory = &image->memory, .layout = layout,
                        .release = release};
  h->shared = word(h, main + tg_heap_row(h, AT_STATE_SHARED));
  if (image->count > 0) {
    const tg_Region *r = &image->regions[image->count - 1];
    h->eighths = r->base + (r->end - r->start) / 8;
  }
  h->bits = tg_calloc((size_t)(h->eighths / 64 + 2), sizeof *h->bits);
  if (h->bits == NULL || !add(h, main, kind_of(h, main))
      || h->kinds[0] != TG_OBJECT_THREAD)
    return false;
  add_all(h);
  turn(h);
  if (h->failed || !number(h))
    return false;
  for (uint32_t i = 0; i < h->count; i++)
    h->numbers[rank_of(h, eighth_of(h, h->at[i]))] = i;
  return true;
}

bool tg_heap_take (tg_Heap *h, tg_Image *image, const tg_Layout *layout,
                   int release, uint64_t main) {
  if (take(h, image, layout, release, main))
    return true;
  tg_heap_free(h);
  return false;
}

bool tg_heap_agrees (const tg_Heap *h) {
  uint64_t sum = tg_heap_state_size(h);
  for (uint32_t i = 0; i < h->count; i++)
    sum += tg_heap_size(h, i);
  return h->torn == 0 && sum == tg_state_bytes(&h->sight, h->shared);
}

void tg_heap_free (tg_Heap *h) {
  tg_free(h->at);
  tg_free(h->kinds);
  tg_free(h->bits);
  tg_free(h->ranks);
  tg_free(h->numbers);
  *h = (tg_Heap){0};
}

bool tg_heap_is_fixed (const tg_Heap *h, uint32_t object) {
  uint64_t bits = h->at[object] + tg_heap_row(h, AT_OBJECT_MARKED);
  return h->sight.release < 50300 && h->kinds[object] == TG_OBJECT_STRING
         && (tg_image_byte(h->image, bits) & COLLECTOR_FIXED) != 0;
}
