/* comparison.c - see comparison.h. */
#include "graph/comparison.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "graph/groups.h"
#include "graph/identity.h"

/*
** {==================================================================
** Two
** ===================================================================
*/

typedef struct Change {
  uint64_t added, removed, added_bytes, removed_bytes;
  uint32_t node;        /* one that was added; TG_NO_NODE */
  uint32_t class;
} Change;

typedef struct Diff {
  tg_Intern classes;    /* owns, as all here */
  Change *list;
  uint32_t capacity;
  bool failed;
} Diff;

static Change *change_of (Diff *d, const tg_Graph *g, uint32_t node) {
  size_t size;
  const char *s = tg_graph_class(g, node, &size);
  uint32_t known = d->classes.count;
  uint32_t i = tg_intern_add(&d->classes, s, size);
  if (i == TG_INTMAP_NONE
      || !tg_grow(&d->list, &d->capacity, i + 1, sizeof *d->list)) {
    d->failed = true;
    return NULL;
  }
  if (d->classes.count > known)
    d->list[i] = (Change){.node = TG_NO_NODE, .class = i};
  return &d->list[i];
}

/* Of those that are in one and not in the other. */
static void count_changes (Diff *d, const tg_Graph *g, const uint8_t *kept,
                           bool added) {
  for (uint32_t i = 0; i < g->count && !d->failed; i++) {
    if (kept[i] || !tg_graph_is_object(g, i))
      continue;
    Change *c = change_of(d, g, i);
    if (c == NULL)
      return;
    if (added) {
      c->node = (c->node == TG_NO_NODE) ? i : c->node;
      c->added++;
      c->added_bytes += g->sizes[i];
    }
    else {
      c->removed++;
      c->removed_bytes += g->sizes[i];
    }
  }
}

static int64_t growth_of (const Change *c) {
  return (int64_t)c->added_bytes - (int64_t)c->removed_bytes;
}

static int by_growth (const void *a, const void *b) {
  const Change *x = a, *y = b;
  int64_t i = growth_of(x), j = growth_of(y);
  if (i != j)
    return (i < j) - (i > j);
  return (x->class > y->class) - (x->class < y->class);
}

static void write_change (tg_View *now, const Diff *d, const Change *c,
                          tg_Sink *out) {
  size_t size;
  const char *s = tg_intern_get(&d->classes, c->class, &size);
  out->object(out);
  tg_sink_key(out, "name");
  tg_sink_text(out, &now->room, s, size);
  tg_sink_count(out, "added", c->added);
  tg_sink_count(out, "removed", c->removed);
  tg_sink_count(out, "added_bytes", c->added_bytes);
  tg_sink_count(out, "removed_bytes", c->removed_bytes);
  tg_sink_key(out, "bytes");
  out->integer(out, growth_of(c));
  if (c->node != TG_NO_NODE) {
    tg_buf_clear(&now->text);
    tg_paths_text(&now->paths, c->node, &now->text);
    tg_sink_key(out, "path");
    tg_sink_text(out, &now->room, now->text.data, now->text.size);
  }
  out->close(out);
}

static void write_sum (tg_Sink *out, const char *name, uint64_t count,
                       uint64_t bytes) {
  out->key(out, name, strlen(name));
  out->object(out);
  tg_sink_count(out, "count", count);
  tg_sink_count(out, "bytes", bytes);
  out->close(out);
}

static void write_diff (tg_View *now, Diff *d, uint32_t most, tg_Sink *out) {
  Change all = {0};
  uint32_t n = d->classes.count;
  for (uint32_t i = 0; i < n; i++) {
    all.added += d->list[i].added;
    all.removed += d->list[i].removed;
    all.added_bytes += d->list[i].added_bytes;
    all.removed_bytes += d->list[i].removed_bytes;
  }
  if (n > 1)
    qsort(d->list, n, sizeof *d->list, by_growth);
  out->object(out);
  write_sum(out, "added", all.added, all.added_bytes);
  write_sum(out, "removed", all.removed, all.removed_bytes);
  tg_sink_key(out, "classes");
  out->array(out);
  for (uint32_t i = 0; i < n && i < most; i++)
    write_change(now, d, &d->list[i], out);
  out->close(out);
  out->close(out);
}

