#include <stdio.h>
#include <string.h>

#include "thrown.h"
#include "chain.h"
#include "event.h"
#include "roles.h"
#include "value.h"

#define LEVELS_ASKED 100    /* of frames older than the trace; each costs its
                               distance from the top */

static bool wanted (const tg_Thread *t) {
  return (t->session->demand.types & TG_TYPE_THROW) != 0;
}

/*
** {==================================================================
** What is on its way: a stack of values, since what a message handler calls may
** throw too. Before each one stands what was known of the one below it.
** ===================================================================
*/

typedef struct Entry {
  size_t below;         /* where the entry below is */
  uint32_t stashed;     /* its frame, as t->stashed */
  uint32_t caught;      /* 1 + index of the xpcall whose handler got this one */
  bool sure;            /* thrown, whatever happens */
} Entry;

static void read_entry (const tg_Thread *t, Entry *e) {
  memcpy(e, t->stash.data + t->stash_at, sizeof *e);
}

static void write_entry (tg_Thread *t, const Entry *e) {
  memcpy(t->stash.data + t->stash_at, e, sizeof *e);
}

static void pop (tg_Thread *t) {
  Entry e;
  read_entry(t, &e);
  t->stash.size = t->stash_at;
  t->stash_at = e.below;
  t->stashed = e.stashed;
}

/* Room for a value of 'need' bytes that frame 'n' - 1 throws; NULL if there is
   none, and then nothing is known of it. */
