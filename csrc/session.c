#include <pthread.h>
#include <string.h>

#include "session.h"
#include "alloc.h"
#include "hook.h"
#include "log.h"
#include "naming.h"
#include "proghook.h"
#include "roles.h"

#define CHAIN_MAX 250     /* Lua allows 200 C levels */

/* ---- all sessions of the process, for its end ---- */

static struct {
  pthread_mutex_t mutex;
  tg_Session *first;
} all = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void enlist (tg_Session *s) {
  pthread_mutex_lock(&all.mutex);
  s->next = all.first;
  all.first = s;
  pthread_mutex_unlock(&all.mutex);
}

static void delist (tg_Session *s) {
  pthread_mutex_lock(&all.mutex);
  tg_Session **p = &all.first;
  while (*p != NULL && *p != s)
    p = &(*p)->next;
  if (*p != NULL)
    *p = s->next;
  pthread_mutex_unlock(&all.mutex);
}

static void finish_logs (tg_Session *s) {
  for (tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (t->log != NULL) {
      tg_log_pump(t->log, tg_trace_stop_pos(t));
      tg_log_finish(t->log);
    }
  }
}

/* The process exits with traces running, by os.exit or from C. Only plain
   memory is touched: no state is looked at. A session of another thread that
   is still at work cannot be ended safely: what it wrote so far is kept. */
__attribute__((destructor))
static void at_exit (void) {
  pthread_mutex_lock(&all.mutex);
  for (tg_Session *s = all.first; s != NULL; s = s->next) {
    if (s->tracing && pthread_equal(s->thread, pthread_self())) {
      tg_session_terminate(s);
      finish_logs(s);
    }
  }
  all.first = NULL;
  pthread_mutex_unlock(&all.mutex);
}

/* ---- finding ---- */

tg_Session *tg_session_find (lua_State *L) {
  tg_Session *s;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &tg_key_session);
  s = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return s;
}

static void close_traces (tg_Session *s, lua_State *L) {
  if (s->tracing)
    tg_session_terminate(s);
  while (s->traces != NULL)
    tg_session_stop(s, L, s->traces);
}

/* The state closes. */
static int session__gc (lua_State *L) {
  tg_Session *s = lua_touserdata(L, 1);
  if (tg_session_find(L) == s) {
    close_traces(s, L);
    delist(s);
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &tg_key_session);
  }
  return 0;
}

tg_Session *tg_session_get (lua_State *L) {
  tg_Session *s = tg_session_find(L);
  if (s != NULL)
    return s;
  s = lua_newuserdatauv(L, sizeof *s, 0);
  memset(s, 0, sizeof *s);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, session__gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  s->main = lx_mainthread(L);
  s->registry = lua_topointer(L, LUA_REGISTRYINDEX);
  tg_naming_setup(L);
  lua_pushliteral(L, "__name");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &tg_key_strings);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &tg_key_session);
  enlist(s);
  return s;
}

tg_Trace *tg_session_trace (const tg_Session *s, const char *name) {
  tg_Trace *t = s->traces;
  while (t != NULL && name != NULL && strcmp(t->name, name) != 0)
    t = t->next;
  return t;
}

/* ---- positions and losses ---- */

tg_Pos tg_trace_stop_pos (const tg_Trace *t) {
  return (t->end == TG_END_NOT) ? tg_rec_pos(&t->session->recorder)
                                : t->stop;
}

void tg_trace_losses (const tg_Trace *t, uint64_t lost[TG_NLOSSES]) {
  memcpy(lost, t->lost, sizeof t->lost);
  if (t->session == NULL)
    return;
  const tg_Session *s = t->session;
  lost[TG_LOSS_MEMORY] += s->unseen - t->unseen_start;
  if (t->end == TG_END_OVERFLOW)
    lost[TG_LOSS_OVERFLOW] += s->recorder.packets - t->packets_end;
  else if (t->end == TG_END_MEMORY)
    lost[TG_LOSS_MEMORY] += s->recorder.packets - t->packets_end;
}

/* ---- what is recorded ---- */

/* Whether the session must still see events for this trace: to record them, or
   to count what it loses. */
static bool counts (const tg_Trace *t) {
  return t->end == TG_END_NOT || t->end == TG_END_OVERFLOW
         || t->end == TG_END_MEMORY;
}

