#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "session/taping.h"
#include "base/alloc.h"
#include "session/bounds.h"
#include "text/outlet.h"

bool tg_taping_begin (tg_Session *s, tg_Trace *t) {
  if (s->taped != NULL) {
    errno = EBUSY;
    return false;
  }
  if (!tg_tape_plan_fix(t->plan)) {
    errno = ENOMEM;
    return false;
  }
  t->tape = tg_tape_new(t->plan, s->recorder.stream);
  if (t->tape == NULL)
    return false;
  s->taped = t;
  if (s->recorder.chunk != NULL)
    tg_rec_seal(&s->recorder);
  return true;
}

/* The stream goes on in memory. */
static void leave_tape (tg_Session *s) {
  tg_tape_stop(s->taped->tape);
  s->taped = NULL;
  s->torn = false;
  if (s->recorder.chunk != NULL)
    tg_rec_seal(&s->recorder);
}

tg_Status tg_taping_undo (tg_Session *s, tg_Trace *t) {
  if (s->taped != t)
    return TG_ERR_MEMORY;
  int error = tg_tape_error(t->tape);
  leave_tape(s);
  tg_tape_discard(t->tape);
  t->tape = NULL;
  errno = error;
  return error != 0 ? TG_ERR_IO : TG_ERR_MEMORY;
}

/* ---- notes in the file ---- */

/* A trace older than the tape begins, for it, where the tape does. */
static tg_TraceEntry entry_of (const tg_Session *s, const tg_Trace *t) {
  const tg_Trace *first = t->start > s->taped->start ? t : s->taped;
  return (tg_TraceEntry){
    .start = first->start, .ticks = first->ticks_start,
    .packets = first->packets_start, .name = t->name, .options = t->options
  };
}

static void note_start (tg_Session *s, tg_Trace *t) {
  tg_TraceEntry e = entry_of(s, t);
  t->noted = tg_tape_started(s->taped->tape, &e);
}

void tg_taping_moved (const tg_Session *s, const tg_Trace *t) {
  if (s->taped == NULL)
    return;
  tg_TraceEntry e = entry_of(s, t);
  tg_tape_moved(s->taped->tape, t->noted, &e);
}

void tg_taping_started (tg_Session *s, tg_Trace *t) {
  if (s->taped == NULL || (t != s->taped && tg_trace_hidden(t)))
    return;
  note_start(s, t);
  if (t != s->taped)
    return;
  for (tg_Trace *other = s->traces; other != NULL; other = other->next) {
    if (other != t && other->end == TG_END_NOT && !tg_trace_hidden(other))
      note_start(s, other);
  }
}

/* As the tape of 'taped' has it: what a ring in memory has dropped is there. */
static void note_end (const tg_Trace *taped, const tg_Trace *t, tg_End why,
                      const tg_Trace *where, const uint64_t *lost) {
  tg_TraceEnd e = {
    .why = (uint32_t)why, .stop = where->stop, .ticks = where->ticks_end,
    .packets = where->packets_end
  };
  memcpy(e.lost, lost, TG_NLOSSES * sizeof *lost);
  if (!taped->plan->ring)
    e.lost[TG_LOSS_RING] = 0;
  tg_tape_ended(taped->tape, t->noted, &e);
}

/* The tape ends here, for the traces that go on and for those that count what
   they lose. */
static void note_others (tg_Session *s, const tg_Trace *taped) {
  uint64_t lost[TG_NLOSSES];
  for (tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (t == taped || t->noted == 0)
      continue;
    tg_trace_losses(t, lost);
    if (t->end == TG_END_NOT)
      note_end(taped, t, TG_END_STOPPED, taped, lost);
    else
      note_end(taped, t, t->end, t, lost);
    t->noted = 0;
  }
}

void tg_taping_ended (tg_Session *s, tg_Trace *t) {
  uint64_t lost[TG_NLOSSES];
  if (s->orphan == t)
    s->orphan = NULL;
  if (s->taped == NULL)
    return;
  tg_trace_losses(t, lost);
  note_end(s->taped, t, t->end, t, lost);
  if (t == s->taped) {
    note_others(s, t);
    leave_tape(s);
  }
}

/* Who recorded need not look at the recording to know that it is not all. That
   a ring keeps the end only is what it was made for. */
static void tell_loss (const tg_Trace *t) {
  int error = errno;
  tg_Outlet errors;
  tg_Buf text = {0};
  for (int i = 0; i < TG_NLOSSES; i++) {
    uint64_t n = t->lost[i];
    if (n > 0 && i != TG_LOSS_RING)
      tg_buf_addfmt(&text, "tracegrip: %s lacks %" PRIu64 " event%s (%s)\n",
                    tg_tape_path(t->tape), n, n == 1 ? "" : "s",
                    tg_loss_words(i));
  }
  if (text.size > 0 && !text.failed) {
    tg_outlet_open(&errors, STDERR_FILENO);
    tg_outlet_write(&errors, text.data, text.size);
    tg_outlet_close(&errors);
  }
  tg_buf_free(&text);
  errno = error;
}

void tg_taping_settled (tg_Trace *t) {
  if (t->tape != NULL) {
    note_end(t, t, t->end, t, t->lost);
    if (t->plan->tells)
      tell_loss(t);
  }
  else if (t->session != NULL && t->session->taped != NULL)
    note_end(t->session->taped, t, t->end, t, t->lost);
  tg_tape_close(t->tape);
  t->tape = NULL;
}

void tg_taping_finish (tg_Session *s) {
  for (tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (t->tape == NULL)
      continue;
    if (t->end == TG_END_NOT)
      tg_bounds_end(s, t, TG_END_STOPPED);
    tg_bounds_settle(t);
  }
}

/* ---- fork ---- */

/* Without what the parent may have added to the last block since the fork. */
static void abandon (tg_Session *s, tg_Trace *t) {
  tg_Tape *tape = t->tape;
  tg_Recorder *r = &s->recorder;
  bool taped = s->taped == t;
  t->tape = NULL;
  if (taped) {
    s->taped = NULL;
    s->torn = false;
    tg_cursor_drop(&t->hold);
    tg_rec_seal(r);
    if (t->end == TG_END_NOT)
      s->orphan = t;
  }
  if (tg_tape_abandon(tape) && taped && r->block != NULL)
    tg_block_commit(r->block, r->p);
}

void tg_taping_forked (tg_Session *s) {
  for (tg_Trace *t = s->traces; t != NULL; t = t->next) {
    t->noted = 0;
    if (t->tape != NULL)
      abandon(s, t);
  }
}

void tg_taping_again (tg_Session *s, uint64_t now) {
  tg_Trace *t = s->orphan;
  s->orphan = NULL;
  t->plan->exclusive = true;    /* the parent has the file */
  if (t->plan->single)
    tg_bounds_end(s, t, TG_END_STOPPED);
  else if (!tg_taping_begin(s, t))
    tg_bounds_end(s, t, TG_END_DISK);
  else if (!tg_bounds_begin(s, t, now))
    tg_bounds_end(s, t, TG_END_MEMORY);
  else
    tg_taping_started(s, t);
}

void tg_taping_free_plan (tg_TapePlan *plan) {
  if (plan != NULL)
    tg_tape_plan_free(plan);
  tg_free(plan);
}
