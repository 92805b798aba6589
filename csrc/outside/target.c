/* target.c - see target.h. */
#include "outside/target.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "outside/process.h"
#include "outside/proof.h"

const char *tg_target_code (tg_Refusal refusal) {
  switch (refusal) {
    case TG_REFUSED_GONE: return "gone";
    case TG_REFUSED_FORBIDDEN: return "forbidden";
    case TG_REFUSED_NOLUA: return "nolua";
    case TG_REFUSED_UNKNOWN: return "unknown";
    case TG_REFUSED_UNFIT: return "unfit";
    case TG_REFUSED_NOT: case TG_REFUSED_OTHER: default: return "failed";
  }
}

void tg_target_lua (const tg_Target *t, char to[TG_TARGET_LUA]) {
  if (t->sight.jit != NULL)
    snprintf(to, TG_TARGET_LUA, "LuaJIT %s", t->idents.jit);
  else
    tg_sight_release(t->sight.release, to);
}

void tg_target_title (const tg_Target *t, tg_Buf *words) {
  if (t->memory.core == NULL)
    tg_buf_addfmt(words, "process %d", t->memory.pid);
  else
    tg_buf_addstr(words, t->core.path);
}

void tg_target_close (tg_Target *t) {
  tg_found_free(&t->found);
  tg_memory_free(&t->memory);
  tg_core_close(&t->core);
}

/*
** {==================================================================
** Which Lua
** ===================================================================
*/

/* The first release of those told in whose layout there is a state. */
static bool find_states (tg_Target *t) {
  for (uint32_t i = 0; i < t->idents.count; i++) {
    t->sight = (tg_Sight){.memory = &t->memory, .release = t->idents.list[i],
                          .layout = tg_layout_of(t->idents.list[i])};
    if (t->sight.layout == NULL)
      continue;
    tg_finder_search(&t->sight, &t->found);
    if (t->found.nstates > 0)
      return true;
  }
  return false;
}

static void add_idents (const tg_Target *t, tg_Buf *words) {
  for (uint32_t i = 0; i < t->idents.count; i++) {
    char text[TG_RELEASE_TEXT];
    tg_sight_release(t->idents.list[i], text);
    tg_buf_addstr(words, i > 0 ? ", " : "");
    if (t->idents.list[i] == TG_IDENT_JIT)
      tg_buf_addfmt(words, "LuaJIT %s", t->idents.jit);
    else
      tg_buf_addfmt(words, "Lua %s", text);
  }
}

static bool knows_any (const tg_Target *t) {
  for (uint32_t i = 0; i < t->idents.count; i++) {
    if (tg_layout_of(t->idents.list[i]) != NULL)
      return true;
  }
  return false;
}

bool tg_target_has_jit (const tg_Target *t) {
  for (uint32_t i = 0; i < t->idents.count; i++) {
    if (t->idents.list[i] == TG_IDENT_JIT)
      return true;
  }
  return false;
}

static tg_Refusal refuse_unknown (const tg_Target *t, tg_Buf *words) {
  tg_target_title(t, words);
  tg_buf_addstr(words, " has ");
  add_idents(t, words);
  if (tg_target_has_jit(t)) {
    tg_buf_addstr(words, " in it, which ps, dump, record and top look into, "
                  "and nothing else");
    return TG_REFUSED_UNKNOWN;
  }
  tg_buf_addstr(words, " in it, whose layout is not known (known are "
                "5.1.0 to 5.1.5, 5.2.0 to 5.2.4, 5.3.0 to 5.3.6, 5.4.0 to "
                "5.4.9, 5.5.0 and 5.5.1)");
  return TG_REFUSED_UNKNOWN;
}

static tg_Refusal refuse_unfit (const tg_Target *t, tg_Buf *words) {
  tg_target_title(t, words);
  tg_buf_addstr(words, " has ");
  add_idents(t, words);
  tg_buf_addstr(words, " in it, but no state that fits the layout of that "
                "release: none has been made, or it is a patched Lua");
  return TG_REFUSED_UNFIT;
}

