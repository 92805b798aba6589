/*
** values.h - values, strings, tables and functions of LuaJIT: what a dialect
** has to say of values (outside/dialect.h, outside/value.h).
**
** A value is one word: a float, or the upper bits say that it is none, and of
** which type it is (lj_obj.h, "Tags and values"). Plain C.
*/
#ifndef TG_JIT_VALUES_H
#define TG_JIT_VALUES_H

#include "jit/reading.h"

tg_SeenValue tg_jitvalues_of (uint64_t word);
tg_SeenValue tg_jitvalues_at (tg_Sight *s, uint64_t slot);

bool tg_jitvalues_is_c (tg_Sight *s, tg_SeenValue f, uint64_t *code,
                        bool *known);
bool tg_jitvalues_upvalue (tg_Sight *s, tg_SeenValue f, uint32_t n,
                           uint64_t *slot);

bool tg_jitvalues_text (tg_Sight *s, uint64_t string, uint64_t *at,
                        uint64_t *size);

bool tg_jitvalues_is_table (tg_Sight *s, uint64_t table);
uint64_t tg_jitvalues_metatable (tg_Sight *s, uint64_t shared,
                                 tg_SeenValue v);
bool tg_jitvalues_traverse (tg_Sight *s, tg_SeenTable *t);
tg_SeenValue tg_jitvalues_element (tg_Sight *s, const tg_SeenTable *t,
                                   uint64_t i);
tg_SeenValue tg_jitvalues_node (tg_Sight *s, const tg_SeenTable *t, uint64_t i,
                                tg_SeenValue *key);

#endif
