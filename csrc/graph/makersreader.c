/* makersreader.c - see makersreader.h. */
#include "graph/makersreader.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

/* What fields are called; the others are passed over. */
enum { F_NAME, F_SCRIPT, F_SCRIPT_ID, F_LINE, F_COLUMN, F_OTHER };
enum { C_ID, C_FUNCTION, C_COUNT, C_SIZE, C_CHILDREN, C_OTHER };

static const char *const function_words[] = {
  "name", "script_name", "script_id", "line", "column", NULL
};
static const char *const call_words[] = {
  "id", "function_info_index", "count", "size", "children", NULL
};

static bool no_memory (tg_MakersReader *r) {
  r->graph->failed = true;
  return false;
}

/* ---- fields ---- */

static uint8_t field_of (const tg_Buf *text, const char *const *words) {
  uint8_t i = 0;
  while (words[i] != NULL && (text->size != strlen(words[i])
                              || memcmp(text->data, words[i], text->size) != 0))
    i++;
  return i;
}

static bool read_fields (tg_MakersReader *r, tg_MakerFields *f,
                         const char *const *words) {
  uint64_t n = 0;
  f->count = 0;
  if (!tg_jsonscan_expect(r->scan, '['))
    return false;
  while (tg_jsonscan_more(r->scan, ']', &n)) {
    if (n > TG_MAKERFIELDS_MOST || !tg_jsonscan_string(r->scan, &r->text))
      return tg_jsonscan_fail(r->scan, "the name of a field");
    f->what[f->count++] = field_of(&r->text, words);
  }
  return r->scan->wrong == NULL;
}

bool tg_makersreader_function_fields (tg_MakersReader *r) {
  return read_fields(r, &r->function, function_words);
}

bool tg_makersreader_call_fields (tg_MakersReader *r) {
  return read_fields(r, &r->call, call_words);
}

/* ---- functions ---- */

/* Numbers that are not told, as of functions of the engine, are larger than 32
   bits in some files. */
static uint32_t number (uint64_t n) {
  return n <= UINT32_MAX ? (uint32_t)n : 0;
}

/* What is left of a record whose first element there is. */
static bool read_function (tg_MakersReader *r, uint64_t *n) {
  const tg_MakerFields *f = &r->function;
  uint64_t v[F_OTHER + 1] = {0};
  for (uint32_t i = 0; i < f->count; i++) {
    if (i > 0 && !tg_jsonscan_more(r->scan, ']', n))
      return tg_jsonscan_fail(r->scan, "all fields of a function");
    if (!tg_jsonscan_unsigned(r->scan, &v[f->what[i]]))
      return false;
  }
  if (v[F_NAME] > UINT32_MAX || v[F_SCRIPT] > UINT32_MAX)
    return tg_jsonscan_fail(r->scan, "the name of a function");
  tg_MakerFunction function = {
    .name = (uint32_t)v[F_NAME], .script = (uint32_t)v[F_SCRIPT],
    .script_id = number(v[F_SCRIPT_ID]), .line = number(v[F_LINE]),
    .column = number(v[F_COLUMN])};
  return tg_makers_add_function(&r->graph->makers, function) || no_memory(r);
}

bool tg_makersreader_functions (tg_MakersReader *r) {
  uint64_t n = 0;
  if (r->graph->makers.nfunctions > 0 || !tg_jsonscan_expect(r->scan, '['))
    return tg_jsonscan_fail(r->scan, "\"trace_function_infos\" once");
  while (tg_jsonscan_more(r->scan, ']', &n)) {
    if (r->function.count == 0)
      return tg_jsonscan_fail(r->scan, "the fields of functions before");
    if (!read_function(r, &n))
      return false;
  }
  return r->scan->wrong == NULL;
}

/* ---- the tree ---- */

static bool open_level (tg_MakersReader *r) {
  if (!tg_jsonscan_expect(r->scan, '['))
    return false;
  if (!tg_grow(&r->levels, &r->clevels, r->nlevels + 1, sizeof *r->levels))
    return no_memory(r);
  r->levels[r->nlevels++] = 0;
  return true;
}

static bool add_maker (tg_MakersReader *r, const uint64_t *v,
                       tg_MakerId caller) {
  tg_Makers *m = &r->graph->makers;
  tg_Maker maker = {.caller = caller, .function = number(v[C_FUNCTION]),
                    .count = v[C_COUNT], .size = v[C_SIZE]};
  if (v[C_FUNCTION] >= m->nfunctions)
    return tg_jsonscan_fail(r->scan, "a function that there is");
  if (m->count == UINT32_MAX - 1 || !tg_makers_add(m, maker)
      || !tg_intmap_set(&r->ids, v[C_ID], m->count))
    return no_memory(r);
  return true;
}

/* What is left of a record whose first element there is: up to its children,
   which are the last field. */
static bool read_call (tg_MakersReader *r, tg_MakerId caller) {
  const tg_MakerFields *f = &r->call;
  uint64_t v[C_OTHER + 1] = {0};
  for (uint32_t i = 0; i < f->count; i++) {
    if (i > 0 && !tg_jsonscan_more(r->scan, ']', &r->levels[r->nlevels - 1]))
      return tg_jsonscan_fail(r->scan, "all fields of a call");
    if (i + 1 < f->count && !tg_jsonscan_unsigned(r->scan, &v[f->what[i]]))
      return false;
  }
  return add_maker(r, v, caller) && open_level(r);
}

/* Lists within lists: the makers that are open say whose the next one is. */
static bool read_calls (tg_MakersReader *r) {
  const tg_Makers *m = &r->graph->makers;
  tg_MakerId open = 0;
  if (!open_level(r))
    return false;
  while (r->nlevels > 0) {
    if (tg_jsonscan_more(r->scan, ']', &r->levels[r->nlevels - 1])) {
      if (!read_call(r, open))
        return false;
      open = m->count;
      continue;
    }
    if (r->scan->wrong != NULL)
      return false;
    r->nlevels--;
    open = open > 0 ? tg_makers_get(m, open)->caller : 0;
  }
  return true;
}

bool tg_makersreader_tree (tg_MakersReader *r) {
  const tg_MakerFields *f = &r->call;
  if (r->graph->makers.count > 0)
    return tg_jsonscan_fail(r->scan, "\"trace_tree\" once");
  if (f->count == 0 || f->what[f->count - 1] != C_CHILDREN)
    return tg_jsonscan_skip(r->scan);
  return read_calls(r);
}

/* ---- the end ---- */

static bool has_names (const tg_MakersReader *r) {
  const tg_Graph *g = r->graph;
  for (uint32_t i = 0; i < g->makers.nfunctions; i++) {
    const tg_MakerFunction *f = &g->makers.functions[i];
    if (f->name >= g->strings.count || f->script >= g->strings.count)
      return tg_jsonscan_fail(r->scan, "the name of each function");
  }
  return true;
}

bool tg_makersreader_end (tg_MakersReader *r) {
  tg_Makers *m = &r->graph->makers;
  for (uint32_t i = 0; i < m->nof; i++) {
    uint32_t maker = m->of[i] != 0 ? tg_intmap_find(&r->ids, m->of[i])
                                   : TG_INTMAP_NONE;
    m->of[i] = maker != TG_INTMAP_NONE ? maker : 0;
  }
  return has_names(r);
}

void tg_makersreader_free (tg_MakersReader *r) {
  tg_intmap_free(&r->ids);
  tg_free(r->levels);
  tg_buf_free(&r->text);
}
