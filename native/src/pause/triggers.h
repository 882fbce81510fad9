/* triggers: signals and a file by which older tools pause this process alone, under the file names of those tools and nowhere else
 * (tenant/switches/compat_triggers.c).
 *
 * A signal is taken only where the program has left it at its default; a handler that the program installs later replaces ours. The
 * handler stores one word and wakes the attendant. The word has the form of pause.own in spec/region.abi. Only the attendant calls these
 * functions, but for the first. */
#ifndef SL_TRIGGERS_H
#define SL_TRIGGERS_H

#include <stdint.h>

/* When the process has attached to its tenant: takes the signals. */
void sl_triggers_begin(void);
/* What the triggers ask for now; 0: nothing yet. Looks at the file, a few times a second. */
uint32_t sl_triggers_now(void);
/* The tools have told the tenant to run: what was asked until now holds no more. */
void sl_triggers_drop(void);
void sl_triggers_answer(uint32_t own);
/* The caller has told the reason. The same trigger may ask again. */
void sl_triggers_refuse(uint32_t own);

/* What tests change. */
extern uint64_t sl_triggers_resume_nanos;

#endif
