/*
** folded.c - stacks and the microseconds spent on top of each, for
** flamegraph.pl, inferno and their kin:
**
**     main;(main chunk) (prog.lua:1);load;string.gsub 1234
**
** What comes first is "main", or "worker (prog.lua:12), coroutine": coroutines
** that begin with the same function are added up, so that a document is as
** long as there are distinct stacks, however many coroutines there were. Time
** in no traced frame is nobody's and left out. Two functions of one name have
** their places beside it.
**
** These tools take whole numbers, and a function that is in no line is in no
** picture. So a stack's time is rounded up or down, whichever keeps the sum so
** far nearer to what it is, but never to 0: each line is off by less than a
** microsecond, and the sum by half of one and what the stacks of less than a
** microsecond were lent.
**
** The option 'weight' puts nanoseconds, bytes that were allocated, or the
** number of allocations in place of microseconds: those need no rounding.
**
** Of samples each tick's time is in the line of its stack, and beside calls the
** calls' own time is divided as ticks say (profile/bytick.h): then a wait in a
** call is a line of its own, "(not running)".
**
** All is added up before the first line is written. Without memory the export's
** status says so.
*/
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "base/intmap.h"
#include "export/boxnames.h"
#include "export/ticks.h"
#include "formats/formats.h"
#include "profile/bytick.h"
#include "profile/funclabels.h"
#include "stream/marks.h"
#include "text/terminal.h"

/* A node's row is a label; that of a root, the body's label beyond this. */
#define BODIES UINT32_C(0x80000000)
#define MAIN UINT32_MAX

/* How to go over the tree. */
typedef struct Step {
  uint32_t child, sibling;    /* first and next; 0 = none */
  size_t from;                /* where the node begins in the path */
} Step;

typedef struct Document {
  tg_Export *x;
  tg_FuncLabels labels;       /* owns */
  tg_IntMap roots;            /* owns; nodes by thread, of coroutines that may
                                 go on */
  tg_CallTree tree;           /* owns; a node's 'calls' are those folded */
  tg_ByTick bytick;
  uint32_t *open;             /* owns; nodes of the open frames */
  uint32_t nopen, copen;
  uint64_t now_ns;            /* of the last packet */
  uint64_t folded;            /* of x, as last seen */
  bool *ambiguous;            /* owns; by label: others have the same name */
  Step *steps;                /* owns; by node */
  tg_Buf path;                /* owns; of the node that is written */
  uint64_t sum;               /* of the stacks that are written... */
  uint64_t written;           /* ...and of their lines */
} Document;

/*
** {==================================================================
** Time by stack
** ===================================================================
*/

static bool fail (Document *d) {
  if (d->x->status == TG_OK)
    d->x->status = TG_ERR_MEMORY;
  return false;
}

static bool grow_open (Document *d) {
  return tg_grow(&d->open, &d->copen, d->copen + 1, sizeof *d->open) || fail(d);
}

/* The root of a coroutine that is not known yet, which begins with 'body'; 0
   without memory. */
static uint32_t new_root (Document *d, tg_ThreadId thread, tg_FunctionId body) {
  uint32_t label = tg_funclabels_of(&d->labels, body);
  if (label >= MAIN - BODIES)
    return 0;
  uint32_t node = tg_calltree_child(&d->tree, 0, BODIES + label);
  return node != 0 && tg_intmap_set(&d->roots, thread, node) ? node : 0;
}

/* A coroutine keeps its root from its first packet to its end: what it began
   with is not told again after a yield. */
static uint32_t root_of (Document *d, const tg_Packet *p) {
  if (p->thread == 1)
    return tg_calltree_child(&d->tree, 0, MAIN);
  uint32_t node = tg_intmap_find(&d->roots, p->thread);
  if (node != TG_INTMAP_NONE)
    return node;
  return new_root(d, p->thread, p->body != 0 ? p->body : p->function);
}

/* The node below a frame that is entered: its caller's, or its coroutine's. 0
   without memory. */
