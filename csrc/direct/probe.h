/*
** probe.h - a Lua state on which the layout is tried, and what its checks
** share.
**
** The state is of the interpreter that runs us, but not the program's: its
** objects are ours, it may collect, and nobody sees a hook in it. All it
** allocates comes from one arena, and no pointer is followed that does not
** point into it, with room behind it for all that will be read. So an
** interpreter that is built otherwise can make a check fail, never crash.
*/
#ifndef TG_PROBE_H
#define TG_PROBE_H

#include <lua.h>
#include <lauxlib.h>

#include "base/base.h"
#include "direct/frame.h"
#include "layout/layout.h"

typedef struct tg_Probe {
  lua_State *L;
  uint8_t *arena;       /* owns */
  size_t used, size;    /* bytes of it */
  const char *fault;    /* what was first found to be otherwise, or NULL */
  uint32_t seen;        /* bits: kinds of events that were checked */
  const uint8_t *watched; /* looked at when blocks are freed; may be NULL */
  uint32_t freed[2];    /* blocks while it was 1 ([1]), or was not ([0]) */
  bool caught;          /* a function that set a hook by its fields returned */
} tg_Probe;

enum {
  TG_SEEN_LUA_CALL = 1, TG_SEEN_C_CALL = 2, TG_SEEN_TAIL = 4,
  TG_SEEN_EXTRA = 8, TG_SEEN_RESULTS = 16, TG_SEEN_NO_RESULTS = 32,
  TG_SEEN_COROUTINE = 64, TG_SEEN_FAR_LINE = 128,
  TG_SEEN_CONSTANT = 256, TG_SEEN_ALL = 511
};

/* What is tried from now on (tg_direct_facts). */
void tg_probe_assume (const tg_Layout *layout);

/* Makes the state; false without memory. */
bool tg_probe_begin (tg_Probe *p);
void tg_probe_end (tg_Probe *p);

/* Whether that many bytes may be read from there. */
bool tg_probe_inside (const tg_Probe *p, const void *at, size_t size);

/* Notes what is otherwise, if it is the first thing. Returns 'ok'. */
bool tg_probe_check (tg_Probe *p, bool ok, const char *what);

/* Whether the slot has the value at stack index 'i' of 'L'. Strings: the very
   same text. */
bool tg_probe_same (tg_Probe *p, lua_State *L, int i, tg_Slot v);

/* The probe of a state that it was made for. */
tg_Probe *tg_probe_of (lua_State *L);

/* Values, strings and tables; finds out how integer keys are hashed. */
void tg_probe_values (tg_Probe *p);

/* Calls and returns as a hook sees them. */
void tg_probe_frames (tg_Probe *p);

/* Optional facts: one that does not hold is no fault, and becomes 0. Where a
   coroutine has its hook; if it is not there, no other thread sets any
   (hookfield.h). */
void tg_probe_hooks (tg_Probe *p);

/* The innermost protected call; else no thread is known to run a state
   (cstack.h). */
void tg_probe_cstack (tg_Probe *p);

/* What the collector does (collector.h). */
void tg_probe_collector (tg_Probe *p);

/* The code that runs for hooks alone (hookcode.h). */
void tg_probe_hookcode (tg_Probe *p);

/* Where a state's objects are (objects.h). */
void tg_probe_objects (tg_Probe *p);

#endif
