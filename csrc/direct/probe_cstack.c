/*
** probe_cstack.c - that a coroutine notes its innermost protected call where
** cstack.h reads it: such calls are made, one inside another, and the field has
** to point into the piece of the stack that has just been added. Called by
** proof.c as the other probes are.
*/
#include "direct/cstack.h"
#include "direct/probe.h"

/* The stack of C, which grows down. Not a variable's address: under a sanitizer
   variables may be elsewhere. */
#define STACK() ((uintptr_t)__builtin_frame_address(0))

typedef struct Trial {
  uintptr_t outer;      /* the stack where the last call was made */
  int depth;
  bool holds;
} Trial;

static int call_protected (lua_State *L);

/* After the inner call the field says what it said before. */
static int enter (lua_State *L) {
  Trial *t = lua_touserdata(L, 1);
  uintptr_t outer = t->outer;
  t->holds = t->holds && tg_cstack_runs(L, STACK(), outer);
  if (t->depth++ < 2) {
    call_protected(L);
    t->holds = t->holds && tg_cstack_runs(L, STACK(), outer);
  }
  return 0;
}

static TG_NOINLINE int call_protected (lua_State *L) {
  Trial *t = lua_touserdata(L, 1);
  lua_pushcfunction(L, enter);
  lua_pushlightuserdata(L, t);
  t->outer = STACK();
  return lua_pcall(L, 1, 0, 0);
}

static bool rests (const lua_State *L) {
  return tg_read64(L, tg_direct_facts.jump) == 0;
}

/* On a coroutine that nobody has resumed: it has no such call before and
   after. */
void tg_probe_cstack (tg_Probe *p) {
  lua_State *L = lua_newthread(p->L);
  Trial t = {.holds = tg_probe_inside(p, L, tg_direct_facts.state) && rests(L)};
  if (t.holds) {
    lua_pushlightuserdata(L, &t);
    t.holds = call_protected(L) == LUA_OK && t.depth == 3 && t.holds
              && rests(L);
  }
  if (!t.holds)
    tg_direct_facts.jump = 0;
}
