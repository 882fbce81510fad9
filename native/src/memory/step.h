/* step: the points at which another thread or process may come in between. The model test (pool_model_test.c) compiles the
 * pool's sources with SL_MODEL and explores every order of these steps; elsewhere they are nothing. */
#ifndef SL_STEP_H
#define SL_STEP_H

#ifdef SL_MODEL
void sl_model_step(void);
#define SL_STEP() sl_model_step()
#else
#define SL_STEP() ((void)0)
#endif

#endif