static tg_Refusal refuse_patched (const tg_Target *t, const char *objection,
                                  tg_Buf *words) {
  tg_target_title(t, words);
  tg_buf_addstr(words, " has ");
  add_idents(t, words);
  tg_buf_addfmt(words, " in it, but %s are not as in that release: a patched "
                "Lua, whose layout is not known", objection);
  return TG_REFUSED_UNKNOWN;
}

static tg_Refusal identify (tg_Target *t, tg_IdentMemo *memo,
                            tg_Buf *words) {
  if (!tg_ident_find(&t->memory, t->root, memo, &t->idents)) {
    tg_target_title(t, words);
    tg_buf_addstr(words, " has no Lua in it");
    if (t->memory.core != NULL)
      tg_buf_addstr(words, ", as far as the files that it had mapped are here "
                    "(--sysroot, --exe)");
    return TG_REFUSED_NOLUA;
  }
  return knows_any(t) ? TG_REFUSED_NOT : refuse_unknown(t, words);
}

static tg_Refusal prove (tg_Target *t, tg_Buf *words) {
  if (!find_states(t))
    return refuse_unfit(t, words);
  const char *objection = tg_outside_objection(&t->sight, &t->found);
  if (objection != NULL)
    return refuse_patched(t, objection, words);
  memset(t->sight.rejected, 0, sizeof t->sight.rejected);
  return TG_REFUSED_NOT;
}

/* }================================================================== */

static tg_Refusal refuse_process (int pid, int error, tg_Buf *words) {
  tg_process_refusal(pid, error, words);
  if (error == EPERM || error == EACCES)
    return TG_REFUSED_FORBIDDEN;
  bool gone = error == ENOENT || error == ESRCH;
  return gone ? TG_REFUSED_GONE : TG_REFUSED_OTHER;
}

/* That it has Lua is known of the files, also where memory may not be read. A
   process without maps is a thread of the kernel's, or has ended. */
tg_Refusal tg_target_process (tg_Target *t, int pid, tg_IdentMemo *memo,
                              tg_Buf *words) {
  memset(t, 0, sizeof *t);
  bool opened = tg_process_open(&t->memory, pid);
  t->memory.pid = pid;
  if (!opened)
    return refuse_process(pid, errno, words);
  t->born = tg_process_born(pid);
  t->mark = tg_process_mark(t->memory.task);
  snprintf(t->root, sizeof t->root, "/proc/%d/root", t->memory.task);
  tg_process_link(t->memory.task, "exe", t->exe, sizeof t->exe);
  tg_Refusal refusal = identify(t, memo, words);
  if (refusal != TG_REFUSED_NOT)
    return refusal;
  if (!tg_process_readable(&t->memory))
    return refuse_process(pid, errno, words);
  return prove(t, words);
}

tg_Refusal tg_target_core (tg_Target *t, const char *path, const char *exe,
                           const char *sysroot, tg_Buf *words) {
  memset(t, 0, sizeof *t);
  if (!tg_core_open(&t->core, &t->memory, path, exe, sysroot, words))
    return TG_REFUSED_OTHER;
  snprintf(t->root, sizeof t->root, "%s", t->core.sysroot);
  snprintf(t->exe, sizeof t->exe, "%s", t->core.exe);
  tg_Refusal refusal = identify(t, NULL, words);
  return (refusal != TG_REFUSED_NOT) ? refusal : prove(t, words);
}

/* A program that another one was put in the place of (execve) keeps its
   number. */
bool tg_target_lives (const tg_Target *t) {
  int pid = t->memory.pid;
  if (t->memory.core != NULL)
    return true;
  int task = tg_process_task(pid);
  tg_ProcessMark mark = tg_process_mark(task);
  return task != 0 && tg_process_born(pid) == t->born
         && memcmp(&mark, &t->mark, sizeof mark) == 0;
}
