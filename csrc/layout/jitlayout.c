/* jitlayout.c - see jitlayout.h. The columns of jitrows.h, one after the
   other. */
#include "layout/jitlayout.h"

const tg_JitLayout tg_jitlayouts[TG_JIT_LAYOUTS] = {
#define JIT(name, v2009, v2404, v2511, v2607, openresty) \
  [TG_JIT_##name] = v2009,
  {"2020-09", {
#include "layout/jitrows.h"
  }},
#undef JIT
#define JIT(name, v2009, v2404, v2511, v2607, openresty) \
  [TG_JIT_##name] = v2404,
  {"2024-04", {
#include "layout/jitrows.h"
  }},
#undef JIT
#define JIT(name, v2009, v2404, v2511, v2607, openresty) \
  [TG_JIT_##name] = v2511,
  {"2025-11", {
#include "layout/jitrows.h"
  }},
#undef JIT
#define JIT(name, v2009, v2404, v2511, v2607, openresty) \
  [TG_JIT_##name] = v2607,
  {"2026-07", {
#include "layout/jitrows.h"
  }},
#undef JIT
#define JIT(name, v2009, v2404, v2511, v2607, openresty) \
  [TG_JIT_##name] = openresty,
  {"openresty", {
#include "layout/jitrows.h"
  }}
#undef JIT
};
