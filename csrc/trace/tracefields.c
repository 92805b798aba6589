/*
** tracefields.c - see tracefields.h. On the thread that runs the state. Little
** of this is noted while the program runs: it is counted when somebody wants to
** know.
*/
#include "trace/tracefields.h"

#include <string.h>

#include "binding/losslist.h"
#include "session/traceinfo.h"
#include "trace/readtrace.h"

/* All of them, one by one: nobody has noted how many there are. So it is with
   a trace of a recording, or one taken from another thread. */
static uint64_t count_packets (tg_Trace *t) {
  tg_Packet packet;
  uint64_t n = 0;
  tg_Reader *r = tg_traceinfo_reader(t);
  while (r != NULL && tg_reader_next(r, tg_traceinfo_stop_pos(t), &packet))
    n++;
  if (r != NULL)
    tg_readtrace_ended(t, tg_reader_status(r), tg_reader_damage(r));
  tg_reader_free(r);
  return n;
}

/* For an active trace the session's count will do: an upper bound, since it
   includes packets that only other traces want. */
uint64_t tg_tracefields_packets (tg_Trace *t) {
  uint64_t end = t->packets_end;
  if (t->end == TG_END_NOT)
    end = t->session->writer.packets;
  else if (end == TG_PACKETS_UNKNOWN)
    end = t->packets_end = t->packets_start + t->lost[TG_LOSS_RING]
                           + count_packets(t);
  uint64_t before = t->packets_start + t->lost[TG_LOSS_RING];
  return end > before ? end - before : 0;   /* a recording may say anything */
}

/* lost[cause] of a cause that has lost nothing. As __index of the table: so
   trace.lost.memory is a number for each cause, and nil for a word that names
   no cause. */
static int no_loss (lua_State *L) {
  const char *key = (lua_type(L, 2) == LUA_TSTRING) ? lua_tostring(L, 2) : "";
  for (int i = 0; i < TG_NLOSSES; i++) {
    if (strcmp(key, tg_endreason_loss(i)) == 0) {
      lua_pushinteger(L, 0);
      return 1;
    }
  }
  return 0;
}

/* Only what is not zero is in the table: whoever goes through it sees what was
   lost and nothing else. */
void tg_tracefields_push_lost (lua_State *L, const tg_Trace *t) {
  uint64_t lost[TG_NLOSSES];
  tg_traceinfo_losses(t, lost);
  tg_losslist_push(L, lost);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_newtable(L);
  }
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, no_loss);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
}

bool tg_tracefields_push (lua_State *L, tg_Trace *t, const char *key) {
  if (strcmp(key, "name") == 0)
    lua_pushstring(L, t->name);
  else if (strcmp(key, "active") == 0)
    lua_pushboolean(L, t->session != NULL);
  else if (strcmp(key, "lost") == 0)
    tg_tracefields_push_lost(L, t);
  else if (strcmp(key, "ended") == 0)
    lua_pushstring(L, tg_endreason_name(t->end));
  else if (strcmp(key, "damage") == 0 && t->recorded.damage != 0)
    lua_pushinteger(L, (lua_Integer)t->recorded.damage);
  else if (strcmp(key, "undecided") == 0 && t->undecided != 0)
    lua_pushinteger(L, (lua_Integer)t->undecided);
  else if (strcmp(key, "bytes") == 0)
    lua_pushinteger(L, (lua_Integer)(tg_traceinfo_stop_pos(t) - t->start));
  else if (strcmp(key, "events") == 0)
    lua_pushinteger(L, (lua_Integer)tg_tracefields_packets(t));
  else
    return false;
  return true;
}