static bool work_out_demand (tg_Session *s) {
  tg_Demand fresh = {0};
  uint32_t limit = 0;
  for (const tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (!counts(t))
      continue;
    if (!tg_demand_add(&fresh, &t->options)) {
      tg_demand_clear(&fresh);
      return false;
    }
    uint32_t depth = t->options.max_depth;
    if (depth != TG_NOLIMIT && depth < TG_NOLIMIT - t->depth_start)
      depth += t->depth_start;
    if (depth > limit)
      limit = depth;
  }
  tg_demand_clear(&s->demand);
  s->demand = fresh;
  s->depth_limit = limit;
  tg_catalog_refresh(&s->known);
  return true;
}

/* ---- limits of traces ---- */

/* From where a trace's buffer counts. */
static tg_Pos kept_from (const tg_Session *s, const tg_Trace *t) {
  if (t->consumer != NULL)
    return tg_reader_pos(t->consumer);
  return t->consumed ? tg_rec_pos(&s->recorder) : tg_cursor_pos(&t->hold);
}

/* A ring's hold goes on to the chunk where what is kept begins. */
static void move_ring (tg_Session *s, tg_Trace *t, size_t need) {
  tg_Pos pos = tg_rec_pos(&s->recorder);
  while (pos + need - tg_cursor_pos(&t->hold) > t->options.buffer) {
    uint64_t before = t->hold.chunk->packets;
    if (before < t->packets_start)
      before = t->packets_start;
    if (!tg_cursor_advance(&t->hold))
      return;
    t->lost[TG_LOSS_RING] += t->hold.chunk->packets - before;
    t->start = tg_cursor_pos(&t->hold);
  }
}

/* Its own packets cannot be told from the session's if it hides some. */
static bool counts_exactly (const tg_Session *s, const tg_Trace *t) {
  const tg_Options *o = &t->options;
  return s->demand.count <= 1
         || (o->include.count == 0 && o->exclude.count == 0 && o->c
             && o->max_depth == TG_NOLIMIT);
}

static uint64_t packets_limit (const tg_Session *s, const tg_Trace *t) {
  uint64_t n = t->options.max_events;
  if (n == 0 || n > UINT64_MAX - t->packets_start || !counts_exactly(s, t))
    return UINT64_MAX;
  return t->packets_start + n;
}

static uint64_t ticks_limit (const tg_Session *s, const tg_Trace *t) {
  double ticks = (double)t->options.duration_ns
                 / s->recorder.stream->clock.ns_per_tick;
  if (t->options.duration_ns == 0 || ticks > 9e18)
    return UINT64_MAX;
  return t->ticks_start + (uint64_t)ticks;
}

/* How a trace ends now, if it does: it needs 'need' more bytes. */
static tg_End reached (tg_Session *s, tg_Trace *t, size_t need,
                       uint64_t now) {
  if (s->recorder.packets >= packets_limit(s, t))
    return TG_END_EVENTS;
  if (now >= ticks_limit(s, t))
    return TG_END_DURATION;
  if (t->options.overflow == TG_OVERFLOW_RING && !t->consumed) {
    move_ring(s, t, need);
    return TG_END_NOT;
  }
  if (tg_rec_pos(&s->recorder) + need - kept_from(s, t) > t->options.buffer)
    return TG_END_OVERFLOW;
  return TG_END_NOT;
}

static void end_recording (tg_Session *s, tg_Trace *t, tg_End why) {
  t->end = why;
  t->stop = tg_rec_pos(&s->recorder);
  t->packets_end = s->recorder.packets;
  s->stale = s->attention = true;
}

/* Position that the writer must not pass without asking again. */
static tg_Pos next_stop (const tg_Session *s) {
  tg_Pos stop = UINT64_MAX;
  tg_Pos here = tg_rec_pos(&s->recorder);
  for (const tg_Trace *t = s->traces; t != NULL; t = t->next) {
    tg_Pos p = UINT64_MAX;
    if (t->end != TG_END_NOT)
      continue;
    if (t->options.overflow == TG_OVERFLOW_RING && !t->consumed)
      p = here + t->options.buffer / 8;
    else if (!t->consumed || t->consumer != NULL)
      p = kept_from(s, t) + t->options.buffer;
    if (p < stop)
      stop = p;
  }
  return stop;
}

