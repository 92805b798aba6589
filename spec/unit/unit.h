/*
** unit.h - a harness that fits on a page.
**
** A test program is functions of checks and a main of UNIT_RUN lines ended by
** UNIT_END. Each failed check prints its place; each function `ok` or `FAIL`.
*/
#ifndef TG_UNIT_H
#define TG_UNIT_H

#include <stdio.h>
#include <string.h>

#include "base/buf.h"

static int unit_passed, unit_failed, unit_errors;

#define UNIT_CHECK(e) \
  ((e) ? (void)0 : (void)(unit_errors++, \
   printf("FAIL %s:%d: %s\n", __FILE__, __LINE__, #e)))

/* Compares a buffer with the text it should hold, and empties it. */
#define UNIT_TEXT(buf, wanted) \
  unit_text((buf), (wanted), __FILE__, __LINE__)

#define UNIT_RUN(test) unit_run((test), #test)

#define UNIT_END() \
  (printf("%d passed, %d failed\n", unit_passed, unit_failed), \
   unit_failed > 0)

static inline void unit_text (tg_Buf *b, const char *wanted, const char *file,
                              int line) {
  if (b->size != strlen(wanted)
      || (b->size > 0 && memcmp(b->data, wanted, b->size) != 0)) {
    unit_errors++;
    printf("FAIL %s:%d:\n  got    %.*s\n  wanted %s\n", file, line,
           (int)b->size, b->size > 0 ? b->data : "", wanted);
  }
  tg_buf_clear(b);
}

static inline void unit_run (void (*test) (void), const char *name) {
  unit_errors = 0;
  test();
  if (unit_errors == 0)
    unit_passed++;
  else
    unit_failed++;
  printf("%s %s\n", unit_errors == 0 ? "ok" : "FAIL", name);
}

/* Numbers that repeat from run to run. */
static inline uint32_t unit_random (uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*seed >> 33);
}

#endif
