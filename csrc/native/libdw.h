/*
** libdw.h - elfutils' libdw, which unwinds stacks and names code: found when
** the program runs, so that nothing needs it to be built or to run without it.
**
** The types are those of elfutils/libdwfl.h, as far as they are used here; that
** library keeps what is declared there. Any thread; loaded once.
*/
#ifndef TG_LIBDW_H
#define TG_LIBDW_H

#include <elf.h>
#include <sys/types.h>

#include "base/base.h"

typedef struct Dwfl Dwfl;
typedef struct Dwfl_Module Dwfl_Module;
typedef struct Dwfl_Thread Dwfl_Thread;
typedef struct Dwfl_Frame Dwfl_Frame;

typedef struct tg_DwflCallbacks {
  int (*find_elf) (Dwfl_Module *, void **, const char *, uint64_t, char **,
                   void **);
  int (*find_debuginfo) (Dwfl_Module *, void **, const char *, uint64_t,
                         const char *, const char *, uint32_t, char **);
  int (*section_address) (Dwfl_Module *, void **, const char *, uint64_t,
                          const char *, uint32_t, const void *, uint64_t *);
  char **debuginfo_path;
} tg_DwflCallbacks;

typedef struct tg_DwflThreads {
  pid_t (*next_thread) (Dwfl *, void *, void **);
  bool (*get_thread) (Dwfl *, pid_t, void *, void **);
  bool (*memory_read) (Dwfl *, uint64_t, uint64_t *, void *);
  bool (*set_initial_registers) (Dwfl_Thread *, void *);
  void (*detach) (Dwfl *, void *);
  void (*thread_detach) (Dwfl_Thread *, void *);
} tg_DwflThreads;

/* Its functions, by their names without "dwfl_", and what they are. */
#define TG_LIBDW_FUNCTIONS(X) \
  X(begin, Dwfl *, (const tg_DwflCallbacks *)) \
  X(end, void, (Dwfl *)) \
  X(report_begin, void, (Dwfl *)) \
  X(report_elf, Dwfl_Module *, \
    (Dwfl *, const char *, const char *, int, uint64_t, bool)) \
  X(report_end, int, (Dwfl *, int (*) (Dwfl_Module *, void *, const char *, \
                                       uint64_t, void *), void *)) \
  X(attach_state, bool, \
    (Dwfl *, void *, pid_t, const tg_DwflThreads *, void *)) \
  X(getthread_frames, int, \
    (Dwfl *, pid_t, int (*) (Dwfl_Frame *, void *), void *)) \
  X(frame_pc, bool, (Dwfl_Frame *, uint64_t *, bool *)) \
  X(thread_state_registers, bool, \
    (Dwfl_Thread *, int, unsigned, const uint64_t *)) \
  X(thread_state_register_pc, void, (Dwfl_Thread *, uint64_t)) \
  X(addrmodule, Dwfl_Module *, (Dwfl *, uint64_t)) \
  X(module_info, const char *, \
    (Dwfl_Module *, void ***, uint64_t *, uint64_t *, uint64_t *, uint64_t *, \
     const char **, const char **)) \
  X(module_addrinfo, const char *, \
    (Dwfl_Module *, uint64_t, uint64_t *, Elf64_Sym *, uint32_t *, void **, \
     uint64_t *)) \
  X(module_getsymtab, int, (Dwfl_Module *)) \
  X(module_getsym_info, const char *, \
    (Dwfl_Module *, int, Elf64_Sym *, uint64_t *, uint32_t *, void **, \
     uint64_t *)) \
  X(standard_find_debuginfo, int, \
    (Dwfl_Module *, void **, const char *, uint64_t, const char *, \
     const char *, uint32_t, char **))

typedef struct tg_Libdw {
#define X(name, result, arguments) result (*name) arguments;
  TG_LIBDW_FUNCTIONS(X)
#undef X
} tg_Libdw;

/* NULL: this machine has none, or not all that is used of it. */
const tg_Libdw *tg_libdw (void);

/* What to do then, in a line. */
#define TG_LIBDW_MISSING \
  "C frames need elfutils' libdw.so.1 (Debian: libdw1, others: " \
  "elfutils-libs), 0.158 or later"

#endif
