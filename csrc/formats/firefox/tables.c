/*
** tables.c - what the threads of a processed profile share: stacks,
** frames, funcs, sources and strings.
*/
#include <string.h>

#include "base/alloc.h"
#include "formats/firefox/document.h"
#include "formats/firefox/meta.h"

static uint32_t find_name (tg_Document *w, uint32_t func) {
  tg_Buf name = {0};
  tg_meta_name(&w->tracks, &w->stacks.funcs[func], &name);
  uint32_t i = tg_document_string(w, name.data, name.size);
  w->ok = w->ok && !name.failed;
  tg_buf_free(&name);
  return i;
}

/* The strings that are the names of funcs; there are no more funcs to come. */
static bool find_names (tg_Document *w) {
  uint32_t n = w->stacks.nfuncs;
  w->names = tg_malloc((n + 1) * sizeof *w->names);
  if (w->names == NULL)
    return false;
  for (uint32_t i = 0; i < n; i++)
    w->names[i] = find_name(w, i);
  return w->ok;
}

/* The source of a func; TG_INTMAP_NONE if it has none. */
static uint32_t source_of (tg_Document *w, uint32_t func) {
  const tg_Function *f = tg_document_function(w, func);
  if (f == NULL || f->is_c || f->url == NULL || w->stacks.funcs[func].away)
    return TG_INTMAP_NONE;
  uint32_t i = tg_intern_add(&w->urls, f->url, strlen(f->url));
  if (i == TG_INTMAP_NONE)
    w->ok = false;
  return i;
}

static void put_stacks (tg_Document *w) {
  const tg_StackTables *c = &w->stacks;
  tg_document_put(w, "\"stackTable\":{");
  tg_document_column(w, "frame", true);
  for (uint32_t i = 0; i < c->nstacks; i++) {
    tg_document_next(w, i);
    tg_buf_addu64(w->out, c->stacks[i].frame);
  }
  tg_document_put(w, "]");
  tg_document_column(w, "prefixOffset", false);
  for (uint32_t i = 0; i < c->nstacks; i++) {
    uint32_t prefix = c->stacks[i].prefix;
    tg_document_next(w, i);
    tg_buf_addu64(w->out, prefix == TG_STACK_NONE ? 0 : i - prefix);
  }
  tg_buf_addfmt(w->out, "],\"length\":%u},", (unsigned)c->nstacks);
}

static void put_frames (tg_Document *w) {
  const tg_StackTables *c = &w->stacks;
  tg_buf_addfmt(w->out, "\"frameTable\":{\"length\":%u",
                (unsigned)c->nframes);
  tg_document_same(w, "address", "-1", c->nframes);
  tg_document_same(w, "inlineDepth", "0", c->nframes);
  tg_document_same(w, "subcategory", "0", c->nframes);
  tg_document_same(w, "nativeSymbol", "null", c->nframes);
  tg_document_same(w, "innerWindowID", "0", c->nframes);
  tg_document_same(w, "column", "null", c->nframes);
  tg_document_same(w, "originalLocation", "null", c->nframes);
  tg_document_column(w, "category", false);
  for (uint32_t i = 0; i < c->nframes; i++) {
    uint32_t func = c->frames[i].func;
    tg_document_next(w, i);
    tg_buf_addu64(w->out, tg_meta_category(tg_document_function(w, func),
                                           c->funcs[func].away));
  }
  tg_document_put(w, "]");
  tg_document_column(w, "func", false);
  for (uint32_t i = 0; i < c->nframes; i++) {
    tg_document_next(w, i);
    tg_buf_addu64(w->out, c->frames[i].func);
  }
  tg_document_put(w, "]");
  tg_document_column(w, "line", false);
  for (uint32_t i = 0; i < c->nframes; i++) {
    tg_document_next(w, i);
    uint32_t line = c->frames[i].line;
    tg_document_index(w, line > 0 ? line : TG_INTMAP_NONE);
  }
  tg_document_put(w, "]},");
}

