/*
** stacks.h - a reader's shadow stacks: which frames each coroutine has.
**
** Frames that were open where the reader began are *silent*: they are at the
** bottom of their coroutine, nothing but their number is known, and they close
** without a word. A RESUME that lists them tells which they are: from then on
** they are frames as others, but *older*, which open and close without a word
** all the same. A stack stays when its coroutine is suspended and goes with its
** end.
*/
#ifndef TG_STACKS_H
#define TG_STACKS_H

#include "base/base.h"
#include "base/buf.h"
#include "base/grow.h"
#include "base/intmap.h"

typedef struct tg_StackFrame {
  tg_FunctionId function;
  uint32_t depth;       /* if shown */
  bool sampled;         /* no CALL tells of it: a sample has shown it */
  bool inside;          /* the selection has it open... */
  bool shown;           /* ...and so has its filter: an enteredFrame was given,
                           its exit not yet */
  bool root;            /* of a call that the selection waits for */
  bool outer;           /* entered while no such call was open */
  bool nested;          /* entered within one, so it is none itself */
  bool older;           /* than what is read of its coroutine: never shown */
  uint64_t entered_ns;  /* of its first entry */
  uint64_t opened_ns;   /* of its last shown entry */
  size_t kept_at;       /* argument bytes, in the stack's 'kept' */
  size_t kept_size;     /* 0: none */
  size_t put_in;        /* of them, strings that were elsewhere */
} tg_StackFrame;

typedef struct tg_Stack {
  tg_ThreadId thread;
  tg_FunctionId body;   /* what its coroutine begins with, as a RESUME has told;
                           0 = it has not */
  bool running;         /* on the chain */
  struct tg_Stack *resumer;   /* borrows; next on the chain, if running */
  uint32_t silent;      /* frames below 'frames' */
  uint32_t count;
  uint32_t capacity;
  tg_StackFrame *frames; /* owns */
  tg_Buf kept;          /* owns; bytes of open frames, innermost last */
  struct tg_Stacks *all;      /* borrows; where it is */
} tg_Stack;

typedef struct tg_Stacks {
  tg_Stack **list;      /* owns, each owned too; in no order */
  uint32_t count, capacity;
  tg_IntMap places;     /* owns; in the list, by thread */
  size_t put_in;        /* of all frames, at most TG_COPIES_MAX */
} tg_Stacks;

/* The stack of a thread, made if there is none; NULL without memory. */
tg_Stack *tg_stacks_get (tg_Stacks *all, tg_ThreadId thread);

/* The stack of a thread, NULL if there is none. */
tg_Stack *tg_stacks_find (const tg_Stacks *all, tg_ThreadId thread);

/* The coroutine has ended. */
void tg_stacks_drop (tg_Stacks *all, tg_Stack *s);

/* Copies all stacks of 'from' to 'to', which is empty; none of them runs there,
   and kept arguments are not copied. False without memory. */
bool tg_stacks_copy (tg_Stacks *to, const tg_Stacks *from);

void tg_stacks_free (tg_Stacks *all);

/* A new innermost frame, zeroed; NULL without memory. */
TG_INLINE tg_StackFrame *tg_stack_push (tg_Stack *s) {
  if (!tg_grow(&s->frames, &s->capacity, s->count + 1, sizeof *s->frames))
    return NULL;
  tg_StackFrame *f = &s->frames[s->count++];
  *f = (tg_StackFrame){.kept_at = s->kept.size};
  return f;
}

/* The innermost frame, NULL if there is none but silent ones. */
TG_INLINE tg_StackFrame *tg_stack_top (const tg_Stack *s) {
  return s->count > 0 ? &s->frames[s->count - 1] : NULL;
}

/* The innermost frame that a CALL tells of; NULL if there is none. */
TG_INLINE tg_StackFrame *tg_stack_called (const tg_Stack *s) {
  uint32_t i = s->count;
  while (i > 0 && s->frames[i - 1].sampled)
    i--;
  return i > 0 ? &s->frames[i - 1] : NULL;
}

/* Frames that samples have shown are forgotten; none is open. */
void tg_stack_forget_sampled (tg_Stack *s);

/* The function that the coroutine begins with; 0 if it is not known. */
TG_INLINE tg_FunctionId tg_stack_body (const tg_Stack *s) {
  if (s->body != 0 || s->silent > 0 || s->count == 0)
    return s->body;
  return s->frames[0].function;
}

/* The innermost frame is gone. Its kept bytes stay until the next keep. */
TG_INLINE void tg_stack_pop (tg_Stack *s) {
  tg_assert(s->count > 0);
  const tg_StackFrame *f = &s->frames[--s->count];
  tg_assert(f->kept_at <= s->kept.size && f->put_in <= s->all->put_in);
  s->kept.size = f->kept_at;
  s->all->put_in -= f->put_in;
}

/* Keeps a copy of the innermost frame's argument bytes, if memory allows. */
void tg_stack_keep (tg_Stack *s, tg_Slice values);

/* The bytes kept of a frame; data NULL if none. */
tg_Slice tg_stack_kept (const tg_Stack *s, const tg_StackFrame *f);

/*
** From now on the stack has these 'n' frames ('list' as in a RESUME). Frames
** that the stack had already keep what is known of them; those that were
** silent, and if the coroutine was 'met' before those that nobody has told of,
** are older ones. Those that are new here were entered 'outer' or not. False
** without memory.
*/
bool tg_stack_adopt (tg_Stack *s, const uint8_t *list, uint32_t n, bool met,
                     bool outer, uint64_t now_ns);

#endif
