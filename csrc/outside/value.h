/*
** value.h - Lua values in another process's memory: what they are, the bytes of
** strings, what tables hold. One reading for all releases from 5.1 to 5.5.
**
** Bounded: sizes are compared with what is possible before anything is read, a
** traversal ends, and what is not there is nil or empty. Plain C.
*/
#ifndef TG_OUTSIDE_VALUE_H
#define TG_OUTSIDE_VALUE_H

#include "base/buf.h"
#include "outside/seen.h"
#include "outside/sight.h"

/* The value in a slot. */
tg_SeenValue tg_seen_slot (tg_Sight *s, uint64_t slot);

TG_INLINE tg_SeenType tg_seen_type (tg_SeenValue v) {
  unsigned type = v.tag & 0x0f;
  return (type < TG_SEEN_OTHER) ? (tg_SeenType)type : TG_SEEN_OTHER;
}

/* The tag without the bit for what the collector owns. */
TG_INLINE int tg_seen_variant (tg_SeenValue v) {
  return v.tag & 0x3f;
}

bool tg_seen_is_integer (const tg_Sight *s, tg_SeenValue v);
bool tg_seen_is_true (const tg_Sight *s, tg_SeenValue v);
double tg_seen_float (tg_SeenValue v);

/* Whether a function's value is C; '*code' is then its address, else that of
   its prototype. False in '*known': it is no function after all. */
bool tg_seen_is_c (tg_Sight *s, tg_SeenValue f, uint64_t *code, bool *known);

/* The slot of upvalue 'n', from 0, of a Lua function; false: it has none. */
bool tg_seen_upvalue (tg_Sight *s, tg_SeenValue f, uint32_t n,
                      uint64_t *slot);

/* ---- strings ---- */

#define TG_SEEN_TEXT_MAX ((size_t)1 << 24)  /* read of one string */

/* Adds at most 'most' bytes of the string object at an address to 'to';
   '*whole' is how long it is. False: it is none. */
bool tg_seen_text (tg_Sight *s, uint64_t string, size_t most, tg_Buf *to,
                   uint64_t *whole);

/* The same into a C string of 'room' bytes, cut; false: it is none. */
bool tg_seen_name (tg_Sight *s, uint64_t string, char *to, size_t room);

/* ---- tables ---- */

/* Whether there is one. */
bool tg_seen_is_table (tg_Sight *s, uint64_t table);

/* The metatable of a table or full userdata, or of a type; 0: none. */
uint64_t tg_seen_metatable (tg_Sight *s, uint64_t shared, tg_SeenValue v);

#define TG_SEEN_STEPS UINT64_C(200000)

/* Begins a traversal, of 'steps' steps at most. A table that cannot be one
   holds nothing. */
void tg_seen_traverse (tg_Sight *s, uint64_t table, uint64_t steps,
                       tg_SeenTable *t);

/* The next entry whose value is not nil; false at the end. */
bool tg_seen_next (tg_Sight *s, tg_SeenTable *t);

/* What the table has for an integer from 1 up; nil: nothing, or it would take
   too long to find. */
tg_SeenValue tg_seen_index (tg_Sight *s, uint64_t table, uint64_t k);

/* What it has for a string. */
tg_SeenValue tg_seen_field (tg_Sight *s, uint64_t table, const char *name);

#endif
