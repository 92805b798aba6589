/*
** tables.c - what the threads of a processed profile share: stacks, frames,
** funcs, sources and strings.
**
** Called once, by processed.c, when all packets have been read. The order of
** the tables matters: sources are numbered as funcs ask for them, strings as
** all others do.
*/
#include <string.h>

#include "base/alloc.h"
#include "export/jsontext.h"
#include "formats/firefox/document.h"
#include "formats/firefox/meta.h"

/* Names are put together of several parts, so they are made once for each func
   and not when the column comes. */
static uint32_t find_name (tg_Document *w, uint32_t func) {
  tg_Buf name = {0};
  tg_meta_name(&w->tracks, &w->stacks.funcs[func], &name);
  uint32_t i = tg_document_string(w, name.data, name.size);
  w->ok = w->ok && !name.failed;
  tg_buf_free(&name);
  return i;
}

/* A marker shows where its function is defined, as text: the viewer's own table
   of funcs is not at hand there. */
static uint32_t find_place (tg_Document *w, uint32_t func) {
  tg_Buf place = {0};
  uint32_t i = TG_INTMAP_NONE;
  if (tg_meta_place(tg_document_function(w, func), &place))
    i = tg_document_string(w, place.data, place.size);
  w->ok = w->ok && !place.failed;
  tg_buf_free(&place);
  return i;
}

/* The strings that are the names and places of funcs; there are no more funcs
   to come. */
static bool find_names (tg_Document *w) {
  uint32_t n = w->stacks.nfuncs;
  w->names = tg_malloc((n + 1) * sizeof *w->names);
  w->places = tg_malloc((n + 1) * sizeof *w->places);
  if (w->names == NULL || w->places == NULL)
    return false;
  for (uint32_t i = 0; i < n; i++)
    w->names[i] = find_name(w, i);
  for (uint32_t i = 0; i < n; i++)
    w->places[i] = find_place(w, i);
  return w->ok;
}

/*
** {==================================================================
** Stacks and frames
** ===================================================================
*/

static void put_stack_frame (tg_Document *w, const void *table, uint32_t i) {
  const tg_CallStack *stacks = table;
  tg_buf_addu64(w->out, stacks[i].frame);
}

/* The distance in rows from a stack up to its prefix; 0: it has no prefix. */
static void put_prefix_offset (tg_Document *w, const void *table, uint32_t i) {
  const tg_CallStack *stacks = table;
  uint32_t prefix = stacks[i].prefix;
  tg_assert(prefix == TG_STACK_NONE || prefix < i);
  tg_buf_addu64(w->out, prefix == TG_STACK_NONE ? 0 : i - prefix);
}

/* A stack is its innermost frame and the stack below: there are as many as
   there are places in the tree of calls. */
static void put_stacks (tg_Document *w) {
  static const tg_DocumentColumn columns[] = {
    {"frame", NULL, put_stack_frame},
    {"prefixOffset", NULL, put_prefix_offset}, {0}
  };
  uint32_t n = w->stacks.nstacks;
  tg_document_put(w, "\"stackTable\":{");
  tg_document_columns(w, columns, w->stacks.stacks, n, true);
  tg_buf_addfmt(w->out, ",\"length\":%u},", (unsigned)n);
}

static void put_category (tg_Document *w, const void *table, uint32_t i) {
  const tg_CallFrame *frames = table;
  uint32_t func = frames[i].func;
  tg_assert(func < w->stacks.nfuncs);
  tg_buf_addu64(w->out, tg_meta_category(tg_document_function(w, func),
                                         w->stacks.funcs[func].away));
}

static void put_func (tg_Document *w, const void *table, uint32_t i) {
  const tg_CallFrame *frames = table;
  tg_buf_addu64(w->out, frames[i].func);
}

static void put_frame_line (tg_Document *w, const void *table, uint32_t i) {
  const tg_CallFrame *frames = table;
  tg_document_index(w, frames[i].line > 0 ? frames[i].line : TG_INTMAP_NONE);
}

/* Of what a native program has, addresses, inlined frames, libraries, Lua has
   nothing; the viewer wants the columns all the same. */
static void put_frames (tg_Document *w) {
  static const tg_DocumentColumn columns[] = {
    {"address", "-1", NULL}, {"inlineDepth", "0", NULL},
    {"subcategory", "0", NULL}, {"nativeSymbol", "null", NULL},
    {"innerWindowID", "0", NULL}, {"column", "null", NULL},
    {"originalLocation", "null", NULL}, {"category", NULL, put_category},
    {"func", NULL, put_func}, {"line", NULL, put_frame_line}, {0}
  };
  uint32_t n = w->stacks.nframes;
  tg_buf_addfmt(w->out, "\"frameTable\":{\"length\":%u", (unsigned)n);
  tg_document_columns(w, columns, w->stacks.frames, n, false);
  tg_document_put(w, "},");
}

/* }================================================================== */

/*
** {==================================================================
** Funcs and their sources
** ===================================================================
*/

/* The source of a func; TG_INTMAP_NONE: there is no source. */
static uint32_t source_of (tg_Document *w, uint32_t func) {
  const tg_Function *f = tg_document_function(w, func);
  if (f == NULL || f->is_c || f->url == NULL || w->stacks.funcs[func].away)
    return TG_INTMAP_NONE;
  uint32_t i = tg_intern_add(&w->urls, f->url, strlen(f->url));
  if (i == TG_INTMAP_NONE)
    w->ok = false;
  return i;
}