bool tg_comparison_diff (tg_View *now, tg_View *before, uint32_t most,
                         tg_Sink *out) {
  Diff d = {0};
  uint8_t *kept = tg_identity_survivors(&now->graph, &before->graph);
  uint8_t *stayed = tg_identity_survivors(&before->graph, &now->graph);
  d.failed = kept == NULL || stayed == NULL;
  if (!d.failed) {
    count_changes(&d, &now->graph, kept, true);
    count_changes(&d, &before->graph, stayed, false);
  }
  if (!d.failed)
    write_diff(now, &d, most, out);
  tg_free(kept);
  tg_free(stayed);
  tg_free(d.list);
  tg_intern_free(&d.classes);
  return !d.failed;
}

/* }================================================================== */

/*
** {==================================================================
** Several
** ===================================================================
*/

typedef struct Growing {
  tg_View *views;       /* borrows */
  uint32_t n;
  tg_Groups groups;     /* owns, as all here */
  uint32_t **of;        /* by view: each node's group */
  tg_ClassSum **sums;   /* by view: each group's */
  uint32_t *limits;     /* by view: how many groups there were */
  uint64_t *survivors;  /* by group */
  uint8_t *grows;       /* by group */
} Growing;

static const tg_ClassSum *sum_of (const Growing *x, uint32_t view,
                                  uint32_t group) {
  static const tg_ClassSum none;
  return group < x->limits[view] ? &x->sums[view][group] : &none;
}

static bool count_groups (Growing *x) {
  for (uint32_t i = 0; i < x->n; i++) {
    tg_View *v = &x->views[i];
    x->of[i] = tg_groups_number(&x->groups, &v->paths);
    if (x->of[i] == NULL)
      return false;
    x->limits[i] = x->groups.count;
    x->sums[i] = tg_classes_add(&v->graph, &v->dominators, x->of[i],
                                x->limits[i]);
    if (x->sums[i] == NULL)
      return false;
  }
  return true;
}

/* Of the last: what the one before had, and the first did not. */
static bool count_survivors (Growing *x) {
  const tg_Graph *last = &x->views[x->n - 1].graph;
  x->survivors = tg_calloc((size_t)x->groups.count + 1, sizeof *x->survivors);
  uint8_t *late = tg_identity_survivors(last, &x->views[x->n - 2].graph);
  uint8_t *early = tg_identity_survivors(last, &x->views[0].graph);
  bool done = x->survivors != NULL && late != NULL && early != NULL;
  for (uint32_t i = 0; done && i < last->count; i++) {
    uint32_t group = x->of[x->n - 1][i];
    bool between = late[i] && (x->n == 2 || !early[i]);
    if (group != TG_NO_NODE && between)
      x->survivors[group]++;
  }
  tg_free(late);
  tg_free(early);
  return done;
}

/* By bytes of the objects themselves, or their number, from each to the
   next. */
static bool has_grown (const Growing *x, uint32_t group) {
  bool counts = true, bytes = true;
  for (uint32_t i = 1; i < x->n; i++) {
    const tg_ClassSum *a = sum_of(x, i - 1, group);
    const tg_ClassSum *b = sum_of(x, i, group);
    counts = counts && b->count > a->count;
    bytes = bytes && b->self > a->self;
  }
  return counts || bytes;
}

/* What waits to be collected hangs at the root by that name. */
static bool is_garbage (const Growing *x, uint32_t group) {
  const tg_Groups *g = &x->groups;
  size_t size;
  while (g->list[group].above != 0 && g->list[group].above != group)
    group = g->list[group].above;
  const char *s = tg_intern_get(&g->words, g->list[group].label, &size);
  return size == strlen("to be collected")
         && memcmp(s, "to be collected", size) == 0;
}

