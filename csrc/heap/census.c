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

/* ---- adding ---- */

/* At first there is room for as many as a state of that size has mostly: what
   is not used is not there. */
#define USUAL 40u               /* bytes an object */

static uint32_t usual_count (tg_Heap *h) {
  uint64_t bytes = tg_state_bytes(&h->sight, h->shared);
  uint64_t most = h->eighths * 8;       /* whatever the state says */
  uint64_t n = (bytes < most ? bytes : most) / USUAL;
  return n < OBJECTS_MOST ? (uint32_t)n : 0;
}

static bool more_room (tg_Heap *h) {
  uint32_t need = h->count + 1, a = h->capacity, b = a;
  if (h->capacity == 0)
    need += usual_count(h);
  if (h->count >= OBJECTS_MOST
      || !tg_grow(&h->at, &a, need, sizeof *h->at)
      || !tg_grow(&h->kinds, &b, need, sizeof *h->kinds)) {
    h->failed = true;
    return false;
  }
  h->capacity = (a < b) ? a : b;
  return true;
}

/* Adds an object; false: it is there already, or is none. Its size is added
   here, where it was read just now. */
static bool add (tg_Heap *h, uint64_t at, tg_ObjectKind kind) {
  uint64_t eighth = tg_heap_eighth(h, at);
  if (eighth == UINT64_MAX || kind == TG_OBJECT_NONE || h->failed)
    return false;
  uint64_t *set = &h->bits[eighth / 64].set;
  uint64_t bit = UINT64_C(1) << eighth % 64;
  if ((*set & bit) != 0
      || (tg_unlikely(h->count == h->capacity) && !more_room(h)))
    return false;
  *set |= bit;
  h->at[h->count] = at;
  h->kinds[h->count] = (uint8_t)kind;
  h->bytes += tg_heap_size(h, h->count);
  h->count++;
  return true;
}

/* ---- what is there ---- */

static tg_ObjectKind kind_of_tag (const tg_Heap *h, int tag) {
  const int32_t *row = h->layout->at;
  if (tag == row[TG_ROW_TAG_SHORT] || tag == row[TG_ROW_TAG_LONG])
    return TG_OBJECT_STRING;
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

/* By the tag that stands in the object itself; 5.1 has one for all
   functions. */
TG_INLINE tg_ObjectKind kind_of (const tg_Heap *h, uint64_t at) {
  const uint8_t *p = tg_image_at(h->image, at, 16);
  if (p == NULL || at == 0)
    return TG_OBJECT_NONE;
  tg_ObjectKind kind = h->by_tag[p[tg_heap_row(h, AT_OBJECT_TAG)] & 0x3f];
  if (kind == TG_OBJECT_LUA && tg_heap_has(h, AT_CLOSURE_C)
      && p[tg_heap_row(h, AT_CLOSURE_C)] != 0)
    return TG_OBJECT_C;
  return kind;
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

/* Where each is, by counting. */
static bool number (tg_Heap *h) {
  uint64_t words = h->eighths / 64 + 1, rank = 0;
  h->numbers = tg_malloc(((size_t)h->count + 1) * sizeof *h->numbers);
  if (h->numbers == NULL)
    return false;
  for (uint64_t i = 0; i < words; i++) {
    h->bits[i].rank = rank;
    rank += h->bits[i].set != 0 ? tg_heap_ones(h->bits[i].set) : 0;
  }
  for (uint32_t i = 0; i < h->count; i++)
    h->numbers[tg_heap_rank(h, tg_heap_eighth(h, h->at[i]))] = i;
  return true;
}

static bool take (tg_Heap *h, tg_Image *image, const tg_Layout *layout,
                  int release, uint64_t main) {
  *h = (tg_Heap){.image = image, .layout = layout, .main = main};
  h->sight = (tg_Sight){.memory = &image->memory, .layout = layout,
                        .release = release};
  h->shared = word(h, main + tg_heap_row(h, AT_STATE_SHARED));
  if (image->count == 0)
    return false;
  const tg_Region *r = &image->regions[image->count - 1];
  h->eighths = r->base + (r->end - r->start) / 8;
  for (int tag = 0; tag < 64; tag++)
    h->by_tag[tag] = (uint8_t)kind_of_tag(h, tag);
  h->bits = tg_calloc((size_t)(h->eighths / 64 + 2), sizeof *h->bits);
  if (h->bits == NULL || !add(h, main, kind_of(h, main))
      || h->kinds[0] != TG_OBJECT_THREAD)
    return false;
  add_all(h);
  turn(h);
  return !h->failed && number(h);
}

bool tg_heap_take (tg_Heap *h, tg_Image *image, const tg_Layout *layout,
                   int release, uint64_t main) {
  if (take(h, image, layout, release, main))
    return true;
  tg_heap_free(h);
  return false;
}

bool tg_heap_agrees (const tg_Heap *h) {
  return h->torn == 0 && h->bytes + tg_heap_state_size(h)
                         == tg_state_bytes(&h->sight, h->shared);
}

void tg_heap_free (tg_Heap *h) {
  tg_free(h->at);
  tg_free(h->kinds);
  tg_free(h->bits);
  tg_free(h->numbers);
  *h = (tg_Heap){0};
}

bool tg_heap_is_fixed (const tg_Heap *h, uint32_t object) {
  uint64_t bits = h->at[object] + tg_heap_row(h, AT_OBJECT_MARKED);
  return h->sight.release < 50300 && h->kinds[object] == TG_OBJECT_STRING
         && (tg_image_byte(h->image, bits) & COLLECTOR_FIXED) != 0;
}
