/*
** htmlsums.c - see htmlsums.h. For html.c, on its thread, once for each
** document. Memory that was refused and a user who stops the export are in the
** export's status.
*/
#include "formats/htmlsums.h"

#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "stream/eventreader.h"
#include "stream/marks.h"
#include "text/protobuf.h"

static bool fail (tg_HtmlSums *s) {
  if (s->x->status == TG_OK)
    s->x->status = TG_ERR_MEMORY;
  return false;
}

/*
** {==================================================================
** Packets
** ===================================================================
*/

/* The node of the innermost frame that is open, 0 if there is none. */
static uint32_t innermost (const tg_HtmlSums *s) {
  return s->profile.nopen > 0 ? s->open[s->profile.nopen - 1] : 0;
}

/* The parent of the node of a frame that has just been entered: its caller's
   node, or below that the node of its coroutine. 0 without memory. */
static uint32_t parent_of (tg_HtmlSums *s, const tg_Packet *p) {
  uint32_t n = s->profile.nopen;
  const tg_Open *open = s->profile.open;
  if (n > 1 && open[n - 2].thread == open[n - 1].thread)
    return s->open[n - 2];
  uint32_t thread = tg_threadlist_of(&s->threads, p);
  if (thread == TG_INTMAP_NONE)
    return 0;
  return tg_calltree_child(&s->tree, n > 1 ? s->open[n - 2] : 0,
                           TG_HTMLSUMS_THREADS + thread);
}

/* Frames beyond the document's depth are part of the frame there, as in its
   timeline. */
static uint32_t node_of (tg_HtmlSums *s, const tg_Packet *p) {
  uint32_t n = s->profile.nopen;
  if (n > s->x->depth)
    return s->open[n - 2];
  uint32_t parent = parent_of(s, p);
  if (parent == 0)
    return 0;
  uint32_t node =
      tg_calltree_child(&s->tree, parent, s->profile.open[n - 1].call.row);
  s->tree.nodes[node].tally.calls += node != 0 && !p->resumed && !p->sampled;
  const tg_Open *top = &s->profile.open[n - 1];
  tg_bytick_enter(&s->tree, node, p,
                  tg_profile_function(&s->profile, top->call.row));
  return node;
}

static bool enter (tg_HtmlSums *s, const tg_Packet *p) {
  uint32_t node = node_of(s, p);
  if (node == 0
      || !tg_grow(&s->open, &s->copen, s->profile.nopen, sizeof *s->open)
      || !tg_grow_zeroed(&s->bytes, &s->cbytes, node + 1, sizeof *s->bytes))
    return fail(s);
  s->open[s->profile.nopen - 1] = node;
  return true;
}

/* What was allocated, of which nothing is nobody's: the root has a place for
   that. */
static void add_mark (tg_HtmlSums *s, const tg_Packet *p) {
  uint32_t node = tg_bytick_allocating(&s->tree, innermost(s));
  tg_profile_add(&s->profile, p);
  if (p->mark == TG_MARK_ALLOCATIONS && node != 0)
    s->bytes[node] += tg_event_allocations(p->values).allocated;
}

static void pass_time (tg_HtmlSums *s, uint64_t now_ns, uint64_t spent_ns) {
  tg_bytick_pass(&s->bytick, &s->tree, innermost(s), now_ns, spent_ns);
}

/* What ran in no frame that is open, and has a row by now. */
static bool add_inside (tg_HtmlSums *s, tg_FunctionId function,
                        uint32_t *node) {
  uint32_t row = tg_funclabels_of(&s->profile.labels, function);
  tg_assert(row < s->profile.nrows);
  *node = tg_calltree_child(&s->tree, *node, row);
  return *node != 0
         && tg_grow_zeroed(&s->bytes, &s->cbytes, *node + 1,
                           sizeof *s->bytes);
}

static bool add_tick (tg_HtmlSums *s, const tg_Packet *p) {
  uint32_t node = innermost(s);
  pass_time(s, p->time_ns, p->spent_ns);
  tg_profile_add(&s->profile, p);
  if (s->profile.status != TG_OK
      || (p->function != 0 && !add_inside(s, p->function, &node)))
    return fail(s);
  tg_bytick_tick(&s->bytick, &s->tree, node, p);
  return true;
}

/* An error is counted with the frame that it ends, unless that frame is folded
   into the one around it. */
static bool add_frame (tg_HtmlSums *s, const tg_Packet *p) {
  uint32_t n = s->profile.nopen, node = innermost(s);
  pass_time(s, p->time_ns, p->spent_ns);
  if (p->why == TG_WHY_EXCEPTION && n > 0 && n <= s->x->depth)
    s->tree.nodes[node].tally.throws++;
  tg_profile_add(&s->profile, p);
  if (s->profile.status != TG_OK)
    return fail(s);
  return p->why != TG_WHY_ENTER || enter(s, p);
}

