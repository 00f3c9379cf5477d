import { InvalidFieldError, NotFoundError, TakenError } from '../../errors/restErrors.js'
import { type ContractRule, cycleSeconds, type LimitRule } from '../../policy/dashboardTerms.js'
import type { DashboardRules } from '../../policy/manageDashboard.js'
import type { StoredRule } from '../../store/tenants/dashboard.js'
import { type Members, member } from '../dialects/decode/members.js'
import {
  decodeAbi,
  decodeLimit,
  decodeMethods,
  decodeName,
  decodeRuleAddress,
} from './decodeRules.js'
import type { WebhookAnswer } from './webhookOperations.js'
import { decodeUrl } from './webhookOperations.js'

/** The webhooks of the app, in the same transaction as its rules. */
export type RuleWebhooks = {
  create(url: string): Promise<string>
  update(webhookId: string, active: boolean): Promise<void>
}

export type RuleRequest = {
  readonly accountId: string
  readonly appId: string
  readonly rules: DashboardRules
  readonly webhooks: RuleWebhooks
  /** `{}` when none was sent. */
  readonly body: Members
  /** The id in the path, where it names one. */
  readonly policyId: string
}

export type RuleOperation = (request: RuleRequest) => Promise<WebhookAnswer>

const createContract: RuleOperation = async ({ rules, body }) => {
  const name = decodeName(body)
  const address = decodeRuleAddress(body)
  const abi = decodeAbi(body)
  const methods = decodeMethods(member(body, 'whitelistedMethods') ?? [], abi)
  if ((await findContract(rules, address)) !== undefined)
    throw new TakenError('Smart contract address already exists')
  await rules.add('contract', name, { address, abi, ...methods })
  return { message: 'Smart contract registered successfully' }
}

const listContracts: RuleOperation = async ({ rules }) => ({
  message: 'Smart contract list fetched',
  data: (await rules.list()).filter(({ kind }) => kind === 'contract').map(encodeContract),
})

const updateContract: RuleOperation = async ({ rules, body }) => {
  const address = decodeRuleAddress(body)
  const given = member(body, 'whitelistedMethods')
  if (!Array.isArray(given)) throw new InvalidFieldError('whitelistedMethods', 'must be an array')
  const contract = await requireContract(rules, address)
  const { abi } = contract.data as ContractRule
  const data = { address, abi, ...decodeMethods(given, abi) }
  const changed = await rules.change(contract.id, { data })
  return { message: 'Smart contract updated', data: encodeContract(changed ?? contract) }
}

const deleteContract: RuleOperation = async ({ rules, body }) => {
  const { id } = await requireContract(rules, decodeRuleAddress(body))
  await rules.remove(id)
  return { message: 'Smart contract deleted' }
}

const createRule: RuleOperation = async (request) => {
  const { rules, webhooks, body } = request
  const name = decodeName(body)
  const policyData = member(body, 'policyData')
  if (typeof policyData !== 'object' || Array.isArray(policyData))
    throw new InvalidFieldError('policyData', 'must be an object')
  const given = policyData as Members
  const add = async (): Promise<StoredRule> => {
    switch (member(body, 'policyType')) {
      case 'PAYMASTER_SA_LIMIT':
        return rules.add('limit', name, decodeLimit(given))
      case 'WALLET_DEPLOYMENT':
        return rules.add('deployment', name, {})
      case 'WEBHOOK': {
        const url = decodeUrl(given, 'url')
        return rules.add('webhook', name, { url, webhookId: await webhooks.create(url) })
      }
      default:
        throw new InvalidFieldError(
          'policyType',
          'must be "PAYMASTER_SA_LIMIT" or "WEBHOOK" or "WALLET_DEPLOYMENT"',
        )
    }
  }
  const data = encodeRule(await add(), request)
  return { message: 'Paymaster Policy created successfully', data }
}

const listRules: RuleOperation = async (request) => ({
  message: 'Paymaster Policies found!',
  data: (await request.rules.list()).map((rule) => encodeRule(rule, request)),
})

const updateLimit: RuleOperation = async ({ rules, body, policyId }) => {
  const limitRule = (await rules.list()).find(({ id, kind }) => id === policyId && kind === 'limit')
  if (limitRule === undefined) throw new NotFoundError('Paymaster Policy')
  const name = member(body, 'name') === undefined ? limitRule.name : decodeName(body)
  const { type, ...limit } = limitRule.data as LimitRule
  const { type: _given, ...changes } = body
  await rules.change(policyId, { name, data: decodeLimit(changes, { type, ...limit }) })
  return { message: 'Paymaster Limit updated' }
}

function setActive(active: boolean): RuleOperation {
  return async ({ rules, webhooks, policyId }) => {
    const rule = await rules.change(policyId, { active })
    if (rule === undefined) throw new NotFoundError('Paymaster Policy')
    if (rule.kind === 'webhook')
      await webhooks.update((rule.data as { webhookId: string }).webhookId, active)
    return { message: `Paymaster Policy ${active ? 'Activated' : 'Deactivated'}!` }
  }
}

/** The operations of an app's key and its account's token, by path and HTTP method. */
export const ruleOperations: Readonly<Record<string, Readonly<Record<string, RuleOperation>>>> = {
  'smart-contract': {
    POST: createContract,
    GET: listContracts,
    PATCH: updateContract,
    DELETE: deleteContract,
  },
  'paymaster-policy': { POST: createRule, GET: listRules },
  'paymaster-policy/limit/:policyId': { PATCH: updateLimit },
  'paymaster-policy/activate/:policyId': { PATCH: setActive(true) },
  'paymaster-policy/deactivate/:policyId': { PATCH: setActive(false) },
}

async function findContract(rules: DashboardRules, address: string) {
  return (await rules.list()).find(
    ({ kind, data }) => kind === 'contract' && (data as ContractRule).address === address,
  )
}

async function requireContract(rules: DashboardRules, address: string): Promise<StoredRule> {
  const contract = await findContract(rules, address)
  if (contract === undefined) throw new NotFoundError('Smart contract')
  return contract
}

function encodeContract({ name, data }: StoredRule) {
  const { address, abi, whitelistedMethods } = data as ContractRule
  return { name, address, abi, whitelistedMethods, methods: whitelistedMethods }
}

const policyTypes = {
  contract: 'SMART_CONTRACT',
  limit: 'PAYMASTER_SA_LIMIT',
  deployment: 'WALLET_DEPLOYMENT',
  webhook: 'WEBHOOK',
}

function encodeRule(rule: StoredRule, { accountId, appId }: RuleRequest) {
  return {
    _id: rule.id,
    name: rule.name,
    policyType: policyTypes[rule.kind],
    organisationId: accountId,
    paymasterId: appId,
    active: rule.active,
    policyData: encodeData(rule),
  }
}

function encodeData(rule: StoredRule): object {
  if (rule.kind === 'deployment') return { operator: 'walletDeployment' }
  if (rule.kind === 'webhook') return { url: (rule.data as { url: string }).url }
  if (rule.kind === 'contract') return encodeContract(rule)
  const { type, cycleDuration, threshold, thresholdType } = rule.data as LimitRule
  const durationInMs = cycleSeconds(cycleDuration) * 1_000
  return { type, durationInMs, cycleDuration, threshold, thresholdType }
}
