/*
** entries.c - entries into bytes and back. Field for field the two halves are
** in the same order.
**
** Written by the file writer in the hook, when a trace is saved, and for a
** client that asks for blocks; read when a recording is opened, and by such a
** client. One thread each. Writing fails by the buffer's error alone. Reading
** believes nothing: what is not there, or impossible, is TG_ERR_FORMAT, memory
** that is refused TG_ERR_MEMORY, and then nothing is left to be freed.
**
** Numbers are as the machine has them, see fileformat.h; what is added to an
** entry comes last, where older readers pass over it.
*/
#include "recording/entries.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bytereader.h"

enum {                    /* flags of a FUNCTION entry */
  IS_VARARG = 1u << 0, IS_C = 1u << 1, IS_KNOWN = 1u << 2, IS_OWN = 1u << 3,
  IS_FILE = 1u << 4
};

#define SAMPLE_SHIFT 16   /* beside trace types: samples a second... */
#define BY_CLOCK (UINT32_C(1) << 30)  /* ...which are the clock's... */
#define NO_CALLS (UINT32_C(1) << 31)  /* ...and nothing else */
#define TYPES_MASK ((UINT32_C(1) << SAMPLE_SHIFT) - 1)  /* others come last */
_Static_assert(TG_NTYPES <= 31, "the last bit is none of theirs");

#define NAMES_MAX 65535u  /* in one list */
#define NAME_MOST 4096u   /* bytes of a function's: each event can name it */

void tg_program_free (tg_Program *p) {
  tg_free(p->name);
  tg_free(p->tracegrip);
  tg_free(p->lua);
  tg_free(p->asked);
  tg_free(p->directory);
  for (uint32_t i = 0; i < p->count; i++)
    tg_free(p->arguments[i]);
  tg_free(p->arguments);
  memset(p, 0, sizeof *p);
}

void tg_trace_entry_free (tg_TraceEntry *t) {
  tg_free(t->name);
  tg_options_free(&t->options);
  memset(t, 0, sizeof *t);
}

/*
** {==================================================================
** Writing: numbers as the machine has them, the header tells readers the order
** ===================================================================
*/

static void put_bytes (tg_Buf *out, const char *s, size_t size) {
  tg_buf_put32(out, (uint32_t)size);
  tg_buf_add(out, s, size);
}

/* NULL is another thing than "": a function without a name, and one whose name
   is empty. */
static void put_string (tg_Buf *out, const char *s) {
  if (s == NULL)
    tg_buf_put32(out, TG_ENTRY_ABSENT);
  else
    put_bytes(out, s, strlen(s));
}

/* What is beyond NAMES_MAX is left out: the reader's bound. */
static void put_list (tg_Buf *out, char *const *list, size_t n) {
  if (n > NAMES_MAX)
    n = NAMES_MAX;
  tg_buf_put32(out, (uint32_t)n);
  for (size_t i = 0; i < n; i++)
    put_string(out, list[i]);
}

/* Returns where the entry begins, for 'finish', which fills its size in: only
   then is it known. */
static size_t begin (tg_Buf *out, tg_EntryKind kind) {
  size_t at = out->size;
  tg_buf_put32(out, (uint32_t)kind);
  tg_buf_put32(out, 0);
  return at;
}

/* The entry is whole: its size is filled in, which readers pass over it by. */
static void finish (tg_Buf *out, size_t at) {
  if (out->failed)
    return;
  tg_assert(at + TG_ENTRY_HEAD <= out->size);
  uint32_t size = (uint32_t)(out->size - at - TG_ENTRY_HEAD);
  memcpy(out->data + at + 4, &size, sizeof size);
}

/* Who recorded. What was added since the first version comes last. */
void tg_entry_program (tg_Buf *out, const tg_Program *p) {
  size_t at = begin(out, TG_ENTRY_PROGRAM);
  put_string(out, p->name);
  put_string(out, p->tracegrip);
  put_string(out, p->lua);
  put_list(out, p->arguments, p->count);
  tg_buf_put32(out, p->remote);
  tg_buf_put32(out, p->pid);
  put_string(out, p->asked);
  put_string(out, p->directory);
  finish(out, at);
}

/* As many as its size says. */
void tg_entry_costs (tg_Buf *out, const tg_Costs *c) {
  size_t at = begin(out, TG_ENTRY_COSTS);
  for (int i = 0; i < TG_NCOSTS; i++)
    tg_buf_put32(out, c->ticks[i]);
  finish(out, at);
}

