/* allocways.c - see allocways.h. */
#include "profile/allocways.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

#define LEVELS 256u     /* DevTools go down a tree by calls of their own */
#define SCRIPTS (1u << 24)      /* numbers that no debugger's scripts have */

void tg_allocways_free (tg_AllocWays *w) {
  tg_profile_free(&w->profile);
  tg_calltree_free(&w->tree);
  tg_free(w->ways);
  tg_free(w->used);
  tg_free(w->ids);
  memset(w, 0, sizeof *w);
}

/* ---- ways ---- */

/* From where a call leads on: see allocways.h. */
static uint32_t caller_of (const tg_CallTree *t, uint32_t way, uint32_t row) {
  for (uint32_t at = way; at != 0 && !t->nodes[at].traced;
       at = t->nodes[at].parent) {
    if (t->nodes[at].row == row)
      return t->nodes[at].parent;
  }
  return way;
}

/* False without memory. */
static bool add_way (tg_AllocWays *w, uint32_t node) {
  const tg_Node *n = &w->profile.tree.nodes[node];
  uint32_t from = w->ways[n->parent];
  bool called = n->tally.calls > 0;
  w->ways[node] = from;
  if (tg_function_is_pause(tg_profile_function(&w->profile, n->row)))
    return true;
  if (called)
    from = caller_of(&w->tree, from, n->row);
  uint32_t way = tg_calltree_child(&w->tree, from, n->row);
  if (way == 0)
    return false;
  w->tree.nodes[way].traced |= called;
  w->ways[node] = way;
  return true;
}

/* A node has a larger number than the one above it, here and there. */
static bool find_ways (tg_AllocWays *w) {
  w->nways = w->profile.tree.count;
  w->ways = tg_calloc((size_t)w->nways + 1, sizeof *w->ways);
  if (w->ways == NULL || !tg_calltree_init(&w->tree))
    return false;
  for (uint32_t i = 1; i < w->nways; i++) {
    if (!add_way(w, i))
      return false;
  }
  w->used = tg_calloc((size_t)w->tree.count, sizeof *w->used);
  return w->used != NULL;
}

bool tg_allocways_read (tg_AllocWays *w, tg_Reader *reader, tg_Pos end) {
  tg_Packet packet;
  memset(w, 0, sizeof *w);
  if (!tg_profile_init(&w->profile, tg_reader_stream(reader)->functions, true))
    return false;
  w->profile.levels = LEVELS;
  w->profile.usage.on = true;
  tg_reader_hold(reader);
  tg_reader_watch(reader, tg_profile_gone, &w->profile);
  while (tg_reader_next(reader, end, &packet))
    tg_profile_add(&w->profile, &packet);
  return w->profile.status == TG_OK
         && tg_reader_status(reader) != TG_ERR_MEMORY && find_ways(w);
}

uint32_t tg_allocways_use (tg_AllocWays *w, tg_OriginId origin) {
  uint32_t node = tg_live_owner(&w->profile.usage.live, origin);
  if (node >= w->nways)
    return TG_NO_WAY;
  w->used[w->ways[node]] = 1;
  return w->ways[node];
}

/* By a block that the stream does not tell of yet. */
uint32_t tg_allocways_now (tg_AllocWays *w) {
  uint32_t way = w->ways[tg_profile_node(&w->profile)];
  w->used[way] = 1;
  return way;
}

/* ---- scripts ---- */

bool tg_scriptids_add (tg_ScriptIds *s, const char *name, size_t size,
                       uint32_t id) {
  uint32_t i = tg_intern_add(&s->names, name, size);
  if (i == TG_INTMAP_NONE
      || !tg_grow(&s->ids, &s->capacity, i + 1, sizeof *s->ids))
    return false;
  s->ids[i] = id;
  return true;
}

void tg_scriptids_free (tg_ScriptIds *s) {
  tg_intern_free(&s->names);
  tg_free(s->ids);
  memset(s, 0, sizeof *s);
}

