/*
** layout.h - where things stand in the interpreter's memory, release by
** release: one description for the hook, for samples and for whoever reads
** another process.
**
** The figures are the interpreters' own (rows.h). They hold for builds of 64
** bits with the sizes that lua.org's has; whoever uses them proves that on the
** interpreter in hand (direct/proof.h), since nothing in memory says so.
**
** Plain C, constant; any thread.
*/
#ifndef TG_LAYOUT_H
#define TG_LAYOUT_H

#include "base/base.h"

/* TG_ROW_AT_STATE_TOP and so on. */
typedef enum tg_LayoutRow {
#define SAME(name, ...) TG_ROW_##name,
#define DIFF(name, ...) TG_ROW_##name,
#include "layout/rows.h"
#undef SAME
#undef DIFF
  TG_LAYOUT_ROWS
} tg_LayoutRow;

typedef struct tg_Layout {
  int since;            /* the first release: 50403 is 5.4.3 */
  int32_t at[TG_LAYOUT_ROWS];   /* -1: that release has none */
} tg_Layout;

/* The layout of exactly that release, 50404 for 5.4.4; NULL: it is not known.
   Known are all that there are: each series has moved fields inside of itself,
   so one that comes later is not taken for the last one. */
const tg_Layout *tg_layout_of (int release);

/* The layout of the newest releases of a version, 501 to 505; NULL: the version
   is not known. */
const tg_Layout *tg_layout_newest (int version);

/* The layout that earlier releases of the same version had; NULL: there is no
   earlier layout. */
const tg_Layout *tg_layout_before (const tg_Layout *layout);

#endif