/* Numbers of the format, so they are not the struct's bits. */
static uint32_t function_flags (const tg_Function *f) {
  return (f->vararg ? IS_VARARG : 0u) | (f->is_c ? IS_C : 0u)
         | (f->known ? IS_KNOWN : 0u) | (f->own ? IS_OWN : 0u)
         | (f->file ? IS_FILE : 0u);
}

/* A definition. The text of its source is an entry of its own, once for all
   functions of a file. */
void tg_entry_function (tg_Buf *out, tg_FunctionId id, const tg_Function *f) {
  size_t at = begin(out, TG_ENTRY_FUNCTION);
  tg_buf_put32(out, id);
  tg_buf_put32(out, function_flags(f));
  tg_buf_put32(out, (uint32_t)f->role);
  tg_buf_put32(out, f->line);
  tg_buf_put32(out, f->last_line);
  put_string(out, f->name);
  put_string(out, f->url);
  put_list(out, f->params, f->params != NULL ? f->nparams : 0);
  if (f->symbol != NULL)        /* few have one */
    put_string(out, f->symbol);
  finish(out, at);
}

/* What only recording knows is there too: a reader is told what was asked for,
   and what a trace kept to. */
static void put_options (tg_Buf *out, const tg_Options *o) {
  tg_buf_put32(out, (o->types & TYPES_MASK) | o->sample << SAMPLE_SHIFT
                    | (o->wall ? BY_CLOCK : 0)
                    | (o->with_calls ? 0 : NO_CALLS));
  tg_buf_put32(out, o->limits.depth);
  tg_buf_put32(out, o->limits.properties);
  tg_buf_put32(out, o->limits.string);
  tg_buf_put32(out, o->limits.objects);
  tg_buf_put32(out, o->c);
  tg_buf_put32(out, o->max_depth);
  tg_buf_put32(out, (uint32_t)o->overflow);
  tg_buf_put64(out, o->min_duration_ns);
  tg_buf_put64(out, o->buffer);
  tg_buf_put64(out, o->max_events);
  tg_buf_put64(out, o->duration_ns);
  put_list(out, o->include.list, o->include.count);
  put_list(out, o->exclude.list, o->exclude.count);
  put_list(out, o->redact.list, o->redact.count);
  put_list(out, o->on.list, o->on.count);
  tg_buf_put64(out, o->calls);
  tg_buf_put64(out, o->parent.high);
  tg_buf_put64(out, o->parent.low);
  tg_buf_put64(out, o->parent.id);
  tg_buf_put32(out, o->windows);
  tg_buf_put32(out, o->types >> SAMPLE_SHIFT);
}

/* The end comes first, so that it can be filled in at a known place. */
void tg_entry_trace (tg_Buf *out, const tg_TraceEntry *t) {
  size_t at = begin(out, TG_ENTRY_TRACE);
  tg_buf_add(out, &t->end, sizeof t->end);
  tg_buf_put64(out, t->start);
  tg_buf_put64(out, t->ticks);
  tg_buf_put64(out, t->packets);
  put_string(out, t->name);
  put_options(out, &t->options);
  finish(out, at);
}

/* Numbers first: they are filled in again at known places. */
void tg_entry_misses (tg_Buf *out, const tg_Misses *m) {
  size_t at = begin(out, TG_ENTRY_MISSES);
  tg_buf_put64(out, m->retried);
  tg_buf_put32(out, m->n);
  for (uint32_t i = 0; i < m->n; i++)
    tg_buf_put64(out, m->counts[i]);
  for (uint32_t i = 0; i < m->n; i++)
    put_string(out, m->reasons[i]);
  finish(out, at);
}

/* A text may have zeros in it, so it has a length. */
void tg_entry_source (tg_Buf *out, const char *url, const char *text,
                      size_t size) {
  size_t at = begin(out, TG_ENTRY_SOURCE);
  put_string(out, url);
  put_bytes(out, text, size);
  finish(out, at);
}

/* }================================================================== */

/*
** {==================================================================
** Reading
** ===================================================================
*/

/* False: no whole entry is there. Its size is held against the bytes that are
   left (tg_take), before anything of it is looked at. */
bool tg_entry_next (const uint8_t **p, const uint8_t *end, tg_Entry *e) {
  tg_check(*p <= end);
  tg_ByteReader b = {*p, end, false};
  e->kind = tg_take32(&b);
  e->size = tg_take32(&b);
  e->data = tg_take(&b, e->size);
  *p = b.p;
  return !b.missing && e->kind != TG_ENTRY_NONE;
}

/* What is read, and the first thing that went wrong. */
typedef struct Source {
  tg_ByteReader b;
  uint32_t most;          /* bytes of a string; what is longer is cut */
  bool refused;           /* an allocation was */
} Source;

