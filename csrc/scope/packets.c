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

/* Times are the program's, without what tracing has cost; a copy's too.
   From the trace's beginning, or from where a reader stood ('at'). The filter
   of short calls cannot be copied: with one it is always from the beginning. */
bool tg_scopepackets_open (const tg_ScopeTrace *t, const tg_Reader *at,
                           tg_ScopePackets *p) {
  tg_assert(at == NULL || t->selection.min_duration_ns == 0);
  p->stop = t->stop;
  p->reader = at != NULL ? tg_reader_copy(at)
                         : tg_reader_new(t->stream, t->start, &t->selection);
  if (p->reader != NULL && at == NULL)
    tg_reader_correct(p->reader);
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
