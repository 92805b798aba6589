/*
** stacks.c - growing, shrinking and finding a reader's shadow stacks.
**
** One thread: the reader's.
*/
#include "reader/stacks.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "stream/event.h"
#include "stream/values.h"

#define FIRST_FRAMES 16
#define FIRST_SLOTS 16

/*
** {==================================================================
** Stacks by thread
** ===================================================================
*/

/* Where the search for a thread begins. */
static size_t home (const tg_Stacks *all, tg_ThreadId thread) {
  return (size_t)tg_hash(thread, all->slots) & (all->capacity - 1);
}

/* The slot of a thread: its own or the free one where it would go. */
static size_t slot_of (const tg_Stacks *all, tg_ThreadId thread) {
  size_t i = home(all, thread);
  while (all->slots[i] != NULL && all->slots[i]->thread != thread)
    i = (i + 1) & (all->capacity - 1);
  return i;
}

static bool rehash (tg_Stacks *all) {
  tg_Stacks bigger = {.count = all->count, .put_in = all->put_in};
  bigger.capacity = all->capacity > 0 ? all->capacity * 2 : FIRST_SLOTS;
  bigger.slots = tg_calloc(bigger.capacity, sizeof(tg_Stack *));
  if (bigger.slots == NULL)
    return false;
  for (size_t i = 0; i < all->capacity; i++) {
    if (all->slots[i] != NULL)
      bigger.slots[slot_of(&bigger, all->slots[i]->thread)] = all->slots[i];
  }
  tg_free(all->slots);
  *all = bigger;
  return true;
}

tg_Stack *tg_stacks_get (tg_Stacks *all, tg_ThreadId thread) {
  if (all->count >= all->capacity / 2 && !rehash(all))   /* half full */
    return NULL;
  size_t i = slot_of(all, thread);
  if (all->slots[i] == NULL) {
    tg_Stack *s = tg_calloc(1, sizeof *s);
    if (s == NULL)
      return NULL;
    s->thread = thread;
    s->all = all;
    all->slots[i] = s;
    all->count++;
  }
  return all->slots[i];
}

tg_Stack *tg_stacks_find (const tg_Stacks *all, tg_ThreadId thread) {
  return all->capacity > 0 ? all->slots[slot_of(all, thread)] : NULL;
}

static void free_stack (tg_Stack *s) {
  tg_free(s->frames);
  tg_buf_free(&s->kept);
  tg_free(s);
}

/* Moves those back that a search would no longer find past the hole. */
void tg_stacks_drop (tg_Stacks *all, tg_Stack *s) {
  size_t mask = all->capacity - 1;
  size_t hole = slot_of(all, s->thread);
  tg_assert(all->slots[hole] == s);
  for (size_t i = (hole + 1) & mask; all->slots[i] != NULL;
       i = (i + 1) & mask) {
    size_t from = home(all, all->slots[i]->thread);
    if (((i - from) & mask) >= ((i - hole) & mask)) {
      all->slots[hole] = all->slots[i];
      hole = i;
    }
  }
  all->slots[hole] = NULL;
  all->count--;
  free_stack(s);
}

void tg_stacks_free (tg_Stacks *all) {
  for (size_t i = 0; i < all->capacity; i++) {
    if (all->slots[i] != NULL)
      free_stack(all->slots[i]);
  }
  tg_free(all->slots);
  memset(all, 0, sizeof *all);
}

/* The frames of 's', but what is kept of them, for 'copy', which is new. */
static bool copy_frames (tg_Stack *copy, const tg_Stack *s) {
  copy->silent = s->silent;
  if (s->count == 0)
    return true;
  copy->frames = tg_malloc(s->count * sizeof *copy->frames);
  if (copy->frames == NULL)
    return false;
  memcpy(copy->frames, s->frames, s->count * sizeof *copy->frames);
  copy->count = copy->capacity = s->count;
  for (uint32_t i = 0; i < copy->count; i++) {
    tg_StackFrame *f = &copy->frames[i];
    f->kept_at = f->kept_size = f->put_in = 0;
  }
  return true;
}

bool tg_stacks_copy (tg_Stacks *to, const tg_Stacks *from) {
  for (size_t i = 0; i < from->capacity; i++) {
    const tg_Stack *s = from->slots[i];
    tg_Stack *copy = s != NULL ? tg_stacks_get(to, s->thread) : NULL;
    if (s != NULL && (copy == NULL || !copy_frames(copy, s)))
      return false;
  }
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Frames of one stack
** ===================================================================
*/

static bool grow (tg_Stack *s) {
  uint32_t capacity = s->capacity > 0 ? s->capacity * 2 : FIRST_FRAMES;
  if (capacity <= s->capacity)
    return false;
  tg_StackFrame *frames = tg_realloc(s->frames, capacity * sizeof *frames);
  if (frames == NULL)
    return false;
  s->frames = frames;
  s->capacity = capacity;
  return true;
}

tg_StackFrame *tg_stack_push (tg_Stack *s) {
  if (s->count == s->capacity && !grow(s))
    return NULL;
  tg_StackFrame *f = &s->frames[s->count++];
  memset(f, 0, sizeof *f);
  f->kept_at = s->kept.size;
  return f;
}

tg_StackFrame *tg_stack_top (const tg_Stack *s) {
  return s->count > 0 ? &s->frames[s->count - 1] : NULL;
}

void tg_stack_pop (tg_Stack *s) {
  tg_assert(s->count > 0);
  const tg_StackFrame *f = &s->frames[--s->count];
  s->kept.size = f->kept_at;
  s->all->put_in -= f->put_in;
}

void tg_stack_keep (tg_Stack *s, tg_Slice values) {
  tg_StackFrame *f = tg_stack_top(s);
  tg_assert(f != NULL && f->kept_size == 0);
  f->put_in = tg_values_copy(&s->kept, values,
                             TG_COPIES_MAX - s->all->put_in);
  s->all->put_in += f->put_in;
  if (!s->kept.failed)
    f->kept_size = s->kept.size - f->kept_at;
  s->kept.failed = false;
}

tg_Slice tg_stack_kept (const tg_Stack *s, const tg_StackFrame *f) {
  if (f->kept_size == 0)
    return (tg_Slice){.data = NULL};
  return (tg_Slice){
    .data = (const uint8_t *)s->kept.data + f->kept_at, .size = f->kept_size
  };
}

bool tg_stack_adopt (tg_Stack *s, const uint8_t *list, uint32_t n,
                     uint64_t now_ns) {
  if (s->silent > n)
    s->silent = n;
  uint32_t same = 0, count = n - s->silent;
  list += 4 * (size_t)s->silent;
  while (same < count && same < s->count
         && s->frames[same].function == tg_get32(list + 4 * (size_t)same))
    same++;
  while (s->count > same)
    tg_stack_pop(s);
  for (uint32_t i = same; i < count; i++) {
    tg_StackFrame *f = tg_stack_push(s);
    if (f == NULL)
      return false;
    f->function = tg_get32(list + 4 * (size_t)i);
    f->entered_ns = now_ns;
  }
  return true;
}

/* }================================================================== */