static void set_alarms (tg_Session *s) {
  s->recorder.packets_stop = s->recorder.ticks_stop = UINT64_MAX;
  s->recording = false;
  for (const tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (t->end != TG_END_NOT)
      continue;
    s->recording = true;
    uint64_t packets = packets_limit(s, t), ticks = ticks_limit(s, t);
    if (packets < s->recorder.packets_stop)
      s->recorder.packets_stop = packets;
    if (ticks < s->recorder.ticks_stop)
      s->recorder.ticks_stop = ticks;
  }
}

/* The recorder has come to a limit. */
static void turn (tg_Recorder *r, size_t need, uint64_t now) {
  tg_Session *s = (tg_Session *)(void *)((char *)r
                                         - offsetof(tg_Session, recorder));
  if (s->terminated)
    return;             /* nothing comes after the end */
  for (tg_Trace *t = s->traces; t != NULL; t = t->next) {
    tg_End why = (t->end == TG_END_NOT) ? reached(s, t, need, now)
                                        : TG_END_NOT;
    if (why != TG_END_NOT)
      end_recording(s, t, why);
  }
  set_alarms(s);
  if (!s->recording)
    tg_rec_close(r);
  else if (!tg_rec_open(r, need, now, next_stop(s))) {
    for (tg_Trace *t = s->traces; t != NULL; t = t->next) {
      if (t->end == TG_END_NOT)
        end_recording(s, t, TG_END_MEMORY);
    }
    set_alarms(s);
  }
}

/* ---- tracing begins and ends ---- */

static void clear_machinery (tg_Session *s) {
  tg_stream_unpin(s->recorder.stream);
  memset(&s->recorder, 0, sizeof s->recorder);
  tg_demand_clear(&s->demand);
  tg_threads_free(&s->threads);
  tg_catalog_free(&s->known);
  tg_pool_free(&s->pool);
  s->current = NULL;
  s->depth = 0;
  s->tracing = s->recording = s->attention = false;
  s->logging = s->stale = s->exiting = s->terminated = false;
}

/* The chain from the main thread to 'L': each holds the next by the resume
   call on top of its stack. */
static lua_State *resumed_by (lua_State *M, lua_State *L) {
  lua_Debug ar;
  lua_State *next = NULL;
  if (!lua_checkstack(M, 4) || !lua_getstack(M, 0, &ar))
    return NULL;
  lua_getinfo(M, "f", &ar);
  tg_Role role = tg_role_of(lua_tocfunction(M, -1));
  if (role == TG_ROLE_RESUME) {
    if (lua_getlocal(M, &ar, 1) != NULL) {
      next = lua_tothread(M, -1);
      lua_pop(M, 1);
    }
  }
  else if (role == TG_ROLE_WRAPPED && lua_getupvalue(M, -1, 1) != NULL) {
    next = lua_tothread(M, -1);
    lua_pop(M, 1);
  }
  lua_pop(M, 1);
  return (next == L || next == NULL || lua_status(next) == LUA_OK) ? next
                                                                   : NULL;
}

/* Arms what runs now: 'L' and all that resumed it, outermost first. */
static bool arm_chain (tg_Session *s, lua_State *L) {
  lua_State *M = s->main;
  for (int i = 0; i < CHAIN_MAX && M != NULL; i++) {
    tg_Thread *t = tg_hook_arm(s, M, L);
    if (t == NULL)
      return false;
    t->based = true;
    t->running = true;
    t->id = (M == s->main) ? 1 : s->threads.next_id++;
    t->resumer = s->current;
    s->current = t;
    if (M == L)
      return true;
    M = resumed_by(M, L);
  }
  tg_Thread *t = tg_hook_arm(s, L, L);  /* resumed from C */
  if (t == NULL)
    return false;
  if (!t->running) {
    t->based = t->running = true;
    t->id = s->threads.next_id++;
    t->resumer = s->current;
    s->current = t;
  }
  return true;
}

static bool begin_tracing (tg_Session *s, lua_State *L) {
  s->recorder.stream = tg_stream_new();
  s->recorder.turn = turn;
  s->recorder.context = tg_hook_context;
  s->thread = pthread_self();
  s->unseen = 0;
  tg_threads_init(&s->threads);
  if (s->recorder.stream == NULL || !tg_catalog_init(&s->known)) {
    clear_machinery(s);
    return false;
  }
  s->recorder.last = s->recorder.stream->clock.origin;
  s->tracing = true;
  tg_hook_begin(s);
  if (!arm_chain(s, L)) {
    tg_hook_disarm(s, L);
    clear_machinery(s);
    return false;
  }
  tg_hook_own_frames(s, L);
  tg_proghook_enter(L);
  return true;
}

