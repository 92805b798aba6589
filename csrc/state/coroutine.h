/*
** coroutine.h - one record and one shadow stack for each coroutine.
**
** A record is found by the coroutine's address. Addresses are used again after
** a collection, so every coroutine also has a slot in a Lua table with weak
** values: what the slot holds tells whether the record's coroutine is the one
** that lives at that address now, and the table is the list of coroutines to
** take the hook from at the end.
**
** Frames are told apart by lua_Debug.i_ci, which is only ever compared. Frames
** that were there before the trace have no entry. Frames are named by index,
** never by pointer: the array grows.
*/
#ifndef TG_COROUTINE_H
#define TG_COROUTINE_H

#include "base/buf.h"
#include "binding/lx.h"
#include "host/hooks.h"
#include "stream/functions.h"

struct tg_Session;

/* An entry of a shadow stack: 16 bytes. */
typedef struct tg_Frame {
  const void *ci;       /* identity */
  uint32_t what;        /* function id and TG_FR_* flags */
  uint32_t epoch;       /* writer's epoch at its CALL; 0: it had none */
} tg_Frame;

/* An epoch that never comes: the frame is in the stream from now on, and the
   next RESUME of its coroutine is the first to tell of it. */
#define TG_FR_UNTOLD UINT32_MAX

enum {
  TG_FR_ID = (1u << 20) - 1,  /* bits of the function id: a million */
  TG_FR_ROLESHIFT = 20,
  TG_FR_ROLE = 15u << TG_FR_ROLESHIFT,  /* bits of a C function's role */
  TG_FR_TARGET = 1u << 24,    /* a function that some trace waits for; a frame:
                                 a root (awaited.h) */
  TG_FR_C = 1u << 25,         /* a C function */
  TG_FR_SECRETS = 1u << 26,   /* is given, or passes on, what is to be
                                 redacted; a frame: and may give it back */
  TG_FR_OWN = 1u << 27,       /* tracegrip's own, or called by it */
  TG_FR_HIDDEN = 1u << 28,    /* not in the stream */
  TG_FR_VARARG = 1u << 29,    /* a Lua function with extra arguments */
  TG_FR_CAUGHT = 1u << 30,    /* an error has been unwound up to here */
  TG_FR_LATE = 15u << 16,     /* bits of an id that no short event has room
                                 for (stream/event.h) */
  TG_FR_SPECIAL = TG_FR_ROLE | TG_FR_OWN | TG_FR_HIDDEN | TG_FR_TARGET
                  | TG_FR_SECRETS | TG_FR_LATE
};

/* A frame of xpcall and its message handler. */
typedef struct tg_Catch {
  uint32_t frame;       /* index of the xpcall frame */
  const void *handler;  /* lua_topointer of the handler */
} tg_Catch;

typedef struct tg_Coroutine {
  lua_State *L;             /* borrows: alive if the slot says so */
  struct tg_Session *session;
  tg_Frame *frames;         /* owns */
  uint32_t n, capacity;     /* frames used, allocated */
  uint32_t hidden;          /* of these, frames that are not in the stream */
  uint32_t quick;           /* an event above fewer frames than these is not
                               looked at twice (hook/quick.h) */
  tg_ThreadId id;
  uint32_t slot;            /* index in the list of coroutines; 0 = none */
  uint32_t counted;         /* epoch in which readers know how many frames */
  uint32_t named;           /* epoch in which a RESUME named them */
  struct tg_Coroutine *resumer; /* next below in the running chain */
  bool running;             /* is in the running chain */
  bool based;               /* has frames older than the trace */
  bool dropped;             /* its frames vanished while it was suspended */
  bool done;                /* its body has returned */
  bool yielding;            /* coroutine.yield called, its end not seen yet */
  bool died;                /* of an error: only __close methods may follow */
  bool blind;               /* a frame could not be kept: deeper ones unknown */
  bool muted;               /* its hook hears nothing of ours (window.h) */
  const void *handler;      /* innermost handler, NULL if none */
  tg_Catch *catches;        /* owns */
  uint32_t ncatches, catchcap;
  bool unsure;              /* closing it may give no error's true value */
  tg_Buf stash;            /* values on their way to be thrown (errorvalue.c) */
  size_t stash_at;          /* where the last of them is */
  uint32_t stashed;         /* 1 + index of the throwing frame; 0: no value */
  const void *floor;        /* a frame of pcall older than the trace, with
                               none above it that may catch errors; or NULL */
  const void *base_ci;      /* a frame older than the trace... */
  tg_FunctionId base_fn;    /* ...and its function */
  tg_UserHook user;         /* what is below the tracer's hook */
  struct tg_Coroutine *chain; /* next in the hash bucket, or free list */
} tg_Coroutine;

