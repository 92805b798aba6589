/*
** stash.c - see stash.h: values that are about to be thrown, captured while
** they can still be seen. Called in the hook. Without memory, or if a value is
** too large, nothing is kept, and what was thrown stays unknown.
**
** They are captured as bytes (values.h), at once: by the time that frames turn
** out to be gone the value may have been changed, or collected.
*/
#include <stdio.h>
#include <string.h>

#include "chain/stash.h"
#include "capture/capture.h"
#include "capture/varargs.h"
#include "host/builtins.h"
#include "stream/event.h"

bool tg_stash_wanted (const tg_Coroutine *t) {
  return (t->session->selection.types & TG_TYPE_THROW) != 0;
}

/*
** {==================================================================
** Values on their way: a stack, since a function that a message handler calls
** may throw too. Before each value stands an Entry, which leads to the value
** below.
** ===================================================================
*/

typedef struct Entry {
  size_t below;         /* where the entry below is */
  uint32_t stashed;     /* its frame, as t->stashed */
  uint32_t caught;      /* 1 + index of the xpcall whose handler got it */
  bool sure;            /* thrown, whatever happens */
} Entry;

static void read_entry (const tg_Coroutine *t, Entry *e) {
  tg_assert(t->stashed > 0 && t->stash_at + sizeof *e <= t->stash.size);
  memcpy(e, t->stash.data + t->stash_at, sizeof *e);
}

/* By memcpy, as in read_entry: the bytes between entries have any length, so an
   entry may stand at any address. */
static void write_entry (tg_Coroutine *t, const Entry *e) {
  tg_assert(t->stash_at + sizeof *e <= t->stash.capacity);
  memcpy(t->stash.data + t->stash_at, e, sizeof *e);
}

/* The value on top is of no interest any more: caught, or never thrown. */
static void pop (tg_Coroutine *t) {
  Entry e;
  read_entry(t, &e);
  tg_assert(e.stashed < t->stashed && e.below <= t->stash_at);
  t->stash.size = t->stash_at;
  t->stash_at = e.below;
  t->stashed = e.stashed;
}

/* Room for a value of 'need' bytes that frame 'n' - 1 throws; NULL without
   memory: the value is not known then. */
static uint8_t *push (tg_Coroutine *t, uint32_t n, bool sure, size_t need) {
  while (t->stashed >= n)
    pop(t);
  if (t->stashed == 0)
    tg_buf_clear(&t->stash);
  Entry e = {t->stash_at, t->stashed, 0, sure};
  size_t at = t->stash.size;
  if (!tg_buf_reserve(&t->stash, sizeof e + need)) {
    t->stash.failed = false;
    return NULL;
  }
  t->stash.size = at + sizeof e;
  t->stash_at = at;
  t->stashed = n;
  write_entry(t, &e);
  return (uint8_t *)t->stash.data + t->stash.size;
}

/* The value ends at 'end'; NULL: it found no room. */
static bool pushed (tg_Coroutine *t, const uint8_t *end) {
  if (end == NULL)
    pop(t);
  else
    t->stash.size = (size_t)(end - (uint8_t *)t->stash.data);
  return end != NULL;
}

/* The bytes of the top value stay where they are until something is pushed or
   dropped: the event that needs them is written before that. */
tg_Slice tg_stash_top (const tg_Coroutine *t, bool *sure, uint32_t *caught) {
  Entry e;
  if (t->stashed == 0)
    return (tg_Slice){0};
  read_entry(t, &e);
  *sure = e.sure;
  *caught = e.caught;
  size_t at = t->stash_at + sizeof e;
  return (tg_Slice){(const uint8_t *)t->stash.data + at, t->stash.size - at,
                    NULL};
}

void tg_stash_drop (tg_Coroutine *t, uint32_t keep) {
  while (t->stashed > keep)
    pop(t);
}

/* error and assert call nothing but a handler; so does coroutine.wrap's
   function, once its coroutine is dead. */
static bool calls_handlers (const tg_Frame *f) {
  tg_Role role = tg_frame_role(f);
  return role == TG_ROLE_ERROR || role == TG_ROLE_ASSERT
         || role == TG_ROLE_WRAPPED;
}

/* Called for each call while something is on its way, which is seldom. */
void tg_stash_deny (tg_Coroutine *t, bool replaces) {
  tg_stash_drop(t, t->n);
  if (!replaces && t->n > 0 && t->stashed == t->n
      && !calls_handlers(tg_coroutine_top(t)))
    pop(t);
}

/* }================================================================== */

/* Keeps the value at 'index', which frame 'n' - 1 throws. Most take some bytes:
   a table of what the limits allow may take megabytes, and is tried again. */
void tg_stash_value (tg_Coroutine *t, lua_State *L, int index, uint32_t n,
                     bool sure) {
  tg_ValueList list = {.first = index, .count = 1};
  for (size_t need = 512; need < ((size_t)64 << 20); need *= 16) {
    uint8_t *p = push(t, n, sure, need);
    if (p == NULL)
      return;
    if (pushed(t, tg_capture_list(t->session, L, &list, p, p + need)))
      return;
  }
}

