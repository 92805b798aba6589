/*
** target.h - a process or a core that somebody wants to look into: opened,
** its Lua told and proved, its states found.
**
** What is not known for certain is refused in words that say what it is: a
** release without a layout, LuaJIT, a Lua that was patched or built with other
** numbers. Plain C, one thread.
*/
#ifndef TG_TARGET_H
#define TG_TARGET_H

#include "outside/core.h"
#include "outside/finder.h"
#include "outside/ident.h"
#include "outside/process.h"

typedef enum tg_Refusal {
  TG_REFUSED_NOT,
  TG_REFUSED_GONE,      /* no such process, or it has ended meanwhile */
  TG_REFUSED_FORBIDDEN,
  TG_REFUSED_NOLUA,
  TG_REFUSED_UNKNOWN,   /* a Lua of which no layout is known */
  TG_REFUSED_UNFIT,     /* a known one, but nothing that fits its layout */
  TG_REFUSED_OTHER
} tg_Refusal;

typedef struct tg_Target {
  tg_Memory memory;     /* owns */
  tg_Core core;         /* owns; if 'memory.core' is this one */
  tg_Sight sight;
  tg_Idents idents;
  tg_Finds found;       /* owns */
  uint64_t born;        /* of a process (process.h), */
  tg_ProcessMark mark;  /* and of the program in it */
  char root[4200];      /* before its paths; "" */
  char exe[4200];
} tg_Target;

/* A word for programs: "gone", "forbidden", "nolua", "unknown", "unfit",
   "failed". */
const char *tg_target_code (tg_Refusal refusal);

/* Opens a process or a core; 'brief': only as far as to know that it runs Lua.
   Whatever is answered, tg_target_close. 'words' is why not; 'memo' may be NULL
   (ident.h). */
tg_Refusal tg_target_process (tg_Target *t, int pid, tg_IdentMemo *memo,
                              tg_Buf *words);
tg_Refusal tg_target_core (tg_Target *t, const char *path, const char *exe,
                           const char *sysroot, tg_Buf *words);

void tg_target_close (tg_Target *t);

/* Whether a process is still the one that was opened, with the same program. */
bool tg_target_lives (const tg_Target *t);

/* Whether it says that LuaJIT is in it. */
bool tg_target_has_jit (const tg_Target *t);

/* "5.4.4", or "LuaJIT 2.1.0-beta3". */
#define TG_TARGET_LUA 48
void tg_target_lua (const tg_Target *t, char to[TG_TARGET_LUA]);

/* "process 17", or the core's name. */
void tg_target_title (const tg_Target *t, tg_Buf *words);

#endif
