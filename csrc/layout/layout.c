/* layout.c - see layout.h. The columns of rows.h, one after the other. */
#include "layout/layout.h"

#include "layout/columns.h"

/* The 0 is for the last column, behind which there would be nothing. */
#define SAME(name, ...) [TG_ROW_##name] = COLUMN(__VA_ARGS__, 0),
#define DIFF SAME

static const tg_Layout layouts[] = {
#define COLUMN TG_V510
  {50100, {
#include "layout/rows.h"
  }},
#undef COLUMN
#define COLUMN TG_V513
  {50103, {
#include "layout/rows.h"
  }},
#undef COLUMN
#define COLUMN TG_V520
  {50200, {
#include "layout/rows.h"
  }},
#undef COLUMN
#define COLUMN TG_V521
  {50201, {
#include "layout/rows.h"
  }},
#undef COLUMN
#define COLUMN TG_V524
  {50204, {
#include "layout/rows.h"
  }},
#undef COLUMN
#define COLUMN TG_V530
  {50300, {
#include "layout/rows.h"
  }},
#undef COLUMN
#define COLUMN TG_V531
  {50301, {
#include "layout/rows.h"
  }},
#undef COLUMN
#define COLUMN TG_V532
  {50302, {
#include "layout/rows.h"
  }},
#undef COLUMN
#define COLUMN TG_V533
  {50303, {
#include "layout/rows.h"
  }},
#undef COLUMN
#define COLUMN TG_V534
  {50304, {
#include "layout/rows.h"
  }},
#undef COLUMN
#define COLUMN TG_V540
  {50400, {
#include "layout/rows.h"
  }},
#undef COLUMN
#define COLUMN TG_V541
  {50401, {
#include "layout/rows.h"
  }},
#undef COLUMN
#define COLUMN TG_V542
  {50402, {
#include "layout/rows.h"
  }},
#undef COLUMN
#define COLUMN TG_V543
  {50403, {
#include "layout/rows.h"
  }},
#undef COLUMN
#define COLUMN TG_V544
  {50404, {
#include "layout/rows.h"
  }},
#undef COLUMN
#define COLUMN TG_V550
  {50500, {
#include "layout/rows.h"
  }},
#undef COLUMN
#define COLUMN TG_V551
  {50501, {
#include "layout/rows.h"
  }},
#undef COLUMN
};

#undef SAME
#undef DIFF

static int version (const tg_Layout *layout) {
  return layout->since / 100;
}

/* The last release of each version that a column is known to hold for. */
static const int last[] = {50105, 50204, 50306, 50409, 50501};

static bool is_known (int release) {
  for (size_t i = 0; i < sizeof last / sizeof *last; i++) {
    if (release / 100 == last[i] / 100)
      return release <= last[i];
  }
  return false;
}

const tg_Layout *tg_layout_of (int release) {
  const tg_Layout *found = NULL;
  for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
    if (version(&layouts[i]) == release / 100 && layouts[i].since <= release)
      found = &layouts[i];
  }
  return is_known(release) ? found : NULL;
}

const tg_Layout *tg_layout_newest (int wanted) {
  for (size_t i = sizeof layouts / sizeof *layouts; i-- > 0;) {
    if (version(&layouts[i]) == wanted)
      return &layouts[i];
  }
  return NULL;
}

const tg_Layout *tg_layout_before (const tg_Layout *layout) {
  bool first = layout == layouts || version(layout) != version(layout - 1);
  return first ? NULL : layout - 1;
}
