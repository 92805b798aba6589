/*
** hostile.c - cores whose words are changed, looked into: hostile CORE FROM TO.
**
** For each seed from FROM to TO some words of the core's memory are changed:
** into other words that are there, so that pointers lead to objects of other
** kinds, into their neighbours, and into numbers that are no pointers. Then all
** of it is looked at and written as JSON, as `tracegrip dump --all --locals`
** does, its stacks are looked at as for samples, and, but of LuaJIT, it is made
** a graph, as `tracegrip heap` does. Nothing may crash, and no seed may take
** longer than LIMIT_S of processor time.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "dump/document.h"
#include "graph/dominators.h"
#include "heap/capture.h"
#include "heap/moment.h"
#include "jit/target.h"
#include "spy/stack.h"
#include "spy/ticks.h"
#include "text/fileio.h"
#include "text/jsonwriter.h"

#define LIMIT_S 60.0            /* under sanitizers */

static uint64_t next (uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *seed >> 17;
}

/* A word that looks like an address, from some place on: those are what leads
   from object to object. */
static size_t find_pointer (const tg_Buf *b, uint64_t *seed) {
  size_t words = b->size / 8, i = next(seed) % words;
  for (size_t n = 0; n < 20000; n++, i = (i + 1) % words) {
    uint64_t word;
    memcpy(&word, b->data + 8 * i, sizeof word);
    if (word >> 44 == 0x5 || word >> 40 == 0x7f)
      return i;
  }
  return i;
}

static uint64_t changed (const tg_Buf *b, uint64_t word, uint64_t *seed) {
  uint64_t other;
  memcpy(&other, b->data + 8 * find_pointer(b, seed), sizeof other);
  switch (next(seed) % 8) {
    case 0: return 0;
    case 1: return word + 8 * (next(seed) % 64);
    case 2: return word - 8 * (next(seed) % 64);
    case 3: return word ^ UINT64_C(1) << next(seed) % 64;
    case 4: return next(seed);
    case 5: return UINT64_MAX;
    default: return other;
  }
}

static void change (tg_Buf *b, uint64_t seed) {
  uint64_t state = seed;
  int n = 1 << next(&state) % 12;
  for (int i = 0; i < n; i++) {
    size_t at = find_pointer(b, &state);
    uint64_t word;
    if (next(&state) % 4 == 0)
      at = (at + next(&state) % 8) % (b->size / 8);
    memcpy(&word, b->data + 8 * at, sizeof word);
    word = changed(b, word, &state);
    memcpy(b->data + 8 * at, &word, sizeof word);
  }
}

static size_t look_at_heap (tg_Target *target, tg_Buf *words) {
  tg_Moment moment;
  tg_Graph graph = {0};
  tg_Dominators dominators = {0};
  tg_CaptureSums sums = {0};
  if (tg_moment_take(&moment, target, 0, false, words)
      && tg_capture(&graph, &moment.heap, &sums))
    tg_dominators_find(&dominators, &graph);
  tg_dominators_free(&dominators);
  tg_graph_free(&graph);
  tg_moment_free(&moment);
  return (size_t)sums.objects;
}

#define LOOKS 8                 /* of one sample: with pages known and not, */
#define THREADS 4u              /* by the registers of these and by none */

/* With what a tick has of the C stack. */
static void look_at_stack (tg_Target *target, tg_SpyStack *stack,
                           uint32_t state, const tg_Registers *registers) {
  uint8_t top[TG_SPY_STACK];
  tg_SpyHint hint = {.registers = registers, .top = top};
  tg_Reason why;
  if (registers != NULL
      && tg_memory_block(&target->memory, registers->stack, top, sizeof top))
    hint.top_size = sizeof top;
  for (int still = 0; still < 2; still++) {
    hint.still = still != 0;
    tg_spystack_look(stack, &target->sight, &target->found, state, &hint,
                     &why);
  }
}

static void look_at_stacks (tg_Target *target) {
  tg_SpyStack stack = {0};
  for (uint32_t i = 0; i < target->found.nstates * LOOKS; i++) {
    uint32_t thread = i % (THREADS + 1);
    bool known = thread < target->core.nthreads && thread < THREADS;
    look_at_stack(target, &stack, i / LOOKS,
                  known ? &target->core.threads[thread] : NULL);
  }
  tg_spystack_free(&stack);
}

static size_t look (const char *path, tg_Selection *selection) {
  tg_Target target;
  tg_Dump dump;
  tg_Buf words = {0}, text = {0};
  tg_Scratch scratch = {0};
  tg_JsonWriter json;
  tg_DumpOptions options = {.locals = true, .upvalues = true, .all = true,
                            .selection = selection};
  size_t objects = 0;
  memset(&dump, 0, sizeof dump);
  tg_Refusal refusal = tg_target_core(&target, path, NULL, NULL, &words);
  refusal = tg_jittarget_prove(&target, refusal, &words);
  if (refusal == TG_REFUSED_NOT
      && tg_dump_take(&dump, &target, &options, &words)) {
    tg_jsonwriter_init(&json, &text);
    tg_document_write(&dump, &json.sink, &scratch);
    look_at_stacks(&target);
    if (target.sight.jit == NULL) {
      objects = look_at_heap(&target, &words);
    }
  }
  size_t size = text.size + objects;
  tg_dump_free(&dump);
  tg_target_close(&target);
  tg_scratch_free(&scratch);
  tg_buf_free(&words);
  tg_buf_free(&text);
  return size;
}

static bool try (const tg_Buf *core, uint64_t seed, tg_Selection *selection) {
  char path[64];
  tg_Buf copy = {0};
  tg_buf_add(&copy, core->data, core->size);
  change(&copy, seed);
  int fd = memfd_create("core", MFD_CLOEXEC);
  bool written = tg_fileio_write(fd, copy.data, copy.size, 0);
  tg_buf_free(&copy);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  clock_t start = clock();
  size_t size = written ? look(path, selection) : 0;
  double took = (double)(clock() - start) / CLOCKS_PER_SEC;
  close(fd);
  if (took > LIMIT_S)
    printf("seed %llu: %.1f s, %zu bytes\n", (unsigned long long)seed, took,
           size);
  return written && took <= LIMIT_S;
}

int main (int argc, char **argv) {
  tg_Buf core = {0};
  tg_Options options;
  tg_Selection selection = {0};
  int failed = 0;
  if (argc != 4 || !tg_fileio_text(argv[1], (size_t)1 << 30, &core)) {
    fprintf(stderr, "usage: hostile CORE FROM TO\n");
    return 2;
  }
  tg_options_init(&options);
  if (!tg_selection_add(&selection, &options))
    return 2;
  uint64_t from = strtoull(argv[2], NULL, 10), to = strtoull(argv[3], NULL, 10);
  for (uint64_t seed = from; seed <= to; seed++)
    failed += !try(&core, seed, &selection);
  printf("hostile: %llu passed, %d failed\n",
         (unsigned long long)(to - from + 1) - (unsigned long long)failed,
         failed);
  tg_selection_clear(&selection);
  tg_buf_free(&core);
  return failed > 0;
}