/* Where a func is defined; a main chunk at line 1. */
static uint32_t line_of (tg_Document *w, uint32_t func) {
  const tg_Function *f = tg_document_function(w, func);
  if (source_of(w, func) == TG_INTMAP_NONE)
    return TG_INTMAP_NONE;
  return f->line > 0 ? f->line : 1;
}

static void put_funcs (tg_Document *w) {
  uint32_t n = w->stacks.nfuncs;
  tg_buf_addfmt(w->out, "\"funcTable\":{\"length\":%u", (unsigned)n);
  tg_document_same(w, "relevantForJS", "false", n);
  tg_document_same(w, "resource", "-1", n);
  tg_document_same(w, "columnNumber", "null", n);
  tg_document_same(w, "originalLocation", "null", n);
  tg_document_column(w, "name", false);
  for (uint32_t i = 0; i < n; i++) {
    tg_document_next(w, i);
    tg_document_index(w, w->names[i]);
  }
  tg_document_put(w, "]");
  tg_document_column(w, "isJS", false);
  for (uint32_t i = 0; i < n; i++) {
    tg_document_next(w, i);
    tg_document_put(w, source_of(w, i) != TG_INTMAP_NONE ? "true" : "false");
  }
  tg_document_put(w, "]");
  tg_document_column(w, "source", false);
  for (uint32_t i = 0; i < n; i++) {
    tg_document_next(w, i);
    tg_document_index(w, source_of(w, i));
  }
  tg_document_put(w, "]");
  tg_document_column(w, "lineNumber", false);
  for (uint32_t i = 0; i < n; i++) {
    tg_document_next(w, i);
    tg_document_index(w, line_of(w, i));
  }
  tg_document_put(w, "]},");
}

/* The text of a source, null if it cannot be had. */
static void put_content (tg_Document *w, const char *url, size_t size) {
  tg_Buf text = {0}, name = {0};
  tg_buf_add(&name, url, size);
  tg_buf_addchar(&name, '\0');
  if (!name.failed && w->x->options.sources && w->x->source != NULL
      && w->x->source(w->x->source_ud, name.data, &text))
    tg_export_string(w->out, text.data, text.size);
  else
    tg_document_put(w, "null");
  w->ok = w->ok && !text.failed && !name.failed;
  tg_buf_free(&text);
  tg_buf_free(&name);
  tg_document_turn(w);
}

static void put_sources (tg_Document *w) {
  uint32_t n = w->urls.count;
  tg_buf_addfmt(w->out, "\"sources\":{\"length\":%u", (unsigned)n);
  tg_document_same(w, "id", "null", n);
  tg_document_same(w, "startLine", "1", n);
  tg_document_same(w, "startColumn", "1", n);
  tg_document_same(w, "sourceMapURL", "null", n);
  tg_document_column(w, "filename", false);
  for (uint32_t i = 0; i < n; i++) {
    size_t size;
    const char *url = tg_intern_get(&w->urls, i, &size);
    tg_document_next(w, i);
    tg_document_index(w, tg_document_string(w, url, size));
  }
  tg_document_put(w, "]");
  tg_document_column(w, "content", false);
  for (uint32_t i = 0; i < n; i++) {
    size_t size;
    const char *url = tg_intern_get(&w->urls, i, &size);
    tg_document_next(w, i);
    put_content(w, url, size);
  }
  tg_document_put(w, "]},");
}

/* Last: the tables before it have brought in what they need. */
static void put_strings (tg_Document *w) {
  tg_document_word(w, TG_VIEWER_CALL);
  tg_document_word(w, TG_VIEWER_NOTE);
  tg_document_column(w, "stringArray", true);
  for (uint32_t i = 0; i < w->strings.count; i++) {
    size_t size;
    const char *s = tg_intern_get(&w->strings, i, &size);
    tg_document_next(w, i);
    tg_export_string(w->out, s, size);
  }
  tg_document_put(w, "]");
}

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
