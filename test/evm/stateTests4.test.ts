import { describeStateTests } from './stateTests.js'

describeStateTests(3, 4)
