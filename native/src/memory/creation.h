/* creation: the calls that make a context. */
#ifndef SL_CREATION_H
#define SL_CREATION_H

/* After a fork. */
void sl_creation_forget(void);

#endif
