/*
** halve.c - see halve.h. For lua/tracegrip/send/, on the thread of its state.
*/
#include "send/halve.h"

#include <string.h>

#include "formats/otlp/halves.h"
#include "text/gzip.h"

#define MOST ((size_t)256 << 20)    /* bytes of a request, not compressed */

/* Zeroed memory is fine. Lua's, since to push a string may raise. */
typedef struct Halves {
  tg_OtlpHalf halves[2];
  tg_Buf whole, packed;
} Halves;

static int halves__gc (lua_State *L) {
  Halves *h = lua_touserdata(L, 1);
  tg_otlphalves_free(h->halves);
  tg_buf_free(&h->whole);
  tg_buf_free(&h->packed);
  memset(h, 0, sizeof *h);
  return 0;
}

/* Pushes a half as it is to be posted; false without memory. */
static bool push_half (lua_State *L, Halves *h, const tg_OtlpHalf *half,
                       bool gzip) {
  const tg_Buf *b = &half->body;
  tg_buf_clear(&h->packed);
  if (b->failed || (gzip && !tg_gzip_pack(b->data, b->size, &h->packed)))
    return false;
  if (gzip)
    b = &h->packed;
  lua_pushlstring(L, b->data, b->size);
  lua_pushinteger(L, (lua_Integer)half->count);
  return true;
}

int halve_request (lua_State *L) {
  size_t size;
  const char *body = luaL_checklstring(L, 1, &size);
  bool json = strcmp(luaL_checkstring(L, 2), "json") == 0;
  bool gzip = lua_toboolean(L, 3);
  Halves *h = lx_owner(L, sizeof *h, 0, "tracegrip.halves", halves__gc);
  if (gzip) {
    if (!tg_gzip_unpack(body, size, MOST, &h->whole))
      return 0;
    body = h->whole.data;
    size = h->whole.size;
  }
  if (!tg_otlp_halve(json ? &tg_otlp_json : &tg_otlp_protobuf, body, size,
                     h->halves)
      || !push_half(L, h, &h->halves[0], gzip)
      || !push_half(L, h, &h->halves[1], gzip))
    return 0;
  return 4;
}
