/* ownmark.c - see ownmark.h. */
#include "outside/ownmark.h"

#include <string.h>

#include "outside/state.h"
#include "outside/value.h"

#define STEPS 4096u     /* a registry of ours has some dozens of entries */
#define TEXT "tracegrip: this state is its own"

const char tg_ownmark[] = TEXT;

static bool is_mark (tg_Sight *s, tg_SeenValue key) {
  char text[sizeof TEXT];
  return tg_seen_type(key) == TG_SEEN_LIGHT
         && tg_memory_get(s->memory, key.bits, text, sizeof text)
         && memcmp(text, TEXT, sizeof TEXT) == 0;
}

bool tg_ownmark_is_in (tg_Sight *s, uint64_t shared) {
  tg_SeenTable t;
  tg_seen_traverse(s, tg_state_registry(s, shared), STEPS, &t);
  while (tg_seen_next(s, &t)) {
    if (is_mark(s, t.key))
      return true;
  }
  return false;
}
