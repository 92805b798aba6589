/*
** veil.c - see veil.h. Called in the hook.
*/
#include <string.h>

#include "capture/veil.h"
#include "capture/asked.h"
#include "capture/resumed.h"
#include "host/builtins.h"

#define CHAIN_MOST 4            /* pcall(pcall, pcall, f, ...) */

/*
** {==================================================================
** Who gets it
** ===================================================================
*/

/* Arguments that are passed on: of a function whose own they will be. */
typedef struct Passing {
  tg_Session *s;
  lua_State *L;
  int count;            /* arguments of the call */
  int first;            /* stack index of the first that is passed on; the
                           argument numbered 0 has index 1 */
  int skip;             /* parameters that get something else before it */
  int chain;            /* functions that may yet pass them on */
} Passing;

static void veil_index (const Passing *p, int index) {
  int i = index - 1;
  if (index >= 1 && index <= p->count && i < TG_VEIL_BITS)
    p->s->capture.veil.bits[i / 64] |= UINT64_C(1) << i % 64;
}

/* By the names of its parameters. */
static void veil_parameters (const Passing *p, tg_FunctionId id) {
  const tg_Functions *fs = p->s->writer.stream->functions;
  const tg_Function *f = (id != 0) ? tg_functions_get(fs, id) : NULL;
  if (f == NULL || f->params == NULL)
    return;
  for (int i = p->skip; i < f->nparams; i++) {
    if (tg_selection_secret(&p->s->selection, f->params[i]))
      veil_index(p, p->first + i - p->skip);
  }
}

/* Whether the string at index 'i' names what is to be hidden. */
static bool names_secret (const tg_Session *s, lua_State *L, int i) {
  size_t n;
  if (lua_type(L, i) != LUA_TSTRING)
    return false;
  const char *text = lua_tolstring(L, i, &n);
  return tg_selection_hides(&s->selection, text, n);
}

/* Of a function that sets what a key has: key and value are its second and
   third argument. */
static void veil_set (const Passing *p) {
  int key = p->first + 1 - p->skip;
  if (p->count > key && names_secret(p->s, p->L, key))
    veil_index(p, key + 1);
}

/* The body of a coroutine that has not begun, at index 1 of its stack
   (luaB_cocreate in lcorolib.c). */
static tg_FunctionId body_of (const Passing *p, lua_State *co) {
  lua_Debug ar;
  if (co == NULL || co == p->L || lua_status(co) != LUA_OK
      || lua_gettop(co) < 1 || lua_getstack(co, 0, &ar)
      || !lua_isfunction(co, 1))
    return 0;
  return tg_catalog_value(p->s, co, 1);
}

/* Pushes what the metatable of the value at 'i' has as __call; by traversal,
   since to make the key might allocate. */
static bool push_call (lua_State *L, int i) {
  if (!lua_checkstack(L, 8) || !lua_getmetatable(L, i))
    return false;
  int meta = lua_gettop(L);
  for (lua_pushnil(L); lua_next(L, meta); lua_pop(L, 1)) {
    if (lua_type(L, -2) == LUA_TSTRING
        && strcmp(lua_tostring(L, -2), "__call") == 0) {
      lua_replace(L, meta);
      lua_settop(L, meta);
      return true;
    }
  }
  lua_settop(L, meta - 1);
  return false;
}

static void pass_to (Passing p, int i);

/* By a function with a role, which is given what it passes on from 'first'
   on. */
static void pass_by (Passing p, tg_Role role) {
  if (p.skip > 0 || p.chain-- == 0)
    return;
  int given = p.first;
  p.first += (role == TG_ROLE_XPCALL) ? 2 : 1;
  if (role == TG_ROLE_PCALL || role == TG_ROLE_XPCALL)
    pass_to(p, given);
  else if (role == TG_ROLE_RESUME && given <= p.count)
    veil_parameters(&p, body_of(&p, lua_tothread(p.L, given)));
}

