/*
** terminal.h - text for a terminal: escaping, measuring and cutting it.
**
** Text is UTF-8 and may carry colours (SGR sequences, ESC [ ... m), which take
** no room. Widths are columns: 2 for East Asian wide characters and emoji, 0
** for combining marks. Independent of the locale, which the traced program
** may set as it likes.
*/
#ifndef TG_TERMINAL_H
#define TG_TERMINAL_H

#include "base/base.h"
#include "base/buf.h"

/*
** Adds text that is not ours so that it can do no harm to a line: control
** characters, those of Unicode that turn its direction, and bytes that are not
** UTF-8 become \n, \x1B ...; with 'quote' also that character and the backslash
** are escaped, as in a Lua literal.
*/
void tg_terminal_escape (tg_Buf *out, const char *s, size_t size, char quote);

/* Columns that the text takes. */
size_t tg_terminal_columns (const char *s, size_t size);

/*
** Shortens what 'b' holds from byte 'from' on to 'columns', the last of which
** is then an ellipsis; colours inside are switched off at the cut.
*/
void tg_terminal_cut (tg_Buf *b, size_t from, size_t columns);

/* Colours. */
#define TG_SGR_RESET    "\033[0m"
#define TG_SGR_BOLD     "\033[1m"
#define TG_SGR_BOLD_RED "\033[1;31m"
#define TG_SGR_GREEN    "\033[32m"
#define TG_SGR_YELLOW   "\033[33m"
#define TG_SGR_MAGENTA  "\033[35m"
#define TG_SGR_CYAN     "\033[36m"
#define TG_SGR_FAINT    "\033[90m"

#endif
