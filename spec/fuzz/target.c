#include "target.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "export/export.h"
#include "formats/formats.h"
#include "packet/log.h"
#include "packet/packet.h"
#include "profile/outcome.h"
#include "profile/profile.h"
#include "reader/minduration.h"
#include "recording/columns.h"
#include "replay/search.h"
#include "recording/open.h"
#include "recording/save.h"
#include "text/jsonwriter.h"

/* Few bytes can stand for many packets, and for long ones: that is what they
   are for. So much of them is looked at. */
#define PACKETS_MAX 20000u
#define TEXT_MAX ((size_t)16 << 20)
#define TRACES_MAX 6u
#define TIME_MAX UINT64_C(2000000)   /* samples take time as time goes on */

#define PROMISED(e) ((e) ? (void)0 : broken(#e, __LINE__))

static void broken (const char *what, int line) {
  fprintf(stderr, "target.c:%d: broken promise: %s\n", line, what);
  abort();
}

/*
** {==================================================================
** Files
** ===================================================================
*/

/* A file in memory that holds these bytes, and its name. */
static const char *file_of (const uint8_t *data, size_t size) {
  static int fd = -1;
  static char path[64];
  if (fd < 0) {
    fd = memfd_create("recording", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  }
  if (fd < 0 || ftruncate(fd, 0) != 0
      || pwrite(fd, data, size, 0) != (ssize_t)size)
    abort();
  return path;
}

static tg_Recording *open_bytes (const uint8_t *data, size_t size) {
  tg_Status status;
  char reason[160] = "";
  tg_Recording *r = tg_recording_open(file_of(data, size), &status, reason,
                                      sizeof reason);
  if (r == NULL)
    PROMISED(status == TG_ERR_FORMAT && reason[0] != '\0');
  else
    PROMISED(status == TG_OK && r->damaged <= (r->reason[0] != '\0'));
  return r;
}

/* }================================================================== */

/*
** {==================================================================
** One trace, whole or narrowed
** ===================================================================
*/

typedef struct Look {
  const tg_Recording *r;
  const tg_TraceEntry *trace;
  tg_Selection selection;     /* owns */
  tg_Pos end;
} Look;

static bool look_at (Look *k, const tg_Recording *r, const tg_TraceEntry *t,
                     const tg_Filter *f) {
  *k = (Look){.r = r, .trace = t};
  bool cut = t->end.why == TG_END_NOT || t->end.stop > r->end;
  k->end = cut ? r->end : t->end.stop;
  if (!tg_selection_add(&k->selection, &t->options)
      || (f != NULL && !tg_selection_narrow(&k->selection, f))) {
    tg_selection_clear(&k->selection);
    return false;
  }
  if (k->selection.max_events == 0 || k->selection.max_events > PACKETS_MAX)
    k->selection.max_events = PACKETS_MAX;
  return true;
}

/* What packets promise: sequence, time, depth. */
typedef struct Order {
  uint64_t packets, now_ns;
  uint32_t depth;
} Order;

static void check (Order *o, const tg_Packet *p, bool all) {
  PROMISED(p->sequence == o->packets++);
  PROMISED(p->time_ns >= o->now_ns);
  o->now_ns = p->time_ns;
  if (!all)               /* depths are those with what is left out */
    return;
  if (p->why == TG_WHY_ENTER)
    PROMISED(p->depth == o->depth++);
  else
    PROMISED(o->depth > 0 && p->depth == --o->depth);
}

/* Whether all of it was within TEXT_MAX and TIME_MAX. */
static bool read_packets (const Look *k, tg_Buf *out, bool keep) {
  tg_MinDuration minduration;
  tg_Packet p;
  Order order = {0};
  tg_Scratch scratch = {0};
  size_t written = 0;
  tg_Reader *r = tg_reader_new(k->r->stream, k->trace->start, &k->selection);
  if (r == NULL)
    return false;
  tg_minduration_init(&minduration, r, k->selection.min_duration_ns);
  while (written < TEXT_MAX && tg_minduration_next(&minduration, k->end, &p)) {
    tg_JsonWriter json;
    size_t before = out->size;
    check(&order, &p, k->selection.min_duration_ns == 0);
    tg_jsonwriter_init(&json, out);
    tg_packet_write(&json.sink, &p, k->r->stream, &k->selection, &scratch);
    PROMISED(json.depth == 0);
    tg_buf_addchar(out, '\n');
    written += out->size - before;
    if (!keep)
      tg_buf_clear(out);
  }
  bool handy = written < TEXT_MAX && tg_reader_time(r) < TIME_MAX;
  tg_scratch_free(&scratch);
  tg_minduration_free(&minduration);
  tg_reader_free(r);
  return handy;
}

/* All times of a profile are the whole, to the nanosecond. */
static void check_sum (const tg_Profile *p) {
  uint64_t sum = p->idle_ns;
  for (uint32_t i = 0; i < p->nrows; i++)
    sum += p->rows[i].tally.self_ns;
  PROMISED(sum == p->duration_ns);
}

/* What is alive is somebody's, or was made outside of all frames; and of no
   path there is less than none. */
static void check_live (const tg_Profile *p) {
  uint64_t sum = 0, blocks = 0;
  tg_UsageTally whole = tg_usage_node(&p->usage, 0);
  for (uint32_t i = 0; i < p->tree.count; i++) {
    tg_UsageTally t = tg_usage_node(&p->usage, i);
    sum += t.live.bytes;
    blocks += t.live.blocks;
  }
  PROMISED(sum == whole.live_total.bytes);
  PROMISED(blocks == whole.live_total.blocks);
}

static void sort_profile (const tg_Profile *p) {
  uint32_t n = p->nrows > p->tree.count ? p->nrows : p->tree.count;
  void *list = malloc((n + 1) * sizeof(void *));
  if (list != NULL) {
    tg_outcome_sort_rows(p, list);
    tg_outcome_sort_nodes(p, list);
  }
  free(list);
}

static void read_profile (const Look *k) {
  tg_Profile p;
  tg_Packet packet;
  const tg_Clock *clock = &k->r->stream->clock;
  tg_Reader *r = tg_reader_new(k->r->stream, k->trace->start, &k->selection);
  if (r != NULL && tg_profile_init(&p, k->r->stream->functions, true)) {
    p.usage.on = true;
    tg_reader_hold(r);
    while (tg_reader_next(r, k->end, &packet))
      tg_profile_add(&p, &packet);
    tg_profile_end(&p, tg_clock_ns(clock, k->trace->ticks),
                   tg_clock_ns(clock, k->r->ticks));
    check_sum(&p);
    check_live(&p);
    sort_profile(&p);
    tg_profile_free(&p);
  }
  tg_reader_free(r);
}

/* Forwards to the end and back again, with waypoints as near as can be: what
   comes at a moment is the same whichever way leads there. */
static void walk (tg_Replay *r) {
  const uint64_t most = 3000;
  tg_Packet entry;
  tg_replay_go(r, most, most);
  uint64_t end = r->number;
  tg_ReplayPacket last = r->last;
  for (int i = 0; i < TG_NMOVES; i++) {
    tg_Search s;
    tg_search_begin(&s, r, (tg_Move)i, tg_replay_running(r), NULL);
    for (int k = 0; k < 20 && tg_search_turn(&s, 50) == TG_SEARCH_GOING; k++)
      ;
    PROMISED(r->first == (r->number == 0));
  }
  while (end > 0 && !tg_replay_go(r, end, most) && r->status == TG_OK)
    ;
  if (end == 0 || r->status == TG_ERR_MEMORY)
    return;
  PROMISED(r->number == end && r->last.at == last.at);
  PROMISED(r->last.packet.function == last.packet.function);
  tg_replay_recall(r, r->last.at, &last.packet);
  for (uint32_t i = 0; i < r->stacks.count; i++) {
    const tg_CallStack *s = r->stacks.list[i];
    if (s->count > 0)
      tg_replay_entry(r, s->thread, tg_callstack_top(s), &entry);
  }
}

static void read_replay (const Look *k) {
  const tg_ReplaySource source = {
    .stream = k->r->stream, .from = k->trace->start, .stop = k->end,
    .selection = &k->selection, .every = 20, .most = 200000
  };
  tg_Replay *r = tg_replay_new(&source);
  if (r != NULL)
    walk(r);
  tg_replay_free(r);
}

static int null_file (void) {
  static int fd = -1;
  if (fd < 0)
    fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
  return fd;
}

static void read_log (const Look *k) {
  static const tg_LogStyle style = {
    .color = true, .times = true, .summary = true, .width = 80, .fails = true
  };
  tg_Log *l = tg_log_new(k->r->stream, k->trace->start, &k->selection, &style,
                         null_file());
  if (l == NULL)
    return;
  tg_log_pump(l, k->end);
  tg_log_finish(l);
  tg_log_free(l);
}

static void write_export (const Look *k, tg_Export *x, const tg_Format *f) {
  tg_OutFile out;
  tg_Reader *r = tg_reader_new(k->r->stream, k->trace->start, &k->selection);
  tg_MinDuration minduration;
  if (r == NULL || !tg_outfile_open(&out, "/dev/null"))
    abort();
  tg_minduration_init(&minduration, r, k->selection.min_duration_ns);
  x->out = &out;
  x->minduration = &minduration;
  PROMISED(tg_export_write(x, f) == TG_OK);
  tg_outfile_close(&out);
  tg_minduration_free(&minduration);
  tg_reader_free(r);
}

static void read_exports (const Look *k) {
  const tg_Clock *clock = &k->r->stream->clock;
  for (const tg_Format *f = tg_formats; f->name != NULL; f++) {
    tg_Export x = {
      .name = k->trace->name, .program = &k->r->program,
      .stream = k->r->stream, .selection = &k->selection, .stop = k->end,
      .start_ns = tg_clock_ns(clock, k->trace->ticks),
      .end_ns = tg_clock_ns(clock, k->r->ticks),
      .options = {.limit = 100, .samples = true, .sources = true, .gecko = 36}
    };
    write_export(k, &x, f);
  }
}

/* }================================================================== */

/* A filter that depends on the bytes, so that they can find it. */
static void make_filter (tg_Filter *f, const uint8_t *data, size_t size) {
  uint32_t h = (uint32_t)size;
  for (size_t i = 0; i < size && i < 64; i++)
    h = (h ^ data[i]) * 16777619u;
  tg_filter_init(f);
  f->options.max_depth = (h & 1) != 0 ? 3 : TG_NOLIMIT;
  f->options.min_duration_ns = (h & 2) != 0 ? 500 : 0;
  f->thread = (h & 4) != 0 ? 2 : 0;
  f->from_ns = (h & 8) != 0 ? 1000 : 0;
  f->to_ns = (h & 16) != 0 ? 1000000 : UINT64_MAX;
  if (h & 32)
    f->options.limits = (tg_Limits){1, 2, 5, 3};
}

static void read_trace (const tg_Recording *r, const tg_TraceEntry *t,
                        const tg_Filter *f) {
  Look k;
  tg_Buf text = {0};
  if (!look_at(&k, r, t, f))
    return;
  bool handy = read_packets(&k, &text, false);
  read_profile(&k);
  read_replay(&k);
  if (handy)
    read_log(&k);
  handy = handy && tg_clock_ns(&r->stream->clock, r->ticks) < TIME_MAX;
  if (handy && f == NULL)
    read_exports(&k);
  tg_buf_free(&text);
  tg_selection_clear(&k.selection);
}

/* Bytes that are events come back from columns; and other bytes may say what
   they like there. Frames of packed blocks have checksums, which nothing that
   is changed passes: so this is done without them. */
static void join_columns (const uint8_t *data, size_t size) {
  uint8_t *memory = malloc(tg_columns_room(size)), *back = malloc(size + 1);
  tg_EventColumns c;
  if (memory == NULL || back == NULL)
    abort();
  if (tg_columns_split(data, size, memory, &c))
    PROMISED(tg_columns_join(&c, back, size)
             && memcmp(back, data, size) == 0);
  memset(memory, 0, tg_columns_room(size));
  for (size_t i = 0, n = size / TG_COLUMNS; i < TG_COLUMNS; i++) {
    uint8_t *at = memory + i * (n + TG_COLUMNS_SLACK);
    c.list[i] = (tg_EventColumn){at, n};
    memcpy(at, data + i * n, n);
  }
  tg_columns_join(&c, back, size);
  free(memory);
  free(back);
}

void fuzz_one (const uint8_t *data, size_t size) {
  if (size > 0)
    join_columns(data, size);
  tg_Recording *r = open_bytes(data, size);
  tg_Filter filter;
  if (r == NULL)
    return;
  make_filter(&filter, data, size);
  for (uint32_t i = 0; i < r->count && i < TRACES_MAX; i++) {
    read_trace(r, &r->traces[i], NULL);
    read_trace(r, &r->traces[i], &filter);
    tg_save("/dev/null", r->stream, &r->program, &r->traces[i], r->end);
  }
  tg_filter_free(&filter);
  tg_recording_close(r);
}

void fuzz_packets (const uint8_t *data, size_t size, tg_Buf *out) {
  tg_Recording *r = open_bytes(data, size);
  Look k;
  if (r == NULL)
    return;
  if (r->count > 0 && look_at(&k, r, &r->traces[0], NULL)) {
    k.selection.min_duration_ns = 0; /* else all that is open at the end shows
                                        */
    read_packets(&k, out, true);
    tg_selection_clear(&k.selection);
  }
  tg_recording_close(r);
}
