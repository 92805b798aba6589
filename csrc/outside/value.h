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
#include "outside/sight.h"

/* Lua's types (lua.h): the same numbers in all releases. */
typedef enum tg_SeenType {
  TG_SEEN_NIL, TG_SEEN_BOOLEAN, TG_SEEN_LIGHT, TG_SEEN_NUMBER,
  TG_SEEN_STRING, TG_SEEN_TABLE, TG_SEEN_FUNCTION, TG_SEEN_USERDATA,
  TG_SEEN_THREAD, TG_SEEN_OTHER
} tg_SeenType;

typedef struct tg_SeenValue {
  uint64_t bits;        /* an address, an integer, a float's bits */
  uint8_t tag;
} tg_SeenValue;

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

/* ---- strings ---- */

#define TG_SEEN_TEXT_MAX ((size_t)1 << 24)  /* read of one string */

/* Adds at most 'most' bytes of the string object at an address to 'to';
   '*whole' is how long it is. False: it is none. */
bool tg_seen_text (tg_Sight *s, uint64_t string, size_t most, tg_Buf *to,
                   uint64_t *whole);

/* The same into a C string of 'room' bytes, cut; false: it is none. */
bool tg_seen_name (tg_Sight *s, uint64_t string, char *to, size_t room);

/* ---- tables ---- */

/* The metatable of a table or full userdata, or of a type; 0: none. */
uint64_t tg_seen_metatable (tg_Sight *s, uint64_t shared, tg_SeenValue v);

typedef struct tg_SeenTable {
  uint64_t table;
  uint64_t elements;    /* slots of the array, */
  uint64_t i;           /* and the next one; */
  uint64_t nodes, node; /* then the nodes, and the next one */
  uint64_t array, first;
  uint64_t steps;       /* that are left, whatever is there */
  bool cut;             /* the steps were used up */
  tg_SeenValue key, value;
} tg_SeenTable;

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
