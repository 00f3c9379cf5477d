import { describeStateTests } from './stateTests.js'

describeStateTests(0, 4)