static bool add_packet (tg_HtmlSums *s, const tg_Packet *p) {
  if (!tg_packet_is_moment(p))
    return add_frame(s, p);
  if (p->why == TG_WHY_TICK)
    return add_tick(s, p);
  add_mark(s, p);
  return true;
}

/* }================================================================== */

/*
** {==================================================================
** The reading
** ===================================================================
*/

static bool read_packets (tg_HtmlSums *s, tg_MinDuration *m) {
  const uint32_t every = 1u << 13;
  tg_Packet p;
  for (uint32_t n = 1; tg_minduration_next(m, s->x->stop, &p); n++) {
    if (!add_packet(s, &p))
      return false;
    if (n % every == 0 && !tg_export_counting(s->x, p.time_ns))
      return false;
  }
  return true;
}

/* Waits in calls have a row, if there are any. False without memory. */
static bool settle (tg_HtmlSums *s) {
  uint32_t count = s->tree.count;
  uint32_t idle = tg_funclabels_of(&s->profile.labels, TG_FUNCTION_IDLE);
  return idle != TG_INTMAP_NONE
         && tg_bytick_settle(&s->bytick, &s->tree, idle)
         && (s->tree.count == count
             || tg_profile_row(&s->profile, TG_FUNCTION_IDLE) == idle);
}

/* As a report of the same reading ends (trace/report.c). */
static bool end_profile (tg_HtmlSums *s, tg_MinDuration *m) {
  uint64_t start_ns, end_ns;
  tg_export_span(s->x, m, &start_ns, &end_ns);
  if (end_ns > s->bytick.now_ns)
    pass_time(s, end_ns, s->bytick.spent_ns);
  tg_profile_end(&s->profile, start_ns, end_ns);
  if (s->profile.status != TG_OK || !settle(s))
    return fail(s);
  s->samples = tg_reader_samples(m->reader);
  for (uint32_t i = 0; i < s->profile.nrows; i++)
    s->calls += s->profile.rows[i].tally.calls;
  return true;
}

/* Damage is the end of what there is, as for the document. */
static bool read_all (tg_HtmlSums *s, tg_Reader *reader) {
  tg_MinDuration m;
  tg_minduration_init(&m, reader, s->x->selection->min_duration_ns);
  tg_minduration_watch(&m, tg_profile_gone, &s->profile);
  if (s->profile.usage.on)
    tg_reader_hold(reader);
  if (s->bytick.ticks != TG_TICKS_NONE)
    tg_reader_tick(reader);
  bool ok = read_packets(s, &m);
  tg_Status status = tg_minduration_status(&m);
  if (ok && status != TG_OK && status != TG_ERR_FORMAT) {
    s->x->status = status;
    ok = false;
  }
  ok = ok && end_profile(s, &m);
  tg_minduration_free(&m);
  return ok;
}

/* Another reader of the same, which is not told of values. NULL without
   memory. */
static tg_Reader *new_reader (const tg_Export *x) {
  tg_Selection selection = {0};
  tg_Reader *r = tg_reader_again(x->minduration->reader);
  bool ok = r != NULL && tg_selection_copy(&selection, x->selection);
  selection.types &= TG_TYPE_ALLOCATIONS;
  ok = ok && tg_reader_reselect(r, &selection);
  tg_selection_clear(&selection);
  if (ok)
    return r;
  tg_reader_free(r);
  return NULL;
}

bool tg_htmlsums_read (tg_HtmlSums *s, tg_Export *x) {
  *s = (tg_HtmlSums){.x = x, .bytick.ticks = tg_bytick_kind(
    x->selection->sample, x->selection->with_calls)};
  tg_Reader *reader = new_reader(x);
  bool memory = (x->selection->types & TG_TYPE_ALLOCATIONS) != 0;
  bool ok = reader != NULL
            && tg_profile_init(&s->profile, x->stream->functions, memory)
            && tg_profile_tick(&s->profile, s->bytick.ticks)
            && tg_calltree_init(&s->tree);
  if (ok && (memory || s->bytick.ticks != TG_TICKS_NONE))
    tg_profile_lines(&s->profile, TG_LINED_ROWS);
  s->profile.usage.on = s->profile.usage.lined = memory;
  ok = ok ? read_all(s, reader) : fail(s);
  tg_reader_free(reader);
  tg_export_counted(x);
  return ok;
}

void tg_htmlsums_free (tg_HtmlSums *s) {
  tg_profile_free(&s->profile);
  tg_threadlist_free(&s->threads);
  tg_calltree_free(&s->tree);
  tg_free(s->bytes);
  tg_free(s->open);
}

/* }================================================================== */

