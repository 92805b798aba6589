/*
** cpuprofile.c - a CPU profile as V8 writes it, for DevTools, VS Code
** and whatever else reads .cpuprofile.
**
** Of calls it is exact instead of sampled, of samples alone it has those: see
** v8profile.h. Times are microseconds with decimals, so that no nanosecond is
** lost, and count from the first call.
**
** 'hitCount' of a node is the microseconds of its self time, so readers that
** multiply hits by a mean interval come out right. Of samples it is its ticks,
** late ones counted for those that were missed, and 'positionTicks' has the
** lines that they met.
**
** All samples come before all deltas in a document, and the nodes are known at
** the end: the deltas go through a spool, the nodes are written last.
**
** What fails is in the export's status, the output, or the spool, whose errno
** counts before the others: it came first.
*/
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "export/jsontext.h"
#include "export/ticks.h"
#include "formats/chrome/chrome.h"
#include "formats/chrome/lineticks.h"
#include "formats/chrome/v8profile.h"
#include "text/spool.h"

/* Readers take a start at 0 for none. */
#define START_NS UINT64_C(1000)

typedef struct Document {
  tg_Export *x;
  tg_Buf *out;                /* borrows; of x->out */
  tg_V8Profile v8;            /* owns */
  tg_LineTicks ticks;         /* owns; if samples are the recording's own */
  tg_Spool spool;             /* owns */
  tg_Column deltas;           /* owns */
  uint64_t at_ns;             /* of the last sample */
  uint32_t *first, *next;     /* own; children of nodes as lists, 0 ends */
} Document;

/*
** {==================================================================
** Samples
** ===================================================================
*/

/* Its node goes into the document, its delta to the spool: two lists of equal
   length. */
static void put_sample (Document *d, const tg_V8Sample *s) {
  tg_assert(s->at_ns >= d->at_ns);
  if (s->ticks > 0 && !tg_lineticks_add(&d->ticks, s->node, s->line, s->ticks))
    d->x->status = TG_ERR_MEMORY;
  if (d->deltas.values++ > 0) {
    tg_buf_addchar(d->out, ',');
    tg_buf_addchar(&d->deltas.text, ',');
  }
  tg_buf_addu64(d->out, TG_V8_ID(s->node));
  tg_jsontext_time(&d->deltas.text, s->at_ns - d->at_ns, 1000);
  d->at_ns = s->at_ns;
}

static bool turn (Document *d) {
  return tg_outfile_turn(d->x->out) && tg_column_turn(&d->spool, &d->deltas);
}

/* A sample is known with the packet after it (v8profile.h); the last two come
   from the end. */
static void put_samples (Document *d) {
  tg_Export *x = d->x;
  tg_Packet p;
  tg_V8Sample samples[2];
  bool more = tg_export_next(x, &p);
  tg_v8profile_start(&d->v8, x->start_ns);
  d->at_ns = x->start_ns;
  for (; more; more = tg_export_next(x, &p)) {
    uint32_t n = tg_v8profile_add(&d->v8, &p, samples);
    for (uint32_t i = 0; i < n; i++)
      put_sample(d, &samples[i]);
    if (n > 0 && !turn(d))
      return;
  }
  tg_v8profile_end(&d->v8, x->start_ns, x->end_ns, samples);
  put_sample(d, &samples[0]);
  put_sample(d, &samples[1]);
}

/* }================================================================== */

/*
** {==================================================================
** Nodes
** ===================================================================
*/

/* Children in order of appearance. The tree has parents only, which is all that
   recording and adding up need; a parent's number is less than its child's. */
static bool list_children (Document *d) {
  const tg_CallTree *t = &d->v8.profile.tree;
  d->first = tg_calloc(t->count, sizeof *d->first);
  d->next = tg_calloc(t->count, sizeof *d->next);
  if (d->first == NULL || d->next == NULL)
    return false;
  for (uint32_t i = t->count - 1; i > 0; i--) {
    uint32_t parent = t->nodes[i].parent;
    tg_assert(parent < i);
    d->next[i] = d->first[parent];
    d->first[parent] = i;
  }
  return true;
}

