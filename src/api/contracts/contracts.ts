import { chainContracts } from './chains.js'
import { decisionContracts, decisionRecordContracts } from './decisions.js'
import { auditContracts, settingContracts, storageContracts } from './instance.js'
import { cancelContracts, operationContracts, simulateContracts } from './operations.js'
import { overviewContracts, searchContracts, streamContracts } from './overview.js'
import { authTokenContracts, memberContracts, sessionContracts, userContracts } from './people.js'
import { budgetContracts, policyContracts, policyTrialContracts } from './policies.js'
import { refusalContracts } from './refusals.js'
import { fundContracts, tankContracts } from './tanks.js'
import { accountContracts, appContracts, keyContracts } from './tenants.js'
import { tokenContracts } from './tokens.js'
import { subscriptionContracts, webhookCallContracts, webhookContracts } from './webhooks.js'

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