/* Where a func is defined; a main chunk at line 1. */
static uint32_t line_of (tg_Document *w, uint32_t func) {
  const tg_Function *f = tg_document_function(w, func);
  if (source_of(w, func) == TG_INTMAP_NONE)
    return TG_INTMAP_NONE;
  return f->line > 0 ? f->line : 1;
}

/* Names were found before (find_names), so 'table' is not looked at; nor is it
   in the columns below, which ask for a func by its number. */
static void put_func_name (tg_Document *w, const void *table, uint32_t i) {
  (void)table;
  tg_assert(w->names != NULL && i < w->stacks.nfuncs);
  tg_document_index(w, w->names[i]);
}

/* The viewer shows the source of what it takes for JavaScript only. */
static void put_is_js (tg_Document *w, const void *table, uint32_t i) {
  (void)table;
  tg_document_put(w, source_of(w, i) != TG_INTMAP_NONE ? "true" : "false");
}

static void put_source (tg_Document *w, const void *table, uint32_t i) {
  (void)table;
  tg_document_index(w, source_of(w, i));
}

static void put_line (tg_Document *w, const void *table, uint32_t i) {
  (void)table;
  tg_document_index(w, line_of(w, i));
}

/* "resource" is a library or a web site: -1, none. Columns are not known in
   Lua. */
static void put_funcs (tg_Document *w) {
  static const tg_DocumentColumn columns[] = {
    {"relevantForJS", "false", NULL}, {"resource", "-1", NULL},
    {"columnNumber", "null", NULL}, {"originalLocation", "null", NULL},
    {"name", NULL, put_func_name}, {"isJS", NULL, put_is_js},
    {"source", NULL, put_source}, {"lineNumber", NULL, put_line}, {0}
  };
  uint32_t n = w->stacks.nfuncs;
  tg_buf_addfmt(w->out, "\"funcTable\":{\"length\":%u", (unsigned)n);
  tg_document_columns(w, columns, w->stacks.funcs, n, false);
  tg_document_put(w, "},");
}

/* The text of a source, null if it cannot be had. */
static void put_content (tg_Document *w, const void *table, uint32_t i) {
  tg_Buf text = {0}, name = {0};
  size_t size;
  const char *url = tg_intern_get(table, i, &size);
  tg_buf_add(&name, url, size);
  tg_buf_addchar(&name, '\0');
  if (!name.failed && w->x->options.sources && w->x->source != NULL
      && w->x->source(w->x->source_ud, name.data, &text))
    tg_jsontext_string(w->out, text.data, text.size);
  else
    tg_document_put(w, "null");
  w->ok = w->ok && !text.failed && !name.failed;
  tg_buf_free(&text);
  tg_buf_free(&name);
  tg_document_turn(w);          /* a text may be long */
}

/* The interning of urls is by itself: a source's number is its row. */
static void put_file_name (tg_Document *w, const void *table, uint32_t i) {
  size_t size;
  const char *url = tg_intern_get(table, i, &size);
  tg_document_index(w, tg_document_string(w, url, size));
}

/* Those that funcs have asked for; 'urls' grows no more from here on. */
static void put_sources (tg_Document *w) {
  static const tg_DocumentColumn columns[] = {
    {"id", "null", NULL}, {"startLine", "1", NULL}, {"startColumn", "1", NULL},
    {"sourceMapURL", "null", NULL}, {"filename", NULL, put_file_name},
    {"content", NULL, put_content}, {0}
  };
  uint32_t n = w->urls.count;
  tg_buf_addfmt(w->out, "\"sources\":{\"length\":%u", (unsigned)n);
  tg_document_columns(w, columns, &w->urls, n, false);
  tg_document_put(w, "},");
}

/* }================================================================== */

static void put_one_string (tg_Document *w, const void *table, uint32_t i) {
  size_t size;
  const char *s = tg_intern_get(table, i, &size);
  tg_jsontext_string(w->out, s, size);
}

/* Last: the tables before it have brought in what they need, and the threads
   need no more than the names of markers. */
static void put_strings (tg_Document *w) {
  static const tg_DocumentColumn columns[] = {
    {"stringArray", NULL, put_one_string}, {0}
  };
  tg_document_word(w, TG_VIEWER_CALL);
  tg_document_word(w, TG_VIEWER_NOTE);
  if (w->tracks.console) {
    tg_document_word(w, TG_VIEWER_CONSOLE);
    tg_document_word(w, TG_VIEWER_TIMER);
  }
  tg_document_columns(w, columns, &w->strings, w->strings.count, true);
}

/* What has no rows is there because the viewer reads it unasked. */
void tg_document_shared (tg_Document *w) {
  if (!find_names(w)) {
    w->ok = false;
    return;
  }
  tg_document_put(w, "\"shared\":{");
  put_stacks(w);
  put_frames(w);
  put_funcs(w);
  put_sources(w);
  tg_document_put(w, "\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],"
      "\"host\":[],\"type\":[]},\"nativeSymbols\":{\"length\":0,"
      "\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[]},"
      "\"sourceLocationTable\":{\"length\":0,\"source\":[],\"line\":[],"
      "\"column\":[]},");
  put_strings(w);
  tg_document_put(w, "},");
}
