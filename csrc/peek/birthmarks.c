/* birthmarks.c - see birthmarks.h. On the thread that runs the state. */
#include "peek/birthmarks.h"

#include "heap/births.h"
#include "peek/ourselves.h"

#define MARKS "tracegrip.birthmarks"
#define FINAL "tracegrip.birthmark"

/* ---- the moment ---- */

/* All objects, where they lie: nothing is made meanwhile. */
typedef struct Moment {
  tg_Image image;       /* owns, as all here */
  tg_Heap heap;
} Moment;

static bool take_moment (Moment *m, const tg_Ourselves *ours) {
  *m = (Moment){.image = {.count = 0}};
  return tg_image_own(&m->image, &ours->memory.maps)
         && tg_heap_take(&m->heap, &m->image, ours->layout, ours->release,
                         ours->main);
}

static void free_moment (Moment *m) {
  tg_heap_free(&m->heap);
  tg_image_free(&m->image);
}

bool tg_birthmarks_number (tg_Births *b, const tg_Ourselves *ours) {
  Moment m;
  bool ok = take_moment(&m, ours) && tg_births_number(b, &m.heap);
  free_moment(&m);
  return ok;
}

/* NULL, or why not. */
static const char *add_mark (lua_State *L, tg_Births *b, tg_BirthMark mark) {
  tg_Ourselves ours;
  Moment m;
  const char *objection = tg_ourselves_open(&ours, lx_mainthread(L));
  if (objection == NULL) {
    if (!take_moment(&m, &ours) || !tg_births_mark(b, &m.heap, mark))
      objection = "not enough memory";
    free_moment(&m);
  }
  tg_ourselves_close(&ours);
  return objection;
}

/* ---- for Lua ---- */

static int marks__gc (lua_State *L) {
  tg_births_free(luaL_checkudata(L, 1, MARKS));
  return 0;
}

/* An object with a finalizer, which does nothing. */
static int final__gc (lua_State *L) {
  (void)L;
  return 0;
}

tg_Births *tg_birthmarks_opt (lua_State *L, int arg) {
  return lua_isnoneornil(L, arg) ? NULL : luaL_checkudata(L, arg, MARKS);
}

static uint64_t push_anchor (lua_State *L) {
  lua_newtable(L);
  return (uint64_t)(uintptr_t)lua_topointer(L, -1);
}

/* The list on top keeps what is made. */
static tg_BirthMark make_mark (lua_State *L, uint64_t time_us) {
  tg_BirthMark mark = {.time_us = time_us};
  mark.plain = push_anchor(L);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  mark.final = push_anchor(L);
  luaL_setmetatable(L, FINAL);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  return mark;
}

static void push_changes (lua_State *L, const tg_Births *b) {
  lua_Integer n = 0;
  lua_newtable(L);
  for (uint32_t i = 0; i < b->nmarks; i++) {
    const tg_BirthMark *m = &b->marks[i];
    if (!m->changed)
      continue;
    lua_pushinteger(L, i);
    lua_rawseti(L, -2, ++n);
    lua_pushinteger(L, m->count);
    lua_rawseti(L, -2, ++n);
    lua_pushinteger(L, (lua_Integer)m->bytes);
    lua_rawseti(L, -2, ++n);
  }
}

static int marks_mark (lua_State *L) {
  tg_Births *b = luaL_checkudata(L, 1, MARKS);
  lua_Integer time_us = luaL_checkinteger(L, 2);
  luaL_argcheck(L, time_us >= 0, 2, "a time");
  lua_getiuservalue(L, 1, 1);
  tg_BirthMark mark = make_mark(L, (uint64_t)time_us);
  const char *objection = add_mark(L, b, mark);
  if (objection != NULL) {
    lua_pushnil(L);
    lua_pushstring(L, objection);
    return 2;
  }
  push_changes(L, b);
  lua_pushinteger(L, (lua_Integer)tg_births_last(
                         b, &b->marks[b->nmarks - 1]));
  return 2;
}

static const luaL_Reg marks_methods[] = {
  {"mark", marks_mark},
  {"__gc", marks__gc},
  {NULL, NULL}
};

static const luaL_Reg final_methods[] = {
  {"__gc", final__gc},
  {NULL, NULL}
};

void tg_birthmarks_setup (lua_State *L) {
  lx_class(L, MARKS, marks_methods);
  lx_class(L, FINAL, final_methods);
}

int birthmarks_new (lua_State *L) {
  const tg_Births *before = tg_birthmarks_opt(L, 1);
  tg_Births *b = lua_newuserdatauv(L, sizeof *b, 1);
  tg_births_begin(b, before);
  lua_newtable(L);
  lua_setiuservalue(L, -2, 1);
  luaL_setmetatable(L, MARKS);
  return 1;
}
