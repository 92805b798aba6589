/* layout.c - see layout.h. The columns of rows.h, one after the other. */
#include "layout/layout.h"

static const tg_Layout layouts[] = {
#define DIFF SAME
#define SAME(name, v540, v541, v543, v550) [TG_ROW_##name] = v540,
  {50400, {
#include "layout/rows.h"
  }},
#undef SAME
#define SAME(name, v540, v541, v543, v550) [TG_ROW_##name] = v541,
  {50401, {
#include "layout/rows.h"
  }},
#undef SAME
#define SAME(name, v540, v541, v543, v550) [TG_ROW_##name] = v543,
  {50403, {
#include "layout/rows.h"
  }},
#undef SAME
#define SAME(name, v540, v541, v543, v550) [TG_ROW_##name] = v550,
  {50500, {
#include "layout/rows.h"
  }},
#undef SAME
#undef DIFF
};

static int version (const tg_Layout *layout) {
  return layout->since / 100;
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
