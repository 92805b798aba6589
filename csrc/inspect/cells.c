/*
** cells.c - see cells.h. A value is compared as Lua's rawequal does it, but
** that one which is not a number is the same as another.
*/
#include <string.h>

#include <lauxlib.h>

#include "inspect/cells.h"
#include "binding/lx.h"
#include "inspect/caller.h"
#include "inspect/workspace.h"

static const char key_work = 0;     /* registry: the coroutine */

enum { WEAK = 1 };                  /* on its stack: the weak table */

/* What the table has of a cell. */
enum { HOLDER = 1, KEY, SETTLED, PARTS = SETTLED };

static int index_of (const tg_Cells *c, const tg_Cell *x, int part) {
  return (int)(x - c->list) * PARTS + part;
}

/* Pushes a part; its type. */
static int push_part (const tg_Cells *c, const tg_Cell *x, int part) {
  return lua_rawgeti(c->work, WEAK, index_of(c, x, part));
}

/* Pops what is to be the part. All places are there from the beginning. */
static void set_part (const tg_Cells *c, const tg_Cell *x, int part) {
  lua_rawseti(c->work, WEAK, index_of(c, x, part));
}

/*
** {==================================================================
** Frames
** ===================================================================
*/

static bool has_frame (const tg_Cells *c, lua_State *co, const void *frame) {
  lua_Debug ar;
  if (!lua_getstack(co, 0, &ar))
    return false;
  const void *at = ar.i_ci;
  while (at != NULL && at != frame)
    at = tg_caller_of(c->direct, co, at);
  return at != NULL;
}

/* Errors drop frames down to a C function that catches them: what comes next of
   its coroutine is the return of that function, or a call by it. */
static bool may_have_dropped (const tg_Cells *c, const lua_Debug *ar) {
  if (!c->direct)
    return true;
  const void *at = ar->i_ci;
  if (ar->event != LUA_HOOKRET)
    at = tg_frame_caller(at);
  return at == NULL || tg_frame_is_c(at);
}

static void end_local (tg_Cell *x) {
  x->frame = NULL;
}

void tg_cells_shown (tg_Cells *c, lua_State *L, const lua_Debug *ar) {
  if (c->locals == 0)
    return;
  bool dropped = may_have_dropped(c, ar);
  for (tg_Cell *x = c->list; x < c->list + c->used; x++) {
    if (x->kind != TG_CELL_LOCAL || x->frame == NULL || x->co != L)
      continue;
    bool anew = x->frame == ar->i_ci && ar->event != LUA_HOOKRET;
    if (anew || (dropped && !has_frame(c, L, x->frame)))
      end_local(x);
  }
}

void tg_cells_returned (tg_Cells *c, const lua_State *L, const void *frame) {
  if (c->locals == 0)
    return;
  for (tg_Cell *x = c->list; x < c->list + c->used; x++) {
    if (x->kind == TG_CELL_LOCAL && x->frame == frame && x->co == L)
      end_local(x);
  }
}

/* }================================================================== */

/*
** {==================================================================
** The quick way: fields by short strings and by integers from 1 up, where
** memory is read. Those two the interpreter finds by their bits. The answer is
** that nothing has changed, or that somebody has to look: equal values may have
** other bits (1 and 1.0).
** ===================================================================
*/

static tg_Slot read_part (const tg_Cells *c, const tg_Cell *x, int part) {
  return tg_direct_element(c->weak, (uint32_t)index_of(c, x, part) - 1);
}

static void find_quick (const tg_Cells *c, tg_Cell *x) {
  if (!c->direct)
    return;
  x->key = read_part(c, x, KEY);
  int variant = tg_slot_variant(x->key);
  x->quick = variant == TG_TAG_SHORT
             || (variant == TG_TAG_INTEGER && x->key.u.i >= 1);
}

/* All that is nil is the same. */
static tg_Slot without_variant (tg_Slot s) {
  return tg_slot_is_nil(s) ? (tg_Slot){.tag = LUA_TNIL} : s;
}

static tg_Slot read_field (const tg_Cell *x, const void *table) {
  return without_variant((tg_slot_variant(x->key) == TG_TAG_SHORT)
                         ? tg_direct_field(table, x->key.u.p)
                         : tg_direct_index(table, (uint64_t)x->key.u.i));
}

static bool is_surely_settled (const tg_Cells *c, const tg_Cell *x) {
  if (!x->quick)
    return false;
  tg_Slot holder = read_part(c, x, HOLDER);
  if (tg_slot_type(holder) != LUA_TTABLE
      || (x->weak && tg_slot_is_nil(read_part(c, x, SETTLED))))
    return false;
  tg_Slot now = read_field(x, holder.u.p);
  return now.tag == x->settled.tag && now.u.i == x->settled.u.i;
}

