/* sight.c - see sight.h. */
#include "jit/sight.h"

#include "jit/calls.h"
#include "jit/protos.h"
#include "jit/states.h"
#include "jit/still.h"
#include "jit/values.h"

#define RELEASE 20100           /* no release of lua.org's */

static const tg_Layout no_layout = {RELEASE, {
#define SAME(name, ...) [TG_ROW_##name] = -1,
#define DIFF(name, ...) [TG_ROW_##name] = -1,
#include "layout/rows.h"
#undef SAME
#undef DIFF
}};

static const tg_Dialect dialect = {
  .slot = TG_JIT_SLOT,
  .value = tg_jitvalues_at, .is_c = tg_jitvalues_is_c,
  .upvalue = tg_jitvalues_upvalue, .text = tg_jitvalues_text,
  .is_table = tg_jitvalues_is_table, .metatable = tg_jitvalues_metatable,
  .traverse = tg_jitvalues_traverse, .element = tg_jitvalues_element,
  .node = tg_jitvalues_node,
  .proto = tg_jitprotos_read, .line = tg_jitprotos_line,
  .next_local = tg_jitprotos_next_local,
  .upvalue_name = tg_jitprotos_upvalue, .called_name = tg_jitcalls_name,
  .shared_at = tg_jitstates_shared_at, .distance = tg_jitstates_distance,
  .state = tg_jitstates_read,
  .is_main = tg_jitstates_is_main, .registry = tg_jitstates_registry,
  .is_dead = tg_jitstates_is_dead, .objects = tg_jitstates_objects,
  .walk = tg_jitstill_walk
};

tg_Sight tg_jitsight (tg_Memory *m, const tg_JitLayout *layout) {
  return (tg_Sight){.memory = m, .layout = &no_layout, .release = RELEASE,
                    .dialect = &dialect, .jit = layout};
}