/* Keeps a text, which frame 'n' - 1 throws. */
static void stash_text (tg_Coroutine *t, const char *text, size_t size,
                        uint32_t n, bool sure) {
  tg_Session *s = t->session;
  uint32_t limit = s->selection.limits.string;
  size_t need = ((size < limit) ? size : limit) + 64;
  uint8_t *p = push(t, n, sure, need);
  if (p != NULL)
    pushed(t, tg_capture_text(s, text, size, p, p + need));
}

/* Keeps what an error with the value at 'index' throws, which is never nil
   where Lua puts a message in its place. */
static void stash_thrown (tg_Coroutine *t, lua_State *L, int index, uint32_t n,
                          bool sure) {
  const char *for_nil = tg_builtins_error_for_nil();
  if (lua_isnoneornil(L, index) && for_nil != NULL)
    stash_text(t, for_nil, strlen(for_nil), n, sure);
  else
    tg_stash_value(t, L, index, n, sure);
}

/* The position that error() puts before a message, as luaL_where does. */
void tg_stash_where (lua_State *L, int level, char *out, size_t size) {
  lua_Debug ar;
  out[0] = '\0';
  if (lua_getstack(L, level, &ar)) {
    lua_getinfo(L, "Sl", &ar);
    if (ar.currentline > 0)
      snprintf(out, size, "%s:%d: ", ar.short_src, ar.currentline);
  }
}

/* A message with its position, which is made after this moment; the frame on
   top throws it. */
static void stash_message (tg_Coroutine *t, lua_State *L, const char *message,
                           size_t size, int level) {
  char position[LUA_IDSIZE + 24];
  tg_stash_where(L, level, position, sizeof position);
  tg_Buf text = {0};
  tg_buf_addstr(&text, position);
  tg_buf_add(&text, message, size);
  if (!text.failed)
    stash_text(t, text.data, text.size, t->n, true);
  tg_buf_free(&text);
}

/* Argument 'i' of 'n'; an index that gives nil if there are less. */
static int argument (lua_State *L, int i, int n) {
  return (i <= n) ? i : lua_gettop(L) + 1;
}

/* The level argument of error(); false if error() refuses it. */
static bool error_level (lua_State *L, int n, int *level) {
  int ok = 1;
  *level = (n >= 2 && !lua_isnil(L, 2)) ? (int)lua_tointegerx(L, 2, &ok) : 1;
  return ok;
}

/* error() and assert() throw what their arguments say, but for a position that
   error puts before a message (luaB_error in lbaselib.c), and a message that
   assert has of its own. Both are made after this event, so they are made here
   as well. */
void tg_stash_error (tg_Coroutine *t, lua_State *L, tg_Role role, int n) {
  static const char failed[] = "assertion failed!";
  int value = 1, level = 1;
  size_t size;
  if (!tg_stash_wanted(t))
    return;
  if (role == TG_ROLE_ASSERT) {
    if (n == 0 || lua_toboolean(L, 1))
      return;
    value = 2;
  }
  else if (!error_level(L, n, &level))
    return;
  value = argument(L, value, n);
  if (role == TG_ROLE_ASSERT && n < 2)
    stash_message(t, L, failed, sizeof failed - 1, level);
  else if (lua_type(L, value) == LUA_TSTRING && level > 0) {
    const char *s = lua_tolstring(L, value, &size);
    stash_message(t, L, s, size, level);
  }
  else
    stash_thrown(t, L, value, t->n, true);
}

/*
** Where argument 'i' of the call 'ar' stands ('ar' has "S"; 'above' values
** stand on top of a C function's arguments). An extra argument of a vararg
** function is pushed; a Lua function without that parameter has it in its
** registers.
*/
int tg_stash_argument (lua_State *L, lua_Debug *ar, int i, int above) {
  if (*ar->what == 'C')
    return argument(L, i, lua_gettop(L) - above);
  lua_getinfo(L, "u", ar);
  if (i <= ar->nparams || !ar->isvararg)
    return i;
  if (!tg_varargs_push(L, ar, ar->nparams, i - ar->nparams))
    return lua_gettop(L) + 1;   /* none: nil */
  return lua_gettop(L);
}

/*
** Called from the frame below the handler's. The value of error() is known
** already. A handler that fails is called again, with its own error: then that
** error unwinds everything.
*/
void tg_stash_handler (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                       uint32_t keep) {
  uint32_t n = t->n - 1;
  int top = lua_gettop(L);
  if (n == 0 || !tg_stash_wanted(t))
    return;
  if (t->stashed != n || !calls_handlers(&t->frames[n - 1]))
    stash_thrown(t, L, tg_stash_argument(L, ar, 1, 1), n, keep == 0);
  lua_settop(L, top);           /* an extra argument has been pushed */
  if (keep > 0 && t->stashed == n) {
    Entry e;
    read_entry(t, &e);
    e.caught = keep;
    write_entry(t, &e);
  }
}
