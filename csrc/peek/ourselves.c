/* ourselves.c - see ourselves.h. */
#include "peek/ourselves.h"

#include <string.h>
#include <unistd.h>

#include "outside/ident.h"
#include "outside/process.h"
#include "outside/proof.h"

static bool fits (tg_Ourselves *o, int release) {
  tg_Sight sight = {.memory = &o->memory, .release = release,
                    .layout = tg_layout_of(release)};
  tg_Finds found = {.mains = {o->main}, .nstates = 1};
  tg_SeenState state;
  if (sight.layout == NULL || !tg_state_read(&sight, o->main, &state)
      || !tg_state_is_main(&sight, &state))
    return false;
  found.shareds[0] = state.shared;
  o->layout = sight.layout;
  o->release = release;
  return tg_outside_objection(&sight, &found) == NULL;
}

const char *tg_ourselves_open (tg_Ourselves *o, const void *main) {
  tg_Idents idents;
  memset(o, 0, sizeof *o);
  o->main = (uint64_t)(uintptr_t)main;
  if (!tg_process_open(&o->memory, getpid()))
    return "this process cannot be read (/proc)";
  if (!tg_ident_find(&o->memory, "", NULL, &idents))
    return "no Lua is known in this process";
  for (uint32_t i = 0; i < idents.count; i++) {
    if (fits(o, idents.list[i]))
      return NULL;
    tg_memory_forget(&o->memory);
  }
  return "the layout of this Lua is not known";
}

void tg_ourselves_close (tg_Ourselves *o) {
  tg_memory_free(&o->memory);
}