static uint32_t parent_of (Document *d, const tg_Packet *p) {
  uint32_t n;
  const tg_ExportFrame *frames = tg_export_frames(d->x, &n);
  if (n > 1 && frames[n - 2].thread == p->thread)
    return d->open[n - 2];
  return root_of(d, p);
}

/* 0 of the tree is no stack: all others are below the roots of coroutines. */
static bool enter (Document *d, const tg_Packet *p) {
  uint32_t parent = parent_of(d, p);
  uint32_t label = tg_funclabels_of(&d->labels, p->function);
  if (parent == 0 || label == TG_INTMAP_NONE)
    return fail(d);
  uint32_t node = tg_calltree_child(&d->tree, parent, label);
  tg_bytick_enter(&d->tree, node, p,
                  tg_funclabels_function(&d->labels, label));
  if (node == 0 || (d->nopen == d->copen && !grow_open(d)))
    return fail(d);
  d->open[d->nopen++] = node;
  return true;
}

/* A coroutine whose outermost frame has gone for good is over: what it began
   with need not be known any more. */
static void forget_root (Document *d, const tg_Packet *p) {
  uint32_t n;
  const tg_ExportFrame *frames = tg_export_frames(d->x, &n);
  if (p->why == TG_WHY_YIELD || p->tail
      || (n > 0 && frames[n - 1].thread == p->thread))
    return;
  if (tg_intmap_find(&d->roots, p->thread) != TG_INTMAP_NONE)
    tg_intmap_drop(&d->roots, p->thread);
}

/* Frames that were folded since the last exit were inside of this frame, the
   innermost that is given. */
static void leave (Document *d, const tg_Packet *p) {
  tg_assert(d->nopen > 0);
  tg_Node *n = &d->tree.nodes[d->open[--d->nopen]];
  n->tally.calls += d->x->folded - d->folded;
  d->folded = d->x->folded;
  forget_root(d, p);
}

static bool in_time (const Document *d) {
  return d->x->options.weight < TG_WEIGHT_BYTES;
}

static uint32_t innermost (const Document *d) {
  return d->nopen > 0 ? d->open[d->nopen - 1] : 0;
}

/* What ran in no frame that is open is below who is. False without memory. */
static bool add_tick (Document *d, const tg_Packet *p) {
  uint32_t node = innermost(d);
  if (p->function != 0 && node == 0)
    node = tg_calltree_child(&d->tree, 0, MAIN);
  if (p->function != 0) {
    uint32_t label = tg_funclabels_of(&d->labels, p->function);
    node = label != TG_INTMAP_NONE ? tg_calltree_child(&d->tree, node, label)
                                   : 0;
    if (node == 0)
      return fail(d);
  }
  tg_bytick_tick(&d->bytick, &d->tree, node, p);
  return true;
}

static void add_allocations (Document *d, const tg_Packet *p) {
  if (in_time(d) || p->mark != TG_MARK_ALLOCATIONS || d->nopen == 0)
    return;
  tg_Allocations a = tg_event_allocations(p->values);
  d->tree.nodes[innermost(d)].tally.self_ns +=
      d->x->options.weight == TG_WEIGHT_BYTES ? a.allocated : a.count;
}

/* False without memory. */
static bool add_packet (Document *d, const tg_Packet *p) {
  switch (p->why) {
    case TG_WHY_ENTER: return enter(d, p);
    case TG_WHY_TICK: return add_tick(d, p);
    case TG_WHY_MARK: add_allocations(d, p); return true;
    case TG_WHY_RETURN: case TG_WHY_EXCEPTION: case TG_WHY_YIELD:
    case TG_WHY_TERMINATED: default: leave(d, p); return true;
  }
}

static void ask (Document *d) {
  const tg_Selection *of = d->x->selection;
  if (!in_time(d))
    tg_export_mark(d->x);
  else if (tg_ticks_any(d->x)) {
    tg_ticks_ask(d->x);
    d->bytick.ticks = tg_bytick_kind(of->sample, of->with_calls);
  }
}

