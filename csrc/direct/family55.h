/*
** family55.h - what is done otherwise in Lua 5.5 than in 5.4 (family54.h) with
** what stands in memory: a table's array is two, values and tags; a long
** string's text is elsewhere; what moves at a hook is noted once for the
** coroutine; and a function may have its extra arguments in a table. Included
** by family.h alone.
*/
#ifndef TG_FAMILY55_H
#define TG_FAMILY55_H

/* Slots of a table's array. */
TG_INLINE uint32_t tg_direct_array_size (const void *table) {
  return tg_read32(table, TG_AT_TABLE_ELEMENTS);
}

/* Slot 'i' of a table's array, from 0. Values go down from the array's pointer,
   tags go up. */
TG_INLINE tg_Slot tg_direct_element (const void *table, uint32_t i) {
  const uint8_t *array = tg_read_pointer(table, TG_AT_TABLE_ARRAY);
  tg_Slot s;
  memcpy(&s.u, array - ((size_t)i + 1) * TG_SIZE_VALUE, sizeof s.u);
  s.tag = tg_read8(array, TG_SIZE_HINT + (size_t)i);
  return s;
}

/* What an array of so many slots takes up, and from where. */
TG_INLINE size_t tg_direct_array_span (const void *table, uint32_t slots,
                                       const void **from) {
  size_t values = (size_t)slots * TG_SIZE_VALUE;
  const uint8_t *array = tg_read_pointer(table, TG_AT_TABLE_ARRAY);
  *from = array - values;
  return values + TG_SIZE_HINT + slots;
}

/* Where a long string's text is: behind it, or outside of Lua. */
TG_INLINE const char *tg_direct_long_text (const void *string) {
  return tg_read_pointer(string, TG_AT_STRING_TEXT);
}

TG_INLINE bool tg_direct_is_vararg (const void *proto) {
  return (tg_read8(proto, TG_AT_PROTO_EXTRA)
          & (TG_PROTO_HIDDEN | TG_PROTO_TABLE)) != 0;
}

/* Extra arguments of a frame's function are below its slot. */
TG_INLINE bool tg_direct_hides_extra (const void *proto) {
  return (tg_read8(proto, TG_AT_PROTO_EXTRA) & TG_PROTO_HIDDEN) != 0;
}

/* The values that move at a hook: first slot, from the function's on, and
   their number. */
TG_INLINE int tg_direct_moved (const lua_State *L, const void *frame,
                               int *first) {
  (void)frame;
  *first = (int)tg_read32(L, TG_AT_STATE_FIRST);
  return (int)tg_read32(L, TG_AT_STATE_COUNT);
}

#endif