typedef struct tg_Coroutines {
  tg_Coroutine **buckets;   /* owns, with all records */
  uint32_t nbuckets, count;
  tg_Coroutine *freelist;   /* owns: records to use again */
  uint32_t next_slot, slots;  /* of the list of coroutines, */
  const void *list;         /* and that table; NULL: none yet */
  tg_ThreadId next_id;
  void (*forget) (const tg_Coroutine *t); /* called when a record goes */
} tg_Coroutines;

void tg_coroutines_init (tg_Coroutines *ts);
void tg_coroutines_free (tg_Coroutines *ts);

/* The record of 'L', NULL if there is none. The record may belong to a dead
   coroutine which had the same address. */
tg_Coroutine *tg_coroutines_find (const tg_Coroutines *ts, lua_State *L);

/* A new record; NULL without memory. */
tg_Coroutine *tg_coroutines_add (tg_Coroutines *ts, struct tg_Session *s,
lua_State *L);

/* Forgets a record. */
void tg_coroutines_remove (tg_Coroutines *ts, tg_Coroutine *t);

/* Gives 't' a slot in the list of coroutines; uses the stack of 'L', any state
   of the same world. Quiet: without memory there is just no slot. */
void tg_coroutine_enlist (tg_Coroutines *ts, tg_Coroutine *t, lua_State *L);

/* Whether the coroutine of 't' is surely alive. */
bool tg_coroutine_alive (const tg_Coroutine *t, lua_State *L);

/* The same from memory (direct/), in a signal handler too. */
bool tg_coroutine_lives (const tg_Coroutines *ts, const tg_Coroutine *t);

/* Calls 'f' for each living coroutine of the list. */
void tg_coroutines_each (const tg_Coroutines *ts, lua_State *L,
                         void (*f) (lua_State *L1, void *ud), void *ud);

/* Calls 'f' for each record, which it may forget. */
void tg_coroutines_records (const tg_Coroutines *ts,
                            void (*f) (tg_Coroutine *t, void *ud), void *ud);

/* Index of the frame 'ci' in 't', or -1. */
int64_t tg_coroutine_frame (const tg_Coroutine *t, const void *ci);

/* The slow half of pushing a frame. */
bool tg_coroutine_grow (tg_Coroutine *t);

/* Notes xpcall's handler for the frame on top. */
void tg_coroutine_catch (tg_Coroutine *t, const void *handler);

/* Forgets the handlers of frames from index 'n' up. */
void tg_coroutine_uncatch (tg_Coroutine *t, uint32_t n);

/* The role of function 'what'. */
TG_INLINE tg_Role tg_role_bits (uint32_t what) {
  return (tg_Role)((what & TG_FR_ROLE) >> TG_FR_ROLESHIFT);
}

/* The role of a frame, of none for NULL. */
TG_INLINE tg_Role tg_frame_role (const tg_Frame *f) {
  return (f != NULL) ? tg_role_bits(f->what) : TG_ROLE_NONE;
}

TG_INLINE tg_Frame *tg_coroutine_top (const tg_Coroutine *t) {
  return (t->n > 0) ? &t->frames[t->n - 1] : NULL;
}

/* How many of its frames are in the stream. */
TG_INLINE uint32_t tg_coroutine_visible (const tg_Coroutine *t) {
  return t->n - t->hidden;
}

/* Room for one more frame; false without memory. */
TG_INLINE bool tg_coroutine_room (tg_Coroutine *t) {
  return tg_likely(t->n < t->capacity) || tg_coroutine_grow(t);
}

#endif
