/*
** callstacks.c - see callstacks.h.
**
** Called with every packet that a replay passes, so the usual ones, a call and
** its end in the coroutine of the packet before, look nothing up.
*/
#include "replay/callstacks.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

#define MAIN_THREAD ((tg_ThreadId)1)

/*
** {==================================================================
** Stacks by thread
** ===================================================================
*/

tg_CallStack *tg_callstacks_find (const tg_CallStacks *all,
                                  tg_ThreadId thread) {
  if (all->latest != NULL && all->latest->thread == thread)
    return all->latest;
  uint32_t place = tg_intmap_find(&all->places, thread);
  return place != TG_INTMAP_NONE ? all->list[place] : NULL;
}

static tg_CallStack *new_stack (tg_CallStacks *all, tg_ThreadId thread) {
  tg_CallStack *s = NULL;
  if (tg_grow(&all->list, &all->capacity, all->count + 1, sizeof *all->list))
    s = tg_calloc(1, sizeof *s);
  if (s == NULL || !tg_intmap_set(&all->places, thread, all->count)) {
    tg_free(s);
    return NULL;
  }
  s->thread = thread;
  s->heir_at = TG_NO_EVENT;
  all->list[all->count++] = s;
  return s;
}

static tg_CallStack *stack_of (tg_CallStacks *all, tg_ThreadId thread) {
  tg_CallStack *s = tg_callstacks_find(all, thread);
  if (s == NULL)
    s = new_stack(all, thread);
  return all->latest = s;
}

static void free_stack (tg_CallStack *s) {
  tg_free(s->frames);
  tg_free(s);
}

/* The last one takes its place in the list. */
static void remove_stack (tg_CallStacks *all, tg_CallStack *s) {
  uint32_t place = tg_intmap_find(&all->places, s->thread);
  tg_assert(place < all->count && all->list[place] == s);
  tg_CallStack *last = all->list[--all->count];
  tg_intmap_drop(&all->places, s->thread);
  if (last != s) {
    all->list[place] = last;
    (void)tg_intmap_set(&all->places, last->thread, place);  /* has room */
  }
  if (all->latest == s)
    all->latest = NULL;
  all->frames -= s->count;
  free_stack(s);
}

void tg_callstacks_drop (tg_CallStacks *all, tg_ThreadId thread) {
  tg_CallStack *s = tg_callstacks_find(all, thread);
  if (s != NULL)
    remove_stack(all, s);
}

void tg_callstacks_free (tg_CallStacks *all) {
  for (uint32_t i = 0; i < all->count; i++)
    free_stack(all->list[i]);
  tg_free(all->list);
  tg_intmap_free(&all->places);
  memset(all, 0, sizeof *all);
}

static bool copy_frames (tg_CallStack *to, const tg_CallStack *from) {
  size_t size = from->count * sizeof *to->frames;
  to->body = from->body;
  to->heir_slot = from->heir_slot;
  to->heir_at = from->heir_at;
  if (from->count == 0)
    return true;
  to->frames = tg_malloc(size);
  if (to->frames == NULL)
    return false;
  memcpy(to->frames, from->frames, size);
  to->count = to->capacity = from->count;
  to->open = from->open;
  return true;
}

bool tg_callstacks_copy (tg_CallStacks *to, const tg_CallStacks *from) {
  tg_check(to->count == 0);
  for (uint32_t i = 0; i < from->count; i++) {
    tg_CallStack *s = new_stack(to, from->list[i]->thread);
    if (s == NULL || !copy_frames(s, from->list[i]))
      return false;
    to->frames += s->count;
  }
  return true;
}

size_t tg_callstacks_bytes (const tg_CallStacks *all) {
  return all->frames * sizeof(tg_CallFrame)
         + all->count * (sizeof(tg_CallStack) + 64);  /* and what finds it */
}

/* }================================================================== */

/*
** {==================================================================
** Packets
** ===================================================================
*/

/* Frames that have yielded and did not come back are over, as far as anybody
   can tell: a limit hides them now. */
static void cut (tg_CallStacks *all, tg_CallStack *s) {
  all->frames -= s->count - s->open;
  s->count = s->open;
}

/* The Lua function that has made the call is at its line. C functions may
   stand between: a few, and else the line is not worth the search. */