/* What is there has been found to be the settled value. */
static void note_settled (const tg_Cells *c, tg_Cell *x) {
  if (x->quick)
    x->settled = read_field(x, read_part(c, x, HOLDER).u.p);
}

/* }================================================================== */

/*
** {==================================================================
** Values
** ===================================================================
*/

typedef enum Found {
  GONE,
  HIDDEN,                 /* a local that cannot be seen at this line */
  THERE
} Found;

/* A local: on the stack of its coroutine for a moment. Others than the one that
   runs are looked through for the frame each time. */
static Found push_local (const tg_Cells *c, const tg_Cell *x, lua_State *L) {
  lua_State *co = x->co;
  if (x->frame == NULL || (co != L && !has_frame(c, co, x->frame)))
    return GONE;
  if (!lua_checkstack(co, 1))
    return HIDDEN;
  lua_Debug ar = {.i_ci = (struct CallInfo *)(uintptr_t)x->frame};
  const char *name = lua_getlocal(co, &ar, x->number);
  if (name == NULL)
    return HIDDEN;
  if (strcmp(name, x->name) != 0) {
    lua_pop(co, 1);
    return HIDDEN;
  }
  lua_xmove(co, c->work, 1);
  return THERE;
}

/* Pushes what is in a cell now, and maybe more below. */
static Found push_value (const tg_Cells *c, const tg_Cell *x, lua_State *L) {
  lua_State *work = c->work;
  if (push_part(c, x, HOLDER) == LUA_TNIL)
    return GONE;
  if (x->kind == TG_CELL_LOCAL)
    return push_local(c, x, L);
  if (x->kind == TG_CELL_UPVALUE)
    return (lua_getupvalue(work, -1, x->number) != NULL) ? THERE : GONE;
  if (push_part(c, x, KEY) == LUA_TNIL)
    return GONE;
  lua_rawget(work, -2);
  return THERE;
}

/* Whether the value on top is the settled one. */
static bool is_settled (const tg_Cells *c, const tg_Cell *x) {
  lua_State *work = c->work;
  if (push_part(c, x, SETTLED) == LUA_TNIL && x->weak)
    return false;
  return lua_rawequal(work, -1, -2)
         || (!lua_rawequal(work, -1, -1) && !lua_rawequal(work, -2, -2));
}

static void look_at (tg_Cells *c, tg_Cell *x, lua_State *L) {
  x->changed = false;
  if (tg_likely(is_surely_settled(c, x)))
    return;
  Found found = push_value(c, x, L);
  if (found == GONE)
    x->over = true;
  else if (found == THERE) {
    x->changed = !is_settled(c, x);
    if (!x->changed)
      note_settled(c, x);
  }
  lua_settop(c->work, WEAK);
}

static bool is_looked_at (const tg_Cell *x) {
  return x->kind != TG_CELL_NONE && !x->over;
}

bool tg_cells_look (tg_Cells *c, lua_State *L) {
  bool any = false;
  for (tg_Cell *x = c->list; x < c->list + c->used; x++) {
    if (is_looked_at(x))
      look_at(c, x, L);
    any = any || x->changed || x->over;
  }
  return any;
}

static bool may_be_freed (int type) {
  return type == LUA_TTABLE || type == LUA_TFUNCTION || type == LUA_TUSERDATA
         || type == LUA_TTHREAD;
}

static void settle (tg_Cells *c, tg_Cell *x, lua_State *L) {
  Found found = push_value(c, x, L);
  if (found == GONE)
    x->over = true;
  else if (found == THERE) {
    x->weak = may_be_freed(lua_type(c->work, -1));
    set_part(c, x, SETTLED);
    note_settled(c, x);
  }
  lua_settop(c->work, WEAK);
  x->changed = false;
}

/* }================================================================== */

/*
** {==================================================================
** The list
** ===================================================================
*/

static void forget (tg_Cells *c, tg_Cell *x) {
  c->count--;
  c->locals -= (x->kind == TG_CELL_LOCAL);
  for (int part = HOLDER; part <= PARTS; part++) {
    lua_pushnil(c->work);
    set_part(c, x, part);
  }
  *x = (tg_Cell){.kind = TG_CELL_NONE};
  while (c->used > 0 && c->list[c->used - 1].kind == TG_CELL_NONE)
    c->used--;
}

void tg_cells_settle (tg_Cells *c, lua_State *L, bool all) {
  for (tg_Cell *x = c->list; x < c->list + c->used; x++) {
    if (x->kind == TG_CELL_NONE || (x->changed && !all))
      continue;
    if (!x->over)
      settle(c, x, L);
    else if (x->told)
      forget(c, x);
  }
}

void tg_cells_clear (tg_Cells *c, lua_State *L) {
  tg_workspace_drop(L, &key_work);
  c->count = c->locals = c->used = 0;
  c->work = NULL;
}