static void mark_growing (Growing *x) {
  for (uint32_t i = 1; i < x->groups.count; i++)
    x->grows[i] = has_grown(x, i) && !is_garbage(x, i);
}

static int64_t retained_growth (const Growing *x, uint32_t group) {
  return (int64_t)sum_of(x, x->n - 1, group)->retained
         - (int64_t)sum_of(x, 0, group)->retained;
}

/* The highest of those above that grow, up to one that does not: a table that
   grows is not the entries' reason, but who they are below of. */
static bool is_told_above (const Growing *x, uint32_t group) {
  const tg_Groups *g = &x->groups;
  for (uint32_t i = g->list[group].above; i != 0; i = g->list[i].above) {
    if (x->grows[i] && sum_of(x, x->n - 1, i)->count > 1
        && retained_growth(x, i) >= retained_growth(x, group))
      return true;
    if (g->list[i].above == i)
      break;
  }
  return false;
}

/* A single table whose entries grow is told by these. */
static bool has_row_below (const Growing *x, uint32_t group,
                           const uint8_t *rows) {
  const tg_ClassSum *last = sum_of(x, x->n - 1, group);
  if (last->count != sum_of(x, 0, group)->count)
    return false;
  for (uint32_t i = group + 1; i < x->groups.count; i++) {
    if (rows[i] && x->groups.list[i].above == group
        && retained_growth(x, i) * 4 >= retained_growth(x, group))
      return true;
  }
  return false;
}

typedef struct GrowthRow {
  int64_t growth;
  uint32_t group;
} GrowthRow;

static int by_row (const void *a, const void *b) {
  const GrowthRow *x = a, *y = b;
  if (x->growth != y->growth)
    return (x->growth < y->growth) - (x->growth > y->growth);
  return (x->group > y->group) - (x->group < y->group);
}

static void write_numbers (const Growing *x, uint32_t group, bool bytes,
                           tg_Sink *out) {
  out->array(out);
  for (uint32_t i = 0; i < x->n; i++) {
    const tg_ClassSum *sum = sum_of(x, i, group);
    out->integer(out, (int64_t)(bytes ? sum->self : sum->count));
  }
  out->close(out);
}

static const char *label_of (const Growing *x, uint32_t group, size_t *size) {
  return tg_intern_get(&x->groups.words, x->groups.list[group].label, size);
}

static bool is_label (const Growing *x, uint32_t group, const char *word) {
  size_t size;
  const char *s = label_of(x, group, &size);
  return size == strlen(word) && memcmp(s, word, size) == 0;
}

/* As ways are written (paths.c): what each program has, by its name; how many
   labels that stands for. */
static uint32_t add_known (const Growing *x, const uint32_t *list, uint32_t n,
                           tg_Buf *to) {
  if (n < 2 || !is_label(x, list[n - 1], "registry"))
    return 0;
  bool modules = is_label(x, list[n - 2], "._LOADED");
  if (!modules && !is_label(x, list[n - 2], "[2]"))
    return 0;
  tg_buf_addstr(to, modules ? "package.loaded" : "_G");
  return 2;
}

static void add_label (const Growing *x, uint32_t group, bool joined,
                       tg_Buf *to) {
  size_t size;
  const char *s = label_of(x, group, &size);
  bool field = size > 0 && (s[0] == '.' || s[0] == '[');
  if (to->size > 0 && (!field || !joined))
    tg_buf_addstr(to, " > ");
  bool first = to->size == 0 && size > 0 && s[0] == '.';
  tg_buf_add(to, s + first, size - first);
}

