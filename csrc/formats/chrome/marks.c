/*
** marks.c - see marks.h. For chrome.c, on its thread. Memory that
** was refused is 'failed'.
*/
#include "formats/chrome/marks.h"

#include "formats/chrome/v8profile.h"
#include "stream/marks.h"

#define NAME_MOST 80u             /* bytes of a name: the rest is in 'args' */

void tg_chromemarks_free (tg_ChromeMarks *m) {
  tg_buf_free(&m->name);
}

/* Empty; what was in it was whole. */
static tg_Buf *clear_name (tg_ChromeMarks *m) {
  m->failed = m->failed || m->name.failed;
  tg_buf_clear(&m->name);
  return &m->name;
}

/* The members of a marker's 'args', and the end of its event. */
static void put_args (tg_ChromeMarks *m, const tg_Packet *p, bool values) {
  tg_Buf *out = m->events->out;
  tg_buf_addstr(out, ",\"args\":{\"method\":\"");
  tg_buf_addstr(out, tg_mark_name(p->mark));
  tg_buf_addchar(out, '"');
  if (values && tg_chromevalues_has(m->events->x, p))
    tg_chromevalues_put(m->values, out, ",\"arguments\":", p);
  if (p->numbered && p->mark == TG_MARK_COUNT) {
    tg_buf_addstr(out, ",\"count\":");
    tg_buf_addu64(out, p->hits);
  }
  else if (p->numbered)
    tg_chromeevents_time(m->events, ",\"us\":", p->hits);
  tg_buf_addstr(out, "}}");
}

/* The marker's text; of a moment with its method before it, but for timeStamp,
   which has nothing but its name. */
static void put_name (tg_ChromeMarks *m, const tg_Packet *p) {
  tg_Buf *out = m->events->out;
  clear_name(m);
  if (!tg_mark_spans(p->mark) && p->mark != TG_MARK_TIMESTAMP)
    tg_buf_addfmt(&m->name, "%s: ", tg_mark_name(p->mark));
  tg_export_label(m->events->x, p, &m->name);
  if (m->name.size > NAME_MOST)
    m->name.size = NAME_MOST;
  tg_buf_addfmt(out, ",\"cat\":\"%s\",\"name\":",
                tg_mark_said(p->mark) ? "console"
                : p->mark == TG_MARK_UNTRACED ? "tracing" : "memory");
  tg_v8profile_put_string(out, m->name.data, m->name.size);
}

void tg_chromemarks_moment (tg_ChromeMarks *m, const tg_Packet *p,
                            uint32_t tid, uint64_t ns, bool values) {
  tg_chromeevents_begin(m->events, "I", tid);
  tg_chromeevents_time(m->events, ",\"ts\":", ns);
  tg_buf_addstr(m->events->out, ",\"s\":\"t\"");
  put_name(m, p);
  put_args(m, p, values);
}

/* The first that is free from then on. Timers come in the order of their ends;
   where all are taken, the last one has it, as late as it must. */
static uint32_t lane_of (const tg_ChromeMarks *m, uint64_t begin_ns) {
  uint32_t lane = 0;
  while (lane < TG_CHROME_LANES - 1 && m->lanes[lane] >= begin_ns)
    lane++;
  return lane;
}

void tg_chromemarks_timer (tg_ChromeMarks *m, const tg_Packet *p,
                           bool values) {
  tg_ChromeEvents *e = m->events;
  uint64_t begin_ns = tg_chromeevents_ns(e, tg_export_began(e->x, p));
  uint64_t end_ns = tg_chromeevents_ns(e, p->time_ns);
  uint32_t lane = lane_of(m, begin_ns);
  if (begin_ns <= m->lanes[lane])
    begin_ns = m->lanes[lane] + 1;
  if (end_ns <= begin_ns)
    end_ns = begin_ns + 1;
  m->lanes[lane] = end_ns;
  tg_chromeevents_begin(e, "X", TG_CHROME_TIMERS + lane);
  tg_chromeevents_time(e, ",\"ts\":", begin_ns);
  tg_chromeevents_time(e, ",\"dur\":", end_ns - begin_ns);
  put_name(m, p);
  put_args(m, p, values);
}

void tg_chromemarks_lanes (tg_ChromeMarks *m) {
  tg_buf_addstr(clear_name(m), "timers");
  for (uint32_t i = 0; i < TG_CHROME_LANES && m->lanes[i] > 0; i++) {
    tg_chromeevents_name(m->events, "thread_name", TG_CHROME_TIMERS + i,
                         &m->name);
    tg_chromeevents_sort(m->events, TG_CHROME_TIMERS + i, i + 1);
  }
}

void tg_chromemarks_heap (tg_ChromeMarks *m, const tg_Packet *p) {
  tg_ChromeEvents *e = m->events;
  tg_chromeevents_begin(e, "C", TG_EXPORT_MAIN);
  tg_chromeevents_time(e, ",\"ts\":", tg_chromeevents_ns(e, p->time_ns));
  tg_buf_addstr(e->out, ",\"cat\":\"memory\",\"name\":\"Lua heap\","
                "\"args\":{\"bytes\":");
  tg_buf_addu64(e->out, p->hits);
  tg_buf_addstr(e->out, "}}");
}

/* An instant event of the whole process ("s":"p"), which viewers draw across
   all tracks. */
static void put_remark (tg_ChromeMarks *m, uint32_t tid, uint64_t time_ns) {
  tg_ChromeEvents *e = m->events;
  tg_chromeevents_begin(e, "I", tid);
  tg_chromeevents_time(e, ",\"ts\":", tg_chromeevents_ns(e, time_ns));
  tg_buf_addstr(e->out, ",\"s\":\"p\",\"cat\":\"tracegrip\",\"name\":");
  tg_v8profile_put_string(e->out, m->name.data, m->name.size);
  tg_buf_addstr(e->out, ",\"args\":{}}");
}

void tg_chromemarks_missing (tg_ChromeMarks *m, uint32_t tid,
                             uint64_t bare_ns) {
  const tg_Export *x = m->events->x;
  tg_export_loss(x, clear_name(m));
  if (m->name.size > 0)
    put_remark(m, tid, x->lost[TG_LOSS_RING] > 0 ? x->start_ns : x->end_ns);
  tg_export_left_out(x, clear_name(m));
  if (m->name.size > 0)
    put_remark(m, tid, x->start_ns);
  tg_buf_addstr(clear_name(m), "values of calls left out from here on");
  if (x->bare > 0)
    put_remark(m, tid, bare_ns);
  clear_name(m);
}
