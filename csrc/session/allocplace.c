/*
** allocplace.c - see allocplace.h. Runs in the place of Lua's allocator: reads
** the interpreter's memory and calls nothing of it.
**
** The CallInfo of what runs are never freed, and what their slots hold is
** alive. A coroutine that was collected without an event is known by its block,
** which goes ('gone').
*/
#include "session/allocplace.h"

#include "chain/callee.h"
#include "direct/newtable.h"
#include "host/running.h"
#include "sample/newmakers.h"

#define FRAMES_MOST 64      /* looked at for one block */

/* The innermost frame that is in the stream; NULL: none. */
static const tg_Frame *visible_frame (const tg_Coroutine *t) {
  uint32_t least = t->n > FRAMES_MOST ? t->n - FRAMES_MOST : 0;
  for (uint32_t i = t->n; i > least; i--) {
    if ((t->frames[i - 1].what & TG_FR_HIDDEN) == 0)
      return &t->frames[i - 1];
  }
  return NULL;
}

/* Whether the frame is one of those that run: only then it is read. */
static bool runs (const lua_State *L, const void *ci) {
  const void *c = tg_direct_running(L);
  for (int i = 0; c != NULL && i < FRAMES_MOST; i++) {
    if (c == ci)
      return true;
    c = tg_read_pointer(c, TG_AT_FRAME_CALLER);
  }
  return false;
}

/* Whether the stack is in its place: not while it is about to be moved. */
static bool stands (const lua_State *L, const void *ci,
                    const tg_AllocMade *made) {
  const void *stack = tg_read_pointer(L, tg_direct_facts.stack);
  return made->block != stack
         && (uintptr_t)tg_frame_slot(ci) >= (uintptr_t)stack;
}

/* The instruction that comes next; NULL: it is not known. A table's parts are
   those of the instruction that has made it. */
static const uint32_t *next_of (tg_Session *s, const lua_State *L,
                                const void *ci, const void *proto,
                                const tg_AllocMade *made) {
  const uint32_t **table = &s->memory.table;
  bool innermost = ci == tg_direct_running(L);
  if (made->since == 0)
    *table = innermost && tg_newtable_is(proto, made->table) ? made->table
                                                             : NULL;
  if (innermost && made->since == 0)
    return *table;
  if (innermost && *table != NULL && made->since <= 2
      && tg_newtable_is(proto, *table)
      && made->since <= tg_newtable_parts(*table))
    return *table;
  return tg_read_pointer(ci, TG_AT_FRAME_NEXT);
}

/* 0: not known. */
static uint32_t line_of (const void *proto, const uint32_t *next) {
  const uint32_t *code = tg_read_pointer(proto, TG_AT_PROTO_CODE);
  uintptr_t n = ((uintptr_t)next - (uintptr_t)code) / 4;
  if ((uintptr_t)next < (uintptr_t)code
      || n > tg_read32(proto, TG_AT_PROTO_NCODE))
    return 0;
  int line = tg_proto_line(proto, n > 0 ? (int)n - 1 : 0);
  return line > 0 ? (uint32_t)line : 0;
}

/* The frame whose line it is. */
typedef struct Maker {
  const lua_State *L;
  const void *ci;             /* NULL: there is none */
  const void *proto;
  uint32_t function;          /* 0: it has no number yet */
} Maker;

/* Returns the line's number; 0: it has none. */
static uint32_t add (tg_Session *s, const Maker *m, const uint32_t *next,
                     const tg_AllocMade *made) {
  tg_AllocLines *lines = &s->memory.lines;
  tg_AllocLine *line = tg_alloclines_find(lines, next, m->function);
  if (line == NULL) {
    tg_AllocLine fresh = {.pc = next, .function = m->function};
    fresh.line = line_of(m->proto, next);
    fresh.stranger = m->function == 0 ? m->proto : NULL;
    line = fresh.line > 0 ? tg_alloclines_add(lines, fresh) : NULL;
  }
  if (line == NULL)
    return 0;
  if (line->stranger != NULL)
    tg_newmakers_call(s);
  line->count += made->count;
  line->bytes += made->bytes;
  return line->place;
}

