import { describeStateTests } from './stateTests.js'

describeStateTests(1, 4)