/* The arguments go to the C function at 'i'. */
static void pass_to_c (const Passing *p, int i) {
  lua_CFunction f = lua_tocfunction(p->L, i);
  tg_Role role = tg_builtins_role(f);
  if (role == TG_ROLE_WRAPPED)
    veil_parameters(p, body_of(p, tg_resumed_wrapped(p->L, i)));
  else if (role != TG_ROLE_NONE)
    pass_by(*p, role);
  else if (tg_builtins_keyed(f) == TG_KEYED_SETS)
    veil_set(p);
}

/* The arguments go to the value at 'i', which is one of them, or was pushed. An
   object that is called gets itself before them. */
static void pass_to (Passing p, int i) {
  lua_State *L = p.L;
  int top = lua_gettop(L);
  if (i > top || (i > p.count && p.skip == 0))
    return;
  if (lua_iscfunction(L, i))
    pass_to_c(&p, i);
  else if (lua_isfunction(L, i))
    veil_parameters(&p, tg_catalog_value(p.s, L, i));
  else if (p.skip == 0 && push_call(L, i)) {
    p.skip = 1;
    if (lua_isfunction(L, -1))
      pass_to(p, lua_gettop(L));
  }
  lua_settop(L, top);
}

/* }================================================================== */

/*
** {==================================================================
** Calls and returns
** ===================================================================
*/

/* Whether results will be what a key has that is to be hidden; 'next' gives its
   keys itself. */
static bool gives_secret (const Passing *p, tg_Keyed keyed) {
  switch (keyed) {
    case TG_KEYED_GETS: return p->count >= 2 && names_secret(p->s, p->L, 2);
    case TG_KEYED_NAMED: return p->count >= 1 && names_secret(p->s, p->L, 1);
    case TG_KEYED_WALKS: return true;
    case TG_KEYED_NOT: case TG_KEYED_SETS: default: return false;
  }
}

/* A function that has to do with a key and its value; by its parameters too, if
   it is a Lua function. */
static void veil_keyed (const Passing *p, tg_Frame *frame) {
  tg_Keyed keyed = tg_catalog_keyed(p->s, frame->what & TG_FR_ID);
  if (keyed == TG_KEYED_SETS)
    veil_set(p);
  if (!gives_secret(p, keyed))
    frame->what &= ~(uint32_t)TG_FR_SECRETS;
}

static void learn_arguments (const Passing *p) {
  for (int i = 0; i < p->count && i < TG_VEIL_BITS; i++) {
    if (tg_veil_has(&p->s->capture.veil, i))
      tg_capture_learn(p->s, p->L, i + 1);
  }
}

void tg_veil_call (const tg_Call *c) {
  tg_Session *s = c->t->session;
  tg_Frame *frame = tg_coroutine_top(c->t);
  uint32_t what = frame->what;
  tg_Role role = tg_role_bits(what);
  Passing p = {s, c->L, 0, 1, 0, CHAIN_MOST};
  TG_STACK_GUARD(c->L);
  p.count = (what & TG_FR_C) ? lua_gettop(c->L) - !s->host.direct
                             : c->callee->nparams;
  memset(&s->capture.veil, 0, sizeof s->capture.veil);
  if (!(what & TG_FR_C))
    veil_parameters(&p, what & TG_FR_ID);
  if (role == TG_ROLE_KEYED)
    veil_keyed(&p, frame);
  else if (role == TG_ROLE_WRAPPED)
    veil_parameters(&p, body_of(&p, tg_resumed_by(c->t, c->L, c->ar, role)));
  else
    pass_by(p, role);
  learn_arguments(&p);
  TG_STACK_CHECK(c->L);
}

/* Of 'next' the first result is the key of the second. */
void tg_veil_results (tg_Session *s, lua_State *L, int first, int count,
                      uint32_t what) {
  memset(&s->capture.veil, 0, sizeof s->capture.veil);
  if (!(what & TG_FR_SECRETS))
    return;
  int i = first;
  if (tg_catalog_keyed(s, what & TG_FR_ID) == TG_KEYED_WALKS) {
    if (count != 2 || !names_secret(s, L, first))
      return;
    i++;
  }
  for (; i < first + count && i - first < TG_VEIL_BITS; i++) {
    s->capture.veil.bits[(i - first) / 64] |= UINT64_C(1) << (i - first) % 64;
    tg_capture_learn(s, L, i);
  }
}

/* }================================================================== */