static void end_tracing (tg_Session *s, lua_State *L) {
  tg_hook_disarm(s, L);
  tg_proghook_leave(L);
  clear_machinery(s);
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &tg_key_threads);
}

/* ---- traces begin and end ---- */

static void unlink_trace (tg_Session *s, tg_Trace *t) {
  tg_Trace **p = &s->traces;
  while (*p != t)
    p = &(*p)->next;
  *p = t->next;
}

static void work_out_logging (tg_Session *s) {
  s->logging = false;
  for (const tg_Trace *t = s->traces; t != NULL; t = t->next)
    s->logging = s->logging || t->log != NULL;
  s->attention = s->logging || s->stale;
}

/* A CONTEXT for the trace to begin at, held unless it is consumed. */
static bool mark_start (tg_Session *s, tg_Trace *t, uint64_t now) {
  tg_Recorder *r = &s->recorder;
  t->ticks_start = now;
  t->packets_start = r->packets;
  t->unseen_start = s->unseen;
  t->depth_start = s->depth;
  if (!tg_rec_mark(r, now, UINT64_MAX, &t->start))
    return false;
  return t->consumed
         || tg_cursor_place(&t->hold, &r->stream->store, t->start);
}

tg_Status tg_session_start (tg_Session *s, lua_State *L, tg_Trace *t) {
  bool first = !s->tracing;
  if (first && !begin_tracing(s, L))
    return TG_ERR_MEMORY;
  t->session = s;
  t->end = TG_END_NOT;
  t->next = s->traces;
  s->traces = t;
  if (!mark_start(s, t, tg_clock_ticks()) || !work_out_demand(s)) {
    unlink_trace(s, t);
    tg_cursor_drop(&t->hold);
    t->session = NULL;
    if (first)
      end_tracing(s, L);
    return TG_ERR_MEMORY;
  }
  t->stream = tg_stream_pin(s->recorder.stream);
  set_alarms(s);
  tg_rec_open(&s->recorder, 0, tg_clock_ticks(), next_stop(s));
  return TG_OK;
}

/* The losses become final. */
static void settle_losses (tg_Trace *t) {
  uint64_t lost[TG_NLOSSES];
  tg_trace_losses(t, lost);
  memcpy(t->lost, lost, sizeof lost);
}

void tg_session_stop (tg_Session *s, lua_State *L, tg_Trace *t) {
  settle_losses(t);
  if (t->end == TG_END_NOT) {
    end_recording(s, t, TG_END_STOPPED);
  }
  if (t->log != NULL) {
    tg_log_pump(t->log, t->stop);
    tg_log_finish(t->log);
  }
  unlink_trace(s, t);
  t->session = NULL;
  if (s->traces == NULL)
    end_tracing(s, L);
  else
    tg_session_attend(s, L);
}

/* Traces that ended by a limit of their own are not active any more. */
static void retire (tg_Session *s) {
  for (tg_Trace *t = s->traces, *next; t != NULL; t = next) {
    next = t->next;
    if (counts(t))
      continue;
    settle_losses(t);
    if (t->log != NULL) {
      tg_log_pump(t->log, t->stop);
      tg_log_finish(t->log);
    }
    unlink_trace(s, t);
    t->session = NULL;
  }
}

static void pump_logs (tg_Session *s) {
  for (tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (t->log != NULL)
      tg_log_pump(t->log, tg_trace_stop_pos(t));
  }
}

void tg_session_attend (tg_Session *s, lua_State *L) {
  if (s->exiting)
    tg_session_terminate(s);
  if (s->logging)
    pump_logs(s);
  if (s->stale) {
    retire(s);
    if (s->traces == NULL) {
      end_tracing(s, L);
      return;
    }
    s->stale = !work_out_demand(s);     /* without memory: later */
    set_alarms(s);
    if (s->recording && !s->terminated)
      tg_rec_open(&s->recorder, 0, tg_clock_ticks(), next_stop(s));
    else
      tg_rec_close(&s->recorder);
  }
  work_out_logging(s);
}

void tg_session_terminate (tg_Session *s) {
  if (s->tracing && !s->terminated) {
    tg_hook_terminate(s);
    tg_rec_close(&s->recorder);
    s->terminated = true;
  }
}
