/*
** test_entries.c - entries of recordings: there and back, cut at every byte,
** with any byte changed, with every allocation refused.
*/
#include "base/alloc.h"
#include "recording/entries.h"
#include "unit.h"

static char one[] = "one", none[] = "", spaced[] = "t h r e e";
static char *arguments[] = {one, none, spaced};
static char self[] = "self", value[] = "value";
static char *params[] = {self, value};
static char begins[] = "^a", ends[] = "b$";
static char *patterns[] = {begins, ends};
static char prog_lua[] = "prog.lua", version[] = "1.2.3";
static char f_name[] = "f", f_lua[] = "f.lua", trace_name[] = "trace";

static char why_not[] = "why not", place[] = "/a/place";

static const tg_Program program = {
  .name = prog_lua, .tracegrip = version, .arguments = arguments, .count = 3,
  .remote = true, .pid = 4711, .asked = why_not, .directory = place
};

static const tg_Function function = {
  .name = f_name, .url = f_lua, .params = params, .nparams = 2,
  .vararg = true, .known = true, .file = true, .line = 10, .last_line = 20,
  .role = TG_ROLE_PCALL
};

static char place_in[] = "a.so+0x12";

static const tg_Function unnamed = {
  .name = f_name, .url = f_lua, .symbol = place_in, .is_c = true
};

static const tg_TraceEntry trace = {
  .end = {.why = TG_END_DISK, .stop = 77, .ticks = 88, .packets = 99,
          .lost = {1, 2, 3, 4}},
  .start = 5, .ticks = 6, .packets = 7, .name = trace_name,
  .options = {
    .types = TG_TYPE_NAME | TG_TYPE_TIME, .c = true, .max_depth = 9,
    .limits = {1, 2, 3, TG_NOLIMIT}, .overflow = TG_OVERFLOW_RING,
    .min_duration_ns = 10, .buffer = UINT64_C(1) << 40, .max_events = 11,
    .duration_ns = 12, .include = {.list = patterns, .count = 2},
    .redact = {.list = patterns, .count = 1},
    .on = {.list = patterns, .count = 2}, .calls = 13
  }
};

/* The only entry in a buffer. */
static tg_Entry only (const tg_Buf *b) {
  const uint8_t *p = (const uint8_t *)b->data, *end = p + b->size;
  tg_Entry e = {0};
  UNIT_CHECK(tg_entry_next(&p, end, &e) && p == end);
  UNIT_CHECK(!tg_entry_next(&p, end, &e));
  p = (const uint8_t *)b->data;
  tg_entry_next(&p, end, &e);
  return e;
}

static bool same (const char *a, const char *b) {
  return (a == NULL || b == NULL) ? a == b : strcmp(a, b) == 0;
}