static uint8_t *push (tg_Thread *t, uint32_t n, bool sure, size_t need) {
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
static bool pushed (tg_Thread *t, const uint8_t *end) {
  if (end == NULL)
    pop(t);
  else
    t->stash.size = (size_t)(end - (uint8_t *)t->stash.data);
  return end != NULL;
}

void tg_thrown_drop (tg_Thread *t, uint32_t keep) {
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

void tg_thrown_deny (tg_Thread *t, bool replaces) {
  tg_thrown_drop(t, t->n);
  if (!replaces && t->n > 0 && t->stashed == t->n
      && !calls_handlers(tg_thread_top(t)))
    pop(t);
}

/* }================================================================== */

/* Keeps the value at 'index', which frame 'n' - 1 throws. */
static void stash_index (tg_Thread *t, lua_State *L, int index, uint32_t n,
                         bool sure) {
  tg_ValueList list = {.first = index, .count = 1};
  for (size_t need = 512; need < ((size_t)64 << 20); need *= 16) {
    uint8_t *p = push(t, n, sure, need);
    if (p == NULL)
      return;
    if (pushed(t, tg_value_list(t->session, L, &list, p, p + need)))
      return;
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

/* A message with its position, which is made after this moment; the frame on
   top throws it. */
static void stash_message (tg_Thread *t, lua_State *L, const char *message,
                           size_t size, int level) {
  char position[LUA_IDSIZE + 24];
  uint32_t limit = t->session->demand.limits.string;
  where(L, level, position, sizeof position);
  tg_Buf text = {0};
  tg_buf_addstr(&text, position);
  tg_buf_add(&text, message, size);
  size_t need = ((text.size < limit) ? text.size : limit) + 64;
  uint8_t *p = text.failed ? NULL : push(t, t->n, true, need);
  if (p != NULL)
    pushed(t, tg_value_text(text.data, text.size, limit, p, p + need));
  tg_buf_free(&text);
}

/* Argument 'i' of 'n'; an index that gives nil if there are less. */
static int argument (lua_State *L, int i, int n) {
  return (i <= n) ? i : lua_gettop(L) + 1;
}

/* The level that error() was given; false if it complains about it. */
static bool error_level (lua_State *L, int n, int *level) {
  int ok = 1;
  *level = (n >= 2 && !lua_isnil(L, 2)) ? (int)lua_tointegerx(L, 2, &ok) : 1;
  return ok;
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
    stash_index(t, L, value, t->n, true);
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
** Called from the frame below the handler's. What error() throws is known
** already. A handler that fails is called again, for its own error: that is the
** one that unwinds everything.
*/
void tg_thrown_stash_handler (tg_Thread *t, lua_State *L, lua_Debug *ar,
                              uint32_t keep) {
  uint32_t n = t->n - 1;
  if (n == 0 || !wanted(t))
    return;
  if (t->stashed != n || !calls_handlers(&t->frames[n - 1]))
    stash_index(t, L, call_argument(L, ar, 1, 1), n, keep == 0);
  if (keep > 0 && t->stashed == n) {
    Entry e;
    read_entry(t, &e);
    e.caught = keep;
    write_entry(t, &e);
  }
}

/* ---- which frames can have thrown another value than they got ---- */

/* Whether an error may have ended at this frame, and another begun. */
static bool may_catch (const tg_Session *s, const tg_Frame *f) {
  tg_FunctionId id = f->what & TG_FR_ID;
  if (id == 0)
    return true;        /* nobody knows */
  if (!(f->what & TG_FR_C))
    return false;
  const tg_Identity *identity = &s->known.identities[id];
  return !tg_role_harmless((lua_CFunction)(uintptr_t)identity->cfunction);
}

/* The first frame from index 'from' on that may; 'to' if there is none. */
static uint32_t first_catching (const tg_Thread *t, uint32_t from,
                                uint32_t to) {
  while (from < to && !may_catch(t->session, &t->frames[from]))
    from++;
  return from;
}

/* Where those begin that are above the last one that may. */
static uint32_t above_catching (const tg_Thread *t, uint32_t from,
                                uint32_t to) {
  while (to > from && !may_catch(t->session, &t->frames[to - 1]))
    to--;
  return to;
}

void tg_thrown_floor (tg_Thread *t, int level) {
  lua_Debug ar;
  int end = level + LEVELS_ASKED;
  t->floor = NULL;
  for (; level < end && lua_getstack(t->L, level, &ar); level++) {
    lua_getinfo(t->L, "fS", &ar);
    lua_CFunction f = lua_tocfunction(t->L, -1);
    lua_pop(t->L, 1);
    if (*ar.what == 'C' && !tg_role_harmless(f)) {
      t->floor = (tg_role_of(f) == TG_ROLE_PCALL) ? ar.i_ci : NULL;
      return;
    }
  }
}

bool tg_thrown_unsure (const tg_Thread *t) {
  for (uint32_t i = 0; i < t->n; i++) {
    tg_Role role = tg_frame_role(&t->frames[i]);
    if (role == TG_ROLE_XPCALL
        || (role == TG_ROLE_NONE && may_catch(t->session, &t->frames[i])))
      return true;
  }
  return false;
}

/* ---- at the beginning ---- */

/* What the frame on top of 't' has thrown: its bytes, or NULL. For all frames
   down to 'keep' ('whole') if it is known which handler got it. */
static tg_Slice raised (const tg_Thread *t, uint32_t keep, tg_Role catcher,
                        bool *whole) {
  Entry e;
  tg_Slice none = {0};
  if (t->stashed == 0 || t->stashed != t->n || t->session->hooking)
    return none;
  read_entry(t, &e);
  *whole = keep > 0 && e.caught == keep;
  if ((catcher == TG_ROLE_XPCALL) ? !*whole : !e.sure)
    return none;
  size_t at = t->stash_at + sizeof e;
  return (tg_Slice){(const uint8_t *)t->stash.data + at, t->stash.size - at,
                    NULL};
}

/* ---- at the end ---- */

/* The second result, if the first is false; 0 if it is not so. */
static int failure_result (lua_State *L, lua_Debug *ar) {
  lua_getinfo(L, "r", ar);
  if (ar->ntransfer != 2 || !lua_isboolean(L, ar->ftransfer)
      || lua_toboolean(L, ar->ftransfer))
    return 0;
  return ar->ftransfer + 1;
}

/* Whether the value at 'i' has this metamethod. By raw traversal, which
   allocates nothing. */
static bool has_metamethod (lua_State *L, int i, const char *event,
                            const void *function) {
  int top = lua_gettop(L);
  bool found = false;
  if (!lua_checkstack(L, 6) || !lua_getmetatable(L, i))
    return false;
  lua_pushnil(L);
  while (!found && lua_next(L, top + 1)) {
    found = lua_isfunction(L, -1) && lua_topointer(L, -1) == function
            && lua_type(L, -2) == LUA_TSTRING
            && strcmp(lua_tostring(L, -2), event) == 0;
    lua_pop(L, 1);
  }
  lua_settop(L, top);
  return found;
}

/* Address of the function that is being called; 'ar' gets "S". */
static const void *callee (lua_State *L, lua_Debug *ar) {
  lua_getinfo(L, "fS", ar);
  const void *address = lua_topointer(L, -1);
  lua_pop(L, 1);
  return address;
}

/* The error that a __close metamethod is called with, by a function that calls
   nothing else now; 0 if what is called is another function that stands for
   one, or there is no error. */
static int close_argument (lua_State *L, lua_Debug *ar) {
  const void *function = callee(L, ar);
  if (*ar->what == 'C' && lua_gettop(L) != 2)
    return 0;
  int object = call_argument(L, ar, 1, 0);
  int error = call_argument(L, ar, 2, 0);
  if (!has_metamethod(L, object, "__close", function))
    return 0;
  return lua_isnoneornil(L, error) ? 0 : error;
}

/* The frame that calls, as event 'ar' tells; NULL: it is no call, or nobody. */
static const void *calling (lua_State *L, const lua_Debug *ar) {
  lua_Debug up;
  if (ar->event != LUA_HOOKCALL || !lua_getstack(L, 1, &up))
    return NULL;
  return up.i_ci;
}

/* Whether 't', on which nothing runs, is being closed. */
static bool closing (const tg_Thread *t, const lua_Debug *ar,
                     const void *caller) {
  tg_Role role = (t->resumer != NULL)
                 ? tg_frame_role(tg_thread_top(t->resumer)) : TG_ROLE_NONE;
  return ar->event == LUA_HOOKCALL && caller == NULL && !t->unsure
         && (role == TG_ROLE_WRAPPED || role == TG_ROLE_CLOSE);
}

/* Whether xpcall's handler got no say, for want of memory or of room for its
   call: what was caught is Lua's own message. */
static bool unhandled (lua_State *L, lua_Debug *ar) {
  int i = (ar->event == LUA_HOOKRET) ? failure_result(L, ar)
          : (ar->event == LUA_HOOKCALL) ? close_argument(L, ar) : 0;
  if (i == 0 || lua_type(L, i) != LUA_TSTRING)
    return false;
  const char *message = lua_tostring(L, i);
  return strcmp(message, "not enough memory") == 0
         || strcmp(message, "error in error handling") == 0;
}

/* The error of frames of 't' in the event, which is on 't' itself. */
static int caught_here (const tg_Thread *t, lua_State *L, lua_Debug *ar,
                        uint32_t keep, tg_Role catcher) {
  const void *caller = calling(L, ar);
  if (keep == 0) {
    if (closing(t, ar, caller))
      return close_argument(L, ar);
    if (t->floor == NULL || t->unsure
        || t->floor != (ar->event == LUA_HOOKRET ? ar->i_ci : caller))
      return 0;
  }
  else if (catcher != TG_ROLE_PCALL)
    return 0;
  else if (!tg_close_replaces() && (t->frames[keep - 1].what & TG_FR_CAUGHT))
    return 0;           /* an error in a __close method, dropped */
  if (ar->event == LUA_HOOKRET)
    return failure_result(L, ar);
  return (ar->event == LUA_HOOKCALL) ? close_argument(L, ar) : 0;
}

/* ---- beyond coroutine.wrap ---- */

/* A chunk's name as luaO_chunkid has it in messages; returns its end. */
static char *put_short_source (const char *url, char *p) {
  size_t n = strlen(url), most = LUA_IDSIZE - 1;
  if (n > most) {
    memcpy(p, "...", 3);
    p += 3;
    url += n - (most - 3);
    n = most - 3;
  }
  memcpy(p, url, n);
  return p + n;
}

/* Bytes of "file:line: " at the start of 'text', if they name a line of that
   function; else 0. */
static size_t position_in (const tg_Function *f, const char *text,
                           size_t size) {
  char source[LUA_IDSIZE + 2];
  char *end = put_short_source(f->url, source);
  *end++ = ':';
  size_t n = (size_t)(end - source), digits = 0;
  uint32_t line = 0;
  if (size <= n || memcmp(text, source, n) != 0)
    return 0;
  for (; digits < 9 && n < size && text[n] >= '0' && text[n] <= '9'; n++) {
    line = line * 10 + (uint32_t)(text[n] - '0');
    digits++;
  }
  if (digits == 0 || n + 2 > size || memcmp(text + n, ": ", 2) != 0
      || line < f->line || (f->line > 0 && line > f->last_line))
    return 0;
  return n + 2;
}

/* Skips the position that the wrap function on top of 't' has put before a
   message: that of its caller. False if there is none where one must be. */
static bool skip_position (const tg_Thread *t, tg_Thrown *v) {
  size_t size;
  if (lua_type(v->L, v->index) != LUA_TSTRING)
    return true;
  if (t->n < 2 || (t->frames[t->n - 2].what & TG_FR_ID) == 0)
    return false;       /* nobody knows by whom it was called */
  const tg_Function *caller = tg_functions_get(
      t->session->recorder.stream->functions,
      t->frames[t->n - 2].what & TG_FR_ID);
  if (caller->is_c)
    return true;
  const char *text = lua_tolstring(v->L, v->index, &size);
  size_t n = position_in(caller, text + v->skip, size - v->skip);
  v->skip += n;
  return n > 0;
}

/* The same while its caller still stands. */
static bool skip_exactly (tg_Thrown *v) {
  char position[LUA_IDSIZE + 24];
  if (lua_type(v->L, v->index) != LUA_TSTRING)
    return true;
  where(v->L, 2, position, sizeof position);
  v->skip = strlen(position);
  return strncmp(lua_tostring(v->L, v->index), position, v->skip) == 0;
}

/*
** The error arrives at the message handler that the wrap function on top of
** 'resumer' calls: so it is also what that throws. Before Lua 5.4.3 a __close
** method may seem to be called by what has failed ('recover' in ldo.c).
*/
static bool arrived (tg_Thread *resumer, lua_State *L, lua_Debug *ar,
                     tg_Thrown *v) {
  const void *function = callee(L, ar);
  v->index = call_argument(L, ar, 1, 0);
  if (has_metamethod(L, v->index, "__gc", function))
    return false;       /* called by the collector, before Lua 5.4.4 */
  if (!tg_close_replaces() && function != resumer->handler)
    return false;
  stash_index(resumer, L, v->index, resumer->n, true);
  return skip_exactly(v);
}

static bool caught_beyond (const tg_Thread *t, lua_State *L, lua_Debug *ar,
                           tg_Thrown *v);

/* The error went on from the wrap function on top of 't'. */
static bool passed_on (tg_Thread *t, lua_State *L, lua_Debug *ar,
                       tg_Thrown *v) {
  uint32_t keep = 0;
  if (t->L == L) {
    const void *stands = (ar->event == LUA_HOOKRET) ? ar->i_ci
                                                    : calling(L, ar);
    int64_t k = (stands != NULL) ? tg_chain_find(t, stands) : -1;
    if (k + 1 == (int64_t)t->n)
      return ar->event == LUA_HOOKCALL && arrived(t, L, ar, v);
    keep = (uint32_t)(k + 1);
    tg_Role role = (k >= 0) ? tg_frame_role(&t->frames[k]) : TG_ROLE_NONE;
    v->index = caught_here(t, L, ar, keep, role);
    if (v->index == 0)
      return false;
  }
  else if (!caught_beyond(t, L, ar, v))
    return false;
  return first_catching(t, keep, t->n - 1) == t->n - 1 && skip_position(t, v);
}

/* The error of the dead coroutine 't' in an event on another one. */
static bool caught_beyond (const tg_Thread *t, lua_State *L, lua_Debug *ar,
                           tg_Thrown *v) {
  tg_Thread *resumer = t->resumer;
  const tg_Frame *top = (resumer != NULL) ? tg_thread_top(resumer) : NULL;
  tg_Role role = tg_frame_role(top);
  if (t->unsure)
    return false;
  if (role == TG_ROLE_WRAPPED)
    return passed_on(resumer, L, ar, v);
  if ((role != TG_ROLE_RESUME && role != TG_ROLE_CLOSE) || resumer->L != L
      || ar->event != LUA_HOOKRET || ar->i_ci != top->ci
      || lua_tothread(L, 1) != t->L)
    return false;
  v->index = failure_result(L, ar);
  return v->index != 0;
}

static bool caught (const tg_Thread *t, lua_State *L, lua_Debug *ar,
                    uint32_t keep, tg_Role catcher, tg_Thrown *v) {
  *v = (tg_Thrown){.L = L};
  bool found;
  if (L != t->L)
    found = keep == 0 && caught_beyond(t, L, ar, v);
  else {
    v->index = caught_here(t, L, ar, keep, catcher);
    found = v->index != 0;
  }
  if (!found)
    v->index = 0;
  return found;
}

/* ---- all together ---- */

int tg_thrown_find (tg_Thread *t, lua_State *L, lua_Debug *ar, uint32_t keep,
                    tg_Role catcher, tg_Unwound part[TG_UNWOUND_PARTS]) {
  tg_Thrown outer = {0}, inner = {0};
  bool whole = false;
  int n = 0;
  part[0] = (tg_Unwound){keep, outer};
  if (t->n <= keep || !wanted(t))
    return 1;
  tg_thrown_drop(t, t->n);
  if (catcher != TG_ROLE_XPCALL || !unhandled(L, ar))
    inner.stash = raised(t, keep, catcher, &whole);
  caught(t, L, ar, keep, catcher, &outer);
  uint32_t top = t->n - 1;
  uint32_t first = first_catching(t, keep, top);
  uint32_t last = whole ? keep : above_catching(t, keep, top);
  if (last == keep && inner.stash.data != NULL
      && (outer.index == 0 || outer.skip > 0))
    outer = inner;
  if (last > keep)
    part[n++] = (tg_Unwound){last, inner};
  if (last > first + 1)
    part[n++] = (tg_Unwound){first + 1, {0}};
  part[n++] = (tg_Unwound){keep, outer};
  t->session->hooking = false;
  return n;
}
