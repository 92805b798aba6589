/*
** process.h - a process that lives: its memory, what /proc tells of it, and why
** it may not be looked at.
**
** Also our own, or a child. The target is read and nothing else. What comes and
** goes meanwhile is an error, with errno. Plain C.
**
** The number of a process is that of its first thread. If that thread has ended
** before others (pthread_exit in main), the kernel shows by it neither memory
** nor files any more, and by those others it does: whatever is asked of memory,
** maps or links is asked by a thread that lives.
*/
#ifndef TG_PROCESS_H
#define TG_PROCESS_H

#include "base/buf.h"
#include "outside/memory.h"

/* Its first thread, or else another one that lives; 0: it has ended. */
int tg_process_task (int pid);

/* Opens it, with its maps; false with errno. */
bool tg_process_open (tg_Memory *m, int pid);

/* Its maps as they are now; those of before where they cannot be read. */
void tg_process_renew (tg_Memory *m);

/* Whether its memory may be read, tried out; else false with errno. */
bool tg_process_readable (tg_Memory *m);

/* When it was started, in ticks since the machine was: two processes of one
   number are told apart so. 0: it is gone. */
uint64_t tg_process_born (int pid);

/* The number of the process that it is a child of; 0: not known. */
int tg_process_parent (int pid);

/* Random bytes that the kernel gives each program that begins (AT_RANDOM of
   getauxval(3)): what execve puts in a program's place has others, also if it
   is the same file. Zeroes: not known. */
typedef struct tg_ProcessMark {
  uint64_t words[2];
} tg_ProcessMark;

tg_ProcessMark tg_process_mark (int task);

/* Processor time that it has used, in ns. */
uint64_t tg_process_cpu (int pid);

/* In words, why memory cannot be read for which the system said 'error', and
   what would allow it. */
void tg_process_refusal (int pid, int error, tg_Buf *words);

/* Whether the page at an address is in memory or swapped out; true also when
   that is not known. For whole pages: those of 'n' from 'at' on. */
#define TG_PRESENT_MOST 512u    /* that are asked for at once: 2 MiB */
void tg_process_present (const tg_Memory *m, uint64_t at, uint32_t n,
                         bool *present);

/* The target's path of an open file or link, "exe" or "cwd"; false: not known.
   'n' counts the zero. */
bool tg_process_link (int task, const char *name, char *to, size_t n);

/* A small file of /proc/PID, ended with a zero; false with errno. */
bool tg_process_read (int pid, const char *name, char *to, size_t n);

/* The letter of a thread's state (proc_pid_stat(5)); 0: it has gone. */
char tg_process_state (int pid, int tid);

#endif
