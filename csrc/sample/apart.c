/*
** apart.c - see apart.h.
*/
#include "sample/apart.h"

#include "direct/hookcode.h"
#include "direct/hookfield.h"
#include "host/ownfunctions.h"
#include "host/running.h"
#include "signal/struck.h"

bool tg_apart_known (void) {
  return tg_direct_facts.allows != 0 && tg_direct_facts.hooked_bit != 0
         && tg_hookcode[0].end != 0;
}

bool tg_apart_is_ours (const void *context) {
  return tg_ownfunctions_code((const void *)tg_struck_instruction(context));
}

bool tg_apart_is_hook (const tg_Session *s, const void *context) {
  const lua_State *L = tg_running_top(&s->host);
  if (L == NULL || tg_direct_running(L) == NULL)
    return false;
  return (tg_hookfield_runs(L) && tg_hookcode_hooked(L))
         || tg_hookcode_has(tg_struck_instruction(context));
}
