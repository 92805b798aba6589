/*
** coreheap.h - which map of a core is the heap, that brk(2) makes longer.
**
** A living process has it by name, [heap]; a core has none. The kernel puts its
** beginning behind the program's last byte, by chance up to so much further
** (arch_randomize_brk); nothing else of the program's own is there. Ids of
** objects count from it (heap/image.c), so a core and the living process have
** the same ones.
**
**     program ... zeroed data | a gap | [heap] ->           <- other maps
**
** Of a program that is linked statically and may be anywhere (static-pie) newer
** kernels put it elsewhere: then no map is marked. Plain C.
*/
#ifndef TG_COREHEAP_H
#define TG_COREHEAP_H

#include "outside/memory.h"

/* Marks it in a core's maps. The program's headers in memory are 'n', from 'at'
   on (AT_PHDR and AT_PHNUM of getauxval(3)); 0: not known. */
void tg_coreheap_mark (tg_Memory *m, uint64_t at, uint64_t n);

#endif