static bool settle (Document *d) {
  uint32_t idle = tg_funclabels_of(&d->labels, TG_FUNCTION_IDLE);
  return idle != TG_INTMAP_NONE
         && tg_bytick_settle(&d->bytick, &d->tree, idle);
}

/* Each amount goes to the innermost frame, whatever coroutine the frame is in:
   a suspended coroutine has no open frame. The tree's 'self_ns' has the sum,
   whatever its unit. */
static bool add_up (Document *d) {
  tg_Packet p;
  ask(d);
  while (tg_export_next(d->x, &p)) {
    tg_assert(p.time_ns >= d->now_ns);
    if (in_time(d))
      tg_bytick_pass(&d->bytick, &d->tree, innermost(d), p.time_ns,
                     p.spent_ns);
    d->now_ns = p.time_ns;
    if (!add_packet(d, &p))
      return false;
  }
  if (in_time(d) && !settle(d))
    return fail(d);
  return d->x->status == TG_OK;
}

/* }================================================================== */

/*
** {==================================================================
** Names
** ===================================================================
*/

static const char *name_of (const tg_Function *f) {
  const char *name = tg_function_title(f);
  return name != NULL ? name : "(anonymous function)";
}

/* FNV-1a: a few thousand names, once for each document. */
static uint64_t hash_name (const char *s) {
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (; *s != '\0'; s++)
    h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
  return h;
}

/* Finds the labels whose names are not theirs alone. Names of one hash pass for
   the same: then two have their places for nothing. */
static bool find_ambiguous (Document *d) {
  tg_IntMap names = {0};
  bool ok = true;
  uint32_t count = tg_funclabels_count(&d->labels);
  d->ambiguous = tg_calloc(count + 1, sizeof *d->ambiguous);
  for (uint32_t i = 0; ok && d->ambiguous != NULL && i < count; i++) {
    uint64_t hash = hash_name(name_of(tg_funclabels_function(&d->labels, i)));
    uint32_t other = tg_intmap_find(&names, hash);
    if (other == TG_INTMAP_NONE)
      ok = tg_intmap_set(&names, hash, i);
    else
      d->ambiguous[i] = d->ambiguous[other] = true;
  }
  tg_intmap_free(&names);
  return ok && d->ambiguous != NULL;
}

/* Text that is not ours, of one line and without a semicolon. */
static void put_text (tg_Buf *out, const char *s) {
  size_t at = out->size;
  tg_terminal_escape(out, s, strlen(s), 0);
  for (; at < out->size; at++) {
    if (out->data[at] == ';')
      out->data[at] = ':';
  }
}

/* Its place only where another one has its name: flame graphs have little room,
   and people look for names. */
static void put_function (const Document *d, tg_Buf *out, uint32_t label) {
  const tg_Function *f = tg_funclabels_function(&d->labels, label);
  put_text(out, name_of(f));
  if (!d->ambiguous[label] || f->url == NULL)
    return;
  tg_buf_addstr(out, " (");
  put_text(out, f->url);
  if (!f->is_c)
    tg_buf_addfmt(out, ":%" PRIu32, tg_funclabels_line(f));
  tg_buf_addchar(out, ')');
}

/* What is missing is said once, of the root that comes first. */
static void put_root (Document *d, tg_Buf *out, uint32_t node) {
  uint32_t row = d->tree.nodes[node].row;
  tg_Buf name = {0};
  if (row == MAIN)
    tg_buf_addstr(&name, "main");
  else {
    tg_boxname_body(tg_funclabels_function(&d->labels, row - BODIES), false,
                   &name);
    tg_buf_addstr(&name, ", coroutine");
  }
  if (node == 1)
    tg_export_remarks(d->x, &name);
  tg_buf_addchar(&name, '\0');
  if (name.failed)
    fail(d);
  else
    put_text(out, name.data);
  tg_buf_free(&name);
}

