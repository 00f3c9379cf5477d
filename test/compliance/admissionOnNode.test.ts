import { describeAdmission } from './describeAdmission.js'

/** `npm run test:compliance` asks all; test/simulation/trace compares both engines fact by fact. */
const versions =
  process.env.PURSER_COMPLIANCE === 'full'
    ? (['0.6', '0.7', '0.8', '0.9'] as const)
    : (['0.8'] as const)

describeAdmission(versions, { validationEngine: 'node' })
