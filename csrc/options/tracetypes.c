/*
** tracetypes.c - the names of the trace types, from the one list of them.
**
** Any thread; nothing is kept. Searched one by one: there are few, and they
** are asked for when options are read.
*/
#include "options/tracetypes.h"

#include <string.h>

static const char *const names[TG_NTYPES] = {
#define X(id, name, call) name,
  TG_TYPES(X)
#undef X
};

uint32_t tg_tracetype_bit (const char *name) {
  for (int i = 0; i < TG_NTYPES; i++) {
    if (strcmp(names[i], name) == 0)
      return 1u << i;
  }
  return (strcmp(name, "samples") == 0) ? TG_TYPE_SAMPLES : 0;
}

const char *tg_tracetype_name (int i) {
  tg_check(0 <= i && i < TG_NTYPES);
  return names[i];
}
