/* layout.c - see layout.h. The columns of rows.h, one after the other. */
#include "layout/layout.h"

static const tg_Layout layouts[] = {
#define DIFF SAME
#define SAME(name, v515, v524, v536, v540, v541, v543, v550) \
  [TG_ROW_##name] = v515,
  {50105, {
#include "layout/rows.h"
  }},
#undef SAME
#define SAME(name, v515, v524, v536, v540, v541, v543, v550) \
  [TG_ROW_##name] = v524,
  {50204, {
#include "layout/rows.h"
  }},
#undef SAME
#define SAME(name, v515, v524, v536, v540, v541, v543, v550) \
  [TG_ROW_##name] = v536,
  {50306, {
#include "layout/rows.h"
  }},
#undef SAME
#define SAME(name, v515, v524, v536, v540, v541, v543, v550) \
  [TG_ROW_##name] = v540,
  {50400, {
#include "layout/rows.h"
  }},
#undef SAME
#define SAME(name, v515, v524, v536, v540, v541, v543, v550) \
  [TG_ROW_##name] = v541,
  {50401, {
#include "layout/rows.h"
  }},
#undef SAME
#define SAME(name, v515, v524, v536, v540, v541, v543, v550) \
  [TG_ROW_##name] = v543,
  {50403, {
#include "layout/rows.h"
  }},
#undef SAME
#define SAME(name, v515, v524, v536, v540, v541, v543, v550) \
  [TG_ROW_##name] = v550,
  {50500, {
#include "layout/rows.h"
  }},
#undef SAME
#undef DIFF
};

static int version (const tg_Layout *layout) {
  return layout->since / 100;
}

/* The last release of each version that a column is known to hold for. */
static const int last[] = {50105, 50204, 50306, 50409, 50500};

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
