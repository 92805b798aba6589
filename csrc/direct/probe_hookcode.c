/*
** probe_hookcode.c - finds the code that hookcode.h speaks of: a hook and a C
** function look at who has called them. Called by proof.c, after the other
** probes, on the thread that makes the proof.
*/
#include "direct/hookcode.h"
#include "direct/probe.h"

#define CALLERS 3u      /* of a hook: what calls it, and what calls that */
#define USUAL 6u        /* of a C function */

tg_CodeRange tg_hookcode[TG_HOOKCODE_MOST];

static bool bit_holds;      /* it is set in hooks, and in no function */

/* What calls a C function, and so runs without a hook, too. */
static uintptr_t usual[USUAL];
static uint32_t nusual;

static void add (tg_CodeRange r) {
  for (uint32_t i = 0; i < nusual; i++) {
    if (tg_coderange_has(r, usual[i]))
      return;
  }
  for (uint32_t i = 0; r.end != 0 && i < TG_HOOKCODE_MOST; i++) {
    if (tg_hookcode[i].begin == r.begin)
      return;
    if (tg_hookcode[i].end == 0) {
      tg_hookcode[i] = r;
      return;
    }
  }
}

/* The address is that of the instruction after the call. */
static TG_NOINLINE void on_event (lua_State *L, lua_Debug *ar) {
  uintptr_t callers[CALLERS];
  uintptr_t first = (uintptr_t)__builtin_return_address(0);
  uint32_t n = tg_machinecode_callers(first, callers, CALLERS - 1);
  for (uint32_t i = 0; i < n; i++)
    add(tg_machinecode_of(callers[i] - 1));
  bit_holds = bit_holds && tg_hookcode_hooked(L);
  (void)ar;
}

static TG_NOINLINE int note_usual (lua_State *L) {
  uintptr_t first = (uintptr_t)__builtin_return_address(0);
  nusual = tg_machinecode_callers(first, usual, USUAL);
  bit_holds = bit_holds && !tg_hookcode_hooked(L);
  return 0;
}

/* A call of each kind, once without a hook and once with one. */
void tg_probe_hookcode (tg_Probe *p) {
  lua_State *L = p->L;
  for (uint32_t i = 0; i < TG_HOOKCODE_MOST; i++)
    tg_hookcode[i] = (tg_CodeRange){0, 0};
  lua_settop(L, 0);
  bit_holds = true;
  if (luaL_loadstring(L, "local f = ...\n"
                         "local function g () f() end\n"
                         "g() for i = 1, 2 do g() end") != LUA_OK)
    return;
  lua_pushvalue(L, 1);
  lua_pushcfunction(L, note_usual);
  lua_call(L, 1, 0);
  lua_sethook(L, on_event, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
  lua_pushcfunction(L, note_usual);
  lua_call(L, 1, 0);
  lua_sethook(L, NULL, 0, 0);
  lua_settop(L, 0);
  if (!bit_holds)
    tg_direct_facts.hooked_bit = 0;
}
