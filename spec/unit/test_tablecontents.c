/*
** test_tablecontents.c - what lists tell of a table, and what is a change;
** bytes that are anything.
*/
#include <string.h>

#include "replay/tablecontents.h"
#include "unit.h"

/* {n = N, id is table 5}; the flags and N are set below. */
static uint8_t list[] = {
  1, 0x80,                              /* one value, object 0 */
  TG_OBJ_TABLE, TG_DESC_PROPS, 0x41, 'n', 0xc1, TG_GRIP_END,
  TG_OBJ_USERDATA, TG_DESC_PROPS, 0xc0, 0xc5, TG_GRIP_END
};

enum { FLAGS = 3, NAME = 5, VALUE = 6, NUMBER = 11 };

static tg_TablesRoom room;

static tg_Told told (tg_TableContents *c, uint32_t table, uint64_t key) {
  tg_Slice bytes = {.data = list, .size = sizeof list};
  return tg_tablecontents_read(c, &room, bytes,
                               (tg_Wished){.table = table, .key = key});
}

static bool differ_by (uint8_t flags, uint8_t name, uint8_t value) {
  tg_TableContents a = {0}, b = {0};
  uint8_t before[sizeof list];
  memcpy(before, list, sizeof list);
  UNIT_CHECK(told(&a, 5, 0) == TG_TOLD_FIELDS);
  list[FLAGS] = flags;
  list[NAME] = name;
  list[VALUE] = value;
  UNIT_CHECK(told(&b, 5, 0) == TG_TOLD_FIELDS);
  memcpy(list, before, sizeof list);
  bool differ = tg_tablecontents_differ(&a, &b);
  UNIT_CHECK(tg_tablecontents_differ(&b, &a) == differ);
  tg_tablecontents_free(&a);
  tg_tablecontents_free(&b);
  return differ;
}

static void are_those_of_one_table (void) {
  tg_TableContents c = {0};
  const tg_Grip n = {.type = TG_STRING, .u.s = {"n", 1, 1}};
  const tg_Grip m = {.type = TG_STRING, .u.s = {"m", 1, 1}};
  UNIT_CHECK(told(&c, 5, 0) == TG_TOLD_FIELDS && c.count == 1 && !c.cut);
  UNIT_CHECK(told(&c, 4, 0) == TG_TOLD_NOT);
  UNIT_CHECK(told(&c, 5, tg_tablecontents_key(&n)) == TG_TOLD_FIELDS);
  UNIT_CHECK(c.count == 1);
  UNIT_CHECK(told(&c, 5, tg_tablecontents_key(&m)) == TG_TOLD_FIELDS);
  UNIT_CHECK(c.count == 0);
  list[FLAGS] |= TG_DESC_TRUNCATED;
  UNIT_CHECK(told(&c, 5, tg_tablecontents_key(&m)) == TG_TOLD_NAMED);
  list[FLAGS] = TG_DESC_PROPS;
  tg_tablecontents_free(&c);
}

static void change_by_what_both_tell (void) {
  const uint8_t whole = TG_DESC_PROPS, cut = TG_DESC_PROPS | TG_DESC_TRUNCATED;
  UNIT_CHECK(!differ_by(whole, 'n', 0xc1));
  UNIT_CHECK(differ_by(whole, 'n', 0xc2));
  UNIT_CHECK(differ_by(cut, 'n', 0xc2));
  UNIT_CHECK(differ_by(whole, 'm', 0xc1));
  UNIT_CHECK(differ_by(cut, 'm', 0xc1));        /* the other one lacks m */
  UNIT_CHECK(!differ_by(whole, 'n', TG_GRIP_REDACTED));
}

/* Each byte is each other one: no harm, and no number out of nowhere. */
static void bear_any_bytes (void) {
  tg_TableContents c = {0};
  for (size_t i = 0; i < sizeof list; i++) {
    uint8_t before = list[i];
    for (unsigned byte = 0; byte < 256; byte++) {
      list[i] = (uint8_t)byte;
      tg_Told what = told(&c, 5, 0);
      UNIT_CHECK(what != TG_TOLD_FAILED);
      UNIT_CHECK(i != NUMBER || byte == 0xc5 || what == TG_TOLD_NOT);
    }
    list[i] = before;
  }
  tg_tablecontents_free(&c);
  tg_tablesroom_free(&room);
}

int main (void) {
  UNIT_RUN(are_those_of_one_table);
  UNIT_RUN(change_by_what_both_tell);
  UNIT_RUN(bear_any_bytes);
  return UNIT_END();
}
