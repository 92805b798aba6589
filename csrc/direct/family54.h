/*
** family54.h - what is done otherwise in Lua 5.4 than in 5.5 (family55.h) with
** what stands in memory. Included by family.h alone.
**
** A slot (of the stack, of a table's array) is 16 bytes: a value and its tag.
*/
#ifndef TG_FAMILY54_H
#define TG_FAMILY54_H

/* The limit is the array's size, or within its last half (luaH_realasize). */
#define TABLE_LIMITED 0x80u

/* Slots of a table's array. */
TG_INLINE uint32_t tg_direct_array_size (const void *table) {
  uint32_t n = tg_read32(table, TG_AT_TABLE_ELEMENTS);
  if (tg_likely(!(tg_read8(table, tg_direct_facts.limited) & TABLE_LIMITED)
                || (n & (n - 1)) == 0))
    return n;
  return UINT32_C(1) << (32 - __builtin_clz(n));
}

/* Slot 'i' of a table's array, from 0. */
TG_INLINE tg_Slot tg_direct_element (const void *table, uint32_t i) {
  const void *array = tg_read_pointer(table, TG_AT_TABLE_ARRAY);
  return tg_read_slot(array, (size_t)i * sizeof(tg_Slot));
}

/* What an array of so many slots takes up, and from where. */
TG_INLINE size_t tg_direct_array_span (const void *table, uint32_t slots,
                                       const void **from) {
  *from = tg_read_pointer(table, TG_AT_TABLE_ARRAY);
  return (size_t)slots * TG_SIZE_SLOT;
}

/* Where a long string's text is. */
TG_INLINE const char *tg_direct_long_text (const void *string) {
  return (const char *)string + TG_AT_STRING_TEXT;
}

TG_INLINE bool tg_direct_is_vararg (const void *proto) {
  return tg_read8(proto, TG_AT_PROTO_EXTRA) != 0;
}

/* Extra arguments of a frame's function are below its slot. */
TG_INLINE bool tg_direct_hides_extra (const void *proto) {
  return tg_direct_is_vararg(proto);
}

/* The values that move at a hook: first slot, from the function's on, and
   their number. Without any, the fields have another use. */
TG_INLINE int tg_direct_moved (const lua_State *L, const void *frame,
                               int *first) {
  (void)L;
  if (!(tg_read16(frame, TG_AT_FRAME_STATUS) & tg_direct_facts.moves))
    return 0;
  *first = tg_read16(frame, TG_AT_FRAME_FIRST);
  return tg_read16(frame, TG_AT_FRAME_COUNT);
}

#endif
