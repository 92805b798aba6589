/*
** scrubrecording.c - see scrubrecording.h. On the thread that runs the state;
** options that are wrong raise, all else is returned.
*/
#include "trace/scrubrecording.h"

#include "binding/readoptions.h"
#include "reader/scrub.h"
#include "trace/recordingobject.h"

int recording_scrub (lua_State *L) {
  const char *from = lx_checkword(L, 1), *to = lx_checkword(L, 2);
  char reason[160] = "";
  tg_Scrubbed done;
  bool aside;
  tg_Options *hide = tg_readoptions_new(L);
  tg_readoptions(L, 3, NULL, hide);
  if (hide->redact.count == 0)
    luaL_error(L, "nothing is to be hidden: option 'redact' or "
                  "'redactPreset' expected");
  tg_Status status = tg_scrub(from, to, hide, &done, &aside, reason,
                              sizeof reason);
  if (status != TG_OK)
    return tg_recordingobject_failure(L, aside ? to : from, status, reason);
  lua_createtable(L, 0, 3);
  lx_set_integer(L, "secrets", (lua_Integer)done.secrets);
  lx_set_integer(L, "values", (lua_Integer)done.values);
  lx_set_integer(L, "undecided", (lua_Integer)done.undecided);
  return 1;
}
