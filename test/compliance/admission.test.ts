import { describeAdmission } from './describeAdmission.js'

describeAdmission(['0.6', '0.7', '0.8', '0.9'])
