import { InvalidParamsError } from '../../../errors/requestErrors.js'
import type { PolicyPreview } from '../../../paymaster/sponsorship.js'
import { type DecodeContext, decodeEntryPoint } from '../../dialects/decode/entryPoint.js'
import { decodeBoundedList } from '../../dialects/decode/list.js'
import { decodeContext } from '../../dialects/decode/mode.js'
import { withOperation } from '../../dialects/decode/paymasterRequest.js'

const MAX_POLICIES = 100
const MAX_ID_LENGTH = 200

/** [operation, entryPoint, policyIds] */
export function decodePimlicoPolicies(
  [operation, address, ids]: readonly unknown[],
  chain: DecodeContext,
) {
  const policyIds = decodeBoundedList(ids, 'params[2]', MAX_POLICIES, decodePolicyId)
  const entryPoint = decodeEntryPoint(address, 'params[1]', chain)
  const mode = decodeContext(undefined, 'params[3]')
  return { policyIds, request: withOperation(mode, operation, entryPoint, 'error') }
}

/** Those of the named policies that would pay; an id that is none of the app's is not among them. */
export function encodeWillingPolicies(
  { sponsored, policies }: PolicyPreview,
  policyIds: readonly string[],
) {
  return policies
    .filter(({ policyId, pays }) => sponsored && pays && policyIds.includes(policyId))
    .map(({ policyId, name }) => ({
      sponsorshipPolicyId: policyId,
      data: { name, author: null, icon: null, description: null },
    }))
}

function decodePolicyId(value: unknown, field: string): string {
  if (typeof value !== 'string' || value.length > MAX_ID_LENGTH)
    throw new InvalidParamsError(field, `must be a string of at most ${MAX_ID_LENGTH} characters.`)
  return value
}
