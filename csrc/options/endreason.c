/*
** endreason.c - see endreason.h.
**
** Called where a trace or a recording is told of, on any thread. Names are
** those of the protocol and of options; words are for people.
*/
#include "options/endreason.h"

/* NULL of a trace that runs, or that was stopped as it should be: only an end
   by itself has a reason. */
const char *tg_endreason_name (tg_End end) {
  switch (end) {
    case TG_END_OVERFLOW: return "overflow";
    case TG_END_MEMORY: return "memory";
    case TG_END_EVENTS: return "maxEvents";
    case TG_END_DURATION: return "duration";
    case TG_END_DISK: return "disk";
    case TG_END_CALLS: return "calls";
    case TG_END_SIZE: return "maxSize";
    case TG_END_NOT: case TG_END_STOPPED: default: return NULL; /* as asked */
  }
}

const char *tg_endreason_loss (int loss) {
  static const char *const names[] = {
#define X(id, name) name,
    TG_LOSSES(X)
#undef X
  };
  tg_check(0 <= loss && loss < TG_NLOSSES);
  return names[loss];
}

/* None of the program's own doing: then there are no events at all. */
const char *tg_endreason_words (int loss) {
  static const char *const words[TG_NLOSSES] = {
    [TG_LOSS_OVERFLOW] = "the buffer was full",
    [TG_LOSS_RING] = "overwritten by later ones",
    [TG_LOSS_MEMORY] = "no memory",
    [TG_LOSS_DISK] = "the file could not grow",
    [TG_LOSS_HOOK] = "the hook was away",
    [TG_LOSS_DROPPED] = "taking them took half of the time",
    [TG_LOSS_FUNCTIONS] = "of loaded texts, more than the ring holds, shown as"
                          " one",
    [TG_LOSS_PATTERNS] = "patterns took too long over them: not matched, by"
                         " redact hidden"
  };
  tg_check(0 <= loss && loss < TG_NLOSSES);
  return words[loss];
}

int tg_endreason_lack (tg_Lack lack) {
  static const int losses[TG_NLACKS] = {
    [TG_LACK_SAMPLES] = TG_LOSS_DROPPED,
    [TG_LACK_FUNCTIONS] = TG_LOSS_FUNCTIONS,
    [TG_LACK_NAMES] = TG_LOSS_PATTERNS,
    [TG_LACK_UNSEEN] = TG_LOSS_MEMORY,
    [TG_LACK_MISSED] = TG_LOSS_HOOK
  };
  tg_check(lack < TG_NLACKS);
  return losses[lack];
}

const char *tg_endreason_unit (int loss) {
  return (loss == TG_LOSS_DROPPED) ? "sample"
         : (loss == TG_LOSS_FUNCTIONS) ? "function"
         : (loss == TG_LOSS_PATTERNS) ? "name" : "event";
}
