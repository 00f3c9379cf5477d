import { accountContracts } from './contracts/accounts.js'
import { appContracts } from './contracts/apps.js'
import { auditContracts } from './contracts/audit.js'
import { decisionContracts } from './contracts/decisions.js'
import { fundContracts } from './contracts/funds.js'
import { keyContracts } from './contracts/keys.js'
import { operationContracts } from './contracts/operations.js'
import { authTokenContracts } from './contracts/people/authTokens.js'
import { memberContracts } from './contracts/people/members.js'
import { sessionContracts } from './contracts/people/session.js'
import { userContracts } from './contracts/people/users.js'
import { policyContracts } from './contracts/policies.js'
import { budgetContracts } from './contracts/records/budgets.js'
import { cancelContracts } from './contracts/records/cancel.js'
import { chainContracts } from './contracts/records/chains.js'
import { decisionRecordContracts } from './contracts/records/decisions.js'
import { overviewContracts } from './contracts/records/overview.js'
import { policyTrialContracts } from './contracts/records/policyTrials.js'
import { searchContracts } from './contracts/records/search.js'
import { settingContracts } from './contracts/records/settings.js'
import { simulateContracts } from './contracts/records/simulate.js'
import { storageContracts } from './contracts/records/storage.js'
import { streamContracts } from './contracts/records/stream.js'
import { refusalContracts } from './contracts/refusals.js'
import { subscriptionContracts } from './contracts/subscriptions.js'
import { tankContracts } from './contracts/tanks.js'
import { tokenContracts } from './contracts/tokens.js'
import { webhookCallContracts } from './contracts/webhookCalls.js'
import { webhookContracts } from './contracts/webhooks.js'

/** The contracts of the administration API by subject, each subject served by one file of `api/admin/routes`. */
export const contracts = {
  account: accountContracts,
  app: appContracts,
  key: keyContracts,
  policy: policyContracts,
  decision: decisionContracts,
  operation: operationContracts,
  refusal: refusalContracts,
  tank: tankContracts,
  fund: fundContracts,
  token: tokenContracts,
  webhook: webhookContracts,
  webhookCall: webhookCallContracts,
  subscription: subscriptionContracts,
  audit: auditContracts,
  storage: storageContracts,
  setting: settingContracts,
  session: sessionContracts,
  user: userContracts,
  member: memberContracts,
  authToken: authTokenContracts,
  simulate: simulateContracts,
  search: searchContracts,
  overview: overviewContracts,
  decisionRecord: decisionRecordContracts,
  chain: chainContracts,
  cancel: cancelContracts,
  budget: budgetContracts,
  policyTrial: policyTrialContracts,
  stream: streamContracts,
}

type Groups = typeof contracts

/** Every contract by the name of its route. */
export type AdminContracts = Merged<Groups[keyof Groups]>

/** The members of all groups of a union. */
type Merged<Group> = {
  readonly [Name in Group extends unknown ? keyof Group : never]: Group extends {
    readonly [Each in Name]: infer Value
  }
    ? Value
    : never
}
