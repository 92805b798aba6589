/* target.c - see target.h. */
#include "jit/target.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "jit/proof.h"
#include "jit/sight.h"
#include "outside/state.h"

#define SERIES "2.1."

/*
** {==================================================================
** Refusals
** ===================================================================
*/

static void begin_refusal (const tg_Target *t, tg_Buf *words) {
  tg_buf_clear(words);
  tg_target_title(t, words);
  tg_buf_addfmt(words, " has LuaJIT %s in it, ", t->idents.jit);
}

static tg_Refusal refuse_unknown (const tg_Target *t, tg_Buf *words) {
  begin_refusal(t, words);
  tg_buf_addstr(words, "whose layout is not known (known is 2.1 on x86-64)");
  return TG_REFUSED_UNKNOWN;
}

static tg_Refusal refuse_unfit (const tg_Target *t, tg_Buf *words) {
  begin_refusal(t, words);
  tg_buf_addstr(words, "but no state that fits the layouts of 2.1 with GC64: "
                "none has been made, it was built without GC64, or it is a "
                "fork");
  return TG_REFUSED_UNFIT;
}

static tg_Refusal refuse_fork (const tg_Target *t, const char *objection,
                               tg_Buf *words) {
  begin_refusal(t, words);
  tg_buf_addfmt(words, "but %s are not as in any 2.1 that is known: a fork, "
                "or a newer one", objection);
  return TG_REFUSED_UNKNOWN;
}

static tg_Refusal refuse_reader (int pid, int error, tg_Buf *words) {
  tg_buf_clear(words);
  tg_process_refusal(pid, error, words);
  return (error == EPERM || error == EACCES) ? TG_REFUSED_FORBIDDEN
                                             : TG_REFUSED_OTHER;
}

/* }================================================================== */

/* Finalizers and events of the compiler have a coroutine of their own, which
   nobody made, in which nothing runs as a rule. */
static bool is_own (tg_Sight *s, const tg_Finds *found, uint64_t at) {
  tg_SeenState state;
  for (uint32_t i = 0; tg_jit_row(s, AT_SHARED_OWN) >= 0
                       && i < found->nstates; i++) {
    if (tg_jit_word(s, found->shareds[i], AT_SHARED_OWN) == at)
      return tg_state_read(s, at, &state) && !tg_state_has_frames(&state);
  }
  return false;
}

static void drop_own (tg_Sight *s, tg_Finds *found) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < found->count; i++) {
    if (!is_own(s, found, found->list[i].at))
      found->list[n++] = found->list[i];
  }
  found->count = n;
}

/* Searches, unless that was done for a layout in which the two parts of a state
   are as far from each other. */
static void search (tg_Target *t, uint64_t *distance) {
  if (tg_state_distance(&t->sight) == *distance)
    return;
  *distance = tg_state_distance(&t->sight);
  tg_found_free(&t->found);
  tg_finder_search(&t->sight, &t->found);
}

/* The layout that nothing is against; false: there is none, and '*objection' is
   against the last one, or NULL where no state was found. */
static bool find_layout (tg_Target *t, uint64_t *distance,
                         const char **objection) {
  *objection = NULL;
  for (size_t i = 0; i < TG_JIT_LAYOUTS; i++) {
    t->sight = tg_jitsight(&t->memory, &tg_jitlayouts[i]);
    search(t, distance);
    if (t->found.nstates == 0)
      continue;
    *objection = tg_jit_objection(&t->sight, &t->found);
    if (*objection == NULL)
      return true;
  }
  return false;
}

#define TRIES 5                 /* of a process that runs */

/* One that compiles much just then has traces that are half made. */
static tg_Refusal prove (tg_Target *t, tg_Buf *words) {
  struct timespec nap = {0, 3000000};
  const char *objection;
  uint64_t distance = 0;
  for (int i = 0; !find_layout(t, &distance, &objection); i++) {
    if (objection == NULL)
      return refuse_unfit(t, words);
    if (i == TRIES || t->memory.core != NULL)
      return refuse_fork(t, objection, words);
    nanosleep(&nap, NULL);
    tg_memory_refresh(&t->memory);
  }
  drop_own(&t->sight, &t->found);
  memset(t->sight.rejected, 0, sizeof t->sight.rejected);
  return TG_REFUSED_NOT;
}

static bool is_known (const tg_Target *t) {
#if defined(__x86_64__)
  return strncmp(t->idents.jit, SERIES, strlen(SERIES)) == 0;
#else
  (void)t;
  return false;
#endif
}

tg_Refusal tg_jittarget_prove (tg_Target *t, tg_Refusal refusal,
                               tg_Buf *words) {
  if ((refusal != TG_REFUSED_UNKNOWN && refusal != TG_REFUSED_UNFIT)
      || !tg_target_has_jit(t))
    return refusal;
  if (!is_known(t))
    return refuse_unknown(t, words);
  if (t->memory.core == NULL && !tg_process_readable(&t->memory))
    return refuse_reader(t->memory.pid, errno, words);
  return prove(t, words);
}