static void reach (tg_CallStack *s, tg_FunctionId caller, uint32_t line) {
  const uint32_t most = 8;
  for (uint32_t i = 1; i <= most && i <= s->count; i++) {
    tg_CallFrame *f = &s->frames[s->count - i];
    if (f->function == caller) {
      f->reached = line;
      return;
    }
  }
}

/* The frame that makes the call, which is no tail call's, has these locals
   meanwhile. What told them may
   be of a frame that is not shown; and where it was not told now, what was told
   at an earlier call is not so any more. */
static void note_locals (tg_CallStack *s, const tg_Packet *p) {
  tg_CallFrame *f = tg_callstack_top(s);
  if (f != NULL)
    f->locals_at = p->locals.data != NULL && p->locals_of == f->function
                   ? p->locals_at : TG_NO_EVENT;
}

/* A tail call's callee follows in the same event. */
static uint64_t slot_of (const tg_CallStack *s, uint64_t number, tg_Pos at) {
  return s->heir_at == at ? s->heir_slot : number;
}

static tg_CallFrame *push (tg_CallStacks *all, tg_CallStack *s,
                           const tg_Packet *p, uint64_t number, tg_Pos at) {
  cut(all, s);
  if (p->caller != 0)
    reach(s, p->caller, p->line);
  if (s->heir_at != at)
    note_locals(s, p);
  if (!tg_grow(&s->frames, &s->capacity, s->count + 1, sizeof *s->frames))
    return NULL;
  tg_CallFrame *f = &s->frames[s->count++];
  *f = (tg_CallFrame){
    .function = p->function, .caller = p->caller, .line = p->line,
    .depth = p->depth, .sampled = p->sampled,
    .seen = !p->resumed && !p->sampled,
    .entry = number, .slot = slot_of(s, number, at),
    .entered_ns = p->time_ns, .at = at, .locals_at = TG_NO_EVENT
  };
  s->open = s->count;
  all->frames++;
  return f;
}

/* Frames come back as they were, outermost first. Another function in that
   place: nothing is known of it and of what was above. */
static tg_CallFrame *enter (tg_CallStacks *all, tg_CallStack *s,
                            const tg_Packet *p, uint64_t number, tg_Pos at) {
  if (p->body != 0)
    s->body = p->body;
  if (p->resumed && s->open < s->count
      && s->frames[s->open].function == p->function)
    return &s->frames[s->open++];
  return push(all, s, p, number, at);
}

/* Of frames that samples show the coroutine may have some that have yielded
   above. */
static void take_out (tg_CallStacks *all, tg_CallStack *s) {
  uint32_t i = --s->open;
  memmove(&s->frames[i], &s->frames[i + 1],
          (s->count - i - 1) * sizeof *s->frames);
  s->count--;
  all->frames--;
}

static void leave (tg_CallStacks *all, tg_CallStack *s, const tg_Packet *p,
                   tg_Pos at) {
  if (p->why == TG_WHY_YIELD) {
    s->open--;
    return;
  }
  if (!p->sampled)
    cut(all, s);
  if (p->tail) {
    s->heir_slot = s->frames[s->open - 1].slot;
    s->heir_at = at;
  }
  take_out(all, s);
  if (s->count == 0 && s->thread != MAIN_THREAD && !p->tail)
    remove_stack(all, s);
}

/* A frame whose entry was not given has no exit either; a file that is damaged
   may have one all the same. */
bool tg_callstacks_take (tg_CallStacks *all, const tg_Packet *p,
                         uint64_t number, tg_Pos at, tg_CallFrame *frame) {
  tg_check(!tg_packet_is_moment(p));
  tg_CallStack *s = stack_of(all, p->thread);
  if (s == NULL)
    return false;
  if (p->why == TG_WHY_ENTER) {
    const tg_CallFrame *f = enter(all, s, p, number, at);
    if (f != NULL)
      *frame = *f;
    return f != NULL;
  }
  if (s->open == 0) {
    *frame = (tg_CallFrame){.function = p->function, .entry = number,
                            .slot = number};
    return true;
  }
  *frame = s->frames[s->open - 1];
  leave(all, s, p, at);
  return true;
}

/* }================================================================== */