static void there_and_back (void) {
  tg_Buf b = {0};
  tg_Program p;
  tg_entry_program(&b, &program);
  tg_Entry e = only(&b);
  UNIT_CHECK(e.kind == TG_ENTRY_PROGRAM
             && tg_entry_read_program(&e, &p) == TG_OK);
  UNIT_CHECK(same(p.name, "prog.lua") && same(p.tracegrip, "1.2.3")
             && p.lua == NULL && p.count == 3
             && same(p.arguments[1], "") && same(p.arguments[2], "t h r e e"));
  UNIT_CHECK(p.remote && p.pid == 4711 && same(p.asked, "why not")
             && same(p.directory, "/a/place"));
  tg_program_free(&p);
  UNIT_CHECK(p.name == NULL && p.count == 0);
  e.size -= 4 + 8;        /* as it was once written, */
  UNIT_CHECK(tg_entry_read_program(&e, &p) == TG_OK
             && same(p.asked, "why not") && p.directory == NULL);
  tg_program_free(&p);
  e.size -= 4 + 7;        /* before that, */
  UNIT_CHECK(tg_entry_read_program(&e, &p) == TG_OK && p.count == 3
             && p.remote && p.pid == 4711 && p.asked == NULL);
  tg_program_free(&p);
  e.size -= 8;            /* and before that */
  UNIT_CHECK(tg_entry_read_program(&e, &p) == TG_OK && p.count == 3
             && !p.remote && p.pid == 0);
  tg_program_free(&p);

  tg_Function f;
  tg_FunctionId id;
  tg_buf_clear(&b);
  tg_entry_function(&b, 42, &function);
  e = only(&b);
  UNIT_CHECK(e.kind == TG_ENTRY_FUNCTION
             && tg_entry_read_function(&e, &id, &f) == TG_OK && id == 42);
  UNIT_CHECK(same(f.name, "f") && same(f.url, "f.lua") && f.nparams == 2
             && same(f.params[1], "value") && f.vararg && f.known && f.file
             && !f.is_c
             && !f.own && f.line == 10 && f.last_line == 20
             && f.role == TG_ROLE_PCALL && f.symbol == NULL);
  tg_function_clear(&f);
  tg_buf_clear(&b);
  tg_entry_function(&b, 43, &unnamed);
  e = only(&b);
  UNIT_CHECK(tg_entry_read_function(&e, &id, &f) == TG_OK && f.is_c
             && same(f.symbol, "a.so+0x12"));
  tg_function_clear(&f);
  e.size -= 4 + 9;        /* as it was before there were any */
  UNIT_CHECK(tg_entry_read_function(&e, &id, &f) == TG_OK
             && f.symbol == NULL);
  tg_function_clear(&f);

  tg_TraceEntry t;
  tg_buf_clear(&b);
  tg_entry_trace(&b, &trace);
  e = only(&b);
  UNIT_CHECK(e.kind == TG_ENTRY_TRACE
             && tg_entry_read_trace(&e, &t) == TG_OK);
  UNIT_CHECK(memcmp(&t.end, &trace.end, sizeof t.end) == 0 && t.start == 5
             && t.ticks == 6 && t.packets == 7 && same(t.name, "trace"));
  const tg_Options *o = &t.options;
  UNIT_CHECK(o->types == trace.options.types && o->c && o->max_depth == 9
             && memcmp(&o->limits, &trace.options.limits, sizeof o->limits) == 0
             && o->overflow == TG_OVERFLOW_RING && o->min_duration_ns == 10
             && o->buffer == UINT64_C(1) << 40 && o->max_events == 11
             && o->duration_ns == 12 && o->include.count == 2
             && same(o->include.list[1], "b$") && o->exclude.count == 0
             && o->redact.count == 1 && o->on.count == 2 && o->calls == 13);
  tg_trace_entry_free(&t);

  tg_Slice url, text;
  tg_buf_clear(&b);
  tg_entry_source(&b, "f.lua", "re\0turn", 7);
  e = only(&b);
  UNIT_CHECK(tg_entry_read_source(&e, &url, &text) == TG_OK && url.size == 5
             && text.size == 7 && memcmp(text.data, "re\0turn", 7) == 0);
  tg_buf_free(&b);
}

/* All entries one after the other. */
static void write_all (tg_Buf *b) {
  tg_entry_program(b, &program);
  tg_entry_function(b, 1, &function);
  tg_entry_function(b, 2, &unnamed);
  tg_entry_trace(b, &trace);
  tg_entry_source(b, "f.lua", "return 1", 8);
}

/* Reads whatever is there; how many entries were good, and the worst status. */
static int read_any (const uint8_t *p, const uint8_t *end, tg_Status *worst) {
  tg_Entry e;
  int good = 0;
  *worst = TG_OK;
  while (p < end && tg_entry_next(&p, end, &e)) {
    tg_Program program_;
    tg_Function f;
    tg_TraceEntry t;
    tg_FunctionId id;
    tg_Slice url, text;
    tg_Status s = TG_OK;
    if (e.kind == TG_ENTRY_PROGRAM) {
      s = tg_entry_read_program(&e, &program_);
      tg_program_free(&program_);
    }
    else if (e.kind == TG_ENTRY_FUNCTION) {
      s = tg_entry_read_function(&e, &id, &f);
      tg_function_clear(&f);
    }
    else if (e.kind == TG_ENTRY_TRACE) {
      s = tg_entry_read_trace(&e, &t);
      tg_trace_entry_free(&t);
    }
    else if (e.kind == TG_ENTRY_SOURCE)
      s = tg_entry_read_source(&e, &url, &text);
    good += s == TG_OK;
    if (s != TG_OK)
      *worst = s;
  }
  return good;
}

