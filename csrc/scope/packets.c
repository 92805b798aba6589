/*
** packets.c - see packets.h. For making.c and index.c.
**
** Whatever fails for want of memory returns false; what is half open can be
** closed. What is damaged in a recording ends the packets, and the reader says
** where.
*/
#include "scope/packets.h"

#include <string.h>

#include "base/alloc.h"
#include "scope/kinds.h"

/* Packets by which the hook's cost is checked, and which of the times after
   them counts: the shortest but one in a hundred. */
#define SAMPLE 65536u
#define SAMPLE_TIMES 512u
#define SAMPLE_PART 100u

/* From the trace's beginning, or from where a reader stood ('at'). The filter
   of short calls cannot be copied: with one it is always from the beginning. */
bool tg_scopepackets_open (const tg_ScopeTrace *t, const tg_Reader *at,
                           tg_ScopePackets *p) {
  tg_assert(at == NULL || t->selection.min_duration_ns == 0);
  p->stop = t->stop;
  p->reader = at != NULL ? tg_reader_copy(at)
                         : tg_reader_new(t->stream, t->start, &t->selection);
  tg_minduration_init(&p->minduration, p->reader, t->selection.min_duration_ns);
  return p->reader != NULL;
}

void tg_scopepackets_close (tg_ScopePackets *p) {
  tg_minduration_free(&p->minduration);
  tg_reader_free(p->reader);
}

/*
** {==================================================================
** A look at the first packets
** ===================================================================
*/

/* Times after packets of one sort, in nanoseconds; longer ones at the end. */
typedef struct Times {
  uint32_t counts[SAMPLE_TIMES + 1];
  uint32_t all;
} Times;

/* Longer ones are all alike: a cost is never looked for there. */
static void count_time (Times *t, uint64_t ns) {
  t->counts[ns < SAMPLE_TIMES ? ns : SAMPLE_TIMES]++;
  t->all++;
}

/* The cost that was measured holds for this machine now; the recording may be
   of another one. Between two packets there is at least the hook, so the cost
   cannot be more than the shortest times that there are. */
static void limit (const Times *t, uint64_t *cost) {
  uint32_t ns = 0, passed = t->counts[0], wanted = t->all / SAMPLE_PART;
  while (ns < SAMPLE_TIMES && passed <= wanted)
    passed += t->counts[++ns];
  if (t->all > 0 && *cost > ns)
    *cost = ns;
}

/* Packets of one event have one time, and none of them but the last has time
   after it. */
static void take_times (tg_ScopePackets *from, Times *enter, Times *leave) {
  tg_Packet p;
  Times *sort = NULL;
  uint64_t before_ns = 0;
  for (uint32_t n = 0; n < SAMPLE && tg_scopepackets_next(from, &p); n++) {
    if (sort != NULL && p.time_ns > before_ns)
      count_time(sort, p.time_ns - before_ns);
    sort = p.why == TG_WHY_ENTER ? enter : leave;
    before_ns = p.time_ns;
  }
}

/* Reads the beginning of the trace once, for this alone: the cost must be known
   before the first event is timed. */
bool tg_scopepackets_limit (const tg_ScopeTrace *t, tg_ScopeCost *cost) {
  tg_ScopePackets from;
  Times *times = tg_calloc(2, sizeof *times);
  if (times == NULL)
    return false;
  bool ok = tg_scopepackets_open(t, NULL, &from);
  if (ok) {
    take_times(&from, &times[0], &times[1]);
    limit(&times[0], &cost->enter_ns);
    limit(&times[1], &cost->exit_ns);
  }
  tg_scopepackets_close(&from);
  tg_free(times);
  return ok;
}

/* When the first main chunk is entered; the end if none is. */
static bool find_chunk (const tg_ScopeTrace *t, uint64_t *ns) {
  tg_ScopePackets from;
  tg_Packet p;
  *ns = t->end_ns;
  bool ok = tg_scopepackets_open(t, NULL, &from);
  while (ok && tg_scopepackets_next(&from, &p)) {
    const tg_Function *f = tg_functions_find(t->stream->functions, p.function);
    if (p.why == TG_WHY_ENTER && !p.resumed && f != NULL
        && tg_scopekinds_chunk(f)) {
      *ns = p.time_ns;
      break;
    }
  }
  tg_scopepackets_close(&from);
  return ok;
}

/* The session begins there, as if nothing had been before: what Opera's service
   calls a session begins with the document, not with the browser. */
static bool begin_with_chunk (tg_ScopeTrace *t) {
  tg_Filter filter;
  tg_filter_init(&filter);
  if (t->selection.filter != NULL || !find_chunk(t, &filter.from_ns))
    return false;
  t->start_ns = filter.from_ns;
  filter.options.types = 0;
  bool ok = tg_selection_narrow(&t->selection, &filter);
  tg_filter_free(&filter);
  return ok;
}

/* The clock of a trace and its packets may differ by a tick. */
static bool begin_with_packet (tg_ScopeTrace *t) {
  tg_ScopePackets from;
  tg_Packet p;
  bool ok = tg_scopepackets_open(t, NULL, &from);
  if (ok && tg_scopepackets_next(&from, &p) && p.time_ns < t->start_ns)
    t->start_ns = p.time_ns;
  tg_scopepackets_close(&from);
  return ok;
}

/* }================================================================== */

/* The cursor holds the trace's chunks for as long as the session lives: its
   packets are read again for many questions. False without memory. */
bool tg_scopepackets_init (tg_ScopeTrace *t, const tg_ScopeSource *source) {
  memset(t, 0, sizeof *t);
  t->stream = tg_stream_pin(source->stream);
  if (!tg_cursor_place(&t->hold, &t->stream->store, source->start))
    tg_cursor_first(&t->hold, &t->stream->store);
  t->start = source->start;
  t->stop = source->stop;
  t->start_ns = source->start_ns;
  t->end_ns = source->end_ns;
  if (!tg_selection_copy(&t->selection, source->selection))
    return false;
  tg_selection_bare(&t->selection); /* no values are kept for others */
  return source->from_chunk ? begin_with_chunk(t) : begin_with_packet(t);
}

void tg_scopepackets_free (tg_ScopeTrace *t) {
  tg_selection_clear(&t->selection);
  tg_cursor_drop(&t->hold);
  tg_stream_unpin(t->stream);
  memset(t, 0, sizeof *t);
}
