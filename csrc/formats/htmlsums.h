/*
** htmlsums.h - what the page of "export html" has of all calls, whatever its
** timeline leaves out: the rows of the report, and time by stack.
**
** The document's own packets are those of the longest calls (export.h), so the
** sums are made of a reading of their own, before the document's. It leaves out
** what the user wants left out, and nothing else: the rows are the report's, to
** the nanosecond.
**
** A stack is a node of the tree. Where a frame runs on another coroutine than
** the frame below it, a node of that coroutine is between the two: so the page
** can show one coroutine, or all as one stack, in which it passes them over.
**
**     (main) ─ work ─ coroutine.resume ─ (coroutine 1) ─ body ─ leaf
**
** Plain C, one thread. Memory: functions, distinct stacks, coroutines that the
** page tells apart.
*/
#ifndef TG_HTMLSUMS_H
#define TG_HTMLSUMS_H

#include "export/export.h"
#include "export/threadlist.h"
#include "profile/profile.h"

/* A node's row is that of its function; of a coroutine the number that the list
   has for it beyond this. */
#define TG_HTMLSUMS_THREADS UINT32_C(0x80000000)

typedef struct tg_HtmlSums {
  tg_Export *x;               /* borrows */
  tg_Profile profile;         /* owns, as all that follows; with a tree where
                                 lines of memory need one */
  tg_ThreadList threads;
  tg_CallTree tree;           /* of each node calls, throws and self time */
  tg_ByTick bytick;           /* of samples, self time is by their ticks */
  uint64_t *bytes;            /* by node: allocated, if that is known */
  uint32_t cbytes;
  uint64_t calls;             /* of all functions */
  uint64_t samples;           /* that were taken */
  bool left;                  /* tg_htmlsums_put has left out nodes */
  /* private */
  uint32_t *open;             /* nodes of the open frames */
  uint32_t copen;
} tg_HtmlSums;

/* Reads all of it; before the document's first packet is asked for. False if
   the export has failed. */
bool tg_htmlsums_read (tg_HtmlSums *s, tg_Export *x);
void tg_htmlsums_free (tg_HtmlSums *s);       /* zeroed memory is fine */

/* Nodes that a browser draws at once without being slow. */
#define TG_HTMLSUMS_MOST 300000u

/* Adds the tree to 'out', in varints, each node after its parent:

       its number less its parent's; the row * 2, or the coroutine * 2 + 1;
       of a row: calls, throws, self time in ns, and bytes if they are known

   The root, number 0, is left out. Where there are more nodes than 'most' those
   of the least time are, with all below them: what they have is a node of calls
   left out below their caller (tg_htmlsums_row). False without memory. */
bool tg_htmlsums_put (tg_HtmlSums *s, uint32_t most, tg_Buf *out);

/* The row of a function that the document has; that after the last one if it
   is the time of calls left out. */
uint32_t tg_htmlsums_row (tg_HtmlSums *s, tg_FunctionId id);

#endif
