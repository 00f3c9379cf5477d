import { fundRoutes } from '../../paymaster/funds.js'
import { budgetRoutes, policyRoutes } from '../../paymaster/policy/managePolicies.js'
import { accountRoutes } from '../../tenants/accounts.js'
import { appRoutes } from '../../tenants/apps.js'
import { authTokenRoutes } from '../../tenants/authTokens.js'
import { invitationRoutes } from '../../tenants/people/invitations.js'
import { memberRoutes } from '../../tenants/people/members.js'
import { userRoutes } from '../../tenants/people/users.js'
import type { Route } from '../../tenants/route.js'
import { webhookRoutes } from '../../webhooks/manage.js'
import { subscriptionRoutes } from '../../webhooks/subscriptions.js'
import type { AdminContext } from '../adminContext.js'
import { abiRoutes } from './routes/abis.js'
import { chainRoutes } from './routes/chains.js'
import { decisionRecordRoutes, decisionRoutes } from './routes/decisions.js'
import { auditRoutes, reloadRoutes, settingRoutes, storageRoutes } from './routes/instance.js'
import { keyRoutes } from './routes/keys.js'
import { cancelRoutes, operationRoutes, simulateRoutes } from './routes/operations.js'
import {
  attentionRoutes,
  overviewRoutes,
  searchRoutes,
  spendRoutes,
  streamRoutes,
} from './routes/overview.js'
import { sessionRoutes } from './routes/sessions.js'
import { policyTrialRoutes } from './routes/policyTrials.js'
import { rehearsalRoutes } from './routes/rehearsals.js'
import { replayRoutes } from './routes/replays.js'
import { refusalRoutes } from './routes/refusals.js'
import { shareRoutes, sharingRoutes } from './routes/shares.js'
import { statementRoutes } from './routes/statements.js'
import { tankRoutes } from './routes/tanks.js'
import { tokenRoutes } from './routes/tokens.js'
import { waterfallRoutes } from './routes/waterfall.js'
import { webhookCallRoutes } from './routes/webhooks.js'

/** Everything below /admin/v1; the OpenAPI document and the tests of tenancy are made from it too. */
export const routes: readonly Route<AdminContext>[] = [
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
  ...reloadRoutes,
  ...policyTrialRoutes,
  ...streamRoutes,
  ...sessionRoutes,
  ...userRoutes,
  ...memberRoutes,
  ...invitationRoutes,
  ...authTokenRoutes,
  ...simulateRoutes,
  ...waterfallRoutes,
  ...searchRoutes,
  ...overviewRoutes,
  ...attentionRoutes,
  ...spendRoutes,
  ...decisionRecordRoutes,
  ...chainRoutes,
  ...rehearsalRoutes,
  ...cancelRoutes,
  ...replayRoutes,
  ...budgetRoutes,
  ...abiRoutes,
  ...sharingRoutes,
  ...shareRoutes,
  ...statementRoutes,
]
