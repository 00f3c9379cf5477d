import type { Route } from './route.js'
import { accountRoutes } from './routes/accounts.js'
import { appRoutes } from './routes/apps.js'
import { auditRoutes } from './routes/audit.js'
import { decisionRoutes } from './routes/decisions.js'
import { fundRoutes } from './routes/funds.js'
import { keyRoutes } from './routes/keys.js'
import { operationRoutes } from './routes/operations.js'
import { authTokenRoutes } from './routes/people/authTokens.js'
import { memberRoutes } from './routes/people/members.js'
import { sessionRoutes } from './routes/people/session.js'
import { userRoutes } from './routes/people/users.js'
import { policyRoutes } from './routes/policies.js'
import { budgetRoutes } from './routes/records/budgets.js'
import { cancelRoutes } from './routes/records/cancel.js'
import { chainRoutes } from './routes/records/chains.js'
import { decisionRecordRoutes } from './routes/records/decisions.js'
import { overviewRoutes } from './routes/records/overview.js'
import { policyTrialRoutes } from './routes/records/policyTrials.js'
import { searchRoutes } from './routes/records/search.js'
import { settingRoutes } from './routes/records/settings.js'
import { simulateRoutes } from './routes/records/simulate.js'
import { storageRoutes } from './routes/records/storage.js'
import { streamRoutes } from './routes/records/stream.js'
import { refusalRoutes } from './routes/refusals.js'
import { subscriptionRoutes } from './routes/subscriptions.js'
import { tankRoutes } from './routes/tanks.js'
import { tokenRoutes } from './routes/tokens.js'
import { webhookCallRoutes } from './routes/webhookCalls.js'
import { webhookRoutes } from './routes/webhooks.js'

/** Everything below /admin/v1; the OpenAPI document and the tests of tenancy are made from it too. */
export const routes: readonly Route[] = [
  ...accountRoutes,
  ...appRoutes,
  ...keyRoutes,
  ...policyRoutes,
  ...decisionRoutes,
  ...operationRoutes,
  ...refusalRoutes,
  ...tankRoutes,
  ...fundRoutes,
  ...tokenRoutes,
  ...webhookRoutes,
  ...webhookCallRoutes,
  ...subscriptionRoutes,
  ...auditRoutes,
  ...storageRoutes,
  ...settingRoutes,
  ...policyTrialRoutes,
  ...streamRoutes,
  ...sessionRoutes,
  ...userRoutes,
  ...memberRoutes,
  ...authTokenRoutes,
  ...simulateRoutes,
  ...searchRoutes,
  ...overviewRoutes,
  ...decisionRecordRoutes,
  ...chainRoutes,
  ...cancelRoutes,
  ...budgetRoutes,
]
