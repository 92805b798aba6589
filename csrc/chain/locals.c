/*
** locals.c - see locals.h. By the public API alone: it knows which locals are
** in scope at an instruction, and whoever asks for locals has the hook look at
** each event in full anyway. Nothing of the program runs, and nothing is
** allocated in Lua: names are borrowed from the function's prototype.
*/
#include "chain/locals.h"

#include <string.h>

#include "capture/asked.h"
#include "chain/emit.h"

#define LOCALS_MOST 250         /* more than a function can have: MAXVARS of
                                   lparser.c is 200 */

/* The locals of one frame, whose values are pushed. */
typedef struct Locals {
  const char *names[LOCALS_MOST];
  tg_Veil veil;                 /* those whose names are secret */
  tg_ValueList list;
} Locals;

/* In the order of their slots; one that shadows another one comes later. */
static void push_locals (Locals *l, lua_State *L, lua_Debug *ar) {
  const char *name;
  l->list.first = lua_gettop(L) + 1;
  for (int i = 1; l->list.count < LOCALS_MOST
                  && (name = lua_getlocal(L, ar, i)) != NULL; i++) {
    if (*name == '(')
      lua_pop(L, 1);
    else
      l->names[l->list.count++] = name;
  }
}

/* What is hidden is learned, so that it is hidden in what follows, too. */
static void hide_locals (tg_Session *s, lua_State *L, Locals *l) {
  memset(&l->veil, 0, sizeof l->veil);
  for (int i = 0; i < l->list.count; i++) {
    if (tg_selection_secret(&s->selection, l->names[i])) {
      l->veil.bits[i / 64] |= UINT64_C(1) << i % 64;
      tg_capture_learn(s, L, l->list.first + i);
    }
  }
  l->list.veil = &l->veil;
}

_Static_assert(LOCALS_MOST <= TG_VEIL_BITS, "a bit for each local");

/* A frame without locals is told as well: its list is empty. */
static void tell (tg_Session *s, lua_State *L, lua_Debug *ar,
                  tg_FunctionId function, uint64_t now) {
  Locals l;
  if (!lua_checkstack(L, LOCALS_MOST + LUA_MINSTACK)) {
    tg_lacks_count(&s->writer.stream->lacks, TG_LACK_UNSEEN);
    return;
  }
  int top = lua_gettop(L);
  l.list = (tg_ValueList){.names = l.names};
  lua_getinfo(L, "l", ar);
  push_locals(&l, L, ar);
  if (s->selection.redacts)
    hide_locals(s, L, &l);
  tg_emit_locals(s, L, &l.list, function, ar->currentline, now);
  lua_settop(L, top);
}

/* Whether the locals of a frame are the trace's: C functions have none. */
static bool has_locals (uint32_t what) {
  return (what & (TG_FR_C | TG_FR_HIDDEN | TG_FR_OWN)) == 0;
}

void tg_locals_call (const tg_Call *c) {
  const tg_Coroutine *t = c->t;
  const tg_Frame *caller = t->n >= 2 ? &t->frames[t->n - 2] : NULL;
  lua_Debug up;
  if (c->tail || caller == NULL || caller->ci != c->caller
      || !has_locals(caller->what))
    return;
  up.i_ci = (struct CallInfo *)(uintptr_t)c->caller;
  tell(t->session, c->L, &up, caller->what & TG_FR_ID, c->now);
}

/* The event's own structure stays as it is, for the program's hook. */
void tg_locals_return (const tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                       uint32_t what, uint64_t now) {
  lua_Debug own;
  if (!has_locals(what))
    return;
  own.i_ci = ar->i_ci;
  tell(t->session, L, &own, what & TG_FR_ID, now);
}
