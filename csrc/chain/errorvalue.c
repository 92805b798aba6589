/*
** errorvalue.c - see errorvalue.h: which value unwound the frames that are
** gone. Lua tells no hook, so it is found by evidence, and only what can be
** nothing else is taken.
**
** Called in the hook, by the event that shows that frames are gone. Two
** sources: what was on its way when the error was raised (stash.h), for the
** frames above the first that may have caught it and thrown another; and what
** arrived, at a function whose results or arguments are the error, for those
** below the last such. Where neither says anything the value is absent, never
** a guess.
*/
#include <string.h>

#include "chain/errorvalue.h"
#include "chain/resumechain.h"
#include "chain/stash.h"
#include "host/builtins.h"
#include "stream/event.h"

#define LEVELS_ASKED 100    /* of frames older than the trace; each costs its
                               distance from the top */

/* ---- frames that may throw another value than the one they got ---- */

/* Whether an error may have ended at this frame, and another begun. Never at a
   Lua function, which can only call a function that catches; at any C function
   but those of Lua that are known to pass errors on. */
static bool may_catch (const tg_Session *s, const tg_Frame *f) {
  tg_FunctionId id = f->what & TG_FR_ID;
  if (id == 0)
    return true;        /* nobody knows */
  if (!(f->what & TG_FR_C))
    return false;
  const tg_Identity *identity = &s->known.definitions.identities[id];
  return !tg_builtins_harmless((lua_CFunction)(uintptr_t)identity->cfunction);
}

/* The first frame from index 'from' on that can catch; 'to': none can. */
static uint32_t first_catching (const tg_Coroutine *t, uint32_t from,
                                uint32_t to) {
  while (from < to && !may_catch(t->session, &t->frames[from]))
    from++;
  return from;
}

/* The first frame above the last one that can catch. */
static uint32_t above_catching (const tg_Coroutine *t, uint32_t from,
                                uint32_t to) {
  while (to > from && !may_catch(t->session, &t->frames[to - 1]))
    to--;
  return to;
}

/* Called once, when tracing begins: older frames have no entry in the shadow
   stack, but an error that ends the frames above may arrive at one of them. */
void tg_errorvalue_floor (tg_Coroutine *t, int level) {
  lua_Debug ar;
  int end = level + LEVELS_ASKED;
  t->floor = NULL;
  for (; level < end && lua_getstack(t->L, level, &ar); level++) {
    TG_STACK_GUARD(t->L);
    lua_getinfo(t->L, "fS", &ar);
    lua_CFunction f = lua_tocfunction(t->L, -1);
    lua_pop(t->L, 1);
    TG_STACK_CHECK(t->L);
    if (*ar.what == 'C' && !tg_builtins_harmless(f)) {
      t->floor = (tg_builtins_role(f) == TG_ROLE_PCALL) ? ar.i_ci : NULL;
      return;
    }
  }
}

/* Of a coroutine that is closed while it is suspended. If a frame of it can
   catch, a __close method may get another error than the one thrown. */
bool tg_errorvalue_unsure (const tg_Coroutine *t) {
  for (uint32_t i = 0; i < t->n; i++) {
    tg_Role role = tg_frame_role(&t->frames[i]);
    if (role == TG_ROLE_XPCALL
        || (role == TG_ROLE_NONE && may_catch(t->session, &t->frames[i])))
      return true;
  }
  return false;
}

/* ---- at the beginning ---- */

/* The bytes of the value that the top frame of 't' has thrown, or NULL.
   'whole': the handler that got the value is known, so all frames down to
   'keep' threw it. */
static tg_Slice raised (const tg_Coroutine *t, uint32_t keep, tg_Role catcher,
                        bool *whole) {
  uint32_t caught;
  bool sure;
  tg_Slice none = {0};
  tg_Slice value = tg_stash_top(t, &sure, &caught);
  if (value.data == NULL || t->stashed != t->n || t->session->hooking)
    return none;
  *whole = keep > 0 && caught == keep;
  return ((catcher == TG_ROLE_XPCALL) ? *whole : sure) ? value : none;
}

/* ---- at the end ---- */

/* The index of the second result if the first is false, which is how pcall and
   coroutine.resume return an error (finishpcall in lbaselib.c, auxresume in
   lcorolib.c); else 0. */
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
  TG_STACK_GUARD(L);
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
  TG_STACK_CHECK(L);
  return found;
}

/* Address of the function that is being called; 'ar' gets "S". */
static const void *callee (lua_State *L, lua_Debug *ar) {
  TG_STACK_GUARD(L);
  lua_getinfo(L, "fS", ar);
  const void *address = lua_topointer(L, -1);
  lua_pop(L, 1);
  TG_STACK_CHECK(L);
  return address;
}

/* The error that a __close metamethod is called with, by a function that calls
   nothing else now; 0 if what is called is another function that stands for
   one. The error may be nil, since frames are gone: where a block ends without
   one, its own function calls the method. Not before Lua 5.4.3, where what has
   failed may seem to do that ('arrived'). */
static int close_argument (lua_State *L, lua_Debug *ar) {
  const void *function = callee(L, ar);
  if (*ar->what == 'C' && lua_gettop(L) != 2)
    return 0;
  int object = tg_stash_argument(L, ar, 1, 0);
  int error = tg_stash_argument(L, ar, 2, 0);
  if (!has_metamethod(L, object, "__close", function))
    return 0;
  bool there = tg_builtins_close_replaces() ? !lua_isnone(L, error)
                                            : !lua_isnoneornil(L, error);
  return there ? error : 0;
}

