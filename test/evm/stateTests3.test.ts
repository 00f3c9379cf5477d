import { describeStateTests } from './stateTests.js'

describeStateTests(2, 4)
