/*
** dialect.h - a Lua that lies in memory in a way of its own, and not as one of
** lua.org's releases does: who reads it instead.
**
** value.h, proto.h, state.h, walk.h and calledname.h ask here first, so whoever
** looks at values and frames need not know which it is. Each function does what
** the one of the same name there promises. Plain C, constant.
*/
#ifndef TG_DIALECT_H
#define TG_DIALECT_H

#include "outside/registers.h"
#include "outside/seen.h"
#include "outside/sight.h"

typedef struct tg_Dialect {
  uint32_t slot;        /* bytes of a slot on the stack */
  /* values */
  tg_SeenValue (*value) (tg_Sight *s, uint64_t slot);
  bool (*is_c) (tg_Sight *s, tg_SeenValue f, uint64_t *code, bool *known);
  bool (*upvalue) (tg_Sight *s, tg_SeenValue f, uint32_t n, uint64_t *slot);
  bool (*text) (tg_Sight *s, uint64_t string, uint64_t *at, uint64_t *size);
  bool (*is_table) (tg_Sight *s, uint64_t table);
  uint64_t (*metatable) (tg_Sight *s, uint64_t shared, tg_SeenValue v);
  bool (*traverse) (tg_Sight *s, tg_SeenTable *t);      /* where parts are */
  tg_SeenValue (*element) (tg_Sight *s, const tg_SeenTable *t, uint64_t i);
  tg_SeenValue (*node) (tg_Sight *s, const tg_SeenTable *t, uint64_t i,
                        tg_SeenValue *key);
  /* functions */
  bool (*proto) (tg_Sight *s, uint64_t at, tg_SeenProto *p);
  uint32_t (*line) (tg_Sight *s, const tg_SeenProto *p, int32_t pc);
  bool (*next_local) (tg_Sight *s, const tg_SeenProto *p, int32_t pc,
                      tg_SeenNames *names, char *name, size_t room);
  bool (*upvalue_name) (tg_Sight *s, const tg_SeenProto *p, uint32_t n,
                        char *name, size_t room);
  bool (*called_name) (tg_Sight *s, const tg_SeenProto *p, int32_t pc,
                       char *name, size_t room);
  /* coroutines */
  uint64_t (*shared_at) (const tg_Sight *s);
  uint64_t (*distance) (const tg_Sight *s);
  bool (*state) (tg_Sight *s, uint64_t at, tg_SeenState *state);
  bool (*is_main) (tg_Sight *s, const tg_SeenState *state);
  uint64_t (*registry) (tg_Sight *s, uint64_t shared);
  bool (*is_dead) (tg_Sight *s, const tg_SeenState *state);
  uint64_t (*objects) (const tg_Sight *s, uint64_t shared, uint64_t *next);
  tg_WalkEnd (*walk) (tg_Sight *s, const tg_SeenState *state,
                      const tg_Registers *registers, tg_SeenFrame *list,
                      uint32_t most, uint32_t *count, tg_SeenAbove *above);
} tg_Dialect;

#endif