/* }================================================================== */

/*
** {==================================================================
** For the agent
** ===================================================================
*/

static void setup (tg_Cells *c, lua_State *L) {
  lua_State *work = tg_workspace_new(L, &key_work);
  lx_weak_list(L, TG_CELLS * PARTS);
  c->weak = lua_topointer(L, -1);
  lua_xmove(L, work, 1);
  if (!lua_checkstack(work, LUA_MINSTACK))
    luaL_error(L, "not enough memory");
  c->work = work;
}

static tg_Cell *find_free (tg_Cells *c, lua_State *L) {
  int k = 0;
  while (k < c->used && c->list[k].kind != TG_CELL_NONE)
    k++;
  if (k == TG_CELLS)
    luaL_error(L, "at most %d places are watched at once", TG_CELLS);
  return &c->list[k];
}

/* A new cell of the kind; its holder is the first argument. Nothing that comes
   after this raises. */
static tg_Cell *begin (tg_Cells *c, lua_State *L, tg_CellKind kind) {
  if (c->work == NULL)
    setup(c, L);
  tg_Cell *x = find_free(c, L);
  *x = (tg_Cell){.kind = kind};
  lua_pushvalue(L, 1);
  lua_xmove(L, c->work, 1);
  set_part(c, x, HOLDER);
  return x;
}

static int end (tg_Cells *c, lua_State *L, tg_Cell *x) {
  c->widened = c->widened || c->count == 0;
  c->count++;
  if (x == c->list + c->used)
    c->used++;
  c->locals += (x->kind == TG_CELL_LOCAL);
  settle(c, x, L);
  lua_pushinteger(L, x - c->list + 1);
  return 1;
}

int tg_cells_add_field (tg_Cells *c, lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_argcheck(L, !lua_isnoneornil(L, 2), 2, "key expected");
  tg_Cell *x = begin(c, L, TG_CELL_FIELD);
  lua_pushvalue(L, 2);
  lua_xmove(L, c->work, 1);
  set_part(c, x, KEY);
  find_quick(c, x);
  return end(c, L, x);
}

int tg_cells_add_upvalue (tg_Cells *c, lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  int number = (int)luaL_checkinteger(L, 2);
  luaL_argcheck(L, lua_getupvalue(L, 1, number) != NULL, 2,
                "there is no such upvalue");
  tg_Cell *x = begin(c, L, TG_CELL_UPVALUE);
  x->number = number;
  return end(c, L, x);
}

int tg_cells_add_local (tg_Cells *c, lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  lua_Debug ar;
  const char *name = NULL;
  int number = (int)luaL_checkinteger(L, 3);
  luaL_argcheck(L, co != NULL, 1, "coroutine expected");
  if (lua_checkstack(co, 1)
      && lua_getstack(co, (int)luaL_checkinteger(L, 2), &ar)
      && (name = lua_getlocal(co, &ar, number)) != NULL)
    lua_pop(co, 1);
  luaL_argcheck(L, name != NULL, 3, "there is no such variable");
  tg_Cell *x = begin(c, L, TG_CELL_LOCAL);
  x->number = number;
  x->co = co;
  x->frame = ar.i_ci;
  x->name = name;
  return end(c, L, x);
}

int tg_cells_remove (tg_Cells *c, lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 1);
  luaL_argcheck(L, 1 <= n && n <= c->used
                   && c->list[n - 1].kind != TG_CELL_NONE, 1, "no such cell");
  forget(c, &c->list[n - 1]);
  return 0;
}

/* Sets a field of the table on top of 'L' to what is on top of 'work'. */
static void give (lua_State *work, lua_State *L, const char *field) {
  lua_xmove(work, L, 1);
  lua_setfield(L, -2, field);
}

static void push_change (const tg_Cells *c, const tg_Cell *x, lua_State *L) {
  lua_State *work = c->work;
  lua_createtable(L, 0, 5);
  lua_pushinteger(L, x - c->list + 1);
  lua_setfield(L, -2, "cell");
  lua_pushboolean(L, x->over);
  lua_setfield(L, -2, "over");
  bool freed = push_part(c, x, SETTLED) == LUA_TNIL && x->weak;
  give(work, L, "old");
  lua_pushboolean(L, freed);
  lua_setfield(L, -2, "freed");
  if (!x->over && push_value(c, x, NULL) == THERE)
    give(work, L, "new");
  lua_settop(work, WEAK);
}

int tg_cells_changes (tg_Cells *c, lua_State *L) {
  int n = 0;
  lua_newtable(L);
  for (tg_Cell *x = c->list; x < c->list + c->used; x++) {
    if (!x->changed && !x->over)
      continue;
    push_change(c, x, L);
    lua_rawseti(L, -2, ++n);
    x->told = x->over;
  }
  return 1;
}

/* }================================================================== */
