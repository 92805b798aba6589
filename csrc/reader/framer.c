/*
** framer.c - see framer.h.
**
** Called by its reader, an event at a time. What a packet borrows stays where
** it is until the next event is read, and none is read before the job of the
** last one is done. The events may come from a file and say anything: whatever
** cannot be ends the reading with TG_ERR_FORMAT, too much of it changes nothing
** here.
*/
#include "reader/framer.h"

#include <string.h>

#include "reader/framenote.h"
#include "reader/framesample.h"
#include "reader/framestart.h"
#include "reader/openframe.h"
#include "stream/marks.h"
#include "stream/valuecopy.h"
#include "stream/values.h"

/*
** {==================================================================
** Birth, death, selection
** ===================================================================
*/

/* Without a selection a framer gives no packets. */
void tg_framer_init (tg_Framer *fr, const tg_Functions *functions) {
  memset(fr, 0, sizeof *fr);
  fr->functions = functions;
  fr->begun_ns = UINT64_MAX;
}

void tg_framer_free (tg_Framer *fr) {
  tg_selection_clear(&fr->selection);
  tg_stacks_free(&fr->stacks);
  tg_functioncache_free(&fr->known);
  tg_framesample_free(&fr->sample);
  tg_buf_free(&fr->locals.values);
}

/* Hits are counted from the moment that somebody asks for them. */
bool tg_framer_select (tg_Framer *fr, const tg_Selection *selection) {
  tg_Selection copy;
  if (!tg_selection_copy(&copy, selection))
    return false;
  fr->adrift = fr->adrift
               || (fr->started && copy.awaits && !fr->selection.awaits);
  tg_selection_clear(&fr->selection);
  fr->selection = copy;
  tg_functioncache_reset(&fr->known, (copy.types & TG_TYPE_HITCOUNT) != 0);
  return true;
}

/* The chain of 'to' is that of 'from', in stacks of its own. */
static void copy_chain (tg_Framer *to, const tg_Framer *from) {
  tg_Stack **link = &to->running;
  for (const tg_Stack *s = from->running; s != NULL; s = s->resumer) {
    *link = tg_stacks_find(&to->stacks, s->thread);
    tg_assert(*link != NULL && !(*link)->running);
    (*link)->running = true;
    link = &(*link)->resumer;
  }
  *link = NULL;
}

/* Field by field and not as a whole: what 'to' owns, its selection and what it
   knows of functions, stays its own. The jobs of both are done. */
