/*
** probe_cstack.c - where a coroutine notes its innermost protected call
** (cstack.h): found by making such calls, one inside another, and looking which
** field points into the piece of the stack that has just been added. Called by
** proof.c as the other probes are.
*/
#include "direct/cstack.h"
#include "direct/probe.h"

#define SPAN 256        /* bytes of a lua_State that are looked at */
#define WORDS (SPAN / 8)

/* The stack of C, which grows down. Not a variable's address: under a sanitizer
   variables may be elsewhere. */
#define STACK() ((uintptr_t)__builtin_frame_address(0))

typedef struct Search {
  uintptr_t outer;      /* the stack where the last call was made */
  int depth;
  uint64_t left;        /* a bit for each word that may be it */
} Search;

static void keep (const lua_State *L, Search *s, uintptr_t low,
                  uintptr_t high) {
  for (size_t i = 0; i < WORDS; i++) {
    uint64_t word = tg_read64(L, 8 * i);
    bool may = (high == 0) ? word == 0 : word > low && word < high;
    if (!may)
      s->left &= ~(UINT64_C(1) << i);
  }
}

static int call_protected (lua_State *L);

/* After the inner call the field says what it said before. */
static int enter (lua_State *L) {
  Search *s = lua_touserdata(L, 1);
  uintptr_t outer = s->outer;
  keep(L, s, STACK(), outer);
  if (s->depth++ < 2) {
    call_protected(L);
    keep(L, s, STACK(), outer);
  }
  return 0;
}

static TG_NOINLINE int call_protected (lua_State *L) {
  Search *s = lua_touserdata(L, 1);
  lua_pushcfunction(L, enter);
  lua_pushlightuserdata(L, s);
  s->outer = STACK();
  return lua_pcall(L, 1, 0, 0);
}

/* On a coroutine that nobody has resumed: it has no such call before and
   after. */
void tg_probe_cstack (tg_Probe *p) {
  lua_State *L = lua_newthread(p->L);
  Search s = {.left = UINT64_MAX >> (64 - WORDS)};
  tg_direct_facts.jump = 0;
  if (!tg_probe_inside(p, L, SPAN))
    return;
  keep(L, &s, 0, 0);
  lua_pushlightuserdata(L, &s);
  bool called = call_protected(L) == LUA_OK;
  keep(L, &s, 0, 0);
  if (called && s.depth == 3 && s.left != 0 && (s.left & (s.left - 1)) == 0)
    tg_direct_facts.jump = (uint16_t)((size_t)__builtin_ctzll(s.left) * 8);
}
