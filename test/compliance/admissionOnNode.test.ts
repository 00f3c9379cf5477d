import { describeAdmission } from './describeAdmission.js'

// One version, for time: test/validation/trace compares both engines fact by fact on others.
describeAdmission(['0.8'], { validationEngine: 'node' })
