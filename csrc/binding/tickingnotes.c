/*
** tickingnotes.c - see tickingnotes.h. The room of a note is its own: nothing
** is held where Lua may raise. Without memory a note is left out.
*/
#include "binding/tickingnotes.h"

#define NOTE_MAX 256

/* The note's size; 0: there is none. */
static size_t copy_note (const tg_Ticking *t, tg_TickingNote which,
                         char to[NOTE_MAX]) {
  tg_Buf note = {0};
  bool there = tg_ticking_tell(t, which, &note) && !note.failed;
  size_t n = (there && note.size <= NOTE_MAX) ? note.size : 0;
  if (n > 0)
    memcpy(to, note.data, n);
  tg_buf_free(&note);
  return n;
}

void tg_tickingnotes_push (lua_State *L, const tg_Ticking *t) {
  char note[NOTE_MAX];
  lua_Integer n = 0;
  lua_newtable(L);
  for (int i = 0; i < TG_TICKING_NOTES; i++) {
    size_t size = copy_note(t, (tg_TickingNote)i, note);
    if (size == 0)
      continue;
    lua_pushlstring(L, note, size);
    lua_rawseti(L, -2, ++n);
  }
}
