/*
** tsanbegin.c - begins the thread sanitizer, preloaded before its library.
**
** gcc's library begins when it is first called by what was built with it. In a
** program that was not, as a shell, its setjmp may be called before, and jumps
** to address 0.
*/

void __tsan_init (void);
void tg_tsanbegin (void) __attribute__((constructor));

void tg_tsanbegin (void) {
  __tsan_init();
}
