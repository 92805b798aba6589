/*
** test_layout.c - the layouts of releases: what reading memory relies on beyond
** single rows. Whether the rows are right, `make layouts` says.
*/
#include "layout/layout.h"
#include "unit.h"

static int32_t at (const tg_Layout *l, tg_LayoutRow row) {
  return l->at[row];
}

static void follow (const tg_Layout *l, tg_LayoutRow first, tg_LayoutRow second,
                    int32_t size) {
  UNIT_CHECK(at(l, second) == at(l, first) + size);
}

/* Fields that are read in one piece, or from the place of the first. */
static void stand_side_by_side (const tg_Layout *l) {
  follow(l, TG_ROW_AT_STATE_COUNTS, TG_ROW_AT_STATE_COUNTED, 4);
  follow(l, TG_ROW_AT_SHARED_COLOUR, TG_ROW_AT_SHARED_WORK, 1);
  follow(l, TG_ROW_AT_SHARED_WORK, TG_ROW_AT_SHARED_MODE, 1);
  follow(l, TG_ROW_AT_PROTO_PARAMS, TG_ROW_AT_PROTO_EXTRA, 1);
  follow(l, TG_ROW_AT_PROTO_LINE, TG_ROW_AT_PROTO_LAST, 4);
}

static void fit_their_objects (const tg_Layout *l) {
  UNIT_CHECK(at(l, TG_ROW_AT_STATE_MASK) < at(l, TG_ROW_SIZE_STATE));
  UNIT_CHECK(at(l, TG_ROW_AT_FRAME_STATUS) < at(l, TG_ROW_SIZE_FRAME));
  UNIT_CHECK(at(l, TG_ROW_AT_PROTO_SOURCE) < at(l, TG_ROW_SIZE_PROTO));
  UNIT_CHECK(at(l, TG_ROW_AT_NODE_KEY) < at(l, TG_ROW_SIZE_NODE));
  UNIT_CHECK(at(l, TG_ROW_SIZE_SLOT) == 16);
}

/* What moves at a hook is noted in the frame, or in the coroutine. */
static void note_what_moves (const tg_Layout *l) {
  bool frame = at(l, TG_ROW_AT_FRAME_FIRST) >= 0;
  UNIT_CHECK(frame == (at(l, TG_ROW_STATUS_MOVES) > 0));
  UNIT_CHECK(frame == (at(l, TG_ROW_AT_STATE_FIRST) < 0));
  UNIT_CHECK(frame == (at(l, TG_ROW_AT_STATE_COUNT) < 0));
}

static int check_version (int version) {
  int n = 0;
  for (const tg_Layout *l = tg_layout_newest(version); l != NULL;
       l = tg_layout_before(l)) {
    UNIT_CHECK(l->since / 100 == version);
    stand_side_by_side(l);
    fit_their_objects(l);
    note_what_moves(l);
    n++;
  }
  return n;
}

static void all_releases (void) {
  UNIT_CHECK(check_version(504) == 5);
  UNIT_CHECK(check_version(505) == 2);
}

static void a_release_has_the_last_column_before_it (void) {
  UNIT_CHECK(tg_layout_of(50102)->since == 50100);
  UNIT_CHECK(tg_layout_of(50203)->since == 50201);
  UNIT_CHECK(tg_layout_of(50306)->since == 50304);
  UNIT_CHECK(tg_layout_of(50402)->since == 50402);
  UNIT_CHECK(tg_layout_of(50409)->since == 50404);
  UNIT_CHECK(tg_layout_of(50501)->since == 50501);
}

static void releases_that_nobody_has_compared_are_not_known (void) {
  static const int unknown[] = {50106, 50205, 50307, 50410, 50502};
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    UNIT_CHECK(tg_layout_of(unknown[i]) == NULL);
}

static void other_versions_are_not_known (void) {
  UNIT_CHECK(tg_layout_newest(500) == NULL);
  UNIT_CHECK(tg_layout_newest(506) == NULL);
}

int main (void) {
  UNIT_RUN(all_releases);
  UNIT_RUN(a_release_has_the_last_column_before_it);
  UNIT_RUN(releases_that_nobody_has_compared_are_not_known);
  UNIT_RUN(other_versions_are_not_known);
  return UNIT_END();
}
