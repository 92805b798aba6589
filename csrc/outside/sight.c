/* sight.c - see sight.h. */
#include "outside/sight.h"

#include <stdio.h>

void tg_sight_release (int release, char to[TG_RELEASE_TEXT]) {
  snprintf(to, TG_RELEASE_TEXT, "%d.%d.%d", release / 10000,
           release / 100 % 100, release % 100);
}

const char *tg_sight_reason (tg_Reason reason) {
  static const char *const words[] = {
#define X(name, word, text) word,
    TG_REASONS(X)
#undef X
  };
  return words[reason];
}