/* The frame that calls, as event 'ar' tells; NULL: it is no call, or nobody. */
static const void *calling (lua_State *L, const lua_Debug *ar) {
  lua_Debug up;
  if (ar->event != LUA_HOOKCALL || !lua_getstack(L, 1, &up))
    return NULL;
  return up.i_ci;
}

/* Whether 't', on which nothing runs, is being closed: its __close methods are
   called by no frame of it, in the order of its variables (luaF_close). */
static bool closing (const tg_Coroutine *t, const lua_Debug *ar,
                     const void *caller) {
  tg_Role role = (t->resumer != NULL)
                 ? tg_frame_role(tg_coroutine_top(t->resumer)) : TG_ROLE_NONE;
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

/* The error of frames of 't' in the event, which is on 't' itself: the result
   of the pcall at index 'keep' - 1, or what a __close method is called with
   while it is unwound. Of xpcall the result is its handler's, which says
   nothing. */
static int caught_here (const tg_Coroutine *t, lua_State *L, lua_Debug *ar,
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
  else if (!tg_builtins_close_replaces()
           && (t->frames[keep - 1].what & TG_FR_CAUGHT))
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
static bool skip_position (const tg_Coroutine *t, tg_ErrorValue *v) {
  size_t size;
  if (lua_type(v->L, v->index) != LUA_TSTRING)
    return true;
  if (t->n < 2 || (t->frames[t->n - 2].what & TG_FR_ID) == 0)
    return false;       /* nobody knows by whom it was called */
  const tg_Function *caller = tg_functions_get(
      t->session->writer.stream->functions,
      t->frames[t->n - 2].what & TG_FR_ID);
  if (caller->is_c)
    return true;
  const char *text = lua_tolstring(v->L, v->index, &size);
  size_t n = position_in(caller, text + v->skip, size - v->skip);
  v->skip += n;
  return n > 0;
}

/* The same while its caller still stands. */
static bool skip_exactly (tg_ErrorValue *v) {
  char position[LUA_IDSIZE + 24];
  if (lua_type(v->L, v->index) != LUA_TSTRING)
    return true;
  tg_stash_where(v->L, 2, position, sizeof position);
  v->skip = strlen(position);
  return strncmp(lua_tostring(v->L, v->index), position, v->skip) == 0;
}

/*
** The error arrives at the message handler that the wrap function on top of
** 'resumer' calls: so it is also what that throws. Before Lua 5.4.3 a __close
** method may seem to be called by what has failed ('recover' in ldo.c).
*/
static bool arrived (tg_Coroutine *resumer, lua_State *L, lua_Debug *ar,
                     tg_ErrorValue *v) {
  const void *function = callee(L, ar);
  v->index = tg_stash_argument(L, ar, 1, 0);
  if (has_metamethod(L, v->index, "__gc", function))
    return false;       /* called by the collector, before Lua 5.4.4 */
  if (!tg_builtins_close_replaces() && function != resumer->handler)
    return false;
  tg_stash_value(resumer, L, v->index, resumer->n, true);
  return skip_exactly(v);
}

static bool caught_beyond (const tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                           tg_ErrorValue *v);

/* The error went on from the wrap function on top of 't'. */
static bool passed_on (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                       tg_ErrorValue *v) {
  uint32_t keep = 0;
  if (t->L == L) {
    const void *stands = (ar->event == LUA_HOOKRET) ? ar->i_ci
                                                    : calling(L, ar);
    int64_t k = (stands != NULL) ? tg_coroutine_frame(t, stands) : -1;
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
static bool caught_beyond (const tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                           tg_ErrorValue *v) {
  tg_Coroutine *resumer = t->resumer;
  const tg_Frame *top = (resumer != NULL) ? tg_coroutine_top(resumer) : NULL;
  tg_Role role = tg_frame_role(top);
  if (t->unsure)
    return false;
  if (role == TG_ROLE_WRAPPED)
    return passed_on(resumer, L, ar, v);
  if (!tg_builtins_tells(role) || resumer->L != L
      || ar->event != LUA_HOOKRET || ar->i_ci != top->ci
      || lua_tothread(L, 1) != t->L)
    return false;
  v->index = failure_result(L, ar);
  return v->index != 0;
}

/* What arrived, wherever the event is: on the coroutine whose frames are gone,
   or on one that had resumed it, perhaps through several. 'v->index' is a place
   on the stack of 'L'; what has been pushed there to be read stays until the
   event is written (unwind of resumechain.c). */
static bool caught (const tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                    uint32_t keep, tg_Role catcher, tg_ErrorValue *v) {
  *v = (tg_ErrorValue){.L = L};
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

/*
** From the top down there are up to three parts, each with the value that
** unwound it:
**
**     frames  keep .. first .. last .. top
**             outer   unknown   inner
**
** 'inner' is what the top frame threw, good down to the first frame below it
** that may have caught it; 'outer' is what arrived, good up to the last such
** frame. What was thrown between two of them nobody can say. Where no frame may
** have caught, both are the same, and one of them is enough.
*/
int tg_errorvalue_find (tg_Coroutine *t, lua_State *L, lua_Debug *ar,
                        uint32_t keep, tg_Role catcher,
                        tg_Unwound part[TG_UNWOUND_PARTS]) {
  tg_assert(keep <= t->n);
  tg_ErrorValue outer = {0}, inner = {0};
  bool whole = false;
  int n = 0;
  part[0] = (tg_Unwound){keep, outer};
  if (t->n <= keep || !tg_stash_wanted(t))
    return 1;
  tg_stash_drop(t, t->n);
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