/* Where it is, with "[*]" for what differs: from the group up. */
static void add_place (const Growing *x, uint32_t group, tg_Buf *to) {
  const tg_Groups *g = &x->groups;
  uint32_t list[64], n = 0;
  bool joined = true;
  for (; group != 0 && n < 64; group = g->list[group].above)
    list[n++] = group;
  n -= add_known(x, list, n, to);
  while (n-- > 0) {
    size_t size;
    const char *s = label_of(x, list[n], &size);
    bool upvalue = size > 8 && memcmp(s, "upvalue ", 8) == 0;
    add_label(x, list[n], joined, to);
    joined = tg_paths_joins(s, size) || s[0] == '[';
    if (upvalue && n > 0 && is_label(x, list[n - 1], "value"))
      n--;                      /* an upvalue's value is the upvalue */
  }
}

static void write_growth (const Growing *x, uint32_t group, tg_Sink *out) {
  tg_View *v = &x->views[x->n - 1];
  const tg_ClassSum *sum = sum_of(x, x->n - 1, group);
  size_t size;
  const char *s = tg_intern_get(&x->groups.words,
                                x->groups.list[group].class, &size);
  out->object(out);
  tg_sink_key(out, "name");
  tg_sink_text(out, &v->room, s, size);
  tg_sink_key(out, "counts");
  write_numbers(x, group, false, out);
  tg_sink_key(out, "bytes");
  write_numbers(x, group, true, out);
  tg_sink_count(out, "survivors", x->survivors[group]);
  tg_buf_clear(&v->text);
  add_place(x, group, &v->text);
  tg_sink_key(out, "place");
  tg_sink_text(out, &v->room, v->text.data, v->text.size);
  tg_sink_count(out, "id", v->graph.ids[sum->node]);
  tg_sink_count(out, "retained", sum->retained);
  tg_buf_clear(&v->text);
  tg_paths_text(&v->paths, sum->node, &v->text);
  tg_sink_key(out, "path");
  tg_sink_text(out, &v->room, v->text.data, v->text.size);
  out->close(out);
}

static bool write_growing (Growing *x, uint32_t most, tg_Sink *out) {
  uint32_t n = 0, count = x->groups.count;
  GrowthRow *rows = tg_malloc(((size_t)count + 1) * sizeof *rows);
  uint8_t *told = tg_calloc((size_t)count + 1, 1);
  bool done = rows != NULL && told != NULL;
  for (uint32_t i = count; done && i-- > 1;) {
    told[i] = x->grows[i] && !is_told_above(x, i);
    if (told[i])
      rows[n++] = (GrowthRow){retained_growth(x, i), i};
  }
  if (done && n > 1)
    qsort(rows, n, sizeof *rows, by_row);
  if (done) {
    out->object(out);
    tg_sink_key(out, "growing");
    out->array(out);
    for (uint32_t i = 0, k = 0; i < n && k < most; i++) {
      if (has_row_below(x, rows[i].group, told))
        continue;
      write_growth(x, rows[i].group, out);
      k++;
    }
    out->close(out);
    out->close(out);
  }
  tg_free(rows);
  tg_free(told);
  return done;
}

bool tg_comparison_growing (tg_View *views, uint32_t n, uint32_t most,
                            tg_Sink *out) {
  Growing x = {.views = views, .n = n};
  x.of = tg_calloc((size_t)n + 1, sizeof *x.of);
  x.sums = tg_calloc((size_t)n + 1, sizeof *x.sums);
  x.limits = tg_calloc((size_t)n + 1, sizeof *x.limits);
  bool done = x.of != NULL && x.sums != NULL && x.limits != NULL && n > 1
              && count_groups(&x) && count_survivors(&x);
  x.grows = done ? tg_calloc((size_t)x.groups.count + 1, 1) : NULL;
  done = done && x.grows != NULL;
  if (done) {
    mark_growing(&x);
    done = write_growing(&x, most, out);
  }
  for (uint32_t i = 0; i < n && x.of != NULL && x.sums != NULL; i++) {
    tg_free(x.of[i]);
    tg_free(x.sums[i]);
  }
  tg_free(x.of);
  tg_free(x.sums);
  tg_free(x.limits);
  tg_free(x.survivors);
  tg_free(x.grows);
  tg_groups_free(&x.groups);
  return done;
}

/* }================================================================== */