/* }================================================================== */

/*
** {==================================================================
** The document
** ===================================================================
*/

/* Children in order of appearance. */
static bool list_children (Document *d) {
  d->steps = tg_calloc(d->tree.count, sizeof *d->steps);
  if (d->steps == NULL)
    return false;
  for (uint32_t i = d->tree.count - 1; i > 0; i--) {
    tg_assert(d->tree.nodes[i].parent < i);
    Step *parent = &d->steps[d->tree.nodes[i].parent];
    d->steps[i].sibling = parent->child;
    parent->child = i;
  }
  return true;
}

/* The path becomes that of the node, whose parent's it is. */
static void go_down (Document *d, uint32_t node) {
  const tg_Node *n = &d->tree.nodes[node];
  d->steps[node].from = d->path.size;
  tg_buf_addstr(&d->path, n->parent != 0 ? ";" : "");
  if (n->row >= BODIES)
    put_root(d, &d->path, node);
  else
    put_function(d, &d->path, n->row);
  if (n->tally.calls > 0)
    tg_buf_addfmt(&d->path, " [%" PRIu64 " calls deeper]", n->tally.calls);
}

/* A stack's line from its own time: what brings the sum of all lines to that of
   all stacks, no more than rounding up or down can do. */
static uint64_t in_microseconds (const Document *d, uint64_t own) {
  uint64_t least = own / 1000, most = (own + 999) / 1000;
  uint64_t wanted = (d->sum + 500) / 1000;
  uint64_t missing = wanted > d->written ? wanted - d->written : 0;
  if (least == 0)
    least = most;               /* 1, or 0 of a stack that never ran */
  return missing < least ? least : missing > most ? most : missing;
}

static void put_line (Document *d, uint32_t node) {
  uint64_t own = d->tree.nodes[node].tally.self_ns;
  bool rounds = d->x->options.weight == TG_WEIGHT_TIME;
  d->sum += own;
  uint64_t weight = rounds ? in_microseconds(d, own) : own;
  if (weight == 0)
    return;
  d->written += weight;
  tg_Buf *out = &d->x->out->text;
  tg_buf_add(out, d->path.data, d->path.size);
  tg_buf_addchar(out, ' ');
  tg_buf_addu64(out, weight);
  tg_buf_addchar(out, '\n');
}

/* The node after this one, or after all below it; 0 at the end. Without
   recursion: stacks are as deep as the program's. */
static uint32_t next_node (Document *d, uint32_t node) {
  if (d->steps[node].child != 0)
    return d->steps[node].child;
  while (node != 0 && d->steps[node].sibling == 0) {
    d->path.size = d->steps[node].from;
    node = d->tree.nodes[node].parent;
  }
  if (node == 0)
    return 0;
  d->path.size = d->steps[node].from;
  return d->steps[node].sibling;
}

/* From stack to stack down the tree, the path growing and shrinking with it. An
   output that fails ends the walk, and keeps its own error. */
static bool put_lines (Document *d) {
  if (!find_ambiguous(d) || !list_children(d))
    return fail(d);
  for (uint32_t n = d->steps[0].child; n != 0; n = next_node(d, n)) {
    go_down(d, n);
    put_line(d, n);
    if (!tg_outfile_turn(d->x->out))
      return true;
  }
  return !d->path.failed || fail(d);
}

tg_Status tg_format_folded (tg_Export *x) {
  Document d = {.x = x};
  tg_funclabels_init(&d.labels, x->stream->functions);
  if (!tg_calltree_init(&d.tree))
    fail(&d);
  else if (add_up(&d))
    put_lines(&d);
  tg_buf_free(&d.path);
  tg_free(d.steps);
  tg_free(d.ambiguous);
  tg_free(d.open);
  tg_calltree_free(&d.tree);
  tg_intmap_free(&d.roots);
  tg_funclabels_free(&d.labels);
  return x->status;
}

/* }================================================================== */