bool tg_framer_copy (tg_Framer *to, const tg_Framer *from) {
  tg_check(tg_framer_idle(from));
  if (!tg_stacks_copy(&to->stacks, &from->stacks)
      || !tg_framesample_copy(&to->sample, &from->sample))
    return false;
  copy_chain(to, from);
  to->status = from->status;
  to->started = from->started;
  to->lacks = from->lacks;
  to->ahead = from->ahead;
  to->missing = from->missing;
  to->sequence = from->sequence;
  to->passed = from->passed;
  to->now_ns = from->now_ns;
  to->before_ns = from->before_ns;
  to->begun_ns = from->begun_ns;
  to->inside = from->inside;
  to->open = from->open;
  to->roots = from->roots;
  to->calls = from->calls;
  to->adrift = from->adrift;
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Jobs
** ===================================================================
*/

static void done (tg_Framer *fr) {
  fr->job.kind = TG_JOB_NONE;
}

/*
** Each turn below does one step of the job that an event has become, and says
** whether 'out' is a packet now. A job is kept from packet to packet: one event
** may close a thousand frames, and whoever reads takes them one by one.
*/

/* Closes the innermost frame; all silent ones of the job are one turn. An event
   of a damaged file may ask for more frames than there are: those are none. */
static bool close_one (tg_Framer *fr, tg_Packet *out) {
  tg_Stack *s = fr->running;
  tg_StackFrame *f = tg_stack_top(s);
  if (f == NULL) {
    s->silent -= fr->job.left < s->silent ? fr->job.left : s->silent;
    fr->job.left = 0;
    return false;
  }
  bool given = tg_openframe_leave(fr, s, f, out);
  fr->job.left -= !f->sampled;
  tg_stack_pop(s);
  return given;
}

/* Without FAR the caller is the frame that is innermost now. */
static tg_FunctionId caller_of (const tg_Event *call, const tg_Stack *s) {
  if ((call->flags & TG_EVF_SITE) == 0)
    return 0;
  if (call->flags & TG_EVF_FAR)
    return call->caller;
  const tg_StackFrame *f = tg_stack_called(s);
  return f != NULL ? f->function : 0;
}

/* Arguments that a later event may mean: a YIELD without values yields those of
   its innermost frame, which is coroutine.yield (event.h). Only its are kept:
   copying those of every call would cost more than reading it. */
TG_INLINE void keep_arguments (const tg_Framer *fr, tg_Stack *s,
                               const tg_CachedFunction *k, tg_Slice values) {
  if (values.data != NULL && fr->selection.types != 0 && k != NULL && k->yields)
    tg_stack_keep(s, values);
}

/* Whether the innermost frame is one that samples have shown and that is over:
   somebody else makes the call. Of a call without a site nothing is known. */
static bool outlived (const tg_Stack *s, tg_FunctionId caller) {
  const tg_StackFrame *f = tg_stack_top(s);
  return f != NULL && f->sampled && caller != 0 && f->function != caller;
}

/* The packet of the call or return that locals came before. */
TG_INLINE void show_locals (const tg_Framer *fr, tg_Packet *out) {
  const tg_FrameLocals *l = &fr->locals;
  if (tg_likely(!l->due))
    return;
  out->locals = (tg_Slice){.data = (const uint8_t *)l->values.data,
                           .size = l->values.size};
  out->locals_line = l->line;
  out->locals_of = l->function;
  out->locals_at = l->at;
}

/* The frame is pushed whether or not it gives a packet: those inside it may. */
static bool turn_enter (tg_Framer *fr, tg_Packet *out) {
  const tg_Event *call = &fr->event;
  tg_Stack *s = fr->running;
  tg_FunctionId caller = caller_of(call, s);
  if (tg_unlikely(outlived(s, caller)))
    return close_one(fr, out);
  done(fr);
  tg_StackFrame *f = tg_stack_push(s);
  if (f == NULL) {
    fr->status = TG_ERR_MEMORY;
    return false;
  }
  f->function = call->function;
  f->entered_ns = fr->now_ns;
  tg_CachedFunction *k = tg_openframe_known(fr, f->function);
  keep_arguments(fr, s, k, call->values);
  if (!tg_openframe_enter(fr, s, f, k, false, out))
    return false;
  out->caller = caller;
  out->line = call->line;
  out->values = call->values;
  show_locals(fr, out);
  return true;
}

/* Done with the last frame and not a turn later: nearly every event closes one
   frame or opens one. */
static bool turn_close (tg_Framer *fr, tg_Packet *out) {
  bool given = fr->job.left > 0 && close_one(fr, out);
  if (given)
    show_locals(fr, out);
  if (fr->job.left == 0)
    done(fr);
  return given;
}

/* The frame that makes the tail call is closed before the one that it calls is
   entered, at the same moment. */
static bool turn_tail (tg_Framer *fr, tg_Packet *out) {
  const tg_StackFrame *f = tg_stack_top(fr->running);
  if (fr->job.left > 0) {
    fr->heir = f != NULL && f->root;
    return close_one(fr, out);
  }
  fr->job.kind = TG_JOB_ENTER;
  return false;
}

/* The coroutine has ended. Its stack goes with its last frame: the thread id is
   not used again, but there may be millions of them. */
static bool turn_leave (tg_Framer *fr, tg_Packet *out) {
  tg_Stack *s = fr->running;
  if (s->count > 0)
    return close_one(fr, out);
  tg_framer_unchain(fr);
  tg_stacks_drop(&fr->stacks, s);
  done(fr);
  return false;
}

/* Coroutine by coroutine down the chain, each of its frames innermost first,
   until nothing runs. */
static bool turn_terminate (tg_Framer *fr, tg_Packet *out) {
  tg_Stack *s = fr->running;
  if (s == NULL)
    done(fr);
  else if (s->count > 0)
    return close_one(fr, out);
  else
    tg_framer_unchain(fr);
  return false;
}

/* Innermost first, as the protocol has exits. The frames stay on their stack:
   the RESUME that follows says which of them there still are. */
static bool turn_suspend (tg_Framer *fr, tg_Packet *out) {
  if (fr->job.left == 0) {
    tg_stack_forget_sampled(fr->running);
    tg_framer_unchain(fr);
    done(fr);
    return false;
  }
  tg_assert(fr->job.left <= fr->running->count);
  return tg_openframe_leave(fr, fr->running,
                            &fr->running->frames[--fr->job.left], out);
}

/* Outermost first. */
static bool turn_reenter (tg_Framer *fr, tg_Packet *out) {
  tg_assert(fr->job.next <= fr->running->count);
  if (fr->job.next == fr->running->count) {
    done(fr);
    return false;
  }
  tg_StackFrame *f = &fr->running->frames[fr->job.next++];
  if (f->older)
    return false;
  tg_CachedFunction *k = tg_openframe_known(fr, f->function);
  return tg_openframe_enter(fr, fr->running, f, k, true, out);
}

/* The coroutine of the chain that has so many above it. */
static tg_Stack *below (const tg_Framer *fr, uint32_t above) {
  tg_Stack *s = fr->running;
  while (above-- > 0)
    s = s->resumer;
  return s;
}

/* Outermost first, through the whole chain. */
static bool turn_reopen (tg_Framer *fr, tg_Packet *out) {
  tg_Stack *s = below(fr, fr->job.left);
  if (fr->job.next < s->count) {
    tg_StackFrame *f = &s->frames[fr->job.next++];
    tg_CachedFunction *k = tg_openframe_known(fr, f->function);
    return tg_openframe_enter(fr, s, f, k, true, out);
  }
  fr->job.next = 0;
  if (fr->job.left-- == 0)
    done(fr);
  return false;
}

static TG_NOINLINE bool turn_other (tg_Framer *fr, tg_Packet *out) {
  switch (fr->job.kind) {
    case TG_JOB_TAIL: return turn_tail(fr, out);
    case TG_JOB_LEAVE: return turn_leave(fr, out);
    case TG_JOB_TERMINATE: return turn_terminate(fr, out);
    case TG_JOB_SUSPEND: return turn_suspend(fr, out);
    case TG_JOB_REENTER: return turn_reenter(fr, out);
    case TG_JOB_SAMPLE: return tg_framesample_turn(fr, out);
    case TG_JOB_REOPEN: return turn_reopen(fr, out);
    case TG_JOB_MARK: return tg_framenote_mark(fr, out);
    case TG_JOB_ALLOCATIONS: return tg_framenote_allocations(fr, out);
    case TG_JOB_NONE: case TG_JOB_ENTER: case TG_JOB_CLOSE: default:
      tg_unreachable();
      return false;
  }
}

/* Only called while there is a job. The two that nearly all of them are do not
   wait for a jump whose target the processor has to guess. */
TG_INLINE bool turn (tg_Framer *fr, tg_Packet *out) {
  if (fr->job.kind == TG_JOB_ENTER)
    return turn_enter(fr, out);
  if (fr->job.kind == TG_JOB_CLOSE)
    return turn_close(fr, out);
  return turn_other(fr, out);
}

/* }================================================================== */

/*
** {==================================================================
** Events become jobs
** ===================================================================
*/

/* A hidden frame that makes a tail call has no CALL event; so TAIL here means
   that the innermost frame, whatever it is, goes. */
static void apply_call (tg_Framer *fr, const tg_Event *e) {
  bool tail = (e->flags & TG_EVF_TAIL) != 0;
  tg_framer_job(fr, tail ? TG_JOB_TAIL : TG_JOB_ENTER, TG_WHY_RETURN, tail,
                tg_no_values);
  fr->job.tail = tail;
}

/* With TAIL: the frame has made a tail call of a function that is hidden, and
   there are no results to show. */
static void apply_return (tg_Framer *fr, const tg_Event *e) {
  tg_framer_job(fr, TG_JOB_CLOSE, TG_WHY_RETURN, 1, e->values);
  fr->job.tail = (e->flags & TG_EVF_TAIL) != 0;
}

/* coroutine.yield's arguments are what is yielded: the hook writes them once,
   with its CALL. */
static void apply_yield (tg_Framer *fr, const tg_Event *e) {
  const tg_Stack *s = fr->running;
  const tg_StackFrame *f = tg_stack_top(s);
  tg_Slice values = e->values;
  if (values.data == NULL && f != NULL) {
    const tg_CachedFunction *k = tg_openframe_known(fr, f->function);
    if (k != NULL && k->yields)
      values = tg_stack_kept(s, f);
  }
  tg_framer_job(fr, TG_JOB_SUSPEND, TG_WHY_YIELD, s->count, values);
}

/* A coroutine that is met for the first time gets a stack here. A list in the
   event replaces the frames that were remembered. Where nothing is missing, a
   frame that was entered within a call that is waited for is known. */
static void apply_resume (tg_Framer *fr, const tg_Event *e) {
  bool met = tg_stacks_find(&fr->stacks, e->thread) != NULL;
  tg_Stack *s = tg_stacks_get(&fr->stacks, e->thread);
  if (!tg_framer_chain(fr, s))
    return;
  if (e->list != NULL
      && !tg_stack_adopt(s, e->list, e->n, met, fr->missing == 0, fr->now_ns))
    fr->status = TG_ERR_MEMORY;
  tg_framer_job(fr, TG_JOB_REENTER, TG_WHY_ENTER, 0, tg_no_values);
}

/* Never of a running coroutine, but a damaged file may say so. */
static void apply_gone (tg_Framer *fr, const tg_Event *e) {
  tg_Stack *s = tg_stacks_find(&fr->stacks, e->thread);
  if (s == NULL || s->running)
    return;
  tg_stacks_drop(&fr->stacks, s);
  if (fr->gone != NULL)
    fr->gone(fr->gone_ud, e->thread);
}

/* They are kept for the event to come, which may be in another chunk. */
static void apply_locals (tg_Framer *fr, const tg_Event *e) {
  tg_FrameLocals *l = &fr->locals;
  if ((fr->selection.types & TG_TYPE_LOCALS) == 0 || e->values.data == NULL)
    return;
  tg_buf_clear(&l->values);
  tg_valuecopy(&l->values, e->values, TG_PACKET_MAX);
  l->line = e->line;
  l->function = e->caller;
  l->at = fr->at;
  l->come = true;
  if (l->values.failed)
    tg_framer_fail(fr, TG_ERR_MEMORY);
}

/* Whoever does not ask for markers has none. A damaged file may have one of a
   sort that is none's. */
static void apply_mark (tg_Framer *fr) {
  bool counts = fr->event.kind == TG_EV_ALLOCATIONS;
  uint32_t sort = counts ? (uint32_t)TG_MARK_ALLOCATIONS
                         : fr->event.mark & TG_MARK_SORT;
  bool wanted = sort == TG_MARK_UNTRACED
                ? fr->windows
                : (fr->selection.types & tg_tracetype_mark(sort)) != 0;
  if (fr->marks && wanted && (fr->running != NULL || counts)
      && counts == (sort == TG_MARK_ALLOCATIONS))
    tg_framer_job(fr, counts ? TG_JOB_ALLOCATIONS : TG_JOB_MARK, TG_WHY_MARK,
                  0, tg_no_values);
}

/* An event of the running coroutine. Locals are those of a call or a return,
   and of nothing that comes later. */
TG_INLINE void apply_running (tg_Framer *fr, const tg_Event *e) {
  fr->locals.due = fr->locals.come && e->kind <= TG_EV_RETURN;
  fr->locals.come = false;
  if (e->kind == TG_EV_CALL)
    apply_call(fr, e);
  else if (e->kind == TG_EV_RETURN)
    apply_return(fr, e);
  else if (e->kind == TG_EV_THROW)
    tg_framer_job(fr, TG_JOB_CLOSE, TG_WHY_EXCEPTION, e->n, e->values);
  else if (e->kind == TG_EV_YIELD)
    apply_yield(fr, e);
  else
    tg_framer_job(fr, TG_JOB_LEAVE, TG_WHY_TERMINATED, UINT32_MAX,
                  tg_no_values);
}

/* All events but those of the running coroutine (is_running). */
static TG_NOINLINE void apply_other (tg_Framer *fr, const tg_Event *e) {
  if (e->kind == TG_EV_CONTEXT)
    tg_framestart_context(fr, e);
  else if (e->kind == TG_EV_TIME || !fr->started)
    return;
  else if (e->kind == TG_EV_RESUME)
    apply_resume(fr, e);
  else if (e->kind == TG_EV_GONE)
    apply_gone(fr, e);
  else if (e->kind == TG_EV_TERMINATE)
    tg_framestart_terminate(fr);
  else if (e->kind == TG_EV_LOST)
    tg_framestart_lost(fr, e);
  else if (tg_event_tells_locals(e))
    apply_locals(fr, e);
  else if (e->kind == TG_EV_MARK || e->kind == TG_EV_ALLOCATIONS)
    apply_mark(fr);
  else if (e->kind == TG_EV_SAMPLE)
    tg_framesample_begin(fr, e);
}

/* Events of another trace's calls are passed over, but not those with which
   reading begins or the stream ends. */
static void apply_samples (tg_Framer *fr, const tg_Event *e) {
  if (e->kind == TG_EV_CONTEXT || e->kind == TG_EV_SAMPLE
      || e->kind == TG_EV_TERMINATE || e->kind == TG_EV_LOST
      || e->kind == TG_EV_MARK || e->kind == TG_EV_ALLOCATIONS)
    apply_other(fr, e);
}

static bool is_running (tg_Kind kind) {
  return kind >= TG_EV_CALL && kind <= TG_EV_LEAVE && kind != TG_EV_RESUME;
}

/* Before the first CONTEXT nothing can be understood; time alone goes on. */
TG_INLINE void apply (tg_Framer *fr, const tg_Event *e) {
  if (tg_unlikely(tg_framer_samples_only(fr))) {
    apply_samples(fr, e);
    return;
  }
  if (tg_unlikely(fr->ahead != TG_AHEAD_NOT) && tg_framestart_is_done(fr, e))
    return;
  if (!is_running(e->kind))
    apply_other(fr, e);
  else if (fr->started && fr->running != NULL)
    apply_running(fr, e);
}

/* }================================================================== */

/* Each turn gives a packet or comes nearer to the job's end. */
bool tg_framer_next (tg_Framer *fr, tg_Packet *out) {
  while (!tg_framer_idle(fr) && !tg_framer_over(fr)) {
    if (turn(fr, out))
      return true;
  }
  return false;
}

bool tg_framer_event (tg_Framer *fr, uint64_t now_ns, tg_Packet *out) {
  tg_assert(tg_framer_idle(fr) && now_ns >= fr->now_ns);
  fr->before_ns = fr->now_ns;
  fr->now_ns = now_ns;
  apply(fr, &fr->event);
  if (fr->selection.sample > 0)
    tg_framesample_note(fr);
  return tg_framer_next(fr, out);
}
