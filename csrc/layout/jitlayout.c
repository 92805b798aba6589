/* jitlayout.c - see jitlayout.h. The columns of jitrows.h, one after the
   other. */
#include "layout/jitlayout.h"

/* The first that fits is taken. What was made before March 2021 lies as what
   came then but for snapshots, by which nothing is proved: so that one comes
   behind (jit/inlined.h has what tells them apart). */
const tg_JitLayout tg_jitlayouts[TG_JIT_LAYOUTS] = {
#define JIT(name, v2009, v2103, v2404, v2511, v2607, openresty) \
  [TG_JIT_##name] = v2103,
  {"2021-03", {
#include "layout/jitrows.h"
  }},
#undef JIT
#define JIT(name, v2009, v2103, v2404, v2511, v2607, openresty) \
  [TG_JIT_##name] = v2009,
  {"2020-09", {
#include "layout/jitrows.h"
  }},
#undef JIT
#define JIT(name, v2009, v2103, v2404, v2511, v2607, openresty) \
  [TG_JIT_##name] = v2404,
  {"2024-04", {
#include "layout/jitrows.h"
  }},
#undef JIT
#define JIT(name, v2009, v2103, v2404, v2511, v2607, openresty) \
  [TG_JIT_##name] = v2511,
  {"2025-11", {
#include "layout/jitrows.h"
  }},
#undef JIT
#define JIT(name, v2009, v2103, v2404, v2511, v2607, openresty) \
  [TG_JIT_##name] = v2607,
  {"2026-07", {
#include "layout/jitrows.h"
  }},
#undef JIT
#define JIT(name, v2009, v2103, v2404, v2511, v2607, openresty) \
  [TG_JIT_##name] = openresty,
  {"openresty", {
#include "layout/jitrows.h"
  }}
#undef JIT
};
