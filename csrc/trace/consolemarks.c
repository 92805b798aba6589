/*
** consolemarks.c - what the program says with console.log and its like: events
** of the traces that run and want markers, and words to a debugger, if one may
** come. Called by the program, on its thread, outside of the hook. Where nobody
** wants them a call is a look at the session. Nothing is printed and nothing
** fails: a marker is worth no error in the program, and what is wrong with it
** is a marker too, a warning. Only memory that Lua refuses raises.
*/
#include "trace/consolemarks.h"

#include "base/clock.h"
#include "chain/emit.h"
#include "state/session.h"
#include "stream/marks.h"

#define GROUPS_MAX 255u     /* that a marker tells of */

/* One call of a method. */
typedef struct Call {
  lua_State *L;
  tg_Session *s;
  uint64_t now;
} Call;

static bool is_marked (const tg_Session *s) {
  return (s->selection.types & TG_TYPE_MARKERS) != 0;
}

/* The debugger is told in a browser's words: a label and its number are one
   value. Of some it hears nothing, as from browsers. */
static void tell (const Call *c, tg_MarkSort sort, uint64_t number) {
  lua_State *L = c->L;
  if (sort == TG_MARK_TIMESTAMP || sort == TG_MARK_TIME
      || sort == TG_MARK_COUNTRESET)
    return;
  if (sort == TG_MARK_TIMEEND || sort == TG_MARK_TIMELOG) {
    lua_pushfstring(L, "%s: %f ms", lua_tostring(L, 1),
                    (lua_Number)number / 1e6);
    lua_replace(L, 1);
  }
  else if (sort == TG_MARK_COUNT) {
    lua_pushfstring(L, "%s: %I", lua_tostring(L, 1), (LUAI_UACINT)number);
    lua_replace(L, 1);
  }
  c->s->listener->hear(c->s, L, tg_mark_name((uint32_t)sort));
}

/* A marker with all that is on the stack. */
static void put_mark (const Call *c, tg_MarkSort sort, bool numbered,
                      uint64_t number) {
  uint32_t groups = c->s->labels.groups;
  if (groups > GROUPS_MAX)
    groups = GROUPS_MAX;
  tg_Marker mark = {
    .what = (uint32_t)sort | groups << TG_MARK_GROUPSHIFT,
    .numbered = numbered, .number = number,
    .first = 1, .count = lua_gettop(c->L)
  };
  tg_emit_mark(c->s, c->L, &mark, c->now);
}

static void put (const Call *c, tg_MarkSort sort, bool numbered,
                 uint64_t number) {
  if (is_marked(c->s))
    put_mark(c, sort, numbered, number);
  if (c->s->listener != NULL)
    tell(c, sort, number);
}

/* What a browser's console says where a label is not what it should be. */
static void warn (const Call *c, const char *format, const char *label) {
  lua_pushfstring(c->L, format, label);
  lua_replace(c->L, 1);
  lua_settop(c->L, 1);
  put(c, TG_MARK_WARN, false, 0);
}

/* The label at index 1, "default" if there is none. A value that is neither a
   string nor a number is known by its type's name: a __tostring of the
   program's would run only while it is traced. */
static const char *label (lua_State *L, size_t *size) {
  if (lua_isnoneornil(L, 1)) {
    if (lua_gettop(L) == 0)
      lua_settop(L, 1);
    lua_pushliteral(L, "default");
    lua_replace(L, 1);
  }
  else if (!lua_isstring(L, 1)) {
    lua_pushstring(L, luaL_typename(L, 1));
    lua_replace(L, 1);
  }
  return lua_tolstring(L, 1, size);
}

/*
** {==================================================================
** Timers and counters
** ===================================================================
*/

static uint64_t elapsed_ns (const Call *c, const tg_Label *k) {
  const tg_Clock *clock = tg_session_traces(c->s) ? &c->s->writer.stream->clock
                                        : &c->s->listener->clock;
  if (c->now <= k->since)
    return 0;
  return (uint64_t)((double)(c->now - k->since) * clock->ns_per_tick);
}

/* One that runs goes on, as in browsers. */
static void mark_time (const Call *c) {
  size_t size;
  const char *text = label(c->L, &size);
  tg_Label *k = tg_labels_get(&c->s->labels, text, size);
  if (k == NULL)
    return;
  if (k->timed) {
    warn(c, "Timer '%s' already exists", text);
    return;
  }
  k->timed = true;
  k->since = c->now;
  put(c, TG_MARK_TIME, false, 0);
}

static void mark_timer (const Call *c, tg_MarkSort sort) {
  size_t size;
  const char *text = label(c->L, &size);
  tg_Label *k = tg_labels_find(&c->s->labels, text, size);
  if (k == NULL || !k->timed) {
    warn(c, "Timer '%s' does not exist", text);
    return;
  }
  uint64_t ns = elapsed_ns(c, k);
  if (sort == TG_MARK_TIMEEND) {
    k->timed = false;
    tg_labels_prune(&c->s->labels, k);
  }
  put(c, sort, true, ns);
}