/* Else one of the file's own. */
static uint32_t script_of (const tg_ScriptIds *s, const char *name,
                           uint32_t text) {
  uint32_t i = s != NULL ? tg_intern_find(&s->names, name, strlen(name))
                         : TG_INTMAP_NONE;
  return i != TG_INTMAP_NONE ? s->ids[i] : SCRIPTS + text;
}

/* ---- makers ---- */

typedef struct Putting {
  tg_AllocWays *w;      /* borrows */
  tg_Makers *makers;    /* borrows */
  tg_Graph *graph;      /* borrows */
  uint64_t *made;       /* owns; by way, allocations... */
  uint64_t *bytes;      /* ...and their bytes; one memory */
  uint32_t *functions;  /* owns; by row of the profile; 0: none yet */
  tg_Buf room;          /* owns */
} Putting;

static void add_amount (Putting *p, uint32_t way, tg_Amount amount) {
  p->made[way] += amount.count;
  p->bytes[way] += amount.allocated;
  if (amount.count > 0)
    p->w->used[way] = 1;
}

/* What each way has made, and which lead to one that has made anything. */
static void add_amounts (Putting *p) {
  tg_AllocWays *w = p->w;
  add_amount(p, 0, w->profile.usage.outside);
  for (uint32_t i = 1; i < w->nways; i++)
    add_amount(p, w->ways[i], tg_usage_node(&w->profile.usage, i).self);
  for (uint32_t i = w->tree.count; --i > 0;)
    w->used[w->tree.nodes[i].parent] |= w->used[i];
  w->used[0] = 1;
}

static uint32_t text (Putting *p, const char *s) {
  return tg_graph_words(p->graph, &p->room, s, strlen(s));
}

static bool add_function (Putting *p, const tg_Function *f) {
  const char *name = tg_function_title(f);
  tg_MakerFunction m = {
    .name = text(p, name != NULL ? name : "(anonymous function)"),
    .script = text(p, !f->is_c && f->url != NULL ? f->url : "")};
  if (!f->is_c && f->url != NULL) {
    m.script_id = script_of(p->w->scripts, f->url, m.script);
    m.line = f->line > 0 ? (uint32_t)f->line : 1;
    m.column = 1;
  }
  return tg_makers_add_function(p->makers, m);
}

static bool add_root (Putting *p) {
  return tg_makers_add_function(p->makers, (tg_MakerFunction){
    .name = text(p, "(root)"), .script = text(p, "")});
}

/* False without memory. */
static bool add_maker (Putting *p, uint32_t way) {
  const tg_Node *n = &p->w->tree.nodes[way];
  tg_Maker maker = {.count = p->made[way], .size = p->bytes[way]};
  if (way > 0) {
    if (p->functions[n->row] == 0) {
      p->functions[n->row] = p->makers->nfunctions;
      if (!add_function(p, tg_profile_function(&p->w->profile, n->row)))
        return false;
    }
    maker.function = p->functions[n->row];
    maker.caller = p->w->ids[n->parent];
  }
  p->w->ids[way] = p->makers->count + 1;
  return tg_makers_add(p->makers, maker);
}

static bool put (Putting *p) {
  tg_AllocWays *w = p->w;
  size_t n = w->tree.count;
  p->made = tg_calloc(2 * n, sizeof *p->made);
  p->functions = tg_calloc((size_t)w->profile.nrows + 1, sizeof *p->functions);
  w->ids = tg_calloc(n, sizeof *w->ids);
  if (p->made == NULL || p->functions == NULL || w->ids == NULL)
    return false;
  p->bytes = p->made + n;
  add_amounts(p);
  bool done = add_root(p);
  for (uint32_t i = 0; i < n && done; i++)
    done = !w->used[i] || add_maker(p, i);
  return done && !p->graph->failed;
}

bool tg_allocways_put (tg_AllocWays *w, tg_Graph *g) {
  Putting p = {.w = w, .makers = &g->makers, .graph = g};
  tg_assert(g->makers.count == 0 && w->ids == NULL);
  bool done = put(&p);
  tg_free(p.made);
  tg_free(p.functions);
  tg_buf_free(&p.room);
  return done;
}
