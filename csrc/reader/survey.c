/*
** survey.c - see survey.h. For export/longest.c, once for each document that
** may have more calls than it can bear.
*/
#include "reader/survey.h"

#include <string.h>

/* The lower bits of a call's tag count its entries, the highest tells whether
   it is in the main coroutine. */
#define IN_MAIN (UINT64_C(1) << 63)

static void over (void *owner, const tg_SuspendedCall *call) {
  const tg_Survey *v = owner;
  if (call->ran_ns >= v->filter->min_ns)
    v->over(v->ud, call->ran_ns, call->tag & ~IN_MAIN,
            (call->tag & IN_MAIN) != 0);
}

static void gone (void *ud, tg_ThreadId thread) {
  tg_suspended_end(&((tg_Survey *)ud)->calls.waiting, thread);
}

/* A row of calls begins with the first one in a call, which needs its box as
   long as that is given; later ones need theirs where the one before is. */
static void count_boxes (tg_Survey *v, const tg_Stay *s) {
  bool main = s->thread == 1;
  uint64_t ran_ns = s->call.ran_ns;
  tg_Stay *around = v->calls.nopen > 0
                    ? &v->calls.open[v->calls.nopen - 1] : &v->outside;
  if (s->calls && s->first_ns < ran_ns)
    v->box(v->ud, s->first_ns, ran_ns, main);
  if (ran_ns < v->filter->min_ns)
    return;
  if (!around->calls)
    around->first_ns = ran_ns;
  else if (ran_ns < around->latest_ns)
    v->box(v->ud, ran_ns, around->latest_ns, main);
  around->latest_ns = ran_ns;
  around->calls = true;
}

/* 'count' is what a new call gets as its tag (enter): here that says where it
   runs, and no number. A call that goes on keeps its tag, and counts one entry
   more. */
static bool take (tg_Survey *v, const tg_Packet *p) {
  if (p->why != TG_WHY_ENTER) {
    const tg_Stay *s = tg_stays_leave(&v->calls, p);
    if (s != NULL && p->why != TG_WHY_YIELD)
      over(v, &s->call);
    if (s != NULL)
      count_boxes(v, s);
    return s != NULL;
  }
  v->calls.count = p->thread == 1 ? IN_MAIN : 0;  /* the tag of a new call */
  tg_Stay *s = tg_stays_enter(&v->calls, p);
  if (s != NULL)
    s->call.tag++;
  return s != NULL;
}

/* What is open is given, however short; and outside of all there is room for a
   box. */
static void end_open (tg_Survey *v) {
  if (v->outside.calls)
    v->box(v->ud, v->outside.first_ns, UINT64_MAX, true);
  for (uint32_t i = 0; i < v->calls.nopen; i++) {
    tg_Stay *s = &v->calls.open[i];
    s->call.ran_ns = UINT64_MAX;
    over(v, &s->call);
    if (s->calls)
      v->box(v->ud, s->first_ns, UINT64_MAX, s->thread == 1);
  }
  tg_suspended_finish(&v->calls.waiting);
}

static tg_Status read_all (tg_Survey *v, tg_Reader *reader, tg_Pos end) {
  const uint32_t every = 1u << 13;
  tg_Packet p;
  for (uint32_t n = 1; tg_reader_next(reader, end, &p); n++) {
    if (!take(v, &p))
      return TG_ERR_MEMORY;
    if (n % every == 0 && !v->go_on(v->ud, p.time_ns))
      return TG_ERR_IO;
  }
  end_open(v);
  tg_Status status = tg_reader_status(reader);
  return status == TG_ERR_FORMAT ? TG_OK : status;
}

tg_Status tg_survey_run (tg_Survey *v, const tg_MinDuration *s, tg_Pos end) {
  tg_Reader *reader = tg_reader_again(s->reader);
  if (reader == NULL)
    return TG_ERR_MEMORY;
  memset(&v->calls, 0, sizeof v->calls);
  memset(&v->outside, 0, sizeof v->outside);
  v->filter = s;
  tg_suspended_init(&v->calls.waiting, over, v);
  tg_reader_watch(reader, gone, v);
  tg_Status status = read_all(v, reader, end);
  tg_stays_free(&v->calls);
  tg_reader_free(reader);
  return status;
}
