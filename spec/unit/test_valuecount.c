/*
** test_valuecount.c - what is dear about lists of values, counted; bytes that
** are cut off or changed are read no further than they go (the sanitizers see
** to that).
*/
#include <stdlib.h>
#include <string.h>

#include "stream/valuecount.h"
#include "unit.h"

/* Arguments: a table, a number, a long string, an earlier string, a float, a
   hidden text. Objects: the table, with two properties, one a function; a table
   like one of three properties before the list; the function; a table that
   was like one of four; then in the shorter forms a table with a property, one
   like the first with an object that comes next, a function. */
static const uint8_t before[] = "\x00\x08\x41""a\xc1\x41""b\x05\xac\x02"
                                "\x41""c\xc3\x3f";
static const uint8_t list[] =
  "\x06\x80\xc7\x07\x03\x03""abc\x0a\x04\x06" "12345678" "\x0c\x02zz"
  "\x00\x08\x41""x\x81\x41""y\xc2\x3f"
  "\x04\x08\x2f\x05\xc9\xca"
  "\x01\x04\x07"
  "\x05\x08\x04\x01\xc1"
  "\x44\x41""x\xc1\x3f"
  "\xc4\x1c\x01\x04\xc5"
  "\x06\x07";

enum { BEFORE = sizeof before - 1, LIST = sizeof list - 1 };

/* In memory of just that size, so that a byte beyond it is seen. */
static void counted (tg_ValueCount *n, size_t size, size_t change,
                     uint8_t value) {
  uint8_t *bytes = malloc(BEFORE + size);
  if (bytes == NULL)
    return;
  memcpy(bytes, before, BEFORE);
  memcpy(bytes + BEFORE, list, size);
  if (change < size)
    bytes[BEFORE + change] = value;
  tg_CountedModels models = {0};
  tg_ValueCount again;
  tg_Slice values = {bytes + BEFORE, size, bytes};
  tg_valuecount(n, values, &models);
  tg_valuecount(&again, values, &models);
  UNIT_CHECK(memcmp(&again, n, sizeof again) == 0);
  free(bytes);
}

static void whole (void) {
  tg_ValueCount n;
  counted(&n, LIST, LIST, 0);
  UNIT_CHECK(n.strings == 3);
  UNIT_CHECK(n.objects == 5 && n.functions == 2);
  UNIT_CHECK(n.properties == 3);
  UNIT_CHECK(n.alike == 3 + 4 + 2);
}

/* What is known of a model is not counted again; of another one in its place it
   is. */
static void known (void) {
  tg_CountedModels models = {0};
  tg_ValueCount n;
  uint8_t bytes[BEFORE + LIST];
  memcpy(bytes, before, BEFORE);
  memcpy(bytes + BEFORE, list, LIST);
  models.list[1] = (tg_CountedModel){1, 9};     /* 'before', of 3 properties */
  tg_valuecount(&n, (tg_Slice){bytes + BEFORE, LIST, bytes}, &models);
  UNIT_CHECK(n.alike == 9 + 4 + 2);
  models.list[1] = (tg_CountedModel){1 + TG_COUNTED_MODELS, 9};
  tg_valuecount(&n, (tg_Slice){bytes + BEFORE, LIST, bytes}, &models);
  UNIT_CHECK(n.alike == 3 + 4 + 2);
  UNIT_CHECK(models.list[1].at == 1 && models.list[1].properties == 3);
}

static void cut_off (void) {
  tg_ValueCount n;
  for (size_t size = 0; size < LIST; size++) {
    counted(&n, size, LIST, 0);
    UNIT_CHECK(n.strings <= 3 && n.objects <= 5 && n.properties <= 3);
  }
}

static void changed (void) {
  tg_ValueCount n;
  for (size_t i = 0; i < LIST; i++) {
    for (unsigned value = 0; value < 256; value++) {
      counted(&n, LIST, i, (uint8_t)value);
      UNIT_CHECK(n.objects <= 16 * LIST && n.properties <= LIST);
    }
  }
}

int main (void) {
  UNIT_RUN(whole);
  UNIT_RUN(known);
  UNIT_RUN(cut_off);
  UNIT_RUN(changed);
  return UNIT_END();
}