/* 'most' does not bound anything yet: only names of functions are cut. */
static Source source_of (const tg_Entry *e) {
  return (Source){{e->data, e->data + e->size, false}, UINT32_MAX, false};
}

/* Without memory the rest was not read, so 'missing' says nothing then. */
static tg_Status status_of (const Source *s) {
  if (s->refused)
    return TG_ERR_MEMORY;
  return s->b.missing ? TG_ERR_FORMAT : TG_OK;
}

/* Borrowed from the entry; data NULL: absent, or not there at all. */
static tg_Slice read_bytes (Source *s) {
  uint32_t size = tg_take32(&s->b);
  if (size == TG_ENTRY_ABSENT)
    return (tg_Slice){0};
  return (tg_Slice){.data = tg_take(&s->b, size), .size = size};
}

/* Owned by the caller; NULL if absent, or without memory. What is longer than
   'most' is cut: a name in a file can be as long as the file, and each of a
   million packets would repeat it. */
static char *read_string (Source *s) {
  tg_Slice bytes = read_bytes(s);
  if (bytes.data == NULL || s->refused)
    return NULL;
  size_t size = bytes.size < s->most ? bytes.size : s->most;
  char *copy = tg_strdup((const char *)bytes.data, size);
  s->refused = copy == NULL;
  return copy;
}

/* A list of strings, none of which is NULL; '*count' of them. Before it is
   allocated its length is held against the bytes that are left: a few of them
   must not ask for gigabytes. */
static char **read_list (Source *s, uint32_t *count) {
  uint32_t n = tg_take32(&s->b);
  *count = 0;
  if (n == 0 || s->b.missing)
    return NULL;
  if (n > NAMES_MAX || n > (size_t)(s->b.end - s->b.p) / 4) {
    s->b.missing = true;        /* not even their lengths can be there */
    return NULL;
  }
  char **list = tg_calloc(n, sizeof *list);
  s->refused = s->refused || list == NULL;
  while (list != NULL && *count < n) {
    char *string = read_string(s);
    if (string == NULL) {
      s->b.missing = true;
      break;
    }
    list[(*count)++] = string;
  }
  return list;
}

/* Fields that an older recording does not have are as if nobody had said
   anything. */
tg_Status tg_entry_read_program (const tg_Entry *e, tg_Program *out) {
  Source s = source_of(e);
  memset(out, 0, sizeof *out);
  out->name = read_string(&s);
  out->tracegrip = read_string(&s);
  out->lua = read_string(&s);
  out->arguments = read_list(&s, &out->count);
  if (s.b.p < s.b.end) {        /* older recordings end here */
    out->remote = tg_take32(&s.b) != 0;
    out->pid = tg_take32(&s.b);
  }
  if (s.b.p < s.b.end)          /* or here */
    out->asked = read_string(&s);
  if (s.b.p < s.b.end)
    out->directory = read_string(&s);
  tg_Status status = status_of(&s);
  if (status != TG_OK)
    tg_program_free(out);
  return status;
}

/* More reasons than there is room for are damage; a word that is too long is
   cut. */
tg_Status tg_entry_read_misses (const tg_Entry *e, tg_Misses *out) {
  Source s = source_of(e);
  *out = (tg_Misses){.known = true, .retried = tg_take64(&s.b)};
  uint32_t n = tg_take32(&s.b);
  if (n > TG_MISSES_MAX)
    return TG_ERR_FORMAT;
  out->n = n;
  for (uint32_t i = 0; i < out->n; i++)
    out->counts[i] = tg_take64(&s.b);
  for (uint32_t i = 0; i < out->n; i++) {
    tg_Slice word = read_bytes(&s);
    size_t size = word.size < TG_MISSES_WORD ? word.size : TG_MISSES_WORD - 1;
    if (word.data != NULL)
      memcpy(out->reasons[i], word.data, size);
  }
  return status_of(&s);
}

/* Flags that are not known are passed over. */
static void read_flags (tg_Function *f, uint32_t flags) {
  f->vararg = (flags & IS_VARARG) != 0;
  f->is_c = (flags & IS_C) != 0;
  f->known = (flags & IS_KNOWN) != 0;
  f->own = (flags & IS_OWN) != 0;
  f->file = (flags & IS_FILE) != 0;
}

