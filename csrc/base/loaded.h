/*
** loaded.h - this library stays in memory. Lua unloads C modules when the state
** that loaded them closes, and with the last of those states our code would be
** gone, where something may still call it or be in it.
*/
#ifndef TG_LOADED_H
#define TG_LOADED_H

/* From now on, for as long as the process lives. Any thread, any number of
   times. */
void tg_loaded_keep (void);

#endif