/* In memory of exactly that size, so that a sanitizer sees what is beyond. */
static int read_part (const tg_Buf *b, size_t size, tg_Status *worst) {
  uint8_t *part = tg_malloc(size > 0 ? size : 1);
  if (size > 0)
    memcpy(part, b->data, size);
  int good = read_any(part, part + size, worst);
  tg_free(part);
  return good;
}

static void cut_anywhere (void) {
  tg_Buf b = {0};
  tg_Status worst;
  int before = 0;
  write_all(&b);
  for (size_t n = 0; n <= b.size; n++) {
    int good = read_part(&b, n, &worst);
    UNIT_CHECK(worst == TG_OK && good >= before);   /* cut, but not spoilt */
    before = good;
  }
  UNIT_CHECK(before == 5);
  tg_buf_free(&b);
}

/* An entry may end before all its fields are there, but for those that came
   with a later version: two patterns of two bytes and a number, then the span
   that a trace hangs below, then its windows, then further types. */
static void too_small (void) {
  const uint32_t types = 4, windows = 4 + types, last = 3 * 8 + windows,
                 added = 4 + 2 * (4 + 2) + 8 + last;
  tg_Buf b = {0};
  tg_Status worst;
  tg_entry_trace(&b, &trace);
  uint32_t whole = (uint32_t)b.size - TG_ENTRY_HEAD;
  for (uint32_t n = 0; n < whole; n++) {
    memcpy(b.data + 4, &n, sizeof n);
    bool good = read_part(&b, TG_ENTRY_HEAD + n, &worst) == 1;
    UNIT_CHECK(good == (n == whole - added || n == whole - last
                        || n == whole - windows || n == whole - types)
               && worst == (good ? TG_OK : TG_ERR_FORMAT));
  }
  tg_buf_free(&b);
}

/* A changed size makes other entries of an entry's bytes, so there may be more
   of them than there were; a changed count or length asks for no memory. */
static void changed_anywhere (void) {
  tg_Buf b = {0};
  tg_Status worst;
  uint64_t seed = 1;
  write_all(&b);
  int most = (int)(b.size / TG_ENTRY_HEAD);
  for (int i = 0; i < 20000; i++) {
    size_t at = unit_random(&seed) % b.size;
    char old = b.data[at];
    b.data[at] = (char)unit_random(&seed);
    UNIT_CHECK(read_part(&b, b.size, &worst) <= most);
    UNIT_CHECK(worst != TG_ERR_MEMORY);
    b.data[at] = old;
  }
  tg_buf_free(&b);
}

/* Kinds and fields of another version are passed over. */
static void unknown (void) {
  tg_Buf b = {0};
  tg_Status worst;
  const uint32_t head[] = {99, 5};
  tg_buf_add(&b, head, sizeof head);
  tg_buf_add(&b, "12345", 5);
  size_t at = b.size;
  tg_entry_function(&b, 3, &unnamed);
  uint32_t more = (uint32_t)(b.size - at - TG_ENTRY_HEAD) + 3;
  memcpy(b.data + at + 4, &more, sizeof more);
  tg_buf_add(&b, "new", 3);
  tg_entry_source(&b, "u", "t", 1);
  UNIT_CHECK(read_part(&b, b.size, &worst) == 3 && worst == TG_OK);
  tg_buf_free(&b);
}

static void without_memory (void) {
  tg_Buf b = {0};
  tg_TraceEntry t;
  tg_Status status;
  uint64_t nth = 0;
  tg_entry_trace(&b, &trace);
  tg_Entry e = only(&b);
  do {
    tg_alloc_fail(++nth);
    status = tg_entry_read_trace(&e, &t);
    tg_alloc_fail(0);
    UNIT_CHECK(status == TG_OK || (status == TG_ERR_MEMORY && t.name == NULL));
    tg_trace_entry_free(&t);
  } while (status == TG_ERR_MEMORY);
  UNIT_CHECK(status == TG_OK && nth > 5);
  tg_buf_free(&b);
}

int main (void) {
  UNIT_RUN(there_and_back);
  UNIT_RUN(cut_anywhere);
  UNIT_RUN(too_small);
  UNIT_RUN(changed_anywhere);
  UNIT_RUN(unknown);
  UNIT_RUN(without_memory);
  return UNIT_END();
}
