/*
** callstacks.h - which frames each coroutine has at a moment of a recording,
** and of each where its call stands.
**
** Made of packets, one after the other. A coroutine that yields keeps its
** frames, as it does in the program: packets close them and enter them again
** outermost first, so those that are open are always the outer ones.
**
**     frames   main  work  resume        of the coroutine that runs
**     frames   body  yield               of one that is suspended, open = 0
**
** A frame that makes a tail call leaves its place to the function that it
** calls: both have the same *slot*, the number of the packet that entered the
** first of them. So a call is over when nobody has its slot any more.
**
** Plain C, one thread: the replay's, which owns the stacks, and copies them for
** its waypoints. Without memory a packet is refused and nothing is known any
** more.
*/
#ifndef TG_CALLSTACKS_H
#define TG_CALLSTACKS_H

#include "base/base.h"
#include "base/intmap.h"
#include "reader/framer.h"

typedef struct tg_CallFrame {
  tg_FunctionId function;
  tg_FunctionId caller; /* whose line it was called from; 0: not known */
  uint32_t line;        /* that line */
  uint32_t reached;     /* the line of the latest call made in it; 0: none */
  uint32_t depth;       /* as its packet had it */
  bool seen;            /* its call is in the recording, at 'at' */
  bool sampled;         /* only samples tell of it */
  uint64_t entry;       /* number of the packet that entered it first */
  uint64_t slot;        /* see above; at most 'entry' */
  uint64_t entered_ns;
  tg_Pos at;            /* the event of its call */
  tg_Pos locals_at;     /* the one that told its locals, where it made its
                           latest call; TG_NO_EVENT: none did */
} tg_CallFrame;

#define TG_NO_EVENT UINT64_MAX

typedef struct tg_CallStack {
  tg_ThreadId thread;
  tg_FunctionId body;   /* what the coroutine begins with; 0: not known */
  uint32_t count;       /* frames, outermost first... */
  uint32_t open;        /* ...of which so many are; the others have yielded */
  uint32_t capacity;
  tg_CallFrame *frames; /* owns */
  uint64_t heir_slot;   /* of the frame that a tail call has closed... */
  tg_Pos heir_at;       /* ...by this event */
} tg_CallStack;

typedef struct tg_CallStacks {
  tg_CallStack **list;  /* owns, each owned too; in no order */
  uint32_t count, capacity;
  tg_IntMap places;     /* owns; in the list, by thread */
  tg_CallStack *latest; /* borrows; found last, or NULL */
  size_t frames;        /* of all of them */
} tg_CallStacks;        /* zeroed memory is empty */

/* The stack of a coroutine; NULL if it has no frames. */
tg_CallStack *tg_callstacks_find (const tg_CallStacks *all, tg_ThreadId thread);

/*
** Packet number 'number', of the event at 'at', has happened. 'frame' gets what
** is known of its frame, which may be closed by it. False without memory.
*/
bool tg_callstacks_take (tg_CallStacks *all, const tg_Packet *p,
                         uint64_t number, tg_Pos at, tg_CallFrame *frame);

/* A coroutine that is suspended will not come back. */
void tg_callstacks_drop (tg_CallStacks *all, tg_ThreadId thread);

/* Makes 'to', which is empty, the same as 'from'. False without memory; it is
   then to be freed all the same. */
bool tg_callstacks_copy (tg_CallStacks *to, const tg_CallStacks *from);

/* Bytes that a copy takes, about. */
size_t tg_callstacks_bytes (const tg_CallStacks *all);

void tg_callstacks_free (tg_CallStacks *all);

/* The innermost frame; NULL: there is none. */
TG_INLINE tg_CallFrame *tg_callstack_top (const tg_CallStack *s) {
  return s->count > 0 ? &s->frames[s->count - 1] : NULL;
}

/* Whether the call in that slot is not over, at this place of the stack. */
TG_INLINE bool tg_callstack_has (const tg_CallStack *s, uint32_t index,
                                 uint64_t slot) {
  return s != NULL && index < s->count && s->frames[index].slot == slot;
}

#endif