static void mark_count (const Call *c) {
  size_t size;
  const char *text = label(c->L, &size);
  tg_Label *k = tg_labels_get(&c->s->labels, text, size);
  if (k != NULL)
    put(c, TG_MARK_COUNT, true, ++k->count);
}

static void mark_countreset (const Call *c) {
  size_t size;
  const char *text = label(c->L, &size);
  tg_Label *k = tg_labels_find(&c->s->labels, text, size);
  if (k == NULL || k->count == 0) {
    warn(c, "Count for '%s' does not exist", text);
    return;
  }
  k->count = 0;
  tg_labels_prune(&c->s->labels, k);
  put(c, TG_MARK_COUNTRESET, false, 0);
}

/* }================================================================== */

/* Messages in a group are one level in; the message that opens it is not. */
static void mark_group (const Call *c, tg_MarkSort sort) {
  put(c, sort, false, 0);
  c->s->labels.groups++;
}

/* One that is not open is no mistake in browsers either. */
static void mark_groupend (const Call *c) {
  if (c->s->labels.groups == 0)
    return;
  c->s->labels.groups--;
  lua_settop(c->L, 0);
  put(c, TG_MARK_GROUPEND, false, 0);
}

static void put_call (const Call *c, tg_MarkSort sort) {
  switch (sort) {
    case TG_MARK_TIME: mark_time(c); break;
    case TG_MARK_TIMEEND: case TG_MARK_TIMELOG: mark_timer(c, sort); break;
    case TG_MARK_COUNT: mark_count(c); break;
    case TG_MARK_COUNTRESET: mark_countreset(c); break;
    case TG_MARK_GROUP: case TG_MARK_GROUPCOLLAPSED: mark_group(c, sort); break;
    case TG_MARK_GROUPEND: mark_groupend(c); break;
    case TG_MARK_TIMESTAMP: case TG_MARK_LOG: case TG_MARK_INFO:
    case TG_MARK_WARN: case TG_MARK_ERROR: case TG_MARK_DEBUG:
    case TG_MARK_TRACEPARENT:
      put(c, sort, false, 0);
      break;
    case TG_NMARKS: case TG_MARK_HEAP: case TG_MARK_ALLOCATIONS:
    case TG_MARK_COLLECTION: case TG_MARK_UNTRACED: case TG_MARK_HELD:
    default:
      tg_unreachable();
  }
}

/* The session, if somebody wants to know; else NULL. */
static tg_Session *wanted_by (lua_State *L) {
  tg_Session *s = tg_session_find(L);
  return (s != NULL && (is_marked(s) || s->listener != NULL)) ? s : NULL;
}

/* What is said has its place among calls: no window is open (window.h). */
static Call begin (lua_State *L, tg_Session *s) {
  if (is_marked(s))
    tg_session_end_window(s, L);
  return (Call){L, s, tg_clock_ticks()};
}

/* A method gives nothing back, whether it is seen or not. */
static int mark (lua_State *L, tg_MarkSort sort) {
  tg_Session *s = wanted_by(L);
  if (s != NULL) {
    Call c = begin(L, s);
    put_call(&c, sort);
  }
  return 0;
}

/* table and trace are recorded as log: the format has no sort of their own. */
static int mark_as (lua_State *L, tg_MarkSort sort, const char *method) {
  tg_Session *s = wanted_by(L);
  if (s == NULL)
    return 0;
  Call c = begin(L, s);
  if (is_marked(s))
    put_mark(&c, sort, false, 0);
  if (s->listener != NULL)
    s->listener->hear(s, L, method);
  return 0;
}

static int console_table (lua_State *L) {
  return mark_as(L, TG_MARK_LOG, "table");
}

static int console_trace (lua_State *L) {
  return mark_as(L, TG_MARK_LOG, "trace");
}

/* assert(condition, ...): to a trace an error that says so; a debugger says it
   by itself. Nothing is raised, unlike by Lua's own assert. */
static int console_assert (lua_State *L) {
  tg_Session *s = wanted_by(L);
  if (s == NULL || lua_toboolean(L, 1))
    return 0;
  Call c = begin(L, s);
  lua_pushliteral(L, "Assertion failed");
  if (lua_gettop(L) > 1)
    lua_replace(L, 1);
  if (is_marked(s))
    put_mark(&c, TG_MARK_ERROR, false, 0);
  lua_remove(L, 1);
  if (s->listener != NULL)
    s->listener->hear(s, L, "assert");
  return 0;
}

/* A function for each, so that nothing has to be asked of a closure. */
#define X(id, name) \
  static int console_##id (lua_State *L) { return mark(L, TG_MARK_##id); }
TG_MARKS(X)
#undef X

static const luaL_Reg methods[] = {
#define X(id, name) {name, console_##id},
  TG_MARKS(X)
#undef X
  {"assert", console_assert},
  {"table", console_table},
  {"trace", console_trace},
  {NULL, NULL}
};

void tg_consolemarks_push (lua_State *L) {
  luaL_newlib(L, methods);
}