/* ---- calls are traced ---- */

/* While the hook is off, what it knows of frames may be of others. */
static Maker traced_maker (const tg_Session *s, const tg_AllocMade *made) {
  static const Maker none;
  const tg_Coroutine *t = s->current;
  if (t == NULL || t->L == s->memory.gone
      || s->window.state != TG_WINDOW_SHUT)
    return none;
  const tg_Frame *frame = visible_frame(t);
  if (frame == NULL || (frame->what & TG_FR_C) != 0 || !runs(t->L, frame->ci)
      || tg_frame_is_c(frame->ci) || !stands(t->L, frame->ci, made))
    return none;
  const void *proto = tg_function_proto(tg_frame_function(frame->ci));
  return (Maker){t->L, frame->ci, proto, frame->what & TG_FR_ID};
}

/* ---- samples alone ---- */

static bool is_own (const tg_Session *s, tg_Slot f) {
  const tg_Closure *k = tg_callee_seen(s, f);
  return k != NULL && (k->what & TG_FR_OWN) != 0;
}

/* The innermost frame of a Lua function; NULL: there is none, or one that is
   known to be our own function's is above it. */
static const void *lua_frame (const tg_Session *s, const lua_State *L,
                              const tg_AllocMade *made) {
  const void *ci = tg_direct_running(L);
  for (int i = 0; ci != NULL && i < FRAMES_MOST; i++) {
    const void *caller = tg_read_pointer(ci, TG_AT_FRAME_CALLER);
    if (caller == NULL || !stands(L, ci, made))
      return NULL;              /* the host's own is the last */
    if (!tg_frame_is_c(ci))
      return ci;
    if (is_own(s, tg_frame_function(ci)))
      return NULL;
    ci = caller;
  }
  return NULL;
}

static Maker running_maker (const tg_Session *s, const tg_AllocMade *made) {
  static const Maker none;
  const lua_State *L = tg_running_open(&s->host) ? tg_running_top(&s->host)
                                                 : NULL;
  const void *ci = L != NULL ? lua_frame(s, L, made) : NULL;
  if (ci == NULL)
    return none;
  tg_Slot f = tg_frame_function(ci);
  const tg_Closure *k = tg_callee_seen(s, f);
  if (k != NULL && (k->what & TG_FR_OWN) != 0)
    return none;
  return (Maker){L, ci, tg_function_proto(f),
                 k != NULL ? k->what & TG_FR_ID : 0};
}

/* ---- both ---- */

static uint32_t made (void *ud, const tg_AllocMade *made) {
  tg_Session *s = ud;
  if (made->since == 0)
    s->memory.table = NULL;
  Maker m = s->hooked ? traced_maker(s, made) : running_maker(s, made);
  if (m.ci == NULL)
    return 0;
  const uint32_t *next = next_of(s, m.L, m.ci, m.proto, made);
  return next != NULL && made->count > 0 ? add(s, &m, next, made) : 0;
}

/* A block as large as a coroutine's goes: maybe that of what ran last. */
static void gone (void *ud, const void *block) {
  tg_Session *s = ud;
  const char *L = s->current != NULL ? (const char *)s->current->L : NULL;
  if (L == (const char *)block + LUA_EXTRASPACE)
    s->memory.gone = s->current->L;
}

void tg_allocplace_begin (tg_Session *s) {
  if (!s->host.direct)
    return;
  tg_newtable_find();
  s->memory.meter->asker = (tg_AllocAsker){
    s, made, tg_direct_facts.state + LUA_EXTRASPACE, gone
  };
}

void tg_allocplace_told (tg_Session *s) {
  tg_alloclines_told(&s->memory.lines);
  s->memory.strangers = (tg_StrangeMakers){.waits = false};
  s->memory.gone = NULL;
}

void tg_allocplace_end (tg_Session *s) {
  tg_alloclines_free(&s->memory.lines);
  s->memory.strangers = (tg_StrangeMakers){.waits = false};
  s->memory.gone = NULL;
  s->memory.table = NULL;
}
