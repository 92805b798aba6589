#include <stdio.h>
#include <string.h>

#include "thrown.h"
#include "event.h"
#include "value.h"

static bool wanted (const tg_Thread *t) {
  return (t->session->demand.types & TG_TYPE_THROW) != 0;
}

/* Captures the value at 'index' into the stash, as of frame number 'n'. */
static void stash_index (tg_Thread *t, lua_State *L, int index, uint32_t n) {
  tg_ValueList list = {.first = index, .count = 1};
  t->stashed = 0;
  for (size_t need = 512; need < ((size_t)64 << 20); need *= 16) {
    tg_buf_clear(&t->stash);
    if (!tg_buf_reserve(&t->stash, need))
      return;
    uint8_t *start = (uint8_t *)t->stash.data;
    uint8_t *end = tg_value_list(t->session, L, &list, start, start + need);
    if (end != NULL) {
      t->stash.size = (size_t)(end - start);
      t->stashed = n;
      return;
    }
  }
}

/* The position that error() puts before a message, as luaL_where does. */
static void where (lua_State *L, int level, char *out, size_t size) {
  lua_Debug ar;
  out[0] = '\0';
  if (lua_getstack(L, level, &ar)) {
    lua_getinfo(L, "Sl", &ar);
    if (ar.currentline > 0)
      snprintf(out, size, "%s:%d: ", ar.short_src, ar.currentline);
  }
}

/* A message with its position, which is made after this moment. */
static void stash_message (tg_Thread *t, lua_State *L, const char *message,
                           size_t size, int level) {
  char position[LUA_IDSIZE + 24];
  uint32_t limit = t->session->demand.limits.string;
  where(L, level, position, sizeof position);
  tg_Buf text = {0};
  tg_buf_addstr(&text, position);
  tg_buf_add(&text, message, size);
  tg_buf_clear(&t->stash);
  t->stashed = 0;
  size_t need = ((text.size < limit) ? text.size : limit) + 64;
  if (!text.failed && tg_buf_reserve(&t->stash, need)) {
    uint8_t *start = (uint8_t *)t->stash.data;
    uint8_t *end = tg_value_text(text.data, text.size, limit, start,
                                 start + need);
    if (end != NULL) {
      t->stash.size = (size_t)(end - start);
      t->stashed = t->n;
    }
  }
  tg_buf_free(&text);
}

/* Argument 'i' of 'n'; an index that gives nil if there are less. */
static int argument (lua_State *L, int i, int n) {
  return (i <= n) ? i : lua_gettop(L) + 1;
}

/* The level that error() was given. */
static int error_level (lua_State *L, int n) {
  int ok = 0;
  lua_Integer level = (n >= 2) ? lua_tointegerx(L, 2, &ok) : 0;
  return ok ? (int)level : 1;
}

void tg_thrown_stash_error (tg_Thread *t, lua_State *L, tg_Role role) {
  static const char failed[] = "assertion failed!";
  int n = lua_gettop(L) - 1;    /* the function is on top */
  int value = 1, level = 1;
  size_t size;
  if (!wanted(t))
    return;
  if (role == TG_ROLE_ASSERT) {
    if (n == 0 || lua_toboolean(L, 1))
      return;
    value = 2;
  }
  else
    level = error_level(L, n);
  value = argument(L, value, n);
  if (role == TG_ROLE_ASSERT && n < 2)
    stash_message(t, L, failed, sizeof failed - 1, level);
  else if (lua_type(L, value) == LUA_TSTRING && level > 0) {
    const char *s = lua_tolstring(L, value, &size);
    stash_message(t, L, s, size, level);
  }
  else
    stash_index(t, L, value, t->n);
}

