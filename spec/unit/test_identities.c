/*
** test_identities.c - numbers of tables: the same as long as one lives, and
** never again.
*/
#include <stdlib.h>

#include "base/identities.h"
#include "unit.h"

static void *allocator (void *ud, void *block, size_t osize, size_t nsize) {
  (void)ud, (void)osize;
  if (nsize > 0)
    return realloc(block, nsize);
  free(block);
  return NULL;
}

static void stay_until_the_table_goes (void) {
  tg_Identities *all = tg_identities_new(allocator, NULL);
  void *a = tg_identities_call(all, NULL, 5, 56);
  void *b = tg_identities_call(all, NULL, 5, 56);
  uint32_t one = tg_identities_of(all, a), two = tg_identities_of(all, b);
  UNIT_CHECK(one != 0 && two != 0 && one != two);
  UNIT_CHECK(tg_identities_of(all, a) == one);
  void *other = tg_identities_call(all, NULL, 4, 56);
  tg_identities_call(all, other, 56, 0);
  UNIT_CHECK(tg_identities_of(all, a) == one);
  UNIT_CHECK(tg_identities_of(all, b) == two);
  tg_identities_call(all, a, 56, 0);
  /* whatever comes to that address is another one */
  UNIT_CHECK(tg_identities_of(all, a) > two);
  tg_identities_call(all, b, 56, 0);
  tg_identities_forget(all);
}

static void are_not_given_again (void) {
  tg_Identities *all = tg_identities_new(allocator, NULL);
  char blocks[4096];
  uint32_t last = 0;
  for (int round = 0; round < 3; round++) {
    for (size_t i = 0; i < sizeof blocks; i += 16) {
      uint32_t number = tg_identities_of(all, blocks + i);
      UNIT_CHECK(number == last + 1);
      last = number;
    }
    tg_identities_forget(all);
  }
}

static void pass_on_what_is_asked (void) {
  tg_Identities *all = tg_identities_new(allocator, NULL);
  char *block = tg_identities_call(all, NULL, 0, 10);
  UNIT_CHECK(block != NULL);
  block[9] = 'x';
  block = tg_identities_call(all, block, 10, 100000);
  UNIT_CHECK(block != NULL && block[9] == 'x');
  UNIT_CHECK(tg_identities_call(all, block, 100000, 0) == NULL);
  UNIT_CHECK(tg_identities_call(all, NULL, 0, 0) == NULL);
}

int main (void) {
  UNIT_RUN(stay_until_the_table_goes);
  UNIT_RUN(are_not_given_again);
  UNIT_RUN(pass_on_what_is_asked);
  return UNIT_END();
}
