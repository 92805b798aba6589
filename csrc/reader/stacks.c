/*
** stacks.c - growing, shrinking and finding a reader's shadow stacks.
**
** Called by a framer, on its reader's thread. Without memory there is no stack
** or no frame, and the reader's status says so; arguments that cannot be kept
** are not, and a yield then has no values.
*/
#include "reader/stacks.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "stream/event.h"
#include "stream/valuecopy.h"

/*
** {==================================================================
** Stacks by thread
** ===================================================================
*/

tg_Stack *tg_stacks_find (const tg_Stacks *all, tg_ThreadId thread) {
  uint32_t place = tg_intmap_find(&all->places, thread);
  return place != TG_INTMAP_NONE ? all->list[place] : NULL;
}

/* A stack for a thread that has none; NULL without memory. */
static tg_Stack *new_stack (tg_Stacks *all, tg_ThreadId thread) {
  tg_Stack *s = NULL;
  if (tg_grow(&all->list, &all->capacity, all->count + 1, sizeof *all->list))
    s = tg_calloc(1, sizeof *s);
  if (s == NULL || !tg_intmap_set(&all->places, thread, all->count)) {
    tg_free(s);
    return NULL;
  }
  s->thread = thread;
  s->all = all;
  all->list[all->count++] = s;
  return s;
}

tg_Stack *tg_stacks_get (tg_Stacks *all, tg_ThreadId thread) {
  tg_Stack *s = tg_stacks_find(all, thread);
  return s != NULL ? s : new_stack(all, thread);
}

/* Stacks are allocated singly: a chain of them borrows their addresses. */
static void free_stack (tg_Stack *s) {
  tg_free(s->frames);
  tg_buf_free(&s->kept);
  tg_free(s);
}

/* The last one takes its place. That its new place cannot be refused is why
   the other key is dropped first: the map has room for as many as it had. */
void tg_stacks_drop (tg_Stacks *all, tg_Stack *s) {
  uint32_t place = tg_intmap_find(&all->places, s->thread);
  tg_assert(place < all->count && all->list[place] == s);
  tg_assert(!s->running);
  tg_Stack *last = all->list[--all->count];
  tg_intmap_drop(&all->places, s->thread);
  if (last != s) {
    all->list[place] = last;
    bool set = tg_intmap_set(&all->places, last->thread, place);
    tg_assert(set);
    (void)set;
  }
  free_stack(s);
}

void tg_stacks_free (tg_Stacks *all) {
  for (uint32_t i = 0; i < all->count; i++)
    free_stack(all->list[i]);
  tg_free(all->list);
  tg_intmap_free(&all->places);
  memset(all, 0, sizeof *all);
}

/* The frames of 's', but what is kept of them, for 'copy', which is new. */
static bool copy_frames (tg_Stack *copy, const tg_Stack *s) {
  copy->silent = s->silent;
  copy->body = s->body;
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

/* Frames as they are now. Arguments that are kept are not copied: whoever has a
   copy made looks at no values (tg_reader_copy). False without memory; 'to' is
   then its owner's to free. */
bool tg_stacks_copy (tg_Stacks *to, const tg_Stacks *from) {
  tg_assert(to->count == 0);
  for (uint32_t i = 0; i < from->count; i++) {
    const tg_Stack *s = from->list[i];
    tg_Stack *copy = new_stack(to, s->thread);
    if (copy == NULL || !copy_frames(copy, s))
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

/* Only what fits below TG_COPIES_MAX, of all frames together: a few bytes of a
   file can refer to any number of strings (valuecopy.h). */
void tg_stack_keep (tg_Stack *s, tg_Slice values) {
  tg_StackFrame *f = tg_stack_top(s);
  tg_assert(f != NULL && f->kept_size == 0);
  f->put_in = tg_valuecopy(&s->kept, values, TG_COPIES_MAX - s->all->put_in);
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

/* They keep no arguments, so 'kept' stays as it is. */
void tg_stack_forget_sampled (tg_Stack *s) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    if (!s->frames[i].sampled)
      s->frames[left++] = s->frames[i];
  }
  s->count = left;
}

/* An entry of a list. */
static tg_FunctionId listed (const uint8_t *list, uint32_t i) {
  return tg_get32(list + 4 * (size_t)i) & ~TG_RESUME_UNTOLD;
}

static bool is_untold (const uint8_t *list, uint32_t i) {
  return (tg_get32(list + 4 * (size_t)i) & TG_RESUME_UNTOLD) != 0;
}

/* How many frames of the stack, from the outermost, are those of the list that
   have been told of, behind the silent ones; '*told': how many the list has of
   those. Frames that differ from what was known: the hook was taken away
   meanwhile, or the file is damaged. */
static uint32_t count_same (const tg_Stack *s, const uint8_t *list, uint32_t n,
                            bool met, uint32_t *told) {
  uint32_t same = 0;
  bool differs = false;
  *told = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (met && is_untold(list, i))
      continue;
    if ((*told)++ < s->silent)
      continue;
    differs = differs || same == s->count
              || s->frames[same].function != listed(list, i);
    same += !differs;
  }
  return same;
}

/* From behind, so that frames which stay are moved before their places are
   taken. A frame without arguments has the place of the next one's. */
bool tg_stack_adopt (tg_Stack *s, const uint8_t *list, uint32_t n, bool met,
                     bool outer, uint64_t now_ns) {
  uint32_t told, same = count_same(s, list, n, met, &told);
  if (s->body == 0 && n > 0)
    s->body = listed(list, 0);
  while (s->count > same)
    tg_stack_pop(s);
  if (!tg_grow(&s->frames, &s->capacity, n, sizeof *s->frames))
    return false;
  size_t kept_at = s->kept.size;
  for (uint32_t i = n; i-- > 0; ) {
    bool untold = met && is_untold(list, i);
    told -= !untold;
    if (!untold && told >= s->silent && told - s->silent < same)
      s->frames[i] = s->frames[told - s->silent];
    else
      s->frames[i] = (tg_StackFrame){
        .function = listed(list, i), .entered_ns = now_ns,
        .older = untold || told < s->silent, .outer = outer,
        .kept_at = kept_at
      };
    kept_at = s->frames[i].kept_at;
  }
  s->count = n;
  s->silent = 0;
  return true;
}

/* }================================================================== */
