/*
** base.h - the few words that every file of the C side shares.
**
** Two worlds meet in csrc/: plain C, which knows nothing of Lua and may run on
** any thread, and the skin, whose folders stand below "lua.h from
** here on" in csrc/README.md.
**
** Ownership words in comments are always the same three: a holder *owns* (and
** frees), *borrows* (somebody else frees, later) or *pins* (keeps alive).
*/
#ifndef TG_BASE_H
#define TG_BASE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TG_VERSION "0.1.0"

#define tg_likely(x)   __builtin_expect(!!(x), 1)
#define tg_unlikely(x) __builtin_expect(!!(x), 0)

/* An invariant of ours; a duty of the caller. Both vanish without TG_DEBUG. */
#ifdef TG_DEBUG
#define tg_assert(e) assert(e)
#define tg_check(e)  assert(e)
#define tg_unreachable() assert(0 && "unreachable")
#else
#define tg_assert(e) ((void)0)
#define tg_check(e)  ((void)0)
#define tg_unreachable() __builtin_unreachable()
#endif

/* Of a thread's own variable: found without a call (__tls_get_addr). glibc
   keeps a few words of each thread for libraries that are opened later; others,
   musl first of all, refuse to open a library that asks for them. */
#ifdef __GLIBC__
#define TG_TLS_QUICK __attribute__((tls_model("initial-exec")))
#else
#define TG_TLS_QUICK
#endif

#define TG_NOINLINE __attribute__((noinline))
#define TG_INLINE static inline __attribute__((always_inline))

/* The result of a function that can fail though nobody has made a mistake. */
typedef enum tg_Status {
  TG_OK = 0,
  TG_ERR_MEMORY,        /* an allocation was refused */
  TG_ERR_IO,            /* the system said no; errno tells why */
  TG_ERR_FORMAT         /* bytes from outside are not what they should be */
} tg_Status;

/* Small numbers that name things; the type says what the number is of. */
typedef uint32_t tg_FunctionId;   /* index in a tg_Functions table; 0 = none */
typedef uint32_t tg_ThreadId;     /* 1 = main coroutine, then by appearance */
typedef uint64_t tg_Pos;          /* byte position in an event stream */

#define TG_NOLIMIT UINT32_MAX     /* of any 32-bit limit */

/* Bytes that belong to somebody else. */
typedef struct tg_Slice {
  const uint8_t *data;  /* borrows; NULL means absent, not empty */
  size_t size;          /* bytes */
  const uint8_t *origin;  /* borrows; bytes from here on may be referred to by
                             them (values.h); NULL: they stand by themselves */
} tg_Slice;

#endif
