/*
** asked.c - lists of values by the public API: rules.h with the values of
** askedvalue.h. Called in the hook, on the traced thread, where memory is not
** read, or does not tell all.
*/
#include "capture/asked.h"
#include "capture/askedvalue.h"
#include "capture/rules.h"

/* A string that is not short, if it is in the stream already and holds nothing
   that is to be hidden; else NULL. */
static TG_NOINLINE uint8_t *put_written (const tg_Session *s, lua_State *L,
                                         int i, uint8_t *p) {
  size_t n, limit = s->selection.limits.string;
  const char *text = lua_tolstring(L, i, &n);
  size_t kept = (n < limit) ? n : limit;
  if (s->selection.redacts || kept > TG_PLAIN_STRING)
    return NULL;
  const uint8_t *grip = find_written(&s->writer, text, n, kept);
  return (grip != NULL) ? put_long_again(&s->writer, p, grip) : NULL;
}

/*
** Most lists are a few numbers, booleans and strings that are short or have
** been written before: no pool, no state. The whole list, where there are
** TG_PLAIN_ROOM bytes; NULL if that is not for here to do.
*/
static uint8_t *put_simple (const tg_Session *s, lua_State *L,
                            const tg_ValueList *list, uint8_t *start) {
  uint32_t refers = 0;
  uint8_t *p = put_byte(start + 4, (uint8_t)list->count);
  for (int i = 0; i < list->count; i++) {
    int at = list->first + i, type = lua_type(L, at);
    uint8_t *end = put_small_at(L, at, type, s->selection.plain, p);
    if (end == NULL && type == LUA_TSTRING) {
      end = put_written(s, L, at, p);
      refers = TG_VALUES_REFERS;
    }
    if (tg_unlikely(end == NULL))
      return NULL;
    p = end;
  }
  tg_put32(start, (uint32_t)(p - start - 4) | refers);
  return p;
}

static uint8_t *ask_list (tg_Session *s, lua_State *L,
                          const tg_ValueList *list, uint8_t *p,
                          const uint8_t *lim) {
  int top = lua_gettop(L);
  tg_Capture c = {.session = s, .L = L, .limits = &s->selection.limits,
                  .pool = &s->capture.pool, .lim = lim, .mark = top + 1,
                  .redacts = s->selection.redacts,
                  .in_stream = lim == s->writer.lim};
  s->capture.lists++;
  p = capture(&c, list, p);
  tg_assert(c.above == 0 && lua_gettop(L) == c.mark - 1);
  if (tg_unlikely(c.mark != top + 1))
    lua_settop(L, top);
  return p;
}

/* Whether the stack has room for the extra arguments. */
static bool has_room (lua_State *L, const tg_ValueList *list) {
  int most = TG_VALUES_MAX - list->count;
  int extra = (list->varargs < most) ? list->varargs : most;
  return extra <= 0 || lua_checkstack(L, extra + 8);
}

/* Near the end of the stack extra arguments are lost. Where a secret was met
   that may have been written before in the same list, that is captured once
   more. */
static TG_NOINLINE uint8_t *ask_any (tg_Session *s, lua_State *L,
                                     const tg_ValueList *list, uint8_t *p,
                                     const uint8_t *lim) {
  uint64_t learned = s->capture.secrets.added;
  tg_ValueList shorter;
  if (tg_unlikely(list->varargs > 0 && !has_room(L, list))) {
    shorter = *list;
    shorter.varargs = 0;
    list = &shorter;
    tg_lacks_count(&s->writer.stream->lacks, TG_LACK_UNSEEN);
  }
  uint8_t *end = ask_list(s, L, list, p, lim);
  if (tg_likely(learned == s->capture.secrets.added) || end == NULL)
    return end;
  tg_capture_forget(&s->writer, p);
  return ask_list(s, L, list, p, lim);
}

/* The short way needs room for all that it may write, so that it need not look
   at each value whether there is; near a chunk's end the list goes the long
   way, which does. */
uint8_t *tg_capture_asked (tg_Session *s, lua_State *L,
                           const tg_ValueList *list, uint8_t *p,
                           const uint8_t *lim) {
  uint8_t *end = NULL;
  if (list->count <= TG_PLAIN_MAX && list->varargs == 0 && list->veil == NULL
      && list->names == NULL && lim == s->writer.lim
      && (size_t)(lim - p) >= TG_PLAIN_ROOM)
    end = put_simple(s, L, list, p);
  return tg_likely(end != NULL) ? end : ask_any(s, L, list, p, lim);
}

void tg_capture_learn (tg_Session *s, lua_State *L, int i) {
  tg_Capture c = {.session = s, .L = L, .mark = lua_gettop(L) + 1};
  TG_STACK_GUARD(L);
  learn_value(&c, (Value){.at = i, .type = lua_type(L, i)});
  TG_STACK_CHECK(L);
}
