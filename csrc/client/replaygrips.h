/*
** replaygrips.h - single grips back into bytes: what the table of a packet
** means by {type: "longString", ...} and the like.
**
** The table is read with lua_getfield: packets are plain tables of cjson's, or
** of a program's own. Indices into Lua's stack are absolute. The skin, one
** thread.
*/
#ifndef TG_REPLAYGRIPS_H
#define TG_REPLAYGRIPS_H

#include "base/buf.h"
#include "binding/lx.h"
#include "stream/values.h"

/* Where grips go, and what they may refer to. */
typedef struct tg_ReplayGrips {
  tg_Buf *out;              /* borrows */
  lua_State *L;
  uint32_t objects;         /* in the pool: ids below are good */
} tg_ReplayGrips;

/* The type of an object whose class has that name. */
tg_ObjectType tg_replaygrips_type (const char *cls);

/* ---- fields of the table at 'i' ---- */

/* A string, "" if it is none; pushes it. */
const char *tg_replaygrips_push (lua_State *L, int i, const char *key,
                                 size_t *size);                /* [-0, +1, e] */

/* A whole number from 0 on; -1 if it is none. */
lua_Integer tg_replaygrips_count (lua_State *L, int i, const char *key);

bool tg_replaygrips_flag (lua_State *L, int i, const char *key);

/* ---- pieces ---- */

void tg_replaygrips_byte (const tg_ReplayGrips *w, unsigned tag);
void tg_replaygrips_var (const tg_ReplayGrips *w, uint64_t v);
void tg_replaygrips_float (const tg_ReplayGrips *w, double f);
void tg_replaygrips_object (const tg_ReplayGrips *w, uint32_t id);

/* A string of 'length' bytes of which 'size' are known. */
void tg_replaygrips_string (const tg_ReplayGrips *w, const char *s, size_t size,
                            uint64_t length);

/* The grip at 'i', which refers to an object of the pool, or to one that was
   left out. */
void tg_replaygrips_reference (const tg_ReplayGrips *w, int i);

/* The value on top of the stack, which is popped. */
void tg_replaygrips_top (const tg_ReplayGrips *w);             /* [-1, +0, m] */

#endif