/* The ticks that met the node or, where samples are none, its self time. */
static uint64_t hits_of (const Document *d, uint32_t node) {
  const tg_Node *n = &d->v8.profile.tree.nodes[node];
  return d->v8.ticks ? tg_lineticks_sum(&d->ticks, node)
                     : (n->tally.self_ns + 500) / 1000;
}

/* Nodes name their children: there may be readers that know "parent", but all
   know this. */
static void put_node (Document *d, uint32_t node) {
  tg_buf_addstr(d->out, node > 0 ? ",\n{\"id\":" : "\n{\"id\":");
  tg_buf_addu64(d->out, TG_V8_ID(node));
  tg_buf_addchar(d->out, ',');
  tg_v8profile_put_frame(&d->v8, node, d->out);
  tg_buf_addstr(d->out, ",\"hitCount\":");
  tg_buf_addu64(d->out, hits_of(d, node));
  tg_buf_addstr(d->out, ",\"children\":[");
  for (uint32_t c = d->first[node]; c != 0; c = d->next[c]) {
    if (c != d->first[node])
      tg_buf_addchar(d->out, ',');
    tg_buf_addu64(d->out, TG_V8_ID(c));
  }
  tg_buf_addchar(d->out, ']');
  tg_lineticks_put(&d->ticks, node, d->out);
  tg_buf_addchar(d->out, '}');
}

static bool put_nodes (Document *d) {
  if (!list_children(d))
    return false;
  tg_buf_addstr(d->out, "],\n\"nodes\":[");
  for (uint32_t i = 0; i < d->v8.profile.tree.count; i++) {
    put_node(d, i);
    if (!tg_outfile_turn(d->x->out))
      return true;
  }
  tg_buf_addstr(d->out, "\n]");
  return true;
}

/* }================================================================== */

static void put_number (Document *d, const char *key, uint64_t ns) {
  tg_buf_addstr(d->out, key);
  tg_jsontext_time(d->out, ns, 1000);
}

/* The name of the trace, and what is missing of it. */
static void put_title (Document *d) {
  tg_Buf title = {0};
  tg_buf_addstr(&title, d->x->name);
  tg_export_remarks(d->x, &title);
  tg_buf_addstr(d->out, ",\n\"title\":");
  tg_v8profile_put_string(d->out, title.data, title.size);
  if (title.failed)
    d->x->status = TG_ERR_MEMORY;
  tg_buf_free(&title);
}

/* In the order in which the parts are known, which is any other than V8's own:
   readers look for keys. */
static tg_Status write (Document *d) {
  const tg_Export *x = d->x;
  tg_buf_addstr(d->out, "{\"samples\":[");
  put_samples(d);
  if (x->status != TG_OK)
    return x->status;
  tg_buf_addstr(d->out, "],\n\"timeDeltas\":[");
  if (!tg_column_write(&d->spool, &d->deltas, x->out))
    return TG_ERR_IO;
  if (!put_nodes(d))
    return TG_ERR_MEMORY;
  put_number(d, ",\n\"startTime\":", START_NS);
  put_number(d, ",\n\"endTime\":", START_NS + d->at_ns - x->start_ns);
  put_title(d);
  tg_buf_addstr(d->out, "}\n");
  return d->v8.profile.status;
}

tg_Status tg_format_cpuprofile (tg_Export *x) {
  Document d = {.x = x, .out = &x->out->text};
  tg_spool_init(&d.spool);
  bool ready = tg_v8profile_init(&d.v8, x, tg_ticks_only(x));
  tg_Status status = ready ? write(&d) : TG_ERR_MEMORY;
  int error = d.spool.error;
  tg_v8profile_free(&d.v8);
  tg_lineticks_free(&d.ticks);
  tg_column_free(&d.deltas);
  tg_spool_free(&d.spool);
  tg_free(d.first);
  tg_free(d.next);
  if (error == 0)
    return status;
  errno = error;
  return error == ENOMEM ? TG_ERR_MEMORY : TG_ERR_IO;
}