/*
** Where argument 'i' of the call 'ar' stands ('ar' has "S"; 'above' values
** stand on top of a C function's arguments). An extra argument of a vararg
** function is pushed; a Lua function without that parameter has it in its
** registers.
*/
static int call_argument (lua_State *L, lua_Debug *ar, int i, int above) {
  if (*ar->what == 'C')
    return argument(L, i, lua_gettop(L) - above);
  lua_getinfo(L, "u", ar);
  if (i <= ar->nparams || !ar->isvararg)
    return i;
  if (lua_getlocal(L, ar, ar->nparams - i) == NULL)
    return lua_gettop(L) + 1;   /* none: nil */
  return lua_gettop(L);
}

/*
** A handler that fails is called again, for its own error: that is the one
** that unwinds everything.
*/
void tg_thrown_stash_handler (tg_Thread *t, lua_State *L, lua_Debug *ar) {
  if (wanted(t))
    stash_index(t, L, call_argument(L, ar, 1, 1), t->n);
}

/* Bytes of "file:line: " at the start of 'message', if they name the caller of
   the function on top of 't'. */
static size_t position_size (const tg_Thread *t, const char *message,
                             size_t size) {
  if (t->n < 2)
    return 0;
  const tg_Frame *f = &t->frames[t->n - 2];
  const tg_Function *caller = tg_functions_get(
      t->session->recorder.stream->functions, f->what & TG_FR_ID);
  size_t n = (caller->url != NULL) ? strlen(caller->url) : 0;
  if (caller->is_c || n == 0 || size <= n || message[n] != ':'
      || memcmp(message, caller->url, n) != 0)
    return 0;
  size_t digits = strspn(message + n + 1, "0123456789");
  size_t end = n + 1 + digits;
  if (digits == 0 || end + 2 > size || message[end] != ':'
      || message[end + 1] != ' ')
    return 0;
  return end + 2;
}

/* What the wrap functions between 't' and the coroutine of 'L' have put before
   a message that passed through them, the outermost last. */
static size_t added_positions (const tg_Thread *t, const lua_State *L,
                               const char *message, size_t size) {
  size_t n = 0;
  const tg_Thread *resumer = t->resumer;
  if (resumer == NULL)
    return 0;
  if (resumer->L != L)
    n = added_positions(resumer, L, message, size);
  return n + position_size(resumer, message + n, size - n);
}

/* The results of a function that returns false or nil, value. */
static int failure_result (lua_State *L, lua_Debug *ar) {
  lua_getinfo(L, "r", ar);
  if (ar->ntransfer < 2 || lua_toboolean(L, ar->ftransfer))
    return 0;
  return ar->ftransfer + 1;
}

/* The second argument of what is being called: __close(object, error). */
static int close_argument (lua_State *L, lua_Debug *ar) {
  lua_getinfo(L, "S", ar);
  int i = call_argument(L, ar, 2, 0);
  return (i <= lua_gettop(L)) ? i : 0;
}

tg_Thrown tg_thrown_find (const tg_Thread *t, lua_State *L, lua_Debug *ar,
                          uint32_t keep, tg_Role catcher) {
  tg_Thrown v = {L, 0, NULL, 0};
  bool stashed = t->stashed > keep;
  bool elsewhere = L != t->L;
  if (!wanted(t))
    return v;
  bool direct = catcher == TG_ROLE_RESUME || catcher == TG_ROLE_CLOSE;
  if (ar->event == LUA_HOOKRET && (catcher == TG_ROLE_PCALL || direct))
    v.index = failure_result(L, ar);
  if (v.index == 0 && stashed)
    v.stash = &t->stash;
  else if (v.index == 0 && ar->event == LUA_HOOKRET)
    v.index = failure_result(L, ar);
  else if (v.index == 0 && ar->event == LUA_HOOKCALL)
    v.index = close_argument(L, ar);
  if (v.index != 0 && elsewhere && !direct
      && lua_type(L, v.index) == LUA_TSTRING) {
    size_t size;
    const char *s = lua_tolstring(L, v.index, &size);
    v.skip = added_positions(t, L, s, size);
  }
  return v;
}
