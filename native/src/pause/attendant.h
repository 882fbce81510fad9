/* attendant: the thread of the library that carries out limits.command, and what triggers ask, in this process: hold it, take its memory away, give it back. */
#ifndef SL_ATTENDANT_H
#define SL_ATTENDANT_H

/* Before the process makes a context: starts the attendant, once. If the tenant is paused, the call waits here. */
void sl_attendant_begin(void);
/* There is something new to look at. Handlers of signals may call it. */
void sl_attendant_wake(void);

#endif
