/*
** heappage.h - one file that shows a heap snapshot in any browser, without a
** network and without a server: a page, and what it shows.
**
** The page comes from outside (lua/tracegrip/heappage.lua), and has a place for
** the data: a script that no browser runs, of JSON.
**
**     title       of the snapshot
**     summary     what "tracegrip heap FILE --json" prints (view.h), as are...
**     duplicates, empty   ...these
**     types       words for types of nodes
**     texts       names, classes and edges, by number, each once
**     boxes       how many of the nodes are boxes (extract.h): the first ones
**     nodes       columns: id, type, name, class, self, retained; before: the
**                 node before it on the shortest way from the root; edge: what
**                 leads from there to it, a text; joint: how the way is written
**                 (tg_Joint); maker: who made it, a text, if the snapshot
**                 tells that of any. -1 is none
**     ... boxes   above: the box that dominates it; kept: objects that it
**                 keeps, itself too; referrers: edges that keep it; ways:
**                 [node, edge, node, edge ...], who refers to it by which edge,
**                 the shortest way first
**
** Bounded by the extract and by rows of the tables: what is left out the page
** tells, as the difference to the whole. Plain C.
*/
#ifndef TG_HEAPPAGE_H
#define TG_HEAPPAGE_H

#include "graph/extract.h"
#include "text/outfile.h"

typedef struct tg_HeapPage {
  const char *title;    /* borrows */
  const char *page;     /* borrows; with the place */
  uint32_t most;        /* boxes */
  /* what has become of it */
  uint64_t objects, shown;      /* of the snapshot; of these, boxes */
} tg_HeapPage;

/* Writes the page. False without memory; what fails of the file stays in
   'out'. */
bool tg_heappage_write (tg_HeapPage *h, tg_View *v, tg_OutFile *out);

#endif