/*
** {==================================================================
** The tree in the document
** ===================================================================
*/

/* A node in the document. */
typedef struct Written {
  uint32_t number;
  uint64_t calls, ns, bytes;  /* of nodes below it that are left out */
} Written;

/* Children come after their parents, so all below a node is added up when the
   loop comes to it. */
static void add_totals (tg_CallTree *t) {
  for (uint32_t i = 0; i < t->count; i++)
    t->nodes[i].tally.total_ns = t->nodes[i].tally.self_ns;
  for (uint32_t i = t->count - 1; i > 0; i--)
    t->nodes[t->nodes[i].parent].tally.total_ns += t->nodes[i].tally.total_ns;
}

static uint32_t count_from (const tg_CallTree *t, uint64_t least_ns) {
  uint32_t n = 0;
  for (uint32_t i = 1; i < t->count; i++)
    n += t->nodes[i].tally.total_ns >= least_ns;
  return n;
}

/* What a node has at least, so that there are no more than 'most'. */
static uint64_t find_least (const tg_CallTree *t, uint32_t most) {
  uint64_t least_ns = t->count - 1 > most;
  while (least_ns > 0 && least_ns < UINT64_MAX / 2
         && count_from(t, least_ns) > most)
    least_ns *= 2;
  return least_ns;
}

/* The sums of a node that is left out go to its parent, which may be left out,
   too. */
static void leave_out (const tg_HtmlSums *s, Written *list, uint64_t least_ns) {
  for (uint32_t i = s->tree.count - 1; i > 0; i--) {
    const tg_Node *n = &s->tree.nodes[i];
    if (n->tally.total_ns >= least_ns)
      continue;
    Written *up = &list[n->parent];
    up->calls += list[i].calls + n->tally.calls;
    up->ns += list[i].ns + n->tally.self_ns;
    up->bytes += list[i].bytes + (i < s->cbytes ? s->bytes[i] : 0);
  }
}

static void put_place (tg_Buf *out, uint32_t number, uint32_t parent,
                       uint64_t row, bool thread) {
  tg_protobuf_varint(out, number - parent);
  tg_protobuf_varint(out, row << 1 | thread);
}

static void put_sums (const tg_HtmlSums *s, tg_Buf *out, const tg_Tally *t,
                      uint64_t bytes) {
  tg_protobuf_varint(out, t->calls);
  tg_protobuf_varint(out, t->throws);
  tg_protobuf_varint(out, t->self_ns);
  if (s->profile.usage.on)
    tg_protobuf_varint(out, bytes);
}

/* First the nodes that stay, then below them a node each for the sums of the
   nodes that were left out. */
static void put_nodes (const tg_HtmlSums *s, Written *list, uint64_t least_ns,
                       tg_Buf *out) {
  uint32_t next = 1;
  for (uint32_t i = 1; i < s->tree.count; i++) {
    const tg_Node *n = &s->tree.nodes[i];
    bool thread = n->row >= TG_HTMLSUMS_THREADS;
    if (n->tally.total_ns < least_ns)
      continue;
    list[i].number = next++;
    put_place(out, list[i].number, list[n->parent].number,
              n->row % TG_HTMLSUMS_THREADS, thread);
    if (!thread)
      put_sums(s, out, &n->tally, i < s->cbytes ? s->bytes[i] : 0);
  }
  for (uint32_t i = 0; i < s->tree.count; i++) {
    tg_Tally left = {.calls = list[i].calls, .self_ns = list[i].ns};
    bool there = i == 0 || list[i].number > 0;
    if (!there || (left.calls == 0 && left.self_ns == 0 && list[i].bytes == 0))
      continue;
    put_place(out, next++, list[i].number, s->profile.nrows, false);
    put_sums(s, out, &left, list[i].bytes);
  }
}

bool tg_htmlsums_put (tg_HtmlSums *s, uint32_t most, tg_Buf *out) {
  Written *list = tg_calloc(s->tree.count, sizeof *list);
  if (list == NULL)
    return false;
  add_totals(&s->tree);
  uint64_t least_ns = find_least(&s->tree, most);
  s->left = least_ns > 0;
  leave_out(s, list, least_ns);
  put_nodes(s, list, least_ns, out);
  tg_free(list);
  return !out->failed;
}

/* }================================================================== */

/* The sums have read the same packets as the document, by the same rules: so
   each function has a row. */
uint32_t tg_htmlsums_row (tg_HtmlSums *s, tg_FunctionId id) {
  if (id == TG_FUNCTION_LEFT)
    return s->profile.nrows;
  uint32_t row = tg_funclabels_of(&s->profile.labels, id);
  tg_assert(row < s->profile.nrows);
  return row < s->profile.nrows ? row : s->profile.nrows;
}
