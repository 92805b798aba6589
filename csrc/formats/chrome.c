/*
** chrome.c - trace events, for the Performance panel of Chrome DevTools,
** Perfetto and whatever else reads them.
**
** Each call is a complete event ("X") on the track of its coroutine, with
** arguments and results in 'args'; a call that yields has one for each stretch.
** An event is written when its frame exits, so memory is that of open frames.
**
** Viewers take an event that begins or ends with another for its neighbour, or
** drop it. So on a track every begin and end is at least a nanosecond later
** than the one before: where many frames open or close at one moment, some are
** off by a few nanoseconds, until time has caught up. Times are microseconds
** since the trace began, plus one: viewers take 0 for none.
**
** DevTools reads a file as one string, of 512 MiB at most. Calls are limited by
** their number; values are left out when the document has become so long that
** they could keep it from being opened, unless the user has set the limit.
**
** With 'samples' the program's stack is also there as V8's profiler has it
** (v8profile.h), on a track of its own.
*/
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "export/threadlist.h"
#include "formats/chromenames.h"
#include "formats/formats.h"
#include "formats/v8profile.h"

#define START_NS UINT64_C(1000)
#define LONGEST ((size_t)1000)    /* bytes of a list of values that are shown */
#define VALUES_END (UINT64_C(256) << 20)
#define CHUNK 10000u              /* samples in one event */
#define SAMPLES_TID 2000000000u   /* beyond all coroutines */

/* An open frame. */
typedef struct Box {
  uint64_t begin_ns;          /* in the document */
  size_t args;                /* what is known at its entry: in 'args' */
  uint64_t folded;            /* of the export, at its entry */
} Box;

typedef struct Document {
  tg_Export *x;
  tg_Buf *out;                /* borrows; of x->out */
  uint32_t pid;
  bool any;                   /* an event has been written */
  tg_ThreadList lanes;        /* owns; coroutines as tracks */
  uint64_t *last;             /* owns; by lane, the last boundary */
  uint32_t clast;
  Box *boxes;                 /* owns; by level */
  uint32_t cboxes;
  tg_Buf args;                /* owns; of the open boxes */
  tg_ChromeNames words;       /* owns */
  tg_Buf begin;               /* owns; of every call's event: up to the tid */
  tg_Buf room;                /* owns */
  uint64_t full_ns;           /* when the limit was reached; 0: it was not */
  uint64_t bare_ns;           /* when the values' end was */
  tg_V8Profile v8;            /* owns, as the following: with 'samples' */
  tg_Buf samples, deltas;     /* of the chunk to come */
  uint32_t nsamples;          /* in it */
  uint32_t nnodes;            /* of the tree, written so far */
  uint64_t sampled_ns;        /* time of the last sample */
} Document;

static bool fail (Document *d) {
  if (d->x->status == TG_OK)
    d->x->status = TG_ERR_MEMORY;
  return false;
}

/* 'room', empty; what was in it was whole. */
static tg_Buf *clear_room (Document *d) {
  if (d->room.failed)
    fail(d);
  tg_buf_clear(&d->room);
  return &d->room;
}

/* Makes room for item number 'i'; new items are zero. */
static bool room (Document *d, void *array, uint32_t *capacity, uint32_t i,
                  size_t size) {
  uint32_t n = *capacity > 0 ? *capacity : 64;
  if (i < *capacity)
    return true;
  while (n <= i && n <= UINT32_MAX / 2)
    n *= 2;
  char *old;
  memcpy(&old, array, sizeof old);
  char *bigger = n > i ? tg_realloc(old, n * size) : NULL;
  if (bigger == NULL)
    return fail(d);
  memset(bigger + *capacity * size, 0, (n - *capacity) * size);
  memcpy(array, &bigger, sizeof bigger);
  *capacity = n;
  return true;
}

/*
** {==================================================================
** Events
** ===================================================================
*/

