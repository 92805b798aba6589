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
** The option 'weight' puts nanoseconds, bytes that were allocated or are alive,
** or the number of allocations in place of microseconds: those need no
** rounding.
**
** Of samples each tick's time is in the line of its stack, and beside calls the
** calls' own time is divided as ticks say (profile/bytick.h): then a wait in a
** call is a line of its own, "(not running)". With the option 'lines' a frame
** is a function with the line at which it stood (profile/linetree.h):
** "main;(main chunk):12;load:31 1234".
**
** All is added up before the first line is written. Without memory the export's
** status says so.
*/
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "export/boxnames.h"
#include "formats/foldedstacks.h"
#include "formats/formats.h"
#include "text/terminal.h"

/* How to go over the tree. */
typedef struct Step {
  uint32_t child, sibling;    /* first and next; 0 = none */
  size_t from;                /* where the node begins in the path */
} Step;

typedef struct Document {
  tg_Export *x;
  tg_FoldedStacks stacks;     /* owns */
  bool *ambiguous;            /* owns; by label: others have the same name */
  Step *steps;                /* owns; by node */
  tg_Buf path;                /* owns; of the node that is written */
  uint64_t sum;               /* of the stacks that are written... */
  uint64_t written;           /* ...and of their lines */
} Document;

static bool fail (Document *d) {
  if (d->x->status == TG_OK)
    d->x->status = TG_ERR_MEMORY;
  return false;
}

/*
** {==================================================================
** Names
** ===================================================================
*/

static const char *name_of (const tg_Function *f) {
  const char *name = tg_function_title(f);
  return name != NULL ? name : "(anonymous function)";
}

static const tg_Function *function_of (const Document *d, uint32_t label) {
  return tg_funclabels_function(&d->stacks.labels, label);
}

/* Finds the labels whose names are not theirs alone. Names of one hash pass for
   the same: then two have their places for nothing. */
static bool find_ambiguous (Document *d) {
  tg_IntMap names = {0};
  bool ok = true;
  uint32_t count = tg_funclabels_count(&d->stacks.labels);
  d->ambiguous = tg_calloc(count + 1, sizeof *d->ambiguous);
  for (uint32_t i = 0; ok && d->ambiguous != NULL && i < count; i++) {
    const char *name = name_of(function_of(d, i));
    uint64_t hash = tg_hash_bytes(name, strlen(name));
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
static void put_name (const Document *d, tg_Buf *out, uint32_t label) {
  const tg_Function *f = function_of(d, label);
  put_text(out, name_of(f));
  if (!d->ambiguous[label] || f->url == NULL)
    return;
  tg_buf_addstr(out, " (");
  put_text(out, f->url);
  if (!f->is_c)
    tg_buf_addfmt(out, ":%" PRIu32, tg_funclabels_line(f));
  tg_buf_addchar(out, ')');
}

static void put_function (const Document *d, tg_Buf *out, uint32_t row) {
  tg_Spot spot = d->x->options.lines ? d->stacks.spots.list[row]
                                     : (tg_Spot){.of = row};
  put_name(d, out, spot.of);
  if (spot.line > 0)
    tg_buf_addfmt(out, ":%" PRIu32, spot.line);
}

/* What is missing is said once, of the root that comes first. */
static void put_root (Document *d, tg_Buf *out, uint32_t node) {
  uint32_t row = d->stacks.tree.nodes[node].row;
  tg_Buf name = {0};
  if (row == TG_FOLDED_MAIN)
    tg_buf_addstr(&name, "main");
  else {
    tg_boxname_body(function_of(d, row - TG_FOLDED_BODIES), false, &name);
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
  d->steps = tg_calloc(d->stacks.tree.count, sizeof *d->steps);
  if (d->steps == NULL)
    return false;
  for (uint32_t i = d->stacks.tree.count - 1; i > 0; i--) {
    tg_assert(d->stacks.tree.nodes[i].parent < i);
    Step *parent = &d->steps[d->stacks.tree.nodes[i].parent];
    d->steps[i].sibling = parent->child;
    parent->child = i;
  }
  return true;
}

/* The path becomes that of the node, whose parent's it is. */
static void go_down (Document *d, uint32_t node) {
  const tg_Node *n = &d->stacks.tree.nodes[node];
  d->steps[node].from = d->path.size;
  tg_buf_addstr(&d->path, n->parent != 0 ? ";" : "");
  if (n->row >= TG_FOLDED_BODIES)
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
  uint64_t own = d->stacks.tree.nodes[node].tally.self_ns;
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
    node = d->stacks.tree.nodes[node].parent;
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
  if (tg_foldedstacks_read(&d.stacks, x))
    put_lines(&d);
  tg_buf_free(&d.path);
  tg_free(d.steps);
  tg_free(d.ambiguous);
  tg_foldedstacks_free(&d.stacks);
  return x->status;
}

/* }================================================================== */
