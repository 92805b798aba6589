/*
** slots.c - lists of values from memory: rules.h with the values of
** slotvalue.h; and what few.c asks of values beside that. Called in the hook,
** on the traced thread.
*/
#include "capture/slots.h"
#include "capture/slotvalue.h"
#include "capture/rules.h"

static int sample (lua_State *L) {
  (void)L;
  return 0;
}

/* The metatable of a type whose values have none of their own. Which it is,
   the interpreter keeps where it is not to be found by offset: a value of the
   type is asked. Uses two slots of the stack, which a hook has
   (LUA_MINSTACK). */
const void *tg_capture_shared_metatable (lua_State *L, int type) {
  const void *meta = NULL;
  TG_STACK_GUARD(L);
  if (type == LUA_TFUNCTION)
    lua_pushcfunction(L, sample);
  else if (type == LUA_TTHREAD)
    lua_pushthread(L);
  else
    lua_pushlightuserdata(L, NULL);
  if (lua_getmetatable(L, -1)) {
    meta = lua_topointer(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  TG_STACK_CHECK(L);
  return meta;
}

/* Of a table that is only named one thing is told. */
bool tg_capture_has_content (const void *table) {
  tg_Traversal t = tg_direct_traverse(table);
  return tg_traversal_next(&t);
}

static uint8_t *read_list (tg_Session *s, lua_State *L,
                           const tg_ValueList *list, const void *base,
                           uint8_t *p, const uint8_t *lim, bool *unknown) {
  tg_Capture c = {.session = s, .L = L, .limits = &s->selection.limits,
                  .pool = &s->capture.pool, .lim = lim, .base = base,
                  .redacts = s->selection.redacts,
                  .in_stream = lim == s->writer.lim};
  p = capture(&c, list, p);
  *unknown = c.unknown;
  return p;
}

/* A secret that is met in a list may have been written before in the same one:
   then it is captured once more. */
uint8_t *tg_capture_slots (tg_Session *s, lua_State *L,
                           const tg_ValueList *list, const void *base,
                           uint8_t *p, const uint8_t *lim, bool *unknown) {
  uint64_t learned = s->capture.secrets.added;
  uint8_t *end = read_list(s, L, list, base, p, lim, unknown);
  if (tg_likely(learned == s->capture.secrets.added) || end == NULL)
    return end;
  tg_capture_forget(&s->writer, p);
  return read_list(s, L, list, base, p, lim, unknown);
}
