import fc from 'fast-check'

/** The seed of everything random in a run that has no seed of its own; a failure prints it. */
fc.configureGlobal({ seed: Number(process.env.PURSER_TEST_SEED ?? 20_260_101) })