/* Roles that only the hook knows (functions.h) are in no file. */
tg_Status tg_entry_read_function (const tg_Entry *e, tg_FunctionId *id,
                                  tg_Function *out) {
  Source s = source_of(e);
  uint32_t count;
  memset(out, 0, sizeof *out);
  s.most = NAME_MOST;
  *id = tg_take32(&s.b);
  read_flags(out, tg_take32(&s.b));
  out->role = (tg_Role)tg_take32(&s.b);
  out->line = tg_take32(&s.b);
  out->last_line = tg_take32(&s.b);
  out->name = read_string(&s);
  out->url = read_string(&s);
  out->params = read_list(&s, &count);
  out->nparams = (uint16_t)count;
  if (s.b.p < s.b.end)
    out->symbol = read_string(&s);
  tg_Status status = status_of(&s);
  tg_assert(s.b.p <= s.b.end);
  if (status == TG_OK && out->role > TG_ROLE_EXIT)
    status = TG_ERR_FORMAT;
  if (status != TG_OK)
    tg_function_clear(out);
  return status;
}

/* A stranger's patterns may take for ever (patterns.h). */
static void read_patterns (Source *s, tg_Patterns *to) {
  uint32_t count;
  to->list = read_list(s, &count);
  to->count = count;
  tg_patterns_bound(to, TG_BOUND_STRANGER);
}

/* Whatever the numbers are, a selection made of them can be used: they are
   limits. */
static void read_options (Source *s, tg_Options *o) {
  uint32_t types = tg_take32(&s->b);
  o->types = types & TG_TYPES_ALL & TYPES_MASK;
  o->with_calls = !(types & NO_CALLS);
  o->wall = (types & BY_CLOCK) != 0;
  o->sample = (types & ~(NO_CALLS | BY_CLOCK)) >> SAMPLE_SHIFT;
  o->limits.depth = tg_take32(&s->b);
  o->limits.properties = tg_take32(&s->b);
  o->limits.string = tg_take32(&s->b);
  o->limits.objects = tg_take32(&s->b);
  o->c = tg_take32(&s->b) != 0;
  o->max_depth = tg_take32(&s->b);
  o->overflow = (tg_Overflow)tg_take32(&s->b);
  o->min_duration_ns = tg_take64(&s->b);
  o->buffer = tg_take64(&s->b);
  o->max_events = tg_take64(&s->b);
  o->duration_ns = tg_take64(&s->b);
  read_patterns(s, &o->include);
  read_patterns(s, &o->exclude);
  read_patterns(s, &o->redact);
  if (s->b.p < s->b.end) {      /* older recordings end here */
    read_patterns(s, &o->on);
    o->calls = tg_take64(&s->b);
  }
  if (s->b.p < s->b.end) {      /* or here */
    o->parent.high = tg_take64(&s->b);
    o->parent.low = tg_take64(&s->b);
    o->parent.id = tg_take64(&s->b);
  }
  if (s->b.p < s->b.end)
    o->windows = tg_take32(&s->b);
  if (s->b.p < s->b.end)
    o->types |= tg_take32(&s->b) << SAMPLE_SHIFT & TG_TYPES_ALL;
}

/* As a whole, as the file writer fills it in. */
static void read_end (Source *s, tg_TraceEnd *end) {
  const uint8_t *p = tg_take(&s->b, sizeof *end);
  if (p != NULL)
    memcpy(end, p, sizeof *end);
}

/* What selects a case somewhere ('why', 'overflow') must be one that there
   is. */
tg_Status tg_entry_read_trace (const tg_Entry *e, tg_TraceEntry *out) {
  Source s = source_of(e);
  memset(out, 0, sizeof *out);
  read_end(&s, &out->end);
  out->start = tg_take64(&s.b);
  out->ticks = tg_take64(&s.b);
  out->packets = tg_take64(&s.b);
  out->name = read_string(&s);
  read_options(&s, &out->options);
  tg_Status status = status_of(&s);
  if (status == TG_OK && (out->name == NULL || out->end.why > TG_END_SIZE
                          || out->options.overflow > TG_OVERFLOW_WAIT))
    status = TG_ERR_FORMAT;
  if (status != TG_OK)
    tg_trace_entry_free(out);
  return status;
}

/* Any number is a cost: a wrong one makes times wrong, and nothing else. */
void tg_entry_read_costs (const tg_Entry *e, tg_Costs *out) {
  Source s = source_of(e);
  for (int i = 0; i < TG_NCOSTS; i++)
    out->ticks[i] = tg_take32(&s.b);
}

/* Borrowed and not copied: a text may be megabytes, and what is noted of it is
   its place. */
tg_Status tg_entry_read_source (const tg_Entry *e, tg_Slice *url,
                                tg_Slice *text) {
  Source s = source_of(e);
  *url = read_bytes(&s);
  *text = read_bytes(&s);
  return status_of(&s);
}

/* }================================================================== */
