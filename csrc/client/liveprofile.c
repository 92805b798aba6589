/*
** liveprofile.c - see liveprofile.h. Used by receiver.c, on the thread of its
** state. What it reads comes from another process and may be anything: a reader
** bears that, and its times never go back.
*/
#include "client/liveprofile.h"

#include <string.h>

#include "binding/luasink.h"
#include "packet/names.h"

/* No values are asked for: none is looked at. */
bool tg_liveprofile_begin (tg_LiveProfile *p, tg_Stream *stream,
                           const tg_Options *options) {
  tg_Selection selection = {0};
  tg_assert(p->reader == NULL);
  if (!tg_selection_add(&selection, options))
    return false;
  selection.types = 0;
  p->sampled = options->sample > 0;
  if (tg_profile_init(&p->profile, stream->functions, false))
    p->reader = tg_reader_new(stream, 0, &selection);
  tg_selection_clear(&selection);
  if (p->reader == NULL)
    return false;
  tg_reader_watch(p->reader, tg_profile_gone, &p->profile);
  return true;
}

void tg_liveprofile_free (tg_LiveProfile *p) {
  tg_reader_free(p->reader);
  tg_profile_free(&p->profile);
  tg_buf_free(&p->room);
  memset(p, 0, sizeof *p);
}

bool tg_liveprofile_pump (tg_LiveProfile *p, tg_Pos end) {
  tg_Packet packet;
  if (p->reader == NULL)
    return true;
  while (tg_reader_next(p->reader, end, &packet))
    tg_profile_add(&p->profile, &packet);
  return tg_reader_status(p->reader) == TG_OK && p->profile.status == TG_OK;
}

/* ---- as of now ---- */

/* What has passed since the latest packet belongs to the frames that are open.
   Where samples tell what runs, the next one will say whose it was. */
static uint64_t passed_ns (const tg_LiveProfile *p, uint64_t now_ns) {
  bool running = p->profile.nopen > 0 && !p->sampled;
  return (running && now_ns > p->profile.now_ns) ? now_ns - p->profile.now_ns
                                                 : 0;
}

static tg_Tally tally_of (const tg_Profile *p, uint32_t row,
                          uint64_t passed_ns) {
  tg_Tally t = p->rows[row].tally;
  if (p->rows[row].open > 0)
    t.total_ns += p->now_ns + passed_ns - p->rows[row].since_ns;
  if (p->nopen > 0 && p->open[p->nopen - 1].call.row == row)
    t.self_ns += passed_ns;
  return t;
}

/* Named as rows of a report are. */
static void put_row (tg_LiveProfile *p, tg_Sink *out, uint32_t row,
                     uint64_t passed_ns) {
  const tg_Function *f = tg_profile_function(&p->profile, row);
  tg_Tally t = tally_of(&p->profile, row, passed_ns);
  out->object(out);
  tg_sink_key(out, "name");
  tg_names_title(out, &p->room, f);
  tg_names_place(out, &p->room, f);
  tg_sink_count(out, "calls", t.calls);
  tg_sink_ms(out, "self_ms", t.self_ns);
  tg_sink_ms(out, "total_ms", t.total_ns);
  out->close(out);
}

void tg_liveprofile_push (lua_State *L, tg_LiveProfile *p, uint64_t now_ns) {
  uint64_t passed = 0;
  tg_LuaSink sink;
  tg_Sink *out = &sink.sink;
  tg_luasink_init(&sink, L);
  out->object(out);
  if (p->reader != NULL) {
    now_ns = tg_reader_until(p->reader, now_ns);
    passed = passed_ns(p, now_ns);
    if (now_ns < p->profile.now_ns)
      now_ns = p->profile.now_ns;
    tg_sink_count(out, "samples", tg_reader_samples(p->reader));
    tg_sink_ms(out, "waited_ms", tg_reader_waited(p->reader));
  }
  tg_sink_ms(out, "time_ms", now_ns);
  tg_sink_key(out, "functions");
  out->array(out);
  for (uint32_t i = 0; i < p->profile.nrows; i++)
    put_row(p, out, i, passed);
  out->close(out);
  out->close(out);
}
