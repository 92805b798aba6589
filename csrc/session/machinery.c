/*
** machinery.c - see machinery.h. Called by tracing.c, on the thread that runs
** the state.
*/
#include "session/machinery.h"

#include <string.h>

#include "base/alloc.h"
#include "chain/arm.h"
#include "chain/context.h"
#include "chain/lastrun.h"
#include "chain/ownframes.h"
#include "hook/hook.h"
#include "host/running.h"
#include "host/userhook.h"
#include "sample/sampler.h"
#include "session/allocations.h"
#include "session/identity.h"
#include "session/snapshot.h"
#include "session/tracelimits.h"
#include "state/models.h"
#include "state/words.h"
#include "text/fileio.h"

/* The stream lives on as long as somebody reads it. */
static void clear_machinery (tg_Session *s) {
  tg_snapshot_off(s);
  tg_stream_unpin(s->writer.stream);
  memset(&s->writer, 0, sizeof s->writer);
  tg_selection_clear(&s->selection);
  tg_selection_clear(&s->await.aside.selection);
  tg_closures_free(&s->await.closures);
  s->await.any = s->await.within = false;
  s->window = (tg_Window){.state = TG_WINDOW_SHUT};
  tg_coroutines_free(&s->threads);
  tg_catalog_free(&s->known);
  tg_objectpool_free(&s->capture.pool);
  tg_secrets_free(&s->capture.secrets);
  tg_free(s->capture.models);
  tg_free(s->capture.words);
  s->capture.models = NULL;
  s->capture.words = NULL;
  if (s->listener == NULL)
    tg_labels_clear(&s->labels);
  s->current = NULL;
  s->file.trace = s->file.orphan = NULL;
  s->after.snapshot = false;
  s->phase = TG_PHASE_IDLE;
  s->recording = s->after.attention = false;
  s->hooked = false;
  s->sampled = false;
  s->rare.ticks = s->rare.until = 0;
  s->after.logging = s->after.stale = false;
  s->hooking = false;
  s->after.waited = 0;
}

/* A record and a list for each coroutine that is met. Those that samples were
   taken of have no hook and no frames: they are met anew. */
static void init_coroutines (tg_Session *s) {
  tg_ThreadId next = s->threads.next_id;
  tg_coroutines_free(&s->threads);
  tg_coroutines_init(&s->threads);
  s->threads.forget = tg_lastrun_forget;
  if (next > s->threads.next_id)
    s->threads.next_id = next;
}

/* The frames that are there already stay unseen, but for ours on top: what
   they call is not to be shown either. False without memory, and then no hook
   is left. */
static bool begin_calls (tg_Session *s, lua_State *L) {
  s->hooked = true;              /* first: from here on no tick sets a hook */
  tg_running_lower(&s->host);
  init_coroutines(s);
  if (!tg_arm_chain(s, L)) {
    tg_arm_release(s, L);
    init_coroutines(s);
    s->current = NULL;
    s->hooked = false;
    return false;
  }
  tg_ownframes_push(s, L);
  tg_userhook_enter(&s->host, L);
  if (s->host.direct && s->capture.models == NULL)
    s->capture.models = tg_calloc(1, sizeof *s->capture.models);
  if (s->host.direct && s->capture.words == NULL)
    s->capture.words = tg_calloc(1, sizeof *s->capture.words);
  return true;
}

/* Without a hook, until somebody wants calls. */
static bool begin_tracing (tg_Session *s, lua_State *L) {
  s->writer.stream = tg_stream_new();
  s->writer.gauge_in = TG_GAUGE_EVERY;
  s->writer.turn = tg_tracelimits_turn;
  s->writer.context = tg_context_write;
  init_coroutines(s);
  s->memory.heap_due = UINT64_MAX;
  if (s->writer.stream == NULL || !tg_catalog_init(&s->known)) {
    clear_machinery(s);
    return false;
  }
  s->writer.stream->costs = s->costs;
  s->writer.stream->directory = tg_fileio_directory();
  s->writer.last = s->writer.stream->clock.origin;
  tg_host_read_directly(&s->host, L);
  s->phase = TG_PHASE_TRACING;
  tg_hook_begin(s);
  return true;
}

/* Hooks are read and replaced here; a signal that sets one between the two
   would be taken for the program's. */
bool tg_machinery_begin (tg_Session *s, lua_State *L, bool calls) {
  tg_parts_block(&s->host);
  bool first = !tg_session_traces(s);
  bool ok = !first || begin_tracing(s, L);
  if (ok && calls && !s->hooked && !begin_calls(s, L)) {
    ok = false;
    if (first) {
      tg_hook_end(s, L);
      clear_machinery(s);
    }
  }
  tg_parts_unblock(&s->host);
  return ok;
}

/* The list of coroutines goes with it: records are made anew when tracing
   begins again. */
void tg_machinery_end (tg_Session *s, lua_State *L) {
  TG_STACK_GUARD(L);
  tg_assert(tg_session_traces(s) && s->traces == NULL && s->file.trace == NULL);
  tg_hook_end(s, L);            /* first: no event comes of what follows */
  tg_allocations_end(s);
  tg_identity_end(s);
  tg_sampler_set(s, L, (tg_SampleRate){0, false});
  if (s->hooked)
    tg_userhook_leave(&s->host, L);
  s->hooked = false;
  clear_machinery(s);
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &tg_key_threads);
  TG_STACK_CHECK(L);
}
