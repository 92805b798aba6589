/*
** cells.h - cells: places in the program's memory whose values a debugger
** watches. A field of a table, an upvalue of a function, a local variable of a
** frame.
**
** A cell has the value that it was settled with. The hook looks, after each
** line, call and return (watch.h), whether another is there now: by raw access,
** so nothing of the program's runs, and none of its objects is changed.
**
** Weakly held is all that a cell is made of: the table, function or coroutine,
** the key, and the settled value. The collector frees each as it would without
** the cell, which is over then; a settled value that it has freed cannot be
** the one that is there now. All that is on one weak table, on the stack of a
** coroutine of ours, which works for the cells and runs nothing: so the stacks
** of the program's coroutines stay as they are.
**
** A local variable is watched as long as its frame is there. Lua uses a frame's
** memory again: who shows calls and returns to the cells finds out in time
** (tg_cells_called, tg_cells_returned).
**
** Used on the thread that runs the state. What looks, settles and shows neither
** allocates nor raises.
*/
#ifndef TG_CELLS_H
#define TG_CELLS_H

#include <lua.h>

#include "direct/memory.h"

#define TG_CELLS 64             /* of a state: each is looked at */

typedef enum tg_CellKind {
  TG_CELL_NONE,
  TG_CELL_FIELD,
  TG_CELL_UPVALUE,
  TG_CELL_LOCAL
} tg_CellKind;

typedef struct tg_Cell {
  tg_CellKind kind;
  bool changed;           /* another value is there than the settled one */
  bool over;              /* the place is gone, and the settled value was the
                             last... */
  bool told;              /* ...which the agent knows */
  bool weak;              /* the settled value may be freed */
  bool quick;             /* of a field: read from memory, by... */
  tg_Slot key, settled;   /* ...its key, and compared with that bit by bit */
  int number;             /* of an upvalue; of a local, among those alive */
  lua_State *co;          /* of a local: its coroutine... */
  const void *frame;      /* ...its frame (lua_Debug's i_ci)... */
  const char *name;       /* ...its name, which the frame's function keeps */
} tg_Cell;

typedef struct tg_Cells {
  lua_State *work;        /* ours, anchored; NULL: there has been no cell */
  const void *weak;       /* the table on its stack */
  bool direct;            /* the interpreter's memory is read (direct/) */
  bool widened;           /* the first one has come since all coroutines were
                             seen to (watch.h) */
  int count, locals;      /* cells, and of these the locals */
  int used;               /* the list's, up to the last cell */
  tg_Cell list[TG_CELLS];
} tg_Cells;

/*
** Lua: the functions of the agent (inspector.h). A cell is settled with what is
** there. They raise where there is no such place.
*/
int tg_cells_add_field (tg_Cells *c, lua_State *L);    /* table, key */
int tg_cells_add_upvalue (tg_Cells *c, lua_State *L);  /* function, number */
int tg_cells_add_local (tg_Cells *c, lua_State *L);    /* co, level, number */
int tg_cells_remove (tg_Cells *c, lua_State *L);       /* the cell */
int tg_cells_changes (tg_Cells *c, lua_State *L);

/* Compares each cell, most fields in a few nanoseconds; 'L' runs. Whether one
   has changed or is over, and not been settled since. */
bool tg_cells_look (tg_Cells *c, lua_State *L);                /* [-0, +0, -] */

/* What is there now is what cells are settled with: all of them, if the agent
   was told of changes, or those that have not changed. What is over goes, once
   that was told. */
void tg_cells_settle (tg_Cells *c, lua_State *L, bool all);    /* [-0, +0, -] */

/* A call or return of a frame of 'L', before cells are looked at: frames that
   errors have dropped are found out. */
void tg_cells_shown (tg_Cells *c, lua_State *L, const lua_Debug *ar);
                                                               /* [-0, +0, -] */

/* A frame has returned; cells have been looked at before. */
void tg_cells_returned (tg_Cells *c, const lua_State *L, const void *frame);

void tg_cells_clear (tg_Cells *c, lua_State *L);               /* [-0, +0, -] */

#endif