/* All of an event but what is particular to it. */
static void begin_event (Document *d, const char *type, uint32_t tid) {
  tg_buf_addstr(d->out, d->any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
  tg_buf_addstr(d->out, type);
  tg_buf_addstr(d->out, "\",\"pid\":");
  tg_buf_addu64(d->out, d->pid);
  tg_buf_addstr(d->out, ",\"tid\":");
  tg_buf_addu64(d->out, tid);
  d->any = true;
}

TG_INLINE void put_time (Document *d, const char *key, uint64_t ns) {
  tg_buf_addstr(d->out, key);
  tg_export_time(d->out, ns, 1000);
}

static uint64_t document_ns (const Document *d, uint64_t time_ns) {
  return START_NS + time_ns - d->x->start_ns;
}

static void put_metadata (Document *d, const char *what, uint32_t tid,
                          const tg_Buf *name) {
  begin_event(d, "M", tid);
  tg_buf_addstr(d->out, ",\"name\":\"");
  tg_buf_addstr(d->out, what);
  tg_buf_addstr(d->out, "\",\"args\":{\"name\":");
  tg_v8profile_put_string(d->out, name->data, name->size);
  tg_buf_addstr(d->out, "}}");
}

static void put_process (Document *d) {
  tg_buf_addfmt(&d->begin, ",\n{\"ph\":\"X\",\"pid\":%" PRIu32 ",\"tid\":",
                d->pid);
  const char *program = d->x->program->name;
  clear_room(d);
  tg_buf_addstr(&d->room, "lua ");
  tg_buf_addstr(&d->room, program != NULL ? program : d->x->name);
  put_metadata(d, "process_name", 1, &d->room);
}

/* The track of a coroutine; TG_INTMAP_NONE without memory. */
static uint32_t lane_of (Document *d, const tg_Packet *p) {
  uint32_t before = d->lanes.count;
  uint32_t lane = tg_threadlist_of(&d->lanes, p->thread, p->function);
  if (lane == TG_INTMAP_NONE)
    fail(d);
  else if (lane == before) {
    tg_export_thread_name(d->x, p->thread, p->function, clear_room(d));
    put_metadata(d, "thread_name", p->thread, &d->room);
    if (!room(d, &d->last, &d->clast, lane, sizeof *d->last))
      return TG_INTMAP_NONE;
  }
  return lane;
}

/* The next boundary of a track. */
static uint64_t boundary (Document *d, uint32_t lane, uint64_t time_ns) {
  uint64_t ns = document_ns(d, time_ns);
  if (ns <= d->last[lane])
    ns = d->last[lane] + 1;
  d->last[lane] = ns;
  return ns;
}

/* }================================================================== */

/*
** {==================================================================
** Calls
** ===================================================================
*/

static bool wants (const tg_Export *x, uint32_t type) {
  return (x->selection->types & type) != 0;
}

/* Whether the document still has room for values. */
static bool has_room (const Document *d) {
  return d->x->out->bytes < VALUES_END || d->x->options.limit > 0;
}

/* The values that a packet may have. */
static uint32_t type_of (const tg_Packet *p) {
  switch (p->why) {
    case TG_WHY_ENTER: return p->resumed ? 0 : TG_TYPE_ARGUMENTS;
    case TG_WHY_RETURN: return TG_TYPE_RETURN;
    case TG_WHY_EXCEPTION: return TG_TYPE_THROW;
    case TG_WHY_YIELD: return TG_TYPE_YIELD;
    case TG_WHY_TERMINATED: default: return 0;
  }
}

static bool has_values (const tg_Export *x, const tg_Packet *p) {
  return p->values.data != NULL && wants(x, type_of(p));
}

/* As a string, for 'args'. */
static void put_literals (const tg_Export *x, tg_LuaLiteral *w,
                          const tg_Packet *p, tg_Buf *room, tg_Buf *out) {
  tg_buf_clear(room);
  tg_export_literals(x, w, p, room);
  if (room->size > LONGEST) {
    size_t n = LONGEST;
    while (n > 0 && ((unsigned char)room->data[n] & 0xc0) == 0x80)
      n--;                    /* inside a character */
    room->size = n;
    tg_buf_addstr(room, " ...");
  }
  tg_v8profile_put_string(out, room->data, room->size);
  out->failed = out->failed || room->failed;
}

/* What is short, and refers to nothing long, is written sooner than handed
   over. */
static bool is_short (const tg_Packet *p) {
  return p->values.size < 16 && p->values.origin == NULL;
}

void tg_chrome_work (void *ud, tg_Batch *b) {
  tg_Export *x = ud;
  tg_LuaLiteral w = tg_export_literal(x);
  bool idle = atomic_load(&x->idle);
  for (; b->worked < b->count; b->worked++) {
    const tg_Packet *p = &b->packets[b->worked];
    if (!idle && has_values(x, p) && !is_short(p))
      put_literals(x, &w, p, &b->scratch.room, &b->text);
    b->ends[b->worked] = (uint32_t)b->text.size;
  }
  tg_lualiteral_free(&w);
}

static void put_short (Document *d, const tg_Packet *p, tg_Buf *out) {
  tg_Export *x = d->x;
  size_t at = out->size;
  if (tg_textcache_put(&x->brief, p->values, out))
    return;
  put_literals(x, &x->literal, p, &d->room, out);
  tg_textcache_keep(&x->brief, p->values, out, at);
}

/* Values as a member of 'args', if the trace has them. */
static void put_values (Document *d, tg_Buf *out, const char *key,
                        const tg_Packet *p) {
  if (!has_values(d->x, p) || !has_room(d))
    return;
  tg_buf_addstr(out, key);
  if (is_short(p))
    put_short(d, p, out);
  else {
    tg_Slice text = tg_export_worked(d->x);
    tg_buf_add(out, text.data, text.size);
  }
}

static void put_callsite (Document *d, const tg_Packet *p) {
  tg_buf_addstr(&d->args, ",\"called\":\"");
  if (!tg_chromenames_place(&d->words, p->caller, p->line, &d->args))
    fail(d);
}

/* What is known of a call at its entry waits for its exit. */
static bool enter (Document *d, const tg_Packet *p) {
  uint32_t level = tg_export_level(d->x, p);
  uint32_t lane = lane_of(d, p);
  if (lane == TG_INTMAP_NONE
      || !room(d, &d->boxes, &d->cboxes, level, sizeof *d->boxes))
    return false;
  Box *box = &d->boxes[level];
  *box = (Box){boundary(d, lane, p->time_ns), d->args.size, d->x->folded};
  if (wants(d->x, TG_TYPE_CALLSITE) && p->caller != 0)
    put_callsite(d, p);
  if (p->resumed)
    tg_buf_addstr(&d->args, ",\"resumed\":true");
  else
    put_values(d, &d->args, ",\"arguments\":", p);
  return true;
}

/* How it ended. */
static void put_completion (Document *d, const tg_Packet *p) {
  tg_Buf *out = d->out;
  switch (p->why) {
    case TG_WHY_RETURN:
      put_values(d, out, ",\"returns\":", p);
      tg_buf_addstr(out, p->tail ? ",\"tailCall\":true" : "");
      break;
    case TG_WHY_EXCEPTION:
      if (!has_values(d->x, p) || !has_room(d))
        tg_buf_addstr(out, ",\"throw\":\"?\"");
      put_values(d, out, ",\"throw\":", p);
      break;
    case TG_WHY_YIELD:
      if (!has_values(d->x, p) || !has_room(d))
        tg_buf_addstr(out, ",\"yield\":\"?\"");
      put_values(d, out, ",\"yield\":", p);
      break;
    case TG_WHY_TERMINATED:
      tg_buf_addstr(out, d->x->unfinished ? ",\"unfinished\":true"
                                          : ",\"terminated\":true");
      break;
    case TG_WHY_ENTER: default: break;
  }
}

/* The rest of 'args'. */
static void put_args (Document *d, const tg_Packet *p, const Box *box) {
  if (d->args.size > box->args)
    tg_buf_add(d->out, d->args.data + box->args, d->args.size - box->args);
  d->args.size = box->args;
  put_completion(d, p);
  if (d->x->folded > box->folded
      && tg_export_level(d->x, p) + 1 == d->x->depth) {
    tg_buf_addstr(d->out, ",\"folded\":");
    tg_buf_addu64(d->out, d->x->folded - box->folded);
  }
  tg_buf_addstr(d->out, "}}");
}

static void note_bare (Document *d, const tg_Packet *p) {
  if (p->values.data == NULL || has_room(d))
    return;
  if (d->x->bare++ == 0) {
    d->bare_ns = p->time_ns;
    atomic_store(&d->x->idle, true);
  }
}

static bool leave (Document *d, const tg_Packet *p) {
  uint32_t lane = tg_threadlist_of(&d->lanes, p->thread, p->function);
  const Box *box = &d->boxes[tg_export_level(d->x, p)];
  uint64_t end_ns = boundary(d, lane, p->time_ns);
  tg_buf_add(d->out, d->begin.data, d->begin.size);
  tg_buf_addu64(d->out, p->thread);
  put_time(d, ",\"ts\":", box->begin_ns);
  put_time(d, ",\"dur\":", end_ns - box->begin_ns);
  tg_buf_addchar(d->out, ',');
  if (!tg_chromenames_put(&d->words, p->function, d->out))
    return fail(d);
  put_args(d, p, box);
  note_bare(d, p);
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** Samples
** ===================================================================
*/

static void put_nodes (Document *d) {
  const tg_CallTree *t = &d->v8.profile.tree;
  tg_buf_addstr(d->out, "\"nodes\":[");
  for (uint32_t i = d->nnodes; i < t->count; i++) {
    tg_buf_addstr(d->out, i > d->nnodes ? ",{\"id\":" : "{\"id\":");
    tg_buf_addu64(d->out, TG_V8_ID(i));
    if (i > 0) {
      tg_buf_addstr(d->out, ",\"parent\":");
      tg_buf_addu64(d->out, TG_V8_ID(t->nodes[i].parent));
    }
    tg_buf_addchar(d->out, ',');
    tg_v8profile_put_frame(&d->v8, i, d->out);
    tg_buf_addchar(d->out, '}');
  }
  tg_buf_addstr(d->out, "],");
  d->nnodes = t->count;
}

#define PROFILER ",\"id\":\"0x1\"," \
  "\"cat\":\"disabled-by-default-v8.cpu_profiler\",\"args\":{\"data\":{"

static void put_chunk (Document *d) {
  if (d->nsamples == 0)
    return;
  begin_event(d, "P", SAMPLES_TID);
  put_time(d, ",\"ts\":", document_ns(d, d->sampled_ns));
  tg_buf_addstr(d->out, ",\"name\":\"ProfileChunk\"" PROFILER
                        "\"cpuProfile\":{");
  put_nodes(d);
  tg_buf_addstr(d->out, "\"samples\":[");
  tg_buf_add(d->out, d->samples.data, d->samples.size);
  tg_buf_addstr(d->out, "]},\"timeDeltas\":[");
  tg_buf_add(d->out, d->deltas.data, d->deltas.size);
  tg_buf_addstr(d->out, "]}}}");
  if (d->samples.failed || d->deltas.failed)
    fail(d);
  tg_buf_clear(&d->samples);
  tg_buf_clear(&d->deltas);
  d->nsamples = 0;
}

static void put_sample (Document *d, const tg_V8Sample *s) {
  if (d->nsamples++ > 0) {
    tg_buf_addchar(&d->samples, ',');
    tg_buf_addchar(&d->deltas, ',');
  }
  tg_buf_addu64(&d->samples, TG_V8_ID(s->node));
  tg_export_time(&d->deltas, s->at_ns - d->sampled_ns, 1000);
  d->sampled_ns = s->at_ns;
  if (d->nsamples == CHUNK)
    put_chunk(d);
}

static void begin_samples (Document *d) {
  char text[] = "main (samples)";
  const tg_Buf name = {.data = text, .size = sizeof text - 1};
  put_metadata(d, "thread_name", SAMPLES_TID, &name);
  begin_event(d, "P", SAMPLES_TID);
  put_time(d, ",\"ts\":", START_NS);
  tg_buf_addstr(d->out, ",\"name\":\"Profile\"" PROFILER);
  put_time(d, "\"startTime\":", START_NS);
  tg_buf_addstr(d->out, "}}}");
  tg_v8profile_start(&d->v8, d->x->start_ns);
  d->sampled_ns = d->x->start_ns;
}

/* Samples are looked at where there is an event around them. */
static void end_samples (Document *d) {
  const tg_Export *x = d->x;
  tg_V8Sample s;
  tg_v8profile_end(&d->v8, x->start_ns, x->end_ns, &s);
  put_sample(d, &s);
  put_sample(d, &(tg_V8Sample){0, x->end_ns});
  put_chunk(d);
  begin_event(d, "X", SAMPLES_TID);
  put_time(d, ",\"ts\":", START_NS);
  put_time(d, ",\"dur\":", x->end_ns - x->start_ns);
  tg_buf_addstr(d->out, ",\"name\":\"EvaluateScript\",\"cat\":\"Lua\","
                        "\"args\":{\"data\":{}}}");
}

/* }================================================================== */

/*
** {==================================================================
** The document
** ===================================================================
*/

static bool put_packet (Document *d, const tg_Packet *p) {
  tg_V8Sample s;
  bool ok = p->why == TG_WHY_ENTER ? enter(d, p) : leave(d, p);
  if (ok && d->x->options.samples && tg_v8profile_take(&d->v8, p, &s))
    put_sample(d, &s);
  if (d->x->left_out == 0)
    d->full_ns = p->time_ns;
  return ok && tg_outfile_turn(d->x->out);
}

static void put_events (Document *d) {
  tg_Packet p;
  bool more = tg_export_next(d->x, &p);
  d->full_ns = d->x->start_ns;
  if (d->x->options.samples)
    begin_samples(d);
  while (more && put_packet(d, &p))
    more = tg_export_next(d->x, &p);
  if (d->x->options.samples)
    end_samples(d);
}

static void put_mark (Document *d, uint64_t time_ns, const tg_Buf *name) {
  uint32_t tid = d->lanes.count > 0 ? d->lanes.list[0].thread : 1;
  begin_event(d, "I", tid);
  put_time(d, ",\"ts\":", document_ns(d, time_ns));
  tg_buf_addstr(d->out, ",\"s\":\"p\",\"cat\":\"tracegrip\",\"name\":");
  tg_v8profile_put_string(d->out, name->data, name->size);
  tg_buf_addstr(d->out, ",\"args\":{}}");
}

/* What is missing, where it is: a ring loses what came first, others what came
   last. */
static void put_marks (Document *d) {
  const tg_Export *x = d->x;
  bool first = x->lost[TG_LOSS_RING] > 0;
  tg_export_loss(x, clear_room(d));
  if (d->room.size > 0)
    put_mark(d, first ? x->start_ns : x->end_ns, &d->room);
  clear_room(d);
  if (x->left_out > 0) {
    tg_buf_addfmt(&d->room, "%" PRIu64 " calls left out", x->left_out);
    put_mark(d, d->full_ns, &d->room);
  }
  clear_room(d);
  if (x->bare > 0) {
    tg_buf_addstr(&d->room, "values of calls left out from here on");
    put_mark(d, d->bare_ns, &d->room);
  }
}

static void put_text (Document *d, const char *key, const char *text) {
  if (text == NULL)
    return;
  tg_buf_addstr(d->out, key);
  tg_v8profile_put_string(d->out, text, strlen(text));
}

static void put_date (Document *d) {
  char text[40];
  struct tm tm;
  time_t seconds = (time_t)((d->x->wall_ns + d->x->start_ns) / 1000000000);
  if (gmtime_r(&seconds, &tm) != NULL
      && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm) > 0)
    put_text(d, ",\"started\":", text);
}

static void put_count (Document *d, const char *key, uint64_t n) {
  tg_buf_addstr(d->out, key);
  tg_buf_addu64(d->out, n);
}

static void put_tail (Document *d) {
  const tg_Export *x = d->x;
  put_text(d, "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\"exporter\":",
           "tracegrip " TG_VERSION);
  put_text(d, ",\"trace\":", x->name);
  put_text(d, ",\"program\":", x->program->name);
  put_text(d, ",\"lua\":", x->program->lua);
  put_date(d);
  put_count(d, ",\"calls\":", x->calls);
  if (x->left_out > 0)
    put_count(d, ",\"leftOut\":", x->left_out);
  if (x->folded > 0)
    put_count(d, ",\"folded\":", x->folded);
  if (x->bare > 0)
    put_count(d, ",\"withoutValues\":", x->bare);
  tg_export_loss(x, clear_room(d));
  if (d->room.size > 0) {
    tg_buf_addchar(&d->room, '\0');
    put_text(d, ",\"lost\":", d->room.data);
  }
  tg_buf_addstr(d->out, "}}\n");
}

static void write (Document *d) {
  tg_buf_addstr(d->out, "{\"traceEvents\":[");
  put_process(d);
  put_events(d);
  put_marks(d);
  put_tail(d);
  if (d->args.failed || d->begin.failed || d->room.failed
      || d->v8.profile.status != TG_OK)
    fail(d);
}

tg_Status tg_format_chrome (tg_Export *x) {
  Document d = {
    .x = x, .out = &x->out->text, .words.functions = x->stream->functions
  };
  d.pid = x->pid != 0 ? x->pid : 1;
  if (x->options.samples && !tg_v8profile_init(&d.v8, x->stream->functions))
    fail(&d);
  else
    write(&d);
  tg_v8profile_free(&d.v8);
  tg_buf_free(&d.samples);
  tg_buf_free(&d.deltas);
  tg_chromenames_free(&d.words);
  tg_buf_free(&d.begin);
  tg_buf_free(&d.args);
  tg_buf_free(&d.room);
  tg_free(d.boxes);
  tg_free(d.last);
  tg_threadlist_free(&d.lanes);
  return x->status;
}

/* }================================================================== */
